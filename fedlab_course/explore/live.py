"""A figure as a function of sliders: they move it in a live notebook, and elsewhere it is a plain figure."""

import base64
import gzip
import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from fedlab_core.progress import watched
from fedlab_course.explore import goals
from fedlab_course.explore.widgets import button, column, note, text

SCRIPTS = Path(__file__).parent / "scripts"
_WAITING = "The chart has not loaded yet. If nothing appears, run this cell again."


class Chart:
    """A ``figure`` that can change, and a ``widget`` of HTML with the figure as JSON, which ``live.js`` draws."""

    def __init__(self, figure: go.Figure) -> None:
        self._name = uuid.uuid4().hex
        self.widget = text()
        self.show(figure)

    def show(self, figure: go.Figure) -> None:
        """Show a copy of ``figure``."""
        self.figure = go.Figure(figure)
        data = self.figure.to_json().replace("<", "\\u003c")
        self.widget.value = (
            f'<fedlab-chart data-name="{self._name}"><script type="application/json">{data}</script>'
            f'<p class="fedlab-words">{_WAITING}</p></fedlab-chart>'
        )


class Stage:
    """The ``parts`` of an explorer, which the CSS class ``look`` arranges, and a plain figure for the saved file."""

    def __init__(self, *parts: Any, look: str) -> None:
        self._source = text()
        hidden = column(self._source, button("Send Plotly", self._send_plotly), look="fedlab-hidden")
        self.box = column(column(*parts, hidden, look=f"fedlab-explorer {look}"), look="fedlab-live")
        self._still: Any = None
        self._kept = ""

    def display(self) -> None:
        """Show the parts in the current cell."""
        from IPython.display import HTML, display

        display(HTML(f'<span class="fedlab-start"></span>{page()}'))
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        words = "This explorer moves when its cell is run."
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": words}, raw=True)
        self._kept, self._still = "", display({"text/plain": ""}, raw=True, display_id=True)

    def keep(self, figure: go.Figure) -> None:
        """Make ``figure`` the picture in the saved notebook; does nothing before :meth:`display`."""
        picture = figure.to_json()
        if self._still is not None and picture != self._kept:
            self._kept = picture
            self._still.update({"application/vnd.plotly.v1+json": json.loads(picture)}, raw=True)

    def _send_plotly(self) -> None:
        """Send Plotly to a page without it; the script clicks the hidden button."""
        packed = base64.b64encode(gzip.compress(get_plotlyjs().encode())).decode()
        self._source.value = f"<fedlab-source>{packed}</fedlab-source>"


class Moving:
    """What ideas and explorers have in common. ``live``: whether a reader is there; detected if None."""

    stage: Stage
    chart: Chart
    _reaches: Callable[[goals.Known], bool]
    bundle: Callable[[], dict[str, Any]]  # the MIME bundle for a notebook without a reader
    _begin: Callable[[], None]  # fills the figure, once it is on the page

    def __init__(self, goal: goals.Known | None, live: bool | None) -> None:
        self._goal = goal
        self._live = watched() if live is None else live

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self._goal is None else self._reaches(self._goal)

    def figure(self) -> go.Figure:
        """The present chart, as a plain figure."""
        return go.Figure(self.chart.figure)

    def _goal_in_words(self) -> str:
        return note(goals.words(self._goal, self.reached)) if self._goal else ""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self._live:
            self.stage.display()
            self._begin()
        else:
            display(self.bundle(), raw=True)


def page() -> str:
    """The style and the script of live charts, without indents and lines of comment."""
    style, script = (
        re.sub(r"^[ \t]*(//.*\n|\n)?", "", (SCRIPTS / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        for name in ("live.css", "live.js")
    )
    return f"<style>{style}</style><script>{script}</script>"
