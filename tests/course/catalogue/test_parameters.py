"""The table of parameters: each once, with values that its rooms can use."""

import inspect
import re
from pathlib import Path

import pytest

import fedlab_core as fl
from fedlab_core import algorithms
from fedlab_course import playground
from fedlab_course.catalogue.parameters import (
    PARAMETERS,
    VARIANTS,
    by_address,
    of_method,
    parameter,
)
from fedlab_course.catalogue.splits import SPLITS
from fedlab_course.explore import choices, controls
from fedlab_course.publish import runs, symbols

COURSE = Path(fl.__file__).parents[1] / "fedlab_course"
ROOMS = [(name, "") for name in PARAMETERS] + list(VARIANTS)


@pytest.mark.parametrize(("name", "room"), ROOMS)
def test_a_default_is_a_value_and_values_ascend(name: str, room: str) -> None:
    one = parameter(name, room)
    assert one.default in one.values
    if not room:
        assert set(one.stored) <= set(one.values)
    if not isinstance(one.default, str):
        assert list(one.values) == sorted(set(one.values))
    assert bool(one.form) != bool(one.symbol)
    assert one.label and one.tip


def test_a_variant_has_a_reason_and_differs() -> None:
    for (name, room), variant in VARIANTS.items():
        assert variant.reason
        assert parameter(name, room) != parameter(name)
    assert parameter("mu", "a room without a variant") == PARAMETERS["mu"]


def test_a_method_takes_the_parameters_that_the_table_gives_it() -> None:
    for name, one in PARAMETERS.items():
        for method in one.methods:
            assert name in inspect.signature(algorithms.ALGORITHMS[method]).parameters
    assert of_method("fedmas") == ("strength", "penalty_step", "output")
    assert of_method("fedavg") == ()


def test_a_split_passes_its_parameter_to_its_law() -> None:
    for law, split in SPLITS.items():
        taken = inspect.signature(getattr(fl.partition, law)).parameters
        assert set(split.arguments({name: one.default for name, one in PARAMETERS.items()})) <= set(
            taken
        )
    values = {"alpha": 0.3, "labels": 2}
    written = [split.written(split.arguments(values)) for split in SPLITS.values()]
    assert written == ["α=0.3", "2 labels per client", "sizes α=0.3", "IID"]


def test_a_client_has_one_label_up_to_all() -> None:
    every = tuple(range(1, fl.load_dataset("digits").num_classes + 1))
    assert PARAMETERS["labels"].values == every


def test_symbols_are_those_of_the_symbol_sheet() -> None:
    sheet = {one.code: one.sign for one in symbols.SYMBOLS if one.code}
    compared = [name for name, one in PARAMETERS.items() if one.symbol and name in sheet]
    assert {"mu", "lr", "alpha", "num_clients", "clients_per_round"} <= set(compared)
    for name in compared:
        assert PARAMETERS[name].symbol == sheet[name], name


def test_the_rooms_read_the_table() -> None:
    assert choices.Choice().mu == PARAMETERS["mu"].default
    fields = controls.Controls(choices.Choice()).fields
    offered = [value for _, value in fields["mu"].options]
    assert tuple(offered) == PARAMETERS["mu"].values
    cohorts = [value for _, value in fields["clients_per_round"].options]
    assert cohorts == list(range(1, choices.Choice().num_clients + 1))
    assert set(runs.SHOWN) == {name for name, one in PARAMETERS.items() if one.stored}
    page = playground.page.catalogue()
    for address, name in by_address().items():
        assert page["controls"][address]["values"] == parameter(name, "playground").values
        assert page["controls"][address]["label"] == parameter(name, "playground").label
    assert list(page["splits"]) == [split.address for split in SPLITS.values()]


def test_no_slider_has_values_or_words_of_its_own_for_a_parameter_of_the_table() -> None:
    labels = {one.label for one in PARAMETERS.values() if " " in one.label}
    labels |= {variant.label for variant in VARIANTS.values() if variant.label}
    for path in COURSE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        given = set(re.findall(r'"label": "([^"]+)"|slider\(\s*"([^"]+)"', text))
        found = {label for pair in given for label in pair} & labels
        assert not found or path.parent.name == "catalogue", (path, found)
