"""The legend of a figure, and the bars that say what its colours mean."""

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import PolyCollection
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerPatch, HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from fedlab_core.write.colours import colour
from fedlab_core.write.maps import Map
from fedlab_core.write.notes import note_font
from fedlab_core.write.page import Page
from fedlab_core.write.properties import Part
from fedlab_core.write.ticks import ticks
from fedlab_core.write.words import words

_STROKE = 30.0  # the length of a line in the legend
_STEPS = 128
_PAD = 10.0  # around a bar of colours


class _Square(HandlerPatch):
    """A bar in the legend: as wide as it is high, in the middle of where lines are drawn."""

    def create_artists(self, *arguments: Any) -> list[Any]:
        legend, handle, left, below, width, height, size, transform = arguments
        left -= (width - size) / 2  # matplotlib counts it leftwards
        return list(super().create_artists(legend, handle, left, below, size, height, size, transform))


def entries(page: Page) -> list[tuple[list[Artist], str]]:
    """What the legend holds, by rank, the members of a group next to each other."""
    shown = [trace for trace in page.traces if trace.key() and trace.part("showlegend", True)]
    if not page.layout("showlegend", len(shown) > 1 or any(trace.part("showlegend") for trace in shown)):
        return []
    groups: dict[Any, int] = {}
    for number, trace in enumerate(shown):
        groups.setdefault(trace.part("legendgroup") or ("alone", number), number)
    order = [
        (trace.part("legendrank", 1000), groups[trace.part("legendgroup") or ("alone", number)], number)
        for number, trace in enumerate(shown)
    ]
    return [(shown[number].key(), str(shown[number].name)) for *_, number in sorted(order)]


def draw_legend(page: Page) -> tuple[str, float] | None:
    """Draw the legend. Returns the side of the plot that it needs room on, "b", "r" or "t", and how much."""
    found, part = entries(page), page.layout.part("legend")
    if not found:
        return None
    flat = part.choice("orientation", "v", ("v", "h")) == "h"
    columns = len(found) if flat else 1
    across = page.width - 10 - page.plot[0] * (part("xref", "paper") == "paper")
    legend = _legend(page, part, found, columns)
    while flat and columns > 1 and legend.get_window_extent(page.renderer).width > across:
        legend.remove()
        columns -= 1
        legend = _legend(page, part, found, columns)
    box = legend.get_window_extent(page.renderer)
    x, y = _corner(page, part, box, flat)
    legend.set_loc((0, 0))
    legend.set_bbox_to_anchor((x, y, 0, 0), transform=page.pixels)
    left, below, width, height = page.plot
    if x >= left + width:
        return "r", box.width + x - left - width
    if part("yref", "paper") == "container" and y < page.height / 2:
        return "below axes", box.height + 8
    if y + box.height <= below:
        return "b", below - y
    return ("t", y + box.height - below - height) if y >= below + height else None


def _legend(page: Page, part: Part, found: list[tuple[list[Artist], str]], columns: int) -> Legend:
    rows = [found[number] for column in range(columns) for number in range(column, len(found), columns)]
    font = note_font(page, part)
    size = font["fontsize"]
    texts = [words(name) for _, name in rows]
    handles: list[Any] = [tuple(artists) for artists, _ in rows]
    spacing = {"handlelength": _STROKE / size, "columnspacing": 12 / size, "labelspacing": 4 / size, "borderpad": 0.3}
    spacing["handletextpad"] = 0.4
    title = words(part("title.text"))
    handler = {tuple: HandlerTuple(ndivide=1, pad=0), Rectangle: _Square()}
    look = {"frameon": bool(part("bgcolor")), "edgecolor": "none", "fontsize": size, "labelcolor": font["color"]}
    look |= {"title": title.text or None, "title_fontsize": size, "alignment": "left", "loc": "lower left"}
    labels = [text.text for text in texts]
    canvas: Any = page.canvas
    legend = canvas.legend(handles, labels, ncols=columns, handler_map=handler, borderaxespad=0, **spacing, **look)
    legend.set_zorder(25)
    if part("bgcolor"):
        legend.get_frame().set_facecolor(colour(part("bgcolor")))
    for artist, text in zip(legend.get_texts(), texts, strict=True):
        artist.set(**text.font)
    return legend


def _corner(page: Page, part: Part, box: Bbox, flat: bool) -> tuple[float, float]:
    """Where the lower left corner of the legend lies."""
    corner = []
    for letter, default in (("x", 0.0 if flat else 1.02), ("y", -0.1 if flat else 1.0)):
        value, upright = float(part(letter, default)), letter == "y"
        if part.choice(f"{letter}ref", "paper", ("paper", "container")) == "paper":
            at = page.plot[upright] + value * page.plot[2 + upright]
        else:
            at = value * (page.height if upright else page.width)
        anchor = part(f"{letter}anchor", "left" if not upright else "auto")
        if anchor == "auto":
            anchor = "bottom" if value <= 1 / 3 and not flat else "top" if value > 2 / 3 or value < 0 else "middle"
        size = box.height if upright else box.width
        corner.append(at - size * {"left": 0, "bottom": 0, "center": 0.5, "middle": 0.5, "right": 1, "top": 1}[anchor])
    return corner[0], corner[1]


def draw_colour_bars(page: Page) -> list[Bbox]:
    """A bar beside the plot for each scale of colours that wants one. Returns the boxes that they take."""
    boxes: list[Bbox] = []
    done: list[str] = []
    for trace in page.traces:
        if not isinstance(trace, Map):
            continue
        colours, ends, part = trace.colouring()
        if part.where in done or part("showscale", True) is False:
            continue
        done.append(part.where)
        boxes.append(_colour_bar(page, part.part("colorbar"), colours, ends))
    return boxes


def _colour_bar(page: Page, bar: Part, colours: Any, ends: tuple[float, float]) -> Bbox:
    left, below, width, height = page.plot
    length, thick = float(bar("len", 1)) * height, float(bar("thickness", 30))
    x = left + float(bar("x", 1.02)) * width + {"left": 0, "center": -0.5, "right": -1}[bar("xanchor", "left")] * thick
    share = {"bottom": 0, "middle": 0.5, "top": 1}[bar("yanchor", "middle")]
    y = below + float(bar("y", 0.5)) * height - share * length
    heading = float(bar("title.font.size", round(1.2 * page.font_size)))
    above = bool(bar("title.text")) and bar.choice("title.side", "top", ("top", "right")) == "top"
    x, y, length = x + _PAD, y + _PAD, length - 2 * _PAD - above * 1.6 * heading
    look: dict[str, Any] = {"transform": page.pixels, "zorder": 5}
    edges, faces = np.linspace(y, y + length, _STEPS + 1), colours(np.linspace(0, 1, _STEPS))
    cells = [[(x, low), (x + thick, low), (x + thick, high), (x, high)] for low, high in pairwise(edges)]
    page.canvas.add_artist(PolyCollection(cells, facecolors=faces, edgecolors=faces, linewidths=0.3, **look))
    if bar("outlinewidth", 1):
        outline = {"edgecolor": colour("#444"), "linewidth": float(bar("outlinewidth", 1))}
        page.canvas.add_artist(Rectangle((x, y), thick, length, fill=False, **outline, **look))
    size = float(bar("tickfont.size", page.font_size))
    upright = Part(bar.where, *bar.layers, {"upright": True})
    boxes = [Bbox.from_extents(x, y, x + thick, y + length)]
    outward = 5 if bar.choice("ticks", "", ("", "outside")) else 0
    for tick in ticks(upright, "linear", ends, length, size, []):
        at = y + (tick.place - ends[0]) / ((ends[1] - ends[0]) or 1) * length
        if outward:
            page.canvas.add_artist(Line2D([x + thick, x + thick + 5], [at, at], color="#444", linewidth=1, **look))
        boxes.append(_text(page, (x + thick + outward + 4, at), tick.text, size, va="center_baseline"))
    if bar("title.text"):
        if above:
            boxes.append(_text(page, (x, y + length + 8), bar("title.text"), heading, va="bottom"))
        else:
            far = max(box.x1 for box in boxes) + 8
            turned: dict[str, Any] = {"rotation": 90, "va": "center"}
            boxes.append(_text(page, (far, y + length / 2), bar("title.text"), heading, **turned))
    return Bbox.union(boxes)


def _text(page: Page, place: tuple[float, float], text: str, size: float, **look: Any) -> Bbox:
    found = words(text)
    look |= {"ha": "left", "fontsize": size, "color": page.font_colour, **found.font}
    artist = page.canvas.text(*place, found.text, transform=page.pixels, zorder=9, **look)
    return artist.get_window_extent(page.renderer)
