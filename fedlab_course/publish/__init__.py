"""Publish executed notebooks as static pages that need no network."""
