"""Run notebooks without a person: ``course_run`` makes a ``CoursePlan``, executes each notebook in
its own ``kernel``, and reports.
"""
