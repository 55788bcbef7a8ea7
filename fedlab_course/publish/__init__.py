"""Executed notebooks as static pages that ask nothing of the network."""
