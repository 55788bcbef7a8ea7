"""The image, for real: every step of the Dockerfile in a bare Debian, then what a student and a hub do with it.

It takes minutes, so only with ``FEDLAB_SLOW=1``. ``FEDLAB_TORCH=pip`` takes PyTorch from where pip finds it, for
machines that do not reach PyTorch's own index; there, pip must find a build for the CPU.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedlab_core.data.disk.files import locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from tests.hub import dockerfile, torch_index

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(os.environ.get("FEDLAB_SLOW") != "1", reason="takes minutes: set FEDLAB_SLOW=1"),
    pytest.mark.skipif(bool(dockerfile.missing()), reason=str(dockerfile.missing())),
]
SERVED = """
import json, subprocess, sys, time, urllib.request
server = subprocess.Popen(sys.argv[1:])

def get(path):
    return urllib.request.urlopen("http://127.0.0.1:8888" + path, timeout=10).read().decode()

for _ in range(240):
    try:
        get("/api")
        break
    except OSError:
        assert server.poll() is None
        time.sleep(0.5)
page = get("/lab/tree/fedlab/02_fedprox.ipynb?token=known")
data = json.loads(page.split('id="jupyter-config-data" type="application/json">')[1].split("</script>")[0])
widgets = next(one for one in data["federated_extensions"] if one["name"] == "@jupyter-widgets/jupyterlab-manager")
script = get("/lab/extensions/@jupyter-widgets/jupyterlab-manager/" + widgets["load"])
settings = json.loads(get("/lab/api/settings/@jupyterlab/apputils-extension:notification?token=known"))
defaults = {name: one["default"] for name, one in settings["schema"]["properties"].items()}
print(json.dumps({"page": len(page), "script": len(script), "defaults": defaults}))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dockerfile.Image]:
    root = tmp_path_factory.mktemp("image") / "root"
    root.mkdir(mode=0o755)  # temporary folders let nobody else in, and the student is somebody else
    arguments = {"PIP_ARGS": "--quiet --disable-pip-version-check --cert /" + str(dockerfile.BUNDLE)}
    if os.environ.get("FEDLAB_TORCH") == "pip":
        arguments["TORCH_INDEX"] = "file:///opt/torch"
        torch_index.fill(root / "opt" / "torch")
    yield dockerfile.build(root, ROOT / "Dockerfile", **arguments)


def test_the_student_is_nobody_special_and_owns_the_home_folder(image: dockerfile.Image) -> None:
    assert image.start("sh", "-c", "id -u; echo $HOME; touch ~/mine; ls ~/fedlab").split() == [
        "1000",
        "/home/jovyan",
        *sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb")),
    ]
    assert not image.inside("/opt/fedlab/source").exists()


def test_the_pinned_versions_are_there_for_the_cpu(image: dockerfile.Image) -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.lower() for line in lines if not line.startswith("#")}
    frozen = image.start("python", "-m", "pip", "list", "--format=freeze").lower().split()
    found = {line.partition("+")[0].replace("-", "_") for line in frozen}
    names = {line.partition("==")[0].replace("-", "_") for line in pinned}
    differing = {line for line in found if line.partition("==")[0] in names} - {p.replace("-", "_") for p in pinned}
    assert not differing
    assert {"torch", "jupyterlab", "ipywidgets", "fedlab_core"} <= {line.partition("==")[0] for line in found}
    assert not any(line.startswith("nvidia") for line in frozen)
    assert image.start("python", "-m", "pip", "check").strip() == "No broken requirements found."


@pytest.mark.parametrize(("limit", "threads"), [("1.0", "1"), ("0.5", "1"), ("", None)])
def test_pytorch_has_the_threads_of_the_container(image: dockerfile.Image, limit: str, threads: str | None) -> None:
    told = image.start("python", "-c", "import torch; print(torch.get_num_threads())", CPU_LIMIT=limit).strip()
    assert told == (threads or str(len(os.sched_getaffinity(0))))


def test_alone_it_serves_jupyterlab_with_the_scripts_of_the_widgets(image: dockerfile.Image) -> None:
    command = [*image.entrypoint, *image.command]
    served = image.run("python", "-c", SERVED, *command, alone=True, limit=300, JUPYTER_TOKEN="known")
    found = json.loads(served.splitlines()[-1])
    assert found["page"] > 1000
    assert found["script"] > 1000
    assert found["defaults"]["fetchNews"] == "false"
    assert found["defaults"]["checkForUpdates"] is False


def test_a_hub_can_start_it(image: dockerfile.Image) -> None:
    assert image.start("jupyterhub-singleuser", "--version").strip()
    listed = image.start("sh", "-c", "jupyter server extension list 2>&1")
    assert ".cull_idle_timeout = 1800" in image.start("jupyter", "server", "--show-config")
    assert re.search(r"nbgitpuller\S* .*enabled", listed), listed


def test_a_chapter_runs_in_it(image: dockerfile.Image) -> None:
    image.start("fedlab-course", "run", "--only", "00", "--out", "/tmp/out", CPU_LIMIT="1")
    assert '"status": "ok"' in image.inside("/tmp/out/summary.json").read_text()


@pytest.mark.needs_data("mnist")
def test_data_sets_are_shared_read_only(image: dockerfile.Image) -> None:
    found = locate(SOURCES["mnist"], search_roots(None))
    assert found is not None
    shared = image.inside("/data/mnist")
    shared.mkdir(parents=True)
    for path in found.files.values():
        shutil.copy(path, shared)
    code = "import fedlab_core as fl; print(len(fl.load_dataset('mnist').train))"
    assert image.start("python", "-c", code, FEDLAB_DATA="/data").strip() == "60000"
    refused = image.start("sh", "-c", "fedlab-core data fetch cifar10 2>&1 || true", FEDLAB_DATA="/data")
    assert "/data cannot be written" in " ".join(refused.split())
