"""What controls offer: the parameters and the splits of the explorers, the playground and the
pages.
"""
