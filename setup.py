"""What pyproject.toml cannot say: a wheel carries ``notebooks/`` and ``results/`` inside the package of the course."""

from setuptools import find_packages, setup

CARRIED = {"fedlab_course.notebooks": "notebooks", "fedlab_course.results": "results"}

setup(
    packages=[*find_packages(include=["fedlab_core*", "fedlab_course*"]), *CARRIED],
    package_dir=CARRIED,
)
