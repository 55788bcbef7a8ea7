"""``python -m fedconform``."""

import sys

from fedconform.command import main

sys.exit(main())
