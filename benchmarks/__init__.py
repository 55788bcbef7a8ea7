"""Benchmarks: speed, memory and accuracy. Each file says in its first lines how it is called."""
