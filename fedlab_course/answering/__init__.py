"""The side of grading that runs in the kernel of a submission: it describes an answer and calls it, and judges nothing.

The other side, :mod:`fedlab_course.grading`, runs where the submission's code never did, and believes nothing that is
said here. What crosses over is plain data (:mod:`~fedlab_course.answering.wire`).
"""
