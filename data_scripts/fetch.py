"""Download or import a data set, like ``python -m fedlab_core data fetch NAME [--from FOLDER] [--root FOLDER]``."""

import sys

from fedlab_core.cli import main

sys.exit(main(["data", "fetch", *sys.argv[1:]]))
