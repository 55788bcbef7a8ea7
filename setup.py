"""What pyproject.toml cannot say: a wheel carries ``notebooks/`` inside the package of the course."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["fedlab_core*", "fedlab_course*"]), "fedlab_course.notebooks"],
    package_dir={"fedlab_course.notebooks": "notebooks"},
)
