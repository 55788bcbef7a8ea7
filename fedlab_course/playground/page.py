"""The page of the playground: one file with its styles, scripts, words and data, for a browser
without a server.
"""

import json
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import jinja2

from fedlab_core import algorithms, language, load_dataset
from fedlab_core.algorithms.tiers import Dbscan
from fedlab_core.data import Dataset
from fedlab_core.language import translator
from fedlab_core.plots import colours
from fedlab_course import outline
from fedlab_course import words as words_of_files
from fedlab_course.catalogue import splits
from fedlab_course.catalogue.parameters import PARAMETERS, by_address, parameter
from fedlab_course.catalogue.splits import SPLITS
from fedlab_course.playground.plane import PLANES, UNIT, plane

_ = translator(__name__)

HERE = Path(__file__).parent
ENGINE = ("random", "network", "split", "clusters", "algorithms", "run")  # what the worker needs
PAGE = (
    "state",
    "python",
    "out",
    "charts",
    "pictures",
    "paths",
    "probe",
    "side",
    "controls",
    "clients",
    "story",
    "frame",
    "page",
)
_CHAPTERS = {
    "fedavg": "01",
    "fedprox": "02",
    "scaffold": "03",
    "fedsso": "04",
    "fedmas": "05",
    "fednova": "09",
    "fedavgm": "08",
}
_TITLES = {
    name: algorithms.ALGORITHMS[name].title or algorithms.ALGORITHMS[name].__name__
    for name in _CHAPTERS
}
_OF_A_SIDE = ("lr", "local_epochs")  # set for each side, whatever its method
_ORDER = (
    "data",
    "split",
    "labels",
    "alpha",
    "clients",
    "hidden",
    "seed",
    "cohort",
    "batch",
    "stragglers",
    "two",
    "method",
    "lr",
    "epochs",
    "mu",
    "lambda",
    "penaltyStep",
    "output",
    "serverRate",
    "beta",
)
_HIDDEN = ("", "8", "16", "32", "64", "16-16", "32-32", "64-32")


def html(state: str = "", *, small: bool = False, site: bool = False) -> str:
    """The page as HTML.

    ``state``: what follows # in the address of a page that somebody shared; the address itself goes
    before it. ``small``: only the clients, one method and its accuracy. ``site``: beside the pages
    of the course, to link to them.
    """
    scripts = {
        name: (HERE / f"scripts/{name}.js").read_text(encoding="utf-8")
        for name in (*ENGINE, "worker", *PAGE)
    }
    words = words_of_files.read(HERE / "words.toml", __name__)
    sheets = [
        (HERE / f"template/{name}.css").read_text(encoding="utf-8")
        for name in ("playground", "narrow")
    ]
    template = jinja2.Template(
        (HERE / "template/playground.html.j2").read_text(encoding="utf-8"), autoescape=True
    )
    return template.render(
        language=language.tag(language.current()),
        words=words["page"],
        tips=words["tips"],
        site=site,
        css=colours.page_variables() + "".join(sheets),
        engine="\n".join(scripts[name] for name in ENGINE),
        worker=scripts["worker"],
        page="\n".join(scripts[name] for name in PAGE),
        catalogue=_json(
            {"words": words, "given": state, "small": small, "site": site, **catalogue()}
        ),
    )


@dataclass(frozen=True)
class Playground:
    """The playground in a cell of a notebook. ``state`` and ``small`` are those of :func:`html`."""

    state: str = ""
    small: bool = False

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        page = escape(html(self.state, small=self.small))
        height = 460 if self.small else 860  # until the page has set its own
        style = f"width:100%;height:{height}px;border:0"
        title = _("Federated learning playground")
        frame = f'<iframe title="{escape(title)}" style="{style}" srcdoc="{page}"></iframe>'
        return {"text/html": frame, "text/plain": title}


@cache
def catalogue() -> dict[str, Any]:
    """The controls with their positions and defaults, the fixed parameters, the chapters and the
    data.
    """
    sets = {name: _points(plane(name)) for name in PLANES} | {
        "digits": _images(load_dataset("digits"))
    }
    chapters = {name: outline.get(number) for name, number in _CHAPTERS.items()}
    return {
        "sets": sets,
        "titles": _TITLES,
        "controls": _controls(list(sets)),
        "splits": {
            split.address: {
                "law": law,
                "words": split.words,
                "keyword": split.keyword,
                "control": PARAMETERS[split.parameter].address if split.parameter else "",
            }
            for law, split in SPLITS.items()
        },
        "constants": _constants(),
        "colours": {
            "labels": colours.GROUPS,
            "sides": colours.SIDES,
            "ink": colours.PAGE["ink"][0],
            "paper": colours.PAPER,
        },
        "chapters": {
            name: {"page": f"{one.stem}.html", "number": int(one.number), "title": one.title}
            for name, one in chapters.items()
        },
    }


def _constants() -> dict[str, dict[str, Any]]:
    """The parameters of methods that have no control."""
    sso = algorithms.FedSSO()
    mas = Dbscan()
    return {
        "fedsso": {
            "probeRate": sso.probe_lr,
            "probeBatch": sso.probe_batch,
            "probeEpochs": 1,
            "xi": sso.xi,
        },
        "fedmas": {
            "probeRate": mas.probe_lr,
            "probeBatch": mas.probe_batch,
            "probeEpochs": mas.probe_epochs,
        },
    }


def _controls(sets: list[str]) -> dict[str, dict[str, Any]]:
    """Name in an address → ``values`` and the first ``value``, or ``own``: those of A and B.

    ``of``: the methods that use it. ``label`` and ``tip``: those of the table of parameters.
    """
    methods = tuple(_CHAPTERS)
    laws = [split.address for split in SPLITS.values()]
    step = {"label": splits.LABEL, "tip": splits.TIP}
    own = {"values": methods, "own": ["fedavg", "scaffold"], "of": methods}
    controls: dict[str, dict[str, Any]] = {
        "data": {"values": sets, "value": "blobs"},
        "split": {"values": laws, "value": SPLITS["labels_per_client"].address, **step},
        "hidden": {"values": _HIDDEN, "value": "16"},
        "two": {"values": (0, 1), "value": 1},
        "method": own,
    }
    for address, name in by_address().items():
        controls[address] = _control(name)
    return {name: controls[name] for name in _ORDER}


def _control(name: str) -> dict[str, Any]:
    """A control for a parameter of the catalogue; those of a client's work or of a method are set
    for each side.
    """
    one = parameter(name, "playground")
    shown = {"values": one.values, "label": one.label, "tip": one.tip}
    if not one.methods and name not in _OF_A_SIDE:
        return {**shown, "value": one.default}
    used = [method for method in _CHAPTERS if not one.methods or method in one.methods]
    return {**shown, "own": [one.default, one.default], "of": used}


def _points(data: Dataset) -> dict[str, Any]:
    """A data set in the plane: coordinates in units of 1/UNIT."""
    parts = {"train": data.train, "test": data.test}
    values = {
        name: {"x": (part.x.flatten() * UNIT).int().tolist(), "y": part.y.tolist()}
        for name, part in parts.items()
    }
    return {"inputs": 2, "classes": data.num_classes, "unit": UNIT, **values}


def _images(data: Dataset) -> dict[str, Any]:
    """The digits: a letter from A (0) to Q (16) for each pixel."""
    parts = {"train": data.train, "test": data.test}
    values = {
        name: {
            "x": bytes((part.x.flatten() * 16 + 65).byte().tolist()).decode(),
            "y": part.y.tolist(),
        }
        for name, part in parts.items()
    }
    return {"inputs": 64, "classes": data.num_classes, "unit": 16, **values}


def _json(value: Any) -> str:
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
