"""Figures that a reader moves: explorers that train, ideas that compute, stored grids for pages,
animations.
"""
