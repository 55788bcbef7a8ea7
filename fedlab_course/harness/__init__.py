"""Notebooks run without a person: parameters, kernels, and what an executed notebook tells."""
