"""The settings of a run: declared once, shown wherever they are given, checked before any work."""

import dataclasses
import inspect
from typing import get_type_hints

import pytest

import fedlab_core as fl
from fedlab_core import settings
from fedlab_core.cli import main
from tests.support import quadratics, scalar_model

WORK = {"rounds": 3, "clients_per_round": 2, "local_steps": 1, "batch_size": None, "lr": 0.1}
NAMES = [field.name for field in dataclasses.fields(fl.Settings)]


@pytest.mark.parametrize("function", [fl.simulate, fl.Simulation])
def test_the_signature_spells_out_every_setting_with_its_default(function) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters) == ["fed", "model", "algorithm", *NAMES]
    for field in dataclasses.fields(fl.Settings):
        shown = parameters[field.name]
        assert shown.kind is inspect.Parameter.KEYWORD_ONLY
        no_default = field.default is dataclasses.MISSING
        assert (
            (shown.default is inspect.Parameter.empty)
            if no_default
            else shown.default == field.default
        )


def test_type_checkers_see_the_same_keywords() -> None:
    declared = {field.name: field for field in dataclasses.fields(fl.Settings)}
    keywords = settings.SettingsKeywords
    assert list(get_type_hints(keywords)) == NAMES
    assert get_type_hints(keywords) == {name: get_type_hints(fl.Settings)[name] for name in NAMES}
    needed = {name for name, field in declared.items() if field.default is dataclasses.MISSING}
    assert keywords.__required_keys__ == needed


def test_the_command_line_explains_settings_in_the_same_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    for name in set(NAMES) - {"availability", "on_round", "progress"}:
        assert "--" + name.replace("_", "-") in shown
        assert " ".join(settings.meaning(name).split())[:40] in shown


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rounds": 0}, "rounds=0: must be an integer from 1 to 1000000"),
        ({"rounds": 2.5}, "rounds=2.5"),
        ({"clients_per_round": float("nan")}, "clients_per_round=nan"),
        ({"lr": "fast"}, "lr='fast'"),
        ({"clients_per_round": 0}, "clients_per_round=0: must be an integer ≥ 1, or a fraction"),
        ({"clients_per_round": 1.5}, "clients_per_round=1.5"),
        ({"local_epochs": 1}, "local_epochs=1, local_steps=1: give exactly one"),
        ({"local_steps": None}, "give exactly one"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"lr": 0}, "lr=0: must be a finite number > 0"),
        ({"lr": lambda t: 0.2 - 0.1 * t}, r"lr\(2\)=.*: must be a finite number > 0"),
        ({"loss": "hinge"}, "loss='hinge': must be one of"),
        ({"seed": -1}, "seed=-1"),
        ({"engine": "stakced"}, "Did you mean 'stacked'"),
        ({"device": "tpu:x"}, "device='tpu:x'"),
        ({"eval_every": 0}, "eval_every=0"),
        ({"checkpoint": 3}, "checkpoint=3: must be the path of a file"),
        ({"progress": "no"}, "progress='no': must be True or False"),
        ({"stragglers": 1.5}, "stragglers=1.5: must be a finite number ≥ 0 and ≤ 1"),
        ({"availability": [0.5]}, "availability="),
    ],
)
def test_a_value_that_no_run_can_have_is_refused_with_its_name(changed, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fl.simulate(
            quadratics([1.0, 2.0], [0.0, 1.0]), scalar_model(), fl.FedAvg(), **{**WORK, **changed}
        )


def test_a_schedule_with_a_memory_is_recorded_as_it_was_used() -> None:
    """It halves each time it is asked: whoever asks it twice a round uses other rates than it
    writes down.
    """
    asked = []

    def halving(t: int) -> float:
        asked.append(t)
        return 0.4 / 2 ** len(asked)

    fed = quadratics([1.0, 3.0], [0.0, 1.0])
    history = fl.simulate(
        fed, scalar_model(), fl.FedAvg(), **{**WORK, "lr": halving}, loss="squared_error"
    )
    assert asked == [0, 1, 2]
    assert history.frame.lr.tolist() == history.config["lr"]["rates"] == [0.2, 0.1, 0.05]
