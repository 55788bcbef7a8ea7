#!/usr/bin/env bash
# A real JupyterHub in which two students work, each in an own browser. Binder's steps make its
# environment. Everything is made below build/hub. PIP_ARGS holds further options for pip. Needs
# Node.js with npm, and Chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder="$PWD/build/hub"
mkdir -p "$folder"

"${PYTHON:-python3}" tools/setup_env.py cluster course test

if ! cat pyproject.toml constraints.txt binder/postBuild | cmp --silent - "$folder/made-for"; then
    rm -rf "$folder/made-for" "$folder/venv" "$folder/torch"
    "${PYTHON:-python3}" -m venv "$folder/venv"
    export PATH="$folder/venv/bin:$PATH"
    PIP_ARGS="--quiet ${PIP_ARGS:-}" binder/postBuild
    pip install --quiet ${PIP_ARGS:-} --constraint constraints.txt \
        "jupyterhub>=5.2,<7" "jupyterhub-idle-culler>=1.4,<3"
    cat pyproject.toml constraints.txt binder/postBuild >"$folder/made-for"
fi
if command -v npm >/dev/null; then
    npm install --silent --no-fund --no-audit --prefix "$folder/npm" configurable-http-proxy@5.1.0
fi

export FEDLAB_SLOW=1 FEDLAB_HUB="$folder/venv/bin:$folder/npm/node_modules/.bin"
exec .venv/bin/python -m pytest -ra ${PYTEST_ARGS:-} tests/hub
