"""Sweeps: a grid of runs, each in a folder of its own under the digest of its configuration.

``plan`` reads the grid, ``crew`` has the runs done by Dask, imported only then, ``folder`` keeps what comes back;
``command`` is what a person calls.
"""
