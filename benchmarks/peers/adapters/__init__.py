"""One script for each peer, run by the Python of its own environment."""
