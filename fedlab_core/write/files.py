"""Tables as files."""

from pathlib import Path
from typing import Any

from fedlab_core import files, validation
from fedlab_core.write.latex import latex
from fedlab_core.write.markdown import markdown

_FORMATS = {".md": markdown, ".tex": latex}


def table(frame: Any, path: str | Path, **options: Any) -> Path:
    """Write a frame to ``path``: Markdown (.md), LaTeX (.tex) or, with all its digits, CSV (.csv). Returns the path.

    ``options``: those of :func:`fedlab_core.write.markdown` or :func:`fedlab_core.write.latex`; CSV has none. Raises
    ``ValueError`` for another suffix, and as these do; ``TypeError`` for an option that the format does not have.
    """
    target = Path(path)
    suffix = validation.choice("suffix of path", target.suffix.lower(), (*_FORMATS, ".csv"))
    if suffix == ".csv":
        if options:
            raise TypeError(f"table: CSV takes no options, got {', '.join(options)}")
        text = frame.to_csv(lineterminator="\n")
    else:
        text = _FORMATS[suffix](frame, **options)
    with files.replacing(target) as file:
        file.write(text.encode("utf-8"))
    return target
