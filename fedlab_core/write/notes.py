"""The title, the annotations and the shapes of a figure."""

from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Rectangle

from fedlab_core.write.colours import colour
from fedlab_core.write.page import Page
from fedlab_core.write.properties import Part
from fedlab_core.write.symbols import dashes
from fedlab_core.write.words import words

_ACROSS = {"left": "left", "center": "center", "right": "right"}
_UP = {"top": "top", "middle": "center", "bottom": "bottom"}


def pixel(page: Page, part: Part, letter: str, value: Any, *, note: bool = False) -> float:
    """A place of a shape or an annotation on the page: in the plot ("paper"), in an axis' domain, or on the axis.

    An annotation's number on a logarithmic axis is a logarithm, that of a shape is not.
    """
    reference = str(part(f"{letter}ref", letter))
    name, _, domain = reference.partition(" ")
    if name == "paper":
        start, length = (page.plot[0], page.plot[2]) if letter == "x" else (page.plot[1], page.plot[3])
        return start + float(value) * length
    if name not in page.axes or domain not in ("", "domain"):
        part.refuse(f"{letter}ref", reference)
    axis = page.axes[name]
    if domain:
        return axis.start + float(value) * axis.length
    return float(axis.pixel(float(value) if note and axis.kind == "log" else axis.place(value)))


def reach_shapes(page: Page) -> None:
    """Make room on the axes for the shapes that stand on them."""
    for shape in page.layout.items("shapes"):
        for letter in "xy":
            name = shape(f"{letter}ref", letter)
            if name in page.axes:
                ends = [page.axes[name].place(shape(f"{letter}{end}")) for end in (0, 1)]
                page.axes[name].reach(ends, float(shape("line.width", 2)) / 2, share=False)


def draw_shapes(page: Page) -> None:
    for shape in page.layout.items("shapes"):
        (x0, x1), (y0, y1) = (
            [pixel(page, shape, letter, shape(f"{letter}{end}")) for end in (0, 1)] for letter in "xy"
        )
        opacity, width = float(shape("opacity", 1.0)), float(shape("line.width", 2))
        look: dict[str, Any] = {"linewidth": width, "transform": page.pixels}
        look |= {"zorder": 0.2 if shape.choice("layer", "above", ("above", "below")) == "below" else 6.0}
        line = colour(shape("line.color", "#444"), opacity if width else 0.0)
        style = dashes(shape("line.dash"), width)
        kind = shape.choice("type", "rect", ("line", "rect", "circle"))
        artist: Any
        if kind == "line":
            artist = Line2D([x0, x1], [y0, y1], color=line, linestyle=style, **look)
        else:
            look |= {"edgecolor": line, "linestyle": style}
            look |= {"facecolor": colour(shape("fillcolor", "rgba(0,0,0,0)"), opacity)}
            corner, size = (min(x0, x1), min(y0, y1)), (abs(x1 - x0), abs(y1 - y0))
            middle = ((x0 + x1) / 2, (y0 + y1) / 2)
            artist = Rectangle(corner, *size, **look) if kind == "rect" else Ellipse(middle, *size, **look)
        _add(page, shape, artist)


def _add(page: Page, shape: Part, artist: Any) -> None:
    """A shape on an axis belongs to its panel, and ends where that ends; one on the paper to the whole page."""
    names = [str(shape(f"{letter}ref", letter)).partition(" ")[0] for letter in "xy"]
    own = [panel for key, panel in page.panels.items() if all(name in (*key, "paper") for name in names)]
    if names == ["paper", "paper"] or not own:
        artist.set_zorder(-1 if artist.get_zorder() < 1 else 20)
        page.canvas.add_artist(artist)
    else:
        own[0].add_artist(artist)
        artist.set_clip_box(own[0].bbox)


def draw_annotations(page: Page) -> None:
    for note in page.layout.items("annotations"):
        note.choice("showarrow", True, (False,))
        found, place, look = words(note("text")), [], dict[str, Any](note_font(page, note))
        for letter, names, parts in (
            ("x", _ACROSS, ("left", "center", "right")),
            ("y", _UP, ("bottom", "middle", "top")),
        ):
            value, anchor = note(letter), note(f"{letter}anchor", "auto")
            at = pixel(page, note, letter, value, note=True)
            if anchor == "auto":
                fixed = str(note(f"{letter}ref", letter)).endswith(("paper", "domain"))
                share = float(value) if fixed else 0.5
                anchor = parts[0] if share < 1 / 3 else parts[2] if share > 2 / 3 else parts[1]
            frame = float(note("borderpad", 1)) + float(note("borderwidth", 1))
            inwards = frame * {parts[0]: 1, parts[1]: 0, parts[2]: -1}[anchor]
            place.append(at + float(note(f"{letter}shift", 0)) + inwards)
            look["ha" if letter == "x" else "va"] = names[anchor]
        if note("bgcolor") or note("bordercolor"):
            pad = float(note("borderpad", 1))
            edge = colour(note("bordercolor", "rgba(0,0,0,0)"))
            box = {"facecolor": colour(note("bgcolor", "rgba(0,0,0,0)")), "edgecolor": edge}
            look["bbox"] = {"boxstyle": f"square,pad={pad / look['fontsize']}", **box}
            look["bbox"]["linewidth"] = float(note("borderwidth", 1)) if note("bordercolor") else 0
        look |= {"multialignment": note("align", "center"), "rotation": -float(note("textangle", 0)), **found.font}
        page.canvas.text(*place, found.text, transform=page.pixels, zorder=30, **look)


def note_font(page: Page, part: Part, scale: float = 1.0) -> dict[str, Any]:
    size = float(part("font.size", round(scale * page.font_size)))
    return {"fontsize": size, "color": colour(part("font.color", page.layout("font.color", "#444")))}


def draw_title(page: Page) -> None:
    title = page.layout.part("title")
    found = words(title("text"))
    if not found.text:
        return
    place = {}
    for letter, size, far in (("x", page.width, 0.05), ("y", page.height, "auto")):
        value, reference = title(letter, far), title.choice(f"{letter}ref", "container", ("container", "paper"))
        if value == "auto":
            place[letter] = page.height - page.margins["t"] / 2
        elif reference == "paper":
            start, length = page.plot[letter == "y"], page.plot[2 + (letter == "y")]
            place[letter] = start + value * length
        else:
            place[letter] = value * size
    share = title("x", 0.05)
    across = title("xanchor", "auto")
    across = ("left" if share < 1 / 3 else "right" if share > 2 / 3 else "center") if across == "auto" else across
    up = title("yanchor", "auto")
    up = "middle" if up == "auto" else up
    push = {
        "left": title("pad.l", 0),
        "right": -title("pad.r", 0),
        "bottom": title("pad.b", 0),
        "top": -title("pad.t", 0),
    }
    x, y = place["x"] + push.get(across, 0), place["y"] + push.get(up, 0)
    look = {**note_font(page, title, 1.4), **found.font, "ha": _ACROSS[across], "va": _UP[up]}
    page.canvas.text(x, y, found.text, transform=page.pixels, zorder=30, **look)
