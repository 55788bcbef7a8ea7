"""The course: checks of its claims, and the harness that runs the notebooks and writes the site."""
