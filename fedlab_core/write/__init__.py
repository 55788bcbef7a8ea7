"""Tables and figures as files, for papers and slides."""

from fedlab_core.write.files import table
from fedlab_core.write.latex import latex
from fedlab_core.write.markdown import markdown
from fedlab_core.write.pictures import figure

__all__ = ["figure", "latex", "markdown", "table"]


def __dir__() -> list[str]:
    return __all__
