"""The runs that only make evidence: sweeps and experiments, their tables, and the reports on
them.
"""
