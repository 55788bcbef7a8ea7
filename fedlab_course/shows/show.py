"""What all moving pictures are made of."""

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Show:
    """A moving picture as ``html`` and in words, ``alt``. As the last line of a cell it shows itself."""

    html: str
    alt: str

    @classmethod
    def of(cls, name: str, figure: str, alt: str) -> "Show":
        """The HTML of a ``figure`` between the style sheet and the script that lie here as ``name``."""
        style, script = ((_FOLDER / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
        return cls(f"<style>{style}</style>{figure}<script>{script}</script>", alt)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.alt}
