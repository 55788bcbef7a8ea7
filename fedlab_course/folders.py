"""The folders of notebooks and results, the selection of notebooks, and folders for output."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fedlab_core import validation

_PACKAGE = Path(__file__).resolve().parent
# A wheel has notebooks and results inside the package; in a checkout they are beside it.
NOTEBOOKS = next(
    folder for folder in (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks") if folder.is_dir()
)
RESULTS = next(
    folder for folder in (_PACKAGE / "results", _PACKAGE.parent / "results") if folder.is_dir()
)


def select(folder: Path, only: Sequence[str]) -> list[Path]:
    """List the notebooks of ``folder`` in order; with ``only``, those with a listed name or leading
    number.
    """
    if folder.is_file():
        raise ValueError(
            f"--notebooks {folder}: is a file; name its folder, and select the file with --only"
        )
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise ValueError(f"no notebooks (*.ipynb) in {folder}")
    chosen = set()
    for wanted in only:
        stem = wanted.removesuffix(".ipynb")
        matching = [path for path in paths if stem in (path.stem, path.stem.partition("_")[0])]
        if not matching:
            validation.choice("notebook", wanted, [path.stem for path in paths])
        chosen.update(matching)
    return [path for path in paths if path in chosen] if only else paths


def digest(folder: Path) -> str:
    """Compute a digest of the Python source in ``folder``; it changes with the source."""
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def make(out: Path) -> None:
    """Create the folder ``out`` if it is missing. Raises ``ValueError`` if it is not writable."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(
            f"--out {out}: there is a file with this name; name another folder"
        ) from error
    except OSError as error:
        raise ValueError(
            f"--out {out}: cannot be written to ({error.strerror}); name another folder"
        ) from error
