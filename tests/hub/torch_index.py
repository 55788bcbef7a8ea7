"""PyTorch as this machine's pip finds it, as a package index: ``python torch_index.py FOLDER``.

For machines that do not reach PyTorch's own index. Standard library and pip only.
"""

import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"
NAMES = ("torch", "torchvision")


def fill(folder: Path) -> None:
    """Make ``folder`` an index, which ``--index-url`` takes as a file:// address, of the pinned versions."""
    for name in NAMES:
        place = folder / name
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place)]
        subprocess.run([*command, "--constraint", str(CONSTRAINTS), name], check=True)
        links = [f'<a href="{quote(wheel.name)}">{wheel.name}</a>' for wheel in place.glob("*.whl")]
        (place / "index.html").write_text("\n".join(links), encoding="utf-8")


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
