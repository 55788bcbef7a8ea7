"""Check data sets against their checksums: ``python data_scripts/verify.py [NAME ...] [--root FOLDER]``."""

import sys

from fedlab_core.data.cli import main

if __name__ == "__main__":
    sys.exit(main("verify"))
