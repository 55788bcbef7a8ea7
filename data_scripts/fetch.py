"""Download a data set, like ``python -m fedlab_core data fetch NAME [--root FOLDER]``."""

import sys

from fedlab_core.cli import main

sys.exit(main(["data", "fetch", *sys.argv[1:]]))
