"""The course under nbgrader: a course folder to start from, and what its configuration adds to nbgrader.

nbgrader counts the outputs of check cells that ran in the submission's own kernel, where the submission may have
changed anything. :mod:`.course` writes a configuration with which it does not: :mod:`.restore` puts the cells of a
submission right before it is graded, and :mod:`.judged` takes the points of the course's exercises from the course's
grader. Both import nbgrader, which the extra ``nbgrader`` brings; this module and :mod:`.course` do not.
"""
