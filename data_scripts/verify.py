"""Check data sets against their checksums: ``python data_scripts/verify.py [NAME ...] [--root FOLDER]``.

The same as ``python -m fedlab_core data verify …``.
"""

import sys

from fedlab_core.cli import main

if __name__ == "__main__":
    sys.exit(main(["data", "verify", *sys.argv[1:]]))
