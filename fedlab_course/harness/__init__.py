"""Run notebooks without a person.

``run`` runs the whole course: it reads the notebooks' ``parameters``, makes a ``plan``, executes several notebooks side
by side, each in its own ``kernel``, shows the ``progress``, and writes an ``output_folder``. ``executed`` reads the
results, and ``rows`` repeats this for each row of a table.
"""
