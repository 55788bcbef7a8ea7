"""Notebooks run without a person.

``run`` is the whole course: it reads the notebooks' ``parameters``, runs each in a ``kernel`` of its own, asks
``executed`` what came of it, and writes to an ``output_folder``. ``kernel_client`` mends how replies are read.
"""
