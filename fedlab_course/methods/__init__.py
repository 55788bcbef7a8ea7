"""Algorithms and measurements that belong to one chapter and that stored experiments use too."""
