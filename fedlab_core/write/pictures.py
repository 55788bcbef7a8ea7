"""Figures as files: SVG, PDF and PNG."""

import importlib.util
import io
import warnings
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from fedlab_core import files, validation

_SUFFIXES = (".svg", ".pdf", ".png")
_WIDTH, _HEIGHT = 700, 450  # Plotly's own


def figure(
    figure: go.Figure,
    path: str | Path,
    *,
    width: float | None = None,
    height: float | None = None,
    scale: float = 2.0,
    font: str = "DejaVu Sans",
    engine: str = "matplotlib",
) -> Path:
    """Write a Plotly figure to ``path``: SVG, PDF or, with ``scale`` dots a pixel, PNG. Returns the path.

    ``width`` and ``height`` in pixels: by default those of the figure, otherwise 700 × 450. ``engine`` "matplotlib"
    draws the figure without a browser, with the same data, colours, dashes, markers, ticks and texts; the letters, of
    the ``font``, go into the file as outlines (SVG) or embedded (PDF), and the same figure gives the same bytes. It
    follows every figure of :mod:`fedlab_core.plots` and of the course. "browser" is Plotly's own ``write_image``, with
    the package kaleido and Chrome, and can all of Plotly.

    Raises ``ValueError`` for another suffix, a size that is not positive, a character that the font does not have, and
    for what the drawing does not follow, by name; ``ImportError`` if the engine is not installed.
    """
    if not isinstance(figure, go.Figure):
        raise ValueError(f"figure {type(figure).__name__}: must be a plotly.graph_objects.Figure")
    validation.choice("engine", engine, ("matplotlib", "browser"))
    target = Path(path)
    suffix = validation.choice("suffix of path", target.suffix.lower(), _SUFFIXES)
    across = width if width is not None else figure.layout.width or _WIDTH
    up = height if height is not None else figure.layout.height or _HEIGHT
    across, up = (validation.real(*pair, exclusive=True) for pair in (("width", across), ("height", up)))
    validation.real("scale", scale, exclusive=True)
    write = _by_matplotlib if engine == "matplotlib" else _by_browser
    content = write(figure, suffix.removeprefix("."), across, up, scale, font)
    with files.replacing(target) as file:
        file.write(content)
    return target


def _by_matplotlib(figure: go.Figure, form: str, width: float, height: float, scale: float, font: str) -> bytes:
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("fl.write.figure needs matplotlib: pip install matplotlib")
    from fedlab_core.write.drawing import draw, settings

    with settings(font), warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")
        try:
            drawn = draw(figure.to_plotly_json(), width, height)
            file = io.BytesIO()
            drawn.savefig(file, format=form, dpi=72 * scale if form == "png" else 72, metadata=_metadata(figure, form))
        except UserWarning as missing:
            raise ValueError(f"font={font!r}: {missing}; name a font that has it") from None
    return file.getvalue()


def _metadata(figure: go.Figure, form: str) -> dict[str, Any]:
    """The description of the figure, for readers who do not see it, and neither a date nor a version."""
    described = figure.layout.meta.get("alt") if isinstance(figure.layout.meta, dict) else None
    said = {"Title": figure.layout.title.text, "Subject" if form == "pdf" else "Description": described}
    given = {name: text for name, text in said.items() if text}
    without = {"svg": ("Date",), "pdf": ("CreationDate", "Producer"), "png": ("Software",)}[form]
    creator = {} if form == "png" else {"Creator": "fedlab_core"}
    return {**dict.fromkeys(without), **creator, **given}


def _by_browser(figure: go.Figure, form: str, width: float, height: float, scale: float, font: str) -> bytes:
    if importlib.util.find_spec("kaleido") is None:
        raise ImportError('engine="browser" needs the package kaleido (pip install kaleido) and Chrome or Chromium')
    return bytes(figure.to_image(format=form, width=width, height=height, scale=scale if form == "png" else 1))
