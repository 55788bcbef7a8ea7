"""Charts that change in place in a notebook, and the stage that shows them with their controls."""

import base64
import gzip
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from fedlab_course.explore.widgets import button, column, text

SCRIPTS = Path(__file__).parent / "scripts"
_WAITING = "The chart has not loaded yet. If nothing appears, run this cell again."
_STILL = "This explorer moves when its cell is run. Below is what it showed last."
_BETWEEN_BEATS = 2.0  # seconds; the script reports a silent kernel after three of them
_names = itertools.count()


class Chart:
    """A figure that can change: ``figure`` is what it shows now, and ``widget`` shows it in a live notebook.

    The widget is HTML that holds the whole newest figure as JSON, and ``scripts/live.js`` draws it: a browser that
    connects late misses nothing.
    """

    def __init__(self, figure: go.Figure) -> None:
        self._name = f"chart-{next(_names)}"
        self.widget = text()
        self.show(figure)

    def show(self, figure: go.Figure, about: Mapping[str, Any] | None = None) -> None:
        """Show a copy of ``figure``; ``about``: further data for ``scripts/hover.js``."""
        self.figure = go.Figure(figure)
        more = _script(json.dumps(about, separators=(",", ":"), ensure_ascii=False), "fedlab-about") if about else ""
        self.widget.value = (
            f'<fedlab-chart data-name="{self._name}">{_script(self.figure.to_json(), "fedlab-figure")}{more}'
            f'<p class="fedlab-words">{_WAITING}</p></fedlab-chart>'
        )


class Stage:
    """The ``parts`` of an explorer in a live notebook, and a still picture for the saved file.

    ``look``: the CSS class that arranges the parts.
    """

    def __init__(self, *parts: Any, look: str) -> None:
        self._pulse, self._source = text(), text()
        asked = button("Send Plotly")
        asked.on_click(lambda _: self._send_plotly())
        hidden = column(self._pulse, self._source, asked, look="fedlab-hidden")
        self.box = column(column(*parts, hidden, look=f"fedlab-explorer {look}"), look="fedlab-live")
        self._beats = itertools.count()
        self._lock, self._beating = threading.Lock(), False
        self._still: Any = None
        self._kept = ""
        self.beat()

    def display(self) -> None:
        """Show the parts in the cell that runs now."""
        from IPython.display import HTML, display

        display(HTML(f'<fedlab-cell data-still="{_STILL}"></fedlab-cell>{page()}'))
        # The text is for readers without widgets, and for JupyterLab where it does not trust the notebook.
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": _STILL}, raw=True)
        self._kept, self._still = "", display({"text/plain": ""}, raw=True, display_id=True)

    def keep(self, figure: go.Figure) -> None:
        """Make ``figure`` the picture in the saved notebook; does nothing before :meth:`display`."""
        picture = figure.to_json()
        if self._still is not None and picture != self._kept:
            self._kept = picture
            self._still.update({"application/vnd.plotly.v1+json": json.loads(picture)}, raw=True)

    def beat(self, busy: bool = False) -> None:
        """Tell the browser that the kernel is alive. While it is ``busy``, the browser expects more beats."""
        self._pulse.value = f"<fedlab-beat data-number={next(self._beats)}{' data-busy' if busy else ''}></fedlab-beat>"

    def beat_while(self, busy: Callable[[], bool]) -> None:
        """Beat every two seconds, in the background, while ``busy()`` is true."""
        with self._lock:
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat_on, args=(busy,), name="heartbeat", daemon=True).start()

    def _beat_on(self, busy: Callable[[], bool]) -> None:
        while True:
            with self._lock:
                going = self._beating = busy()
            self.beat(going)
            if not going:
                return
            time.sleep(_BETWEEN_BEATS)

    def _send_plotly(self) -> None:
        """Send Plotly to a page that has none; the script asks for it with the hidden button."""
        packed = base64.b64encode(gzip.compress(get_plotlyjs().encode())).decode()
        self._source.value = f"<fedlab-source>{packed}</fedlab-source>"


def page() -> str:
    """The style and the scripts of live charts; on a dark page they also turn the plain figures of the course dark."""
    scripts = "".join(_read(f"{name}.js") for name in ("colours", "live", "hover"))
    return f"<style>{_read('live.css')}</style><script>{scripts}</script>"


def _script(data: str, look: str) -> str:
    escaped = data.replace("<", "\\u003c")
    return f'<script type="application/json" class="{look}">{escaped}</script>'


def _read(name: str) -> str:
    """A style sheet or script without indents and lines of comment."""
    source = (SCRIPTS / name).read_text(encoding="utf-8")
    return re.sub(r"^[ \t]*(//.*\n|\n)?", "", source, flags=re.MULTILINE)
