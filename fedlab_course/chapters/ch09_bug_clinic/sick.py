"""What all sick algorithms share: they give their number instead of their name."""

from typing import Any, ClassVar


class Sick:
    """A mixin, first in the list of bases: the algorithm shows itself as "Patient 3"."""

    number: ClassVar[int]

    def describe(self) -> dict[str, Any]:
        """For the configuration of a run."""
        return {"name": str(self), **vars(self)}

    def __str__(self) -> str:
        return f"Patient {self.number}"

    def __repr__(self) -> str:
        return str(self)
