"""Notebooks run without a person.

``run`` is the whole course: it reads the notebooks' ``parameters``, makes a ``plan`` of them, runs several notebooks
side by side, each in a ``kernel`` of its own, shows the ``progress``, asks ``executed`` what came of each, and writes
to an ``output_folder``. ``rows`` does so once for each row of a table. ``kernels`` can all be stopped at once, and
``kernel_client`` mends how replies are read.
"""
