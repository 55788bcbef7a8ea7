"""``python -m fedlab_course``."""

import sys

from fedlab_course.cli import main

if __name__ == "__main__":
    sys.exit(main())
