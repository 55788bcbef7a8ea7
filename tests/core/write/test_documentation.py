"""The code of docs/logging-and-figures.md runs, and what it logs is what the history holds."""

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

import fedlab_core as fl

PAGE = (Path(__file__).parents[3] / "docs" / "logging-and-figures.md").read_text(encoding="utf-8")
MEASURED = ["round", "server_updates", "test_accuracy", "test_loss", "train_loss", "bytes_up", "bytes_down", "drift"]


def section(title: str) -> str:
    """The Python under one heading, up to the next."""
    text = re.split(r"^#+ ", PAGE, flags=re.MULTILINE)
    (found,) = [part for part in text if part.startswith(title)]
    return "\n".join(re.findall(r"```python\n(.*?)```", found, flags=re.DOTALL))


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the page begins with, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(section("Logging, tables and figures"), names)
    return names


def measured(names: dict) -> pd.DataFrame:
    """What the page's run measures, apart from the time it takes."""
    return fl.simulate(names["fed"], names["model"], fl.FedAvg(), **names["settings"]).frame[MEASURED]


def test_lines_hold_the_history(names: dict) -> None:
    exec(section("A file of lines"), names)
    rows = [json.loads(line) for line in Path("fedavg.jsonl").read_text().splitlines()]
    pd.testing.assert_frame_equal(pd.DataFrame(rows)[MEASURED], measured(names))


def test_tensorboard_holds_the_history(names: dict) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    exec(section("TensorBoard"), names)
    events = EventAccumulator("runs/fedavg")
    events.Reload()
    expected = measured(names)
    for name in MEASURED:
        found = events.Scalars(name)
        assert [event.step for event in found] == [1, 2, 3, 4]
        assert [event.value for event in found] == pytest.approx(expected[name].tolist(), rel=1e-6)


def test_mlflow_holds_the_history_and_the_settings(names: dict) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy", reason="mlflow-skinny has no database")
    exec(section("MLflow"), names)
    client = mlflow.MlflowClient("sqlite:///mlflow.db")
    run = client.get_run(mlflow.last_active_run().info.run_id)
    expected = measured(names)
    for name in MEASURED:
        found = client.get_metric_history(run.info.run_id, name)
        assert [(one.step, one.value) for one in found] == list(enumerate(expected[name].astype(float), start=1))
    assert run.data.params == {name: str(value) for name, value in names["settings"].items()}


def test_a_function_is_called_after_every_round(names: dict) -> None:
    exec(section("From `fl.simulate`"), names)
    assert len(names["norms"]) == 4
    assert math.isclose(names["norms"][-1], float(names["history"].params.norm()))


def test_tables_and_figures_are_written(names: dict, capsys: pytest.CaptureFixture[str]) -> None:
    exec(section("Tables"), names)
    printed = capsys.readouterr().out
    assert r"FedProx $\mu$=0.1 & " in printed and r"\label{tab:race}" in printed
    markdown = printed[: printed.index("\\begin")]
    mistune = pytest.importorskip("mistune", reason="the extra course is not installed")
    assert "<strong>" in mistune.create_markdown(plugins=["table"])(markdown)
    assert Path("tables/accuracy.tex").read_text().count(r"\mathbf") >= 1
    pd.testing.assert_frame_equal(pd.read_csv("tables/accuracy.csv", index_col=0), names["values"])
    pytest.importorskip("matplotlib", reason="the extra figures is not installed")
    exec(section("Figures"), names)
    assert sorted(path.suffix for path in Path("figures").iterdir()) == [".pdf", ".png", ".svg"]


def test_the_page_names_what_a_record_holds() -> None:
    import dataclasses

    assert not {one.name for one in dataclasses.fields(fl.RoundRecord)} - set(re.findall(r"`(\w+)`", PAGE))
