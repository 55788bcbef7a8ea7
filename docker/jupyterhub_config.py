"""JupyterHub's side of the course: what a student's server may take, and when it ends. See
docs/hub.md.

Choose a spawner and an authenticator below this line of your own file:
``load_subconfig("jupyterhub_config.py")``.
"""

import sys

c = get_config()  # noqa: F821, JupyterHub defines it

# Measured: results/memory.csv. Spawners for containers keep to these, local processes do not.
c.Spawner.mem_guarantee = "768M"
c.Spawner.mem_limit = "2G"
c.Spawner.cpu_guarantee = 0.1
c.Spawner.cpu_limit = 1.0
c.Spawner.cmd = ["jupyterhub-singleuser"]
c.Spawner.default_url = "/lab/tree/fedlab/00_start_here.ipynb"
c.Spawner.http_timeout = 120

# A class arrives within five minutes: so many servers start at
# once, the others wait for their turn.
c.JupyterHub.concurrent_spawn_limit = 40

# A server without any activity for an hour ends; the notebooks stay, their variables do not.
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"],
    }
]
