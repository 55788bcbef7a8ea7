"""Data sets that come as files: what belongs to each, fetching, importing, checking and reading them."""
