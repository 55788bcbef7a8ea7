"""The playground: a page that trains two federations in the browser, with the numbers of the
library.
"""

from fedlab_course.playground.page import Playground, html
from fedlab_course.playground.plane import PLANES, plane

__all__ = ["PLANES", "Playground", "html", "plane"]
