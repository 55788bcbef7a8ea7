"""What pyproject.toml cannot say: a wheel carries the package in ``conformance/``, and
``notebooks/`` and ``results/`` inside the package of the course.
"""

from setuptools import find_packages, setup

CARRIED = {"fedlab_course.notebooks": "notebooks", "fedlab_course.results": "results"}

CONFORMANCE = find_packages("conformance", include=["fedconform*"])

setup(
    packages=[
        *find_packages(include=["fedlab_core*", "fedlab_course*"]),
        *CONFORMANCE,
        *CARRIED,
    ],
    package_dir={"fedconform": "conformance/fedconform", **CARRIED},
)
