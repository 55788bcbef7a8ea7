"""Algorithms that wrap another algorithm and pass on every hook that they do not change."""

from collections.abc import Callable
from typing import Any, ClassVar

from fedlab_core.algorithms.base import Algorithm, Needs


class Wrapper(Algorithm):
    """Base class: behaves as ``inner``; a subclass overrides what differs.

    Both keep their state in ``server.state``, so the names of their entries must differ. ``describe`` treats the inner
    algorithm as a hyper-parameter, so that a run can be repeated from its configuration.
    """

    refusal: ClassVar[str] = ""  # why ``inner`` may not fit, for the error message
    inner: Algorithm

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return self.inner.needs

    def check_inner(self, *needs: Needs) -> None:
        """Raise ``ValueError`` unless ``inner`` is an algorithm with one of these ``needs``."""
        if not isinstance(self.inner, Algorithm):
            raise ValueError(f"inner={self.inner!r}: must be an algorithm, such as FedAvg()")
        if self.inner.needs not in needs:
            raise ValueError(
                f"inner={self.inner}: has needs={self.inner.needs!r}, but {type(self).__name__} must have "
                f"{' or '.join(map(repr, needs))}. {self.refusal}. If the server needs less, say so in the algorithm's "
                "class: needs = 'mean'"
            )


def _passed_on(hook: str) -> Callable[..., Any]:
    """A method that calls the same hook of the inner algorithm."""

    def method(self: Wrapper, *given: Any) -> Any:
        return getattr(self.inner, hook)(*given)

    return method


for _hook in vars(Algorithm):
    if _hook not in ("describe", "title", "needs") and not _hook.startswith("_"):
        setattr(Wrapper, _hook, _passed_on(_hook))
