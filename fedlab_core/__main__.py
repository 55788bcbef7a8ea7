"""``python -m fedlab_core``."""

from fedlab_core.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
