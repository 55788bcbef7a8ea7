"""Experiments made by name, described as JSON, and run again from that description."""
