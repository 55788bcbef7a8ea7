"""The pages of the class and their files, and the QR code."""

import io
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jinja2

from fedlab_core import language
from fedlab_core.plots import colours
from fedlab_course import playground
from fedlab_course.classroom import virtual

HERE = Path(__file__).parent
TRAINER = ("random", "network", "clusters", "algorithms", "run")  # scripts of the playground
SCRIPTS = {
    "student.js": ("words", "packets", "drawing", "keeping", "revealed", "showing", "student"),
    "projector.js": ("words", "charts", "projector"),
    "lecturer.js": ("words", "charts", "projector", "lecturer"),
}
SHEETS = {"student.css": ("common", "student"), "projector.css": ("common", "projector")}
PAGES = ("student.html", "projector.html", "lecturer.html")


class Asset(NamedTuple):
    """A file of the server: its ``kind`` (media type) and its text."""

    kind: str
    text: str


@cache
def files() -> dict[str, Asset]:
    """Every file that the server gives to anybody, by name."""
    found = {}
    for name, text in _pages().items():
        found[name] = Asset("text/html; charset=utf-8", text)
    for name, sheet_names in SHEETS.items():
        sheets = [_read("template", f"{part}.css") for part in sheet_names]
        found[name] = Asset("text/css", colours.page_variables() + _palette() + "".join(sheets))
    for name, parts in SCRIPTS.items():
        scripts = [language.in_script(_read("scripts", f"{part}.js"), __name__) for part in parts]
        found[name] = Asset("text/javascript", '"use strict";\n' + "\n".join(scripts))
    engine = [_of_playground(part) for part in TRAINER]
    trainer = [_read("scripts", "packets.js"), _read("scripts", "trainer.js")]
    found["trainer.js"] = Asset("text/javascript", "\n".join([*engine, *trainer]))
    found["samples.json"] = Asset("application/json", json.dumps(virtual.samples()))
    return found


def _pages() -> dict[str, str]:
    """The pages, in the language of the process."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "template"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
    )
    templates.policies["ext.i18n.trimmed"] = True
    translate = language.translator(__name__)
    words = {"gettext": translate, "tag": language.tag(language.current())}
    return {name: templates.get_template(f"{name}.j2").render(words) for name in PAGES}


def _read(folder: str, name: str) -> str:
    return (HERE / folder / name).read_text(encoding="utf-8")


def _of_playground(name: str) -> str:
    folder = Path(playground.__file__).parent / "scripts"
    return (folder / f"{name}.js").read_text(encoding="utf-8")


def _palette() -> str:
    lines = [f"  --group-{place}: {colour};" for place, colour in enumerate(colours.GROUPS)]
    return "\n".join([":root {", *lines, f"  --many: {colours.MANY};", "}", ""])


def qr_code(text: str) -> str:
    """A QR code of ``text`` as SVG, dark on light with its quiet zone."""
    segno = _segno()
    out = io.BytesIO()
    dark = colours.PAGE["ink"][0]
    segno.make(text, error="m").save(
        out, kind="svg", scale=8, border=4, dark=dark, light=colours.PAPER, xmldecl=False
    )
    return out.getvalue().decode()


def qr_code_in_terminal(text: str) -> str:
    """A QR code of ``text`` in block letters."""
    out = io.StringIO()
    _segno().make(text, error="m").terminal(out, compact=True)
    return out.getvalue()


def _segno():  # type: ignore[no-untyped-def]
    try:
        import segno
    except ImportError as error:
        raise ImportError("segno not installed: pip install '.[course]'") from error
    return segno
