"""Download a data set or import it: ``python data_scripts/fetch.py NAME [--from FOLDER] [--root FOLDER]``.

The same as ``python -m fedlab_core data fetch …``.
"""

import sys

from fedlab_core.cli import main

if __name__ == "__main__":
    sys.exit(main(["data", "fetch", *sys.argv[1:]]))
