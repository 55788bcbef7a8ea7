"""Checks before a run: what a module does, and whether federation, model, algorithm and settings fit together."""
