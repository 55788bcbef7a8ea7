"""The settings of a run. Each is declared, explained and checked here, and nowhere else."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property, partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar, get_args

import torch

from fedlab_core import losses, schedules, validation
from fedlab_core.aliases import Given
from fedlab_core.losses import Loss
from fedlab_core.sampling import Availability
from fedlab_core.schedules import Schedule

ENGINES = ("auto", "reference", "stacked")
MOST = 1_000_000  # rounds, and epochs or steps in a round: more would fill the memory with plans
Check = Callable[[str, Any], object]  # from name and value to the value in its final form
OnRound = Callable[..., object]  # takes a RoundRecord and a Server
T = TypeVar("T")


def _setting(meaning: str, check: Check, default: object = MISSING) -> Any:
    """A field with its ``meaning`` and its ``check``."""
    return field(default=default, metadata={"meaning": meaning, "check": check})


def _or_function(check: Check) -> Check:
    """A check that lets functions pass."""
    return lambda name, value: value if callable(value) else check(name, value)


def _instance(kinds: Any, words: str) -> Check:
    """A check for values of these types; ``words`` say what is allowed."""

    def check(name: str, value: object) -> object:
        if not isinstance(value, kinds):
            raise ValueError(f"{name}={value!r}: must be {words}")
        return value

    return check


def _cohort(name: str, value: object) -> float:
    """An integer stays one: 1 is one client, 1.0 is all of them."""
    if not isinstance(value, bool):
        if isinstance(value, Integral) and int(value) >= 1:
            return int(value)
        if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
            return float(value)
    raise ValueError(f"{name}={value!r}: must be an integer ≥ 1, or a fraction in (0, 1]")


def _device(name: str, value: Any) -> str:
    try:
        device = torch.device(value)
    except (RuntimeError, TypeError):
        device = torch.device("meta")
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if device.type not in available:
        raise ValueError(f"{name}={value!r}: must be 'cpu', 'cuda' (or 'cuda:1', …) or 'mps'")
    if not available[device.type]:
        raise ValueError(
            f"{name}={value!r}: PyTorch finds no {device.type.upper()} device here; use "
            "device='cpu'"
        )
    return str(device)


# ruff: noqa: RUF009 (_setting makes a field)
_COUNT = partial(validation.integer, minimum=1)
_AMOUNT = partial(validation.integer, minimum=1, maximum=MOST)
_SHARE = partial(validation.real, below=1)
_FLAG = _instance(bool, "True or False")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run, in their final form.

    Raises ``ValueError`` for a value that is not allowed.
    """

    rounds: int = _setting("communication rounds T", _AMOUNT)
    clients_per_round: int | float = _setting(
        "clients in a cohort K, an integer, or their fraction in (0, 1]", _cohort
    )
    local_epochs: int | None = _setting(
        "epochs E that a client trains in a round (either local_epochs or local_steps)",
        _AMOUNT,
        None,
    )
    local_steps: int | None = _setting(
        "SGD steps τ that a client takes in a round, in place of epochs", _AMOUNT, None
    )
    batch_size: int | None = _setting("samples B in a local step; None is full batch", _COUNT)
    lr: float | Schedule = _setting(
        "learning rate η of the local steps, or a schedule from t = 0, 1, … (rounds done) to η_t",
        _or_function(partial(validation.real, exclusive=True)),
    )
    local_momentum: float = _setting(
        "momentum m of the local steps, from zero in each round: v ← m v + gradient, y ← y − η v",
        _SHARE,
        0.0,
    )
    loss: str | Loss = _setting(
        '"cross_entropy", "squared_error", or a function (output, target) → scalar mean',
        _or_function(partial(validation.choice, allowed=losses.LOSSES)),
        "cross_entropy",
    )
    seed: int = _setting(
        "seed of every random stream", lambda name, value: validation.seed(value), 0
    )
    engine: str = _setting(
        '"stacked" trains a cohort at once; "reference" client by client; "auto" is stacked '
        "where possible",
        partial(validation.choice, allowed=ENGINES),
        "auto",
    )
    device: str = _setting('"cpu", "cuda" or "mps"', _device, "cpu")
    threads: int | None = _setting(
        "threads that train clients in parallel, without an effect on the numbers; None is "
        "$FEDLAB_THREADS, or else one for each core that this process may use",
        _COUNT,
        None,
    )
    eval_every: int = _setting(
        "rounds from one evaluation to the next; the last round is evaluated too", _COUNT, 1
    )
    train_loss: bool = _setting(
        "whether to measure the loss on the clients' samples too", _FLAG, True
    )
    held_out: float = _setting(
        "fraction of each client's samples that are kept for its evaluation", _SHARE, 0.0
    )
    client_accuracy: bool = _setting(
        "whether to record each client's accuracy in every evaluation", _FLAG, False
    )
    on_round: OnRound | None = _setting(
        "a function (record, server) that is called after each round",
        _instance(Callable, "None or a function (record, server)"),
        None,
    )
    checkpoint: str | Path | None = _setting(
        "file that is written as rounds end, and from which the run resumes",
        _instance((str, Path), "the path of a file"),
        None,
    )
    progress: bool = _setting("whether to show progress", _FLAG, True)
    stragglers: float = _setting(
        "fraction of clients that do only 1 … E of their epochs (or steps); their updates "
        "count too",
        partial(validation.real, maximum=1),
        0.0,
    )
    availability: Availability | None = _setting(
        "which clients can be sampled in which round (fedlab_core.sampling); None is all of them",
        _instance(
            Availability, "None or an Availability, such as sampling.Bernoulli(probabilities)"
        ),
        None,
    )

    def __post_init__(self) -> None:
        for name, declared in declarations().items():
            value = getattr(self, name)
            if value is not None or type(None) not in get_args(declared.type):
                object.__setattr__(self, name, declared.metadata["check"](name, value))
        if (self.local_epochs is None) == (self.local_steps is None):
            given = f"local_epochs={self.local_epochs!r}, local_steps={self.local_steps!r}"
            raise ValueError(f"{given}: give exactly one of them, an integer ≥ 1")
        self.rates  # noqa: B018 (calls the schedule and checks its rates before any work)

    @property
    def unit(self) -> str:
        """The unit of local work: "epochs" or "steps"."""
        return "steps" if self.local_epochs is None else "epochs"

    @property
    def amount(self) -> int:
        """E or τ: the local work of a client in that unit."""
        return int(self.local_steps if self.local_epochs is None else self.local_epochs)  # type: ignore[arg-type]

    @cached_property
    def rates(self) -> list[float]:
        """η of each round.

        A schedule is called once a round, because it may give other rates the next time.
        """
        return schedules.rates(self.lr, self.rounds)

    def cohort_size(self, num_clients: int) -> int:
        """K out of ``num_clients`` N. Raises ``ValueError`` if K is larger than N."""
        if isinstance(self.clients_per_round, float):
            return max(1, round(self.clients_per_round * num_clients))
        if self.clients_per_round > num_clients:
            raise ValueError(
                f"clients_per_round={self.clients_per_round!r}: must be an integer from 1 to "
                f"{num_clients} (the number of clients) or a fraction in (0, 1]"
            )
        return self.clients_per_round


class SettingsKeywords(TypedDict):
    """The keywords of ``simulate`` for editors and type checkers: the fields of ``Settings``."""

    rounds: int
    clients_per_round: int | float
    local_epochs: NotRequired[int | None]
    local_steps: NotRequired[int | None]
    batch_size: int | None
    lr: float | Schedule
    local_momentum: NotRequired[float]
    loss: NotRequired[str | Loss]
    seed: NotRequired[int]
    engine: NotRequired[str]
    device: NotRequired[str]
    threads: NotRequired[int | None]
    eval_every: NotRequired[int]
    train_loss: NotRequired[bool]
    held_out: NotRequired[float]
    client_accuracy: NotRequired[bool]
    on_round: NotRequired[OnRound | None]
    checkpoint: NotRequired[str | Path | None]
    progress: NotRequired[bool]
    stragglers: NotRequired[float]
    availability: NotRequired[Availability | None]


def from_keywords(given: Given) -> Settings:
    """``Settings(**given)``; ``TypeError`` for an unknown name says the nearest name."""
    known = declarations()
    for name in given.keys() - known.keys():
        nearest = validation.did_you_mean(name, known)
        raise TypeError(f"{name}={given[name]!r}: is not a setting.{nearest}")
    for name, declared in known.items():
        if declared.default is MISSING and name not in given:
            raise TypeError(f"{name}: is missing; give {name}=…, {meaning(name)}")
    return Settings(**given)


def declarations() -> dict[str, Field[Any]]:
    """The declaration of each setting by name: its type, default, meaning and check."""
    return {declared.name: declared for declared in fields(Settings)}


def meaning(name: str) -> str:
    """The meaning of a setting in a phrase."""
    return str(declarations()[name].metadata["meaning"])


def takes_settings(function: T) -> T:
    """Show each of the ``**settings`` in the signature of a function or class, and document it.

    Type checkers read ``SettingsKeywords``; ``help`` and Jupyter read this signature.
    """
    keywords = [_parameter(name, declared) for name, declared in declarations().items()]
    documented: Any = function
    signature = inspect.signature(documented)
    own = list(signature.parameters.values())[:-1]
    documented.__signature__ = signature.replace(parameters=[*own, *keywords])
    entries = "\n".join(f"    {name}: {meaning(name)}." for name in declarations())
    documented.__doc__ = f"{inspect.cleandoc(documented.__doc__)}\n\nSettings:\n\n{entries}\n"
    return function


def _parameter(name: str, declared: Field[Any]) -> inspect.Parameter:
    """A setting in a signature, as a keyword."""
    default = inspect.Parameter.empty if declared.default is MISSING else declared.default
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=declared.type)
