"""Compare the seconds of one round of FedAvg with those of other simulators.

``python -m benchmarks.peers --help`` says how.
"""
