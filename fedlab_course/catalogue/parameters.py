"""The parameters that a reader sets: symbol, label, help text, values and default of each.

The explorers, the playground and the stored grids of the pages read this table. A room that needs
other values has a named variant in ``VARIANTS``, with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fedlab_core import algorithms
from fedlab_core.correction import PenaltyStep
from fedlab_core.language import translator
from fedlab_core.losses import Output

_ = translator(__name__)

Value = float | str | None
_EXPLICIT: PenaltyStep = "explicit"
_IMPLICIT: PenaltyStep = "implicit"
_LOGITS: Output = "logits"
_SOFTMAX: Output = "softmax"
_WORDS = {
    "explicit": _("explicit"),
    "implicit": _("implicit"),
    "logits": _("logits"),
    "softmax": _("softmax"),
}


@dataclass(frozen=True)
class Parameter:
    """A parameter with the ``values`` of its slider and the ``default`` among them.

    ``form``: how a value is written where there is no ``symbol``. ``stored``: the values in the
    grids of the pages; every value multiplies the number of runs. ``methods``: the algorithms that
    take it, none for a setting of the run or of the split. ``address``: its name in the addresses
    of the playground, which people have stored; "" if the playground does not offer it.
    """

    label: str
    tip: str
    values: tuple[Value, ...]
    default: Value
    symbol: str = ""
    form: str = ""
    stored: tuple[Value, ...] = ()
    methods: tuple[str, ...] = ()
    address: str = ""

    def in_words(self, value: Value) -> str:
        """A value as its slider shows it: a number, or a word."""
        if isinstance(value, float):
            return f"{value:g}"
        return _WORDS.get(str(value), str(value))

    def written(self, value: Value) -> str:
        """A value in words and symbols, such as "μ=0.1" or "50 rounds"."""
        number = self.in_words(value)
        return self.form.format(number) if self.form else f"{self.symbol}={number}"


@dataclass(frozen=True)
class Variant:
    """What a room has instead of the values of the table, and the ``reason``; None: the same."""

    reason: str
    values: tuple[Value, ...] | None = None
    default: Value = None
    label: str | None = None
    tip: str | None = None


PARAMETERS: dict[str, Parameter] = {
    "mu": Parameter(
        label=_("μ of FedProx"),
        tip=_("Proximal strength: how hard clients are held back"),
        symbol="μ",
        values=(0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
        default=1.0,
        stored=(0.1, 1.0, 10.0),
        methods=("fedprox",),
        address="mu",
    ),
    "strength": Parameter(
        label=_("λ of the penalty"),
        tip=_("Strength of the penalty on forgetting"),
        symbol="λ",
        values=(0.0, 0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 24.0),
        default=0.2,
        stored=(0.0, 0.2, 2.0),
        methods=("fedcurv", "fedmas"),
        address="lambda",
    ),
    "penalty_step": Parameter(
        label=_("penalty step"),
        tip=_("Explicit: at the old parameters. Implicit: at the new ones, stable for every λ"),
        form=_("{} step"),
        values=(_EXPLICIT, _IMPLICIT),
        default=_EXPLICIT,
        methods=("fedcurv", "fedmas"),
        address="penaltyStep",
    ),
    "output": Parameter(
        label=_("importance"),
        tip=_("Logits: Ω can grow with them. Softmax: ‖f‖² is at most 1, so Ω cannot"),
        form=_("Ω of {}"),
        values=(_LOGITS, _SOFTMAX),
        default=_LOGITS,
        methods=("fedmas",),
        address="output",
    ),
    "server_lr": Parameter(
        label=_("server rate"),
        tip=_("Length of the step that the server takes along the average change"),
        symbol="η_g",
        values=(0.1, 0.2, 0.5, 1.0, 1.5, 2.0),
        default=algorithms.Scaffold().server_lr,
        methods=("scaffold", "fedavgm"),
        address="serverRate",
    ),
    "beta": Parameter(
        label=_("momentum β"),
        tip=_("Share of the last change that the server keeps"),
        symbol="β",
        values=(0.0, 0.5, 0.8, 0.9, 0.95, 0.99),
        default=algorithms.FedAvgM().beta,
        methods=("fedavgm",),
        address="beta",
    ),
    "alpha": Parameter(
        label=_("α of Dirichlet"),
        tip=_("Small: few labels in each, or few large clients"),
        symbol="α",
        values=(0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 100.0),
        default=0.3,
        stored=(0.1, 0.3, 1.0),
        address="alpha",
    ),
    "labels": Parameter(
        label=_("labels per client"),
        tip=_("Distinct labels of each client"),
        form=_("{} labels per client"),
        values=tuple(range(1, 11)),
        default=2,
        stored=(1, 2, 5),
        address="labels",
    ),
    "num_clients": Parameter(
        label=_("clients N"),
        tip=_("Number of clients"),
        symbol="N",
        values=tuple(range(2, 101)),
        default=100,
        address="clients",
    ),
    "clients_per_round": Parameter(
        label=_("clients a round K"),
        tip=_("How many of the N clients train in a round"),
        symbol="K",
        values=tuple(range(1, 101)),
        default=20,
        address="cohort",
    ),
    "local_epochs": Parameter(
        label=_("local epochs E"),
        tip=_("Passes over own data in a round"),
        symbol="E",
        values=tuple(range(1, 21)),
        default=5,
        stored=(1, 5, 10),
        address="epochs",
    ),
    "local_steps": Parameter(
        label=_("local steps τ"),
        tip=_("Local steps in a round"),
        symbol="τ",
        values=(1, 2, 3, 5, 10, 20, 50),
        default=10,
    ),
    "batch_size": Parameter(
        label=_("batch size B"),
        tip=_("Samples in each local step"),
        symbol="B",
        values=(1, 5, 10, 20, 50, 100),
        default=10,
        address="batch",
    ),
    "lr": Parameter(
        label=_("learning rate η"),
        tip=_("Size of a local step"),
        symbol="η",
        values=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        default=0.05,
        address="lr",
    ),
    "stragglers": Parameter(
        label=_("stragglers"),
        tip=_("Chance that a client does only a part of its E epochs"),
        form=_("stragglers {}"),
        values=(0.0, 0.25, 0.5, 0.75, 0.9),
        default=0.0,
        address="stragglers",
    ),
    "rounds": Parameter(
        label=_("rounds"),
        tip=_("How often the server sends and averages"),
        form=_("{} rounds"),
        values=tuple(range(5, 201, 5)),
        default=50,
    ),
    "seed": Parameter(
        label=_("seed"),
        tip=_("Another seed draws other clients, cohorts and batches"),
        form=_("seed {}"),
        values=tuple(range(100)),
        default=0,
        address="seed",
    ),
}

# (parameter, room) → what the room has instead.
VARIANTS: dict[tuple[str, str], Variant] = {
    ("num_clients", "playground"): Variant("few clients can be watched one by one", default=10),
    ("clients_per_round", "playground"): Variant(
        "half of its 10 clients; a narrow column", default=5, label=_("per round K")
    ),
    ("labels", "playground"): Variant("the strongest skew shows drift best", default=1),
    ("lr", "playground"): Variant("its first story is to learn within 40 rounds", default=0.1),
    ("strength", "playground"): Variant(
        "the explicit step is stable at λ = 0.02 on its small networks", default=0.02
    ),
    ("lr", "unequal work"): Variant(
        "at η = 0.4 ten steps and two cover the same way; a = 2, so η must be below 1",
        values=(0.01, 0.03, 0.1, 0.4),
        default=0.1,
    ),
    ("lr", "drift"): Variant(
        "τ steps at η = 0.2 are the longest that stay in the picture",
        values=(0.01, 0.02, 0.05, 0.1, 0.2),
        default=0.1,
    ),
    ("local_steps", "drift"): Variant(
        "each step is a dot in the animation: more than 20 cannot be told apart",
        values=(1, 2, 5, 10, 20),
    ),
    ("local_steps", "bound"): Variant(
        "with more than 15 steps drift and noise cross outside of the picture",
        values=(1, 2, 5, 10, 15),
    ),
    ("local_steps", "two lines"): Variant(
        "one step has no drift, and its line is nowhere on a logarithmic axis",
        values=(2, 5, 10, 15),
        default=5,
    ),
    ("mu", "plane"): Variant(
        "η (a + μ) must be below 2, with a = 4 and η = 0.05; FedAvg comes first",
        values=(0.0, 0.3, 1.0, 3.0, 10.0, 30.0),
        default=0.0,
    ),
    ("mu", "rates"): Variant(
        "these are stored at all learning rates; 0 is FedAvg alone",
        values=(0.0, 0.01, 0.1, 1.0),
        tip=_("Reveals the curve of FedProx with this μ"),
    ),
    ("mu", "unequal work"): Variant(
        "η (a + μ) must be below 2 at η = 0.1", values=(0.0, 0.3, 1.0, 3.0, 10.0)
    ),
    ("strength", "ditto"): Variant(
        "it is Ditto's λ, a pull to the model of all and no penalty on forgetting",
        values=(0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 100.0),
        default=1.0,
        label=_("λ of Ditto"),
        tip=_("Strength of the pull to the model of all"),
    ),
    ("alpha", "skew"): Variant(
        "the split is drawn without training, so it reaches the extreme 0.01",
        values=(0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0),
    ),
    ("seed", "skew"): Variant(
        "only the split is drawn, for each position of a stored page",
        values=tuple(range(10)),
        tip=_("Another draw from the same law"),
    ),
    ("local_epochs", "compressed"): Variant("the runs are stored", values=(1, 5, 20)),
}


def parameter(name: str, room: str = "") -> Parameter:
    """The parameter ``name`` as a ``room`` has it; without a variant, as in the table."""
    found = PARAMETERS[name]
    variant = VARIANTS.get((name, room))
    if variant is None:
        return found
    given = {key: value for key, value in vars(variant).items() if value is not None}
    del given["reason"]
    return replace(found, **given)


def of_method(algorithm: str) -> tuple[str, ...]:
    """The names of the parameters that an algorithm takes, in the order of the table."""
    return tuple(name for name, one in PARAMETERS.items() if algorithm in one.methods)


def by_address() -> Mapping[str, str]:
    """The name in an address of the playground → the name in the table."""
    return {one.address: name for name, one in PARAMETERS.items() if one.address}
