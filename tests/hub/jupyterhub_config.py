"""The configuration that docker/ ships, on loopback, for users who need neither password nor
container.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ["FEDLAB_HUB_FOLDER"])
PORTS = [int(port) for port in os.environ["FEDLAB_HUB_PORTS"].split()]

c = get_config()  # noqa: F821, JupyterHub defines it
load_subconfig(str(ROOT / "docker" / "jupyterhub_config.py"))  # noqa: F821

c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {"alice", "bob"}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(FOLDER / "home" / "{username}")
# the image's entry point
c.Spawner.cmd = [sys.executable, str(ROOT / "docker" / "start.py"), *c.Spawner.cmd]
c.Spawner.args = [
    "--LabApp.expose_app_in_browser=True",
    *(["--allow-root"] if os.geteuid() == 0 else []),
]
c.Spawner.environment = {
    "FEDLAB_CHAPTERS": str(ROOT / "notebooks"),
    "JUPYTERLAB_SETTINGS_DIR": os.environ["FEDLAB_HUB_SETTINGS"],
}

c.JupyterHub.bind_url = f"http://127.0.0.1:{PORTS[0]}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{PORTS[1]}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORTS[2]}"
c.JupyterHub.db_url = f"sqlite:///{FOLDER / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(FOLDER / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(FOLDER / "proxy.pid")
c.JupyterHub.cleanup_servers = True
