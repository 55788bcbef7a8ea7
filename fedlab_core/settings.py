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


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _cohort(name: str, value: Any) -> float:
    """An integer stays one: 1 is one client, 1.0 is all of them."""
    if not isinstance(value, bool):
        if isinstance(value, Integral) and int(value) >= 1:
            return int(value)
        if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
            return float(value)
    raise ValueError(f"{name}={value!r}: must be an integer ≥ 1, or a fraction in (0, 1]")


def _rate(name: str, value: Any) -> Any:
    return value if callable(value) else validation.real(name, value, exclusive=True)


def _loss(name: str, value: Any) -> Any:
    return value if callable(value) else validation.choice(name, value, losses.LOSSES)


def _seed(name: str, value: Any) -> int:
    return validation.seed(value)


def _engine(name: str, value: Any) -> Any:
    return validation.choice(name, value, ENGINES)


def _device(name: str, value: Any) -> str:
    allowed = f"{name}={value!r}: must be 'cpu' or 'cuda' (or 'cuda:1', …)"
    try:
        device = torch.device(value)
    except (RuntimeError, TypeError) as error:
        raise ValueError(allowed) from error
    if device.type not in ("cpu", "cuda"):
        raise ValueError(allowed)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"{name}={value!r}: this PyTorch sees no CUDA device; use device='cpu'")
    return str(device)


def _path(name: str, value: Any) -> Path:
    if not isinstance(value, (str, Path)):
        raise ValueError(f"{name}={value!r}: must be the path of a file")
    return Path(value)


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name}={value!r}: must be True or False")
    return value


def _fraction(name: str, value: Any) -> float:
    if validation.real(name, value) > 1:
        raise ValueError(f"{name}={value!r}: must be a fraction from 0 to 1")
    return float(value)


def _present(name: str, value: Any) -> Availability:
    if not isinstance(value, Availability):
        raise ValueError(
            f"{name}={value!r}: must be None or an Availability, such as sampling.Bernoulli(probabilities)"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run, in their final form. Raises ``ValueError`` for a value that no run can have."""

    rounds: int = field(metadata=_is("communication rounds T, an integer ≥ 1", _integer))
    clients_per_round: int | float = field(
        metadata=_is("clients in a cohort K, an integer, or their fraction in (0, 1]", _cohort)
    )
    local_epochs: int | None = field(
        default=None,
        metadata=_is("epochs E of a client in a round; give exactly one of epochs and steps", _optional(_integer)),
    )
    local_steps: int | None = field(default=None, metadata=_is("SGD steps τ in a round, instead", _optional(_integer)))
    batch_size: int | None = field(metadata=_is("samples B in a local step; None is full batch", _optional(_integer)))
    lr: float | Schedule = field(
        metadata=_is("learning rate η of the local steps, or a schedule from t = 0, 1, … (rounds done) to η_t", _rate)
    )
    loss: str | Loss = field(
        default="cross_entropy",
        metadata=_is('"cross_entropy", "squared_error", or a function (output, target) → scalar mean', _loss),
    )
    seed: int = field(default=0, metadata=_is("seed of every random stream", _seed))
    engine: str = field(
        default="auto",
        metadata=_is('"stacked", a cohort at once; "reference", client by client; "auto", stacked if it can', _engine),
    )
    device: str = field(default="cpu", metadata=_is('"cpu" or "cuda"', _device))
    eval_every: int = field(default=1, metadata=_is("evaluate after every so many rounds and the last", _integer))
    checkpoint: str | Path | None = field(
        default=None, metadata=_is("file to write as rounds end, and to resume from", _optional(_path))
    )
    progress: bool = field(default=True, metadata=_is("whether to show progress", _truth))
    stragglers: float = field(
        default=0.0,
        metadata=_is("fraction of clients that do only 1 … E of their epochs (or steps), which is kept", _fraction),
    )
    availability: Availability | None = field(
        default=None,
        metadata=_is("who can be drawn in which round (fedlab_core.sampling); None is everybody", _optional(_present)),
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
