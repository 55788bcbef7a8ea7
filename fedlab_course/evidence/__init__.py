"""Stored evidence: claims of the sources, measured over many seeds, with a verdict for each."""
