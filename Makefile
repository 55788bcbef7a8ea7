# `make` lists the targets. PYTHON names the interpreter (3.11 or newer), TORCH a build of PyTorch other than the one that
# tools/setup_env.py chooses (cpu, cu130, default, …). PIP_ARGS adds options to every pip install.
PYTHON ?= python3
TORCH ?=
PIP_ARGS ?=
LAB_ARGS ?=
COURSE_ARGS ?= --profile quick --out build
EVIDENCE_ARGS ?=
# gettext's variable of this name in the environment says nothing about the course
CODE := $(if $(filter command line,$(origin LANGUAGE)),$(LANGUAGE),en)
export FEDLAB_LANGUAGE := $(CODE)
BOOKS := notebooks$(if $(filter-out en,$(CODE)),/$(CODE))
PYTEST_ARGS ?= -n auto --maxprocesses 4 --dist loadscope --no-loadscope-reorder

VENV := .venv
RUN := $(VENV)/bin/python
SETUP = TORCH="$(TORCH)" PIP_ARGS="$(PIP_ARGS)" "$(PYTHON)" tools/setup_env.py

.PHONY: help course test coverage test-all test-flower slow oldest lab evidence clean
.DEFAULT_GOAL := help

help: ## list the targets
	@echo "Targets (each sets up its environment in $(VENV) first, if that is needed):"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1#\2/p' $(MAKEFILE_LIST) | column -t -s '#' 2>/dev/null || true
	@echo "LANGUAGE=zh makes the course or opens JupyterLab in Chinese."
	@echo "PYTHON=python3.12 names another interpreter, TORCH=cpu another build of PyTorch: see docs/install.md."

course: python ## run the whole course on the embedded data and write build/site/index.html
	@$(SETUP) course
	$(RUN) -m fedlab_course run $(COURSE_ARGS)

test: python ## lint, format check, types and all tests that matter
	@$(SETUP) cluster course figures images nbgrader test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest $(PYTEST_ARGS) -m "not slow"

coverage: python ## these tests, and which lines they run: build/coverage/html/index.html
	@$(SETUP) cluster course figures images nbgrader test
	$(RUN) -m pytest $(PYTEST_ARGS) -m "not slow" --cov --cov-report=term --cov-report=html

test-flower: python ## the tests with Flower's SuperLink and SuperNodes on this machine, in $(VENV)-flower
	@$(SETUP) --flower flower test
	PATH="$(CURDIR)/$(VENV)-flower/bin:$$PATH" $(VENV)-flower/bin/python -m pytest -p no:cacheprovider tests/flower

test-all: test slow oldest ## these tests and the slow ones

slow: python ## only the slow tests: MNIST, killed clusters, nbgrader, full crosses
	@$(SETUP) cluster course figures images nbgrader test
	$(RUN) -m pytest $(PYTEST_ARGS) -m slow

oldest: python ## the tests of the library with the oldest versions it allows, in $(VENV)-oldest
	@$(SETUP) --oldest test
	$(VENV)-oldest/bin/python -m pytest $(PYTEST_ARGS) -m "not slow" tests/core

lab: python ## open the first chapter in JupyterLab
	@$(SETUP) course
	$(if $(filter-out en,$(CODE)),$(RUN) -m fedlab_course build --language $(CODE))
	$(RUN) -m jupyterlab --ServerApp.root_dir=$(BOOKS) --LabApp.default_url=/lab/tree/00_start_here.ipynb $(LAB_ARGS)

evidence: python ## do the runs behind results/REPRODUCTION.md that are missing (hours; needs mnist, cifar10, sentiment140)
	@$(SETUP) cluster course
	$(RUN) -m fedlab_course evidence run $(EVIDENCE_ARGS)

clean: ## remove the environment, caches and everything under build/
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-flower build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find conformance fedlab_core fedlab_course data_scripts tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: python
python:
	@command -v "$(PYTHON)" >/dev/null || { echo "make: $(PYTHON) not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
