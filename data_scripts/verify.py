"""Check data sets against their checksums, like ``python -m fedlab_core data verify [NAME ...]
[--root FOLDER]``.
"""

import sys

from fedlab_core.cli import main

sys.exit(main(["data", "verify", *sys.argv[1:]]))
