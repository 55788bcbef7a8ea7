"""The settings of a run: each declared, explained and checked here, and nowhere else."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import torch

from fedlab_core import losses, schedules, validation
from fedlab_core.losses import Loss
from fedlab_core.sampling import Availability
from fedlab_core.schedules import Schedule

ENGINES = ("auto", "reference", "stacked")
Check = Callable[[str, Any], Any]
T = TypeVar("T")


def _is(meaning: str, check: Check) -> dict[str, Any]:
    """The ``meaning`` of a setting, and its ``check``: from name and value to the value in its final form."""
    return {"meaning": meaning, "check": check}


def _integer(name: str, value: Any) -> int:
    return validation.integer(name, value, minimum=1)


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _or_function(check: Check) -> Check:
    return lambda name, value: value if callable(value) else check(name, value)


def _instance(kinds: Any, words: str) -> Check:
    """A check for values of these types, or else the error says ``words``."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kinds):
            raise ValueError(f"{name}={value!r}: must be {words}")
        return value

    return check


def _cohort(name: str, value: Any) -> float:
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
    seen = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device.type not in seen:
        raise ValueError(f"{name}={value!r}: must be 'cpu', 'cuda' (or 'cuda:1', …) or 'mps'")
    if not seen[device.type]:
        raise ValueError(f"{name}={value!r}: this PyTorch sees no {device.type.upper()} device; use device='cpu'")
    return str(device)


_RATE = _or_function(lambda name, value: validation.real(name, value, exclusive=True))
_LOSS = _or_function(lambda name, value: validation.choice(name, value, losses.LOSSES))
_ENGINE: Check = lambda name, value: validation.choice(name, value, ENGINES)  # noqa: E731
_SHARE: Check = lambda name, value: validation.real(name, value, below=1)  # noqa: E731
_FRACTION: Check = lambda name, value: validation.real(name, value, maximum=1)  # noqa: E731
_SEED: Check = lambda name, value: validation.seed(value)  # noqa: E731
_TRUTH = _instance(bool, "True or False")
_CALLABLE = _or_none(_instance(Callable, "None or a function (record, server)"))
_FILE = _or_none(_instance((str, Path), "the path of a file"))
_PRESENT = _or_none(_instance(Availability, "None or an Availability, such as sampling.Bernoulli(probabilities)"))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run, in their final form. Raises ``ValueError`` for a value that no run can have."""

    rounds: int = field(metadata=_is("communication rounds T, an integer ≥ 1", _integer))
    clients_per_round: int | float = field(
        metadata=_is("clients in a cohort K, an integer, or their fraction in (0, 1]", _cohort)
    )
    local_epochs: int | None = field(
        default=None,
        metadata=_is("epochs E of a client in a round; give exactly one of epochs and steps", _or_none(_integer)),
    )
    local_steps: int | None = field(default=None, metadata=_is("SGD steps τ in a round, instead", _or_none(_integer)))
    batch_size: int | None = field(metadata=_is("samples B in a local step; None is full batch", _or_none(_integer)))
    lr: float | Schedule = field(
        metadata=_is("learning rate η of the local steps, or a schedule from t = 0, 1, … (rounds done) to η_t", _RATE)
    )
    local_momentum: float = field(
        default=0.0,
        metadata=_is("momentum m of the local steps, from zero in each round: v ← m v + gradient, y ← y − η v", _SHARE),
    )
    loss: str | Loss = field(
        default="cross_entropy",
        metadata=_is('"cross_entropy", "squared_error", or a function (output, target) → scalar mean', _LOSS),
    )
    seed: int = field(default=0, metadata=_is("seed of every random stream", _SEED))
    engine: str = field(
        default="auto",
        metadata=_is('"stacked", a cohort at once; "reference", client by client; "auto", stacked if it can', _ENGINE),
    )
    device: str = field(default="cpu", metadata=_is('"cpu", "cuda" or "mps"', _device))
    threads: int | None = field(
        default=None,
        metadata=_is(
            "threads that train clients side by side, on which no number depends; None is $FEDLAB_THREADS, or else one "
            "for each core that this process may use",
            _or_none(_integer),
        ),
    )
    eval_every: int = field(default=1, metadata=_is("evaluate after every so many rounds and the last", _integer))
    train_loss: bool = field(
        default=True, metadata=_is("whether to measure the loss on the clients' samples too", _TRUTH)
    )
    held_out: float = field(
        default=0.0, metadata=_is("share of each client's samples that it is measured on and does not train on", _SHARE)
    )
    client_accuracy: bool = field(
        default=False, metadata=_is("whether to record every client's accuracy as rounds are evaluated", _TRUTH)
    )
    on_round: Callable[..., Any] | None = field(
        default=None, metadata=_is("a function (record, server) to call after each round", _CALLABLE)
    )
    checkpoint: str | Path | None = field(
        default=None, metadata=_is("file to write as rounds end, and to resume from", _FILE)
    )
    progress: bool = field(default=True, metadata=_is("whether to show progress", _TRUTH))
    stragglers: float = field(
        default=0.0,
        metadata=_is("fraction of clients that do only 1 … E of their epochs (or steps), which is kept", _FRACTION),
    )
    availability: Availability | None = field(
        default=None,
        metadata=_is("who can be drawn in which round (fedlab_core.sampling); None is everybody", _PRESENT),
    )

    def __post_init__(self) -> None:
        for name, declared in declarations().items():
            object.__setattr__(self, name, declared.metadata["check"](name, getattr(self, name)))
        if (self.local_epochs is None) == (self.local_steps is None):
            given = f"local_epochs={self.local_epochs!r}, local_steps={self.local_steps!r}"
            raise ValueError(f"{given}: give exactly one of them, an integer ≥ 1")
        self.rates  # noqa: B018 (a schedule is asked, and its answers are checked, before any work)

    @property
    def unit(self) -> str:
        """In what local work is counted: "epochs" or "steps"."""
        return "steps" if self.local_epochs is None else "epochs"

    @property
    def amount(self) -> int:
        """E, or τ: how many of them a client does."""
        return int(self.local_steps if self.local_epochs is None else self.local_epochs)  # type: ignore[arg-type]

    @cached_property
    def rates(self) -> list[float]:
        """η of each round. A schedule is asked once for each, so that one with a memory is recorded as it was used."""
        return schedules.rates(self.lr, self.rounds)

    def cohort_size(self, num_clients: int) -> int:
        """K out of ``num_clients`` N. Raises ``ValueError`` for more than there are."""
        if isinstance(self.clients_per_round, float):
            return max(1, round(self.clients_per_round * num_clients))
        allowed = f"an integer from 1 to {num_clients} (the number of clients) or a fraction in (0, 1]"
        if self.clients_per_round > num_clients:
            raise ValueError(f"clients_per_round={self.clients_per_round!r}: must be {allowed}")
        return self.clients_per_round


def declarations() -> dict[str, Field[Any]]:
    """The declaration of each setting by name, in order: its type, its default, its meaning and its check."""
    return {declared.name: declared for declared in fields(Settings)}


def meaning(name: str) -> str:
    """What a setting means, in a phrase."""
    return str(declarations()[name].metadata["meaning"])


def check(name: str, value: Any) -> Any:
    """``value`` as the final form of the setting ``name``. Raises ``ValueError`` for one that no run can have."""
    return declarations()[name].metadata["check"](name, value)


def takes_settings(function: T) -> T:
    """Give a function or class with a last parameter ``**settings`` the signature and the documentation of each."""
    keywords = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if declared.default is MISSING else declared.default,
            annotation=declared.type,
        )
        for name, declared in declarations().items()
    ]
    signature = inspect.signature(function)  # type: ignore[arg-type]
    own = list(signature.parameters.values())[:-1]
    vars_of: Any = function
    vars_of.__signature__ = signature.replace(parameters=[*own, *keywords])
    entries = "\n".join(f"    {name}: {meaning(name)}." for name in declarations())
    vars_of.__doc__ = f"{inspect.cleandoc(vars_of.__doc__)}\n\nSettings:\n\n{entries}\n"
    return function
