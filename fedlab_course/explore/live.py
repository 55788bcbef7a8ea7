"""A figure as a function of sliders: they move it in a live notebook, and elsewhere it is a plain
figure.
"""

import base64
import gzip
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from fedlab_core.language import in_script, translator
from fedlab_core.plots import colours
from fedlab_core.progress import watched
from fedlab_course.explore import grid
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.widgets import box, button, note, text

_ = translator(__name__)

SCRIPTS = Path(__file__).parent / "scripts"
ASK = "Is the kernel there?"  # the text of a hidden button, by which live.js finds it
_WAITING = _("The chart has not loaded yet. If nothing appears, run this cell again.")


class Chart:
    """A ``figure`` that can change, and a ``widget`` of HTML with the figure as JSON, which
    ``live.js`` draws.
    """

    def __init__(self) -> None:
        self._name = uuid.uuid4().hex
        self.widget = text()
        self.figure = go.Figure()

    def show(self, figure: go.Figure) -> None:
        """Show a copy of ``figure``."""
        self.figure = go.Figure(figure)
        data = self.figure.to_json().replace("<", "\\u003c")
        self.widget.value = (
            f'<fedlab-chart data-name="{self._name}"><script '
            f'type="application/json">{data}</script><p '
            f'class="fedlab-words">{_WAITING}</p></fedlab-chart>'
        )


class Live:
    """What ideas and explorers have in common: a chart with a goal, and a plain figure for the
    saved notebook.
    """

    start: Callable[[], None]  # draws the chart, once it is on the page
    bundle: Callable[[], dict[str, Any]]  # the MIME bundle for a notebook without a reader
    _reaches: Callable[[Goal], bool]

    def __init__(self, goal: Goal | None) -> None:
        self._goal = goal
        self._goal_line = text()
        self.chart = Chart()
        self._still: Any = None
        self._answers = 0

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self._goal is None else self._reaches(self._goal)

    def figure(self) -> go.Figure:
        """The present chart, as a plain figure."""
        return go.Figure(self.chart.figure)

    def _arrange(self, *parts: Any, look: str) -> None:
        """Put the widgets into one box; the CSS class ``look`` arranges them."""
        self._source = text()
        self._answer = text(look="fedlab-answer")
        parts_out_of_sight = (
            self._source,
            button("Send Plotly", self._send_plotly),
            button(ASK, self._reply),
            self._answer,
        )
        hidden = box(*parts_out_of_sight, look="fedlab-hidden")
        self._box = box(box(*parts, hidden, look=f"fedlab-explorer {look}"), look="fedlab-live")

    def _present(self, figure: go.Figure, *, keep: bool = True) -> None:
        """Show ``figure`` and the goal; ``keep``: it is also the picture in the saved notebook,
        once displayed.
        """
        self.chart.show(figure)
        if self._goal is not None:
            goal = _("Goal: {goal}. ✓ Reached.") if self.reached else _("Goal: {goal}. Not yet.")
            self._goal_line.value = note(goal.format(goal=self._goal.text.rstrip(".。")))
        if keep and self._still is not None:
            self._still.update(grid.plain(figure), raw=True)

    def _send_plotly(self) -> None:
        """Send Plotly to a page without it; the script clicks the hidden button."""
        packed = base64.b64encode(gzip.compress(get_plotlyjs().encode())).decode()
        self._source.value = f"<fedlab-source>{packed}</fedlab-source>"

    def _reply(self) -> None:
        """Answer the script, which asks after each move of a control whether the kernel is still
        there.
        """
        self._answers += 1
        self._answer.value = f"{self._answers}"

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        if not watched():
            display(self.bundle(), raw=True)
            return
        display(HTML(f'<span class="fedlab-start"></span>{page()}'))
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        words = _("This explorer moves when its cell is run.")
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": words}, raw=True)
        self._still = display({"text/plain": ""}, raw=True, display_id=True)
        self.start()


def page(kind: str = "live") -> str:
    """The style and the script of live charts, or of the "scene",
    without indents and lines of comment.
    """
    style, script = (
        re.sub(
            r"^[ \t]*(//.*\n|\n)?",
            "",
            (SCRIPTS / f"{kind}.{end}").read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
        for end in ("css", "js")
    )
    style = f"<style>{colours.variables()}{style}</style>"
    return f"{style}<script>{in_script(script, __name__)}</script>"
