"""Sweeps: a grid of runs, each in a folder of its own under the digest of its configuration.

``grid`` reads the grid, ``runs`` makes configurations of it, ``work`` is what a worker does with one, ``crew`` hands
them out through Dask, ``folder`` keeps what comes back, ``tables`` reports. Dask is imported only when it is used.
"""
