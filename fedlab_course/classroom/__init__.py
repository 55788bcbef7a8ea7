"""The class is the federation: students' phones train one model together, live.

``fedlab-course classroom`` starts one server: a page for phones, one for the projector, one for the
lecturer. A phone keeps its drawings and sends counts and updates. Rounds are those of
``fedlab_core.remote``, so that every algorithm of the library runs unchanged.
"""
