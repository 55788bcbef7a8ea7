# The course as an image: alone, or as the single-user server of JupyterHub. See docs/hub.md.
#   docker build -t fedlab .
#   docker run -p 8888:8888 fedlab
FROM python:3.11-slim-bookworm

# Where PyTorch without CUDA comes from, further options for pip, and the versions of JupyterHub that the hub may have.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG PIP_ARGS=
ARG JUPYTERHUB="jupyterhub>=5.2,<7"

RUN apt-get update && apt-get install --yes --no-install-recommends git tini && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 --gid users --shell /bin/bash jovyan

WORKDIR /opt/fedlab/source
COPY constraints.txt ./
RUN pip install --no-cache-dir $PIP_ARGS --no-deps --index-url "$TORCH_INDEX" --constraint constraints.txt torch torchvision
COPY pyproject.toml setup.py README.md LICENSE LICENSE-notebooks ./
COPY conformance conformance
COPY fedlab_core fedlab_core
COPY fedlab_course fedlab_course
COPY notebooks notebooks
COPY results results
RUN pip install --no-cache-dir $PIP_ARGS --constraint constraints.txt ".[course]" "$JUPYTERHUB" "nbgitpuller>=1.2,<2"
WORKDIR /opt/fedlab
RUN mv source/notebooks chapters && rm -rf source

COPY docker/overrides.json /usr/local/share/jupyter/lab/settings/overrides.json
COPY docker/jupyter_server_config.json /usr/local/etc/jupyter/jupyter_server_config.json
COPY docker/start.py start.py
COPY fedlab_core/engines/cores.py cores.py

ENV HOME=/home/jovyan
ENV FEDLAB_CHAPTERS=/opt/fedlab/chapters
WORKDIR /home/jovyan
USER 1000
EXPOSE 8888
ENTRYPOINT ["tini", "--", "python", "/opt/fedlab/start.py"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser"]
