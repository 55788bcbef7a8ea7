"""Run notebooks without a person.

``run`` runs the whole course: it reads the notebooks' ``parameters``, makes a ``plan``, and executes several notebooks
side by side, each in its own ``kernel``. ``executed`` reads the results, and ``rows`` repeats this for each row of a
table.
"""
