"""Run notebooks without a person: ``run`` makes a ``plan``, executes each in its own ``kernel``, and reports."""
