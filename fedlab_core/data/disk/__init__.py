"""Data sets that come as files: fetch, import, check and read them."""
