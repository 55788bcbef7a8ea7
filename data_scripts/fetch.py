"""Download a data set or import it: ``python data_scripts/fetch.py NAME [--from FOLDER] [--root FOLDER]``."""

import sys

from fedlab_core.data.cli import main

if __name__ == "__main__":
    sys.exit(main("fetch"))
