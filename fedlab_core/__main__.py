"""``python -m fedlab_core``."""

import sys

from fedlab_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
