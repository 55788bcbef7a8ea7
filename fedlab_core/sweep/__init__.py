"""Sweeps: a grid of runs, each in its own folder named by the digest of its configuration.

``plan`` reads the grid, ``local`` and ``cluster`` run it in processes or on Dask, ``crew`` does one run, ``folder``
stores the results; ``command`` is the command line.
"""
