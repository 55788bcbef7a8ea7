"""The course under nbgrader: a course folder to start from, and what its configuration adds to
nbgrader.

nbgrader trusts check cells that ran in the kernel of the submission. With this configuration,
:mod:`.restore` restores the released cells, and :mod:`.judged` takes the points from the course's
grader. Both import nbgrader.
"""
