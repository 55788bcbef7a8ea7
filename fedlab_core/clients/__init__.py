"""Clients: what they send back, what is stored for each, and how accurate each model is on its data."""
