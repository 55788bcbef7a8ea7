"""The course under nbgrader: a course folder to start from, and what its configuration adds to nbgrader.

nbgrader counts the outputs of check cells that ran in the kernel of the submission, which may have changed anything
there. With this configuration, :mod:`.restore` first restores the released cells, and :mod:`.judged` takes the points
of the course's exercises from the course's grader. Both import nbgrader, from the extra ``nbgrader``.
"""
