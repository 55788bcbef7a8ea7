"""The page of the playground: one file with its styles, scripts, words and data, for a browser without a server."""

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import jinja2

from fedlab_core import algorithms, load_dataset
from fedlab_core.algorithms.tiers import Dbscan
from fedlab_core.data import Dataset
from fedlab_course.chapters import outline
from fedlab_course.explore.choices import Choice
from fedlab_course.explore.controls import SETTINGS
from fedlab_course.playground.plane import PLANES, UNIT, plane

HERE = Path(__file__).parent
STYLES = (HERE.parent / "publish/template/colours.css", HERE / "template/playground.css")
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
_CHAPTERS = {"fedavg": "01", "fedprox": "02", "scaffold": "03", "fedsso": "04", "fedmas": "05"}
_CHAPTERS |= {"fednova": "09", "fedavgm": "08"}
_TITLES = {name: algorithms.ALGORITHMS[name].title or algorithms.ALGORITHMS[name].__name__ for name in _CHAPTERS}
_HIDDEN = ("", "8", "16", "32", "64", "16-16", "32-32", "64-32")


def html(state: str = "", *, small: bool = False, site: bool = False) -> str:
    """The page as HTML.

    ``state``: what follows # in the address of a page that somebody shared; the address itself goes before it.
    ``small``: only the clients, one method and its accuracy. ``site``: beside the pages of the course, to link to them.
    """
    scripts = {name: (HERE / f"scripts/{name}.js").read_text(encoding="utf-8") for name in (*ENGINE, "worker", *PAGE)}
    words = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))
    template = jinja2.Template((HERE / "template/playground.html.j2").read_text(encoding="utf-8"), autoescape=True)
    return template.render(
        words=words["page"],
        tips=words["tips"],
        site=site,
        css="".join(path.read_text(encoding="utf-8") for path in STYLES),
        engine="\n".join(scripts[name] for name in ENGINE),
        worker=scripts["worker"],
        page="\n".join(scripts[name] for name in PAGE),
        catalogue=_json({"words": words, "given": state, "small": small, "site": site, **_catalogue()}),
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
        frame = f'<iframe title="Federated learning playground" style="{style}" srcdoc="{page}"></iframe>'
        return {"text/html": frame, "text/plain": "Federated learning playground"}


@cache
def _catalogue() -> dict[str, Any]:
    """The controls with their positions and defaults, the fixed parameters, the chapters and the data."""
    sets = {name: _points(plane(name)) for name in PLANES} | {"digits": _images(load_dataset("digits"))}
    chapters = {name: outline.get(number) for name, number in _CHAPTERS.items()}
    sso, mas = algorithms.FedSSO(), Dbscan()
    constants = {
        "fedsso": {"probeRate": sso.probe_lr, "probeBatch": sso.probe_batch, "probeEpochs": 1, "xi": sso.xi},
        "fedmas": {"probeRate": mas.probe_lr, "probeBatch": mas.probe_batch, "probeEpochs": mas.probe_epochs},
    }
    return {
        "sets": sets,
        "titles": _TITLES,
        "controls": _controls(list(sets)),
        "constants": constants,
        "chapters": {
            name: {"page": f"{one.stem}.html", "number": int(one.number), "title": one.title}
            for name, one in chapters.items()
        },
    }


def _controls(sets: list[str]) -> dict[str, dict[str, Any]]:
    """Name → ``values`` and the first ``value``, or ``own``: those of A and B. ``of``: the methods that use it."""
    first, scaffold, momentum = Choice(), algorithms.Scaffold(), algorithms.FedAvgM()

    def shared(values: Iterable[Any], value: Any) -> dict[str, Any]:
        return {"values": list(values), "value": value}

    def own(values: Iterable[Any], *firsts: Any, of: Sequence[str] = tuple(_CHAPTERS)) -> dict[str, Any]:
        return {"values": list(values), "own": [firsts[0], firsts[-1]], "of": of}

    return {
        "data": shared(sets, "blobs"),
        "split": shared(("labels", "dirichlet", "quantity", "iid"), "labels"),
        "labels": shared(SETTINGS["labels"].positions, 1),
        "alpha": shared(SETTINGS["alpha"].positions, first.alpha),
        "clients": shared(range(2, 101), 10),
        "hidden": shared(_HIDDEN, "16"),
        "seed": shared(range(100), first.seed),
        "cohort": shared(range(1, 101), 5),
        "batch": shared((1, 5, 10, 20, 50, 100), first.batch_size),
        "stragglers": shared((0.0, 0.25, 0.5, 0.75, 0.9), 0.0),
        "two": shared((0, 1), 1),
        "method": own(_CHAPTERS, "fedavg", "scaffold"),
        "lr": own(SETTINGS["lr"].positions, 0.1),
        "epochs": own(SETTINGS["local_epochs"].positions, first.local_epochs),
        "mu": own(SETTINGS["mu"].positions, first.mu, of=("fedprox",)),
        "lambda": own(SETTINGS["strength"].positions, 0.02, of=("fedmas",)),
        "serverRate": own((0.1, 0.2, 0.5, 1.0, 1.5, 2.0), scaffold.server_lr, of=("scaffold", "fedavgm")),
        "beta": own((0.0, 0.5, 0.8, 0.9, 0.95, 0.99), momentum.beta, of=("fedavgm",)),
    }


def _points(data: Dataset) -> dict[str, Any]:
    """A data set in the plane: coordinates in units of 1/UNIT."""
    parts = {"train": data.train, "test": data.test}
    values = {
        name: {"x": (part.x.flatten() * UNIT).int().tolist(), "y": part.y.tolist()} for name, part in parts.items()
    }
    return {"inputs": 2, "classes": data.num_classes, "unit": UNIT, **values}


def _images(data: Dataset) -> dict[str, Any]:
    """The digits: a letter from A (0) to Q (16) for each pixel."""
    parts = {"train": data.train, "test": data.test}
    values = {
        name: {"x": bytes((part.x.flatten() * 16 + 65).byte().tolist()).decode(), "y": part.y.tolist()}
        for name, part in parts.items()
    }
    return {"inputs": 64, "classes": data.num_classes, "unit": 16, **values}


def _json(value: Any) -> str:
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
