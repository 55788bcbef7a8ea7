"""Sweeps: a grid of runs, each in its own folder named by the digest of its configuration.

``plan`` reads the grid, ``crew`` does its runs on ``workers``, ``folder`` stores the results,
``command`` is for users.
"""
