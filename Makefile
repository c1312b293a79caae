# Two commands for a newcomer: `make demo` and `make test`. Everything is set up by them when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Inspect and lm-evaluation-harness, whose logs we import, and Label Studio's kit: an environment of their own, for test-long only.
EXCHANGE := .venv-exchange
EXCHANGE_NEEDS := tests/tasks/exchange/imports/exchange/requirements.txt
# llama.cpp's server for a model of random weights: compiled once (minutes), for test-long only.
INFERENCE := .venv-inference
INFERENCE_NEEDS := tests/e2e/inference/requirements.txt
TEST_WORKERS ?= 2
# One collection for all tests; tests/conftest.py puts the quick ones first and says what stays together.
PYTEST = $(ONE_THREAD) $(KEPT_MEMORY) $(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist loadgroup --no-loadscope-reorder
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, every command would compile all of its modules again (seconds).
unexport PYTHONDONTWRITEBYTECODE
# The workers are the threads: libraries that start more wait for one another with the processor held (half of the CPU of a run).
# The last one is DuckDB's, which looks for a batch system's share before it counts cores.
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 SLURM_CPUS_ON_NODE=1
# What a test frees stays with its worker for the next one: asking the system for it again took 2% of the CPU.
KEPT_MEMORY = MALLOC_TRIM_THRESHOLD_=2000000000 MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TOP_PAD_=67108864
# uv does not look where pip was told to look for local wheels; pass it on.
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS := $(PIP_FIND_LINKS)
endif
# `cpu`, or empty: which build of PyTorch (deployments/server/install-packages).
export TORCH_BACKEND

.DEFAULT_GOAL := help
.PHONY: help setup lock demo test test-fast test-long lint format hooks bench docs film clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(READY)  ## make the virtual environment (once); TORCH_BACKEND=cpu: PyTorch without CUDA's 4.5 GB

$(READY): pyproject.toml constraints.txt constraints-cpu.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	deployments/server/install-packages $(CURDIR)/$(BIN)/python dev
	touch $(READY)

lock:  ## write constraints.txt again with the hashes of every file (UPGRADE=1: of the newest versions that go together)
	@test -x $(BIN)/uv || { echo 'make setup first: it brings uv' >&2; exit 2; }
	env -u UV_FIND_LINKS UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/python -m uv pip compile --quiet $(if $(UPGRADE),--upgrade) \
		pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
		--no-emit-find-links -o constraints.txt

$(EXCHANGE)/.ready: $(EXCHANGE_NEEDS) $(READY)
	test -x $(EXCHANGE)/bin/python || $(PYTHON) -m venv $(EXCHANGE)
	$(BIN)/python -m uv pip install --quiet --python $(EXCHANGE)/bin/python -r $(EXCHANGE_NEEDS)
	touch $@

$(INFERENCE)/.ready: $(INFERENCE_NEEDS) $(READY)
	test -x $(INFERENCE)/bin/python || $(PYTHON) -m venv $(INFERENCE)
	$(BIN)/python -m uv pip install --quiet --python $(INFERENCE)/bin/python -r $(INFERENCE_NEEDS)
	touch $@

demo: $(READY)  ## a whole exam of two months on our own sample papers: no key, no server to start
	$(BIN)/proctor demo

test: $(READY)  ## set-up and all tests, fast ones first
	$(PYTEST) -m "not long"

test-fast: $(READY)  ## only the fast tests
	$(PYTEST) -m "not slow and not service and not prefect and not long"

test-long: $(READY) $(EXCHANGE)/.ready  ## the long hunts: 1,000 damaged files, 100 kills, bare hosts, containers; root on Debian is given their programs
	@# Where that is not possible a test says what it lacks.
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then bash .ci/packages long || true; fi
	@$(MAKE) $(INFERENCE)/.ready || echo "llama.cpp could not be compiled: the test of a real inference server is skipped"
	PROCTOR_TEST_LONG=1 $(BIN)/python -m pytest -q -m "long or hunt"

lint: $(READY)  ## ruff (lint and format) and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## let ruff put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: $(READY)  ## let git run ruff before each commit and mypy before each push
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

bench: $(READY)  ## measure: quick starts, CPU per question, landings (BENCH_AGAINST=FOLDER: beside another checkout)
	$(BIN)/python -m tests.benchmarks

docs: $(READY)  ## write the generated pages: commands, data dictionary, queries, problem codes
	$(BIN)/python -m deployments.command_line.generated_docs

film: $(READY)  ## record the README's film of a first month again (two minutes)
	$(BIN)/python -m deployments.demo.film docs/pictures/first-month.svg

clean:  ## remove the environment and caches (never PROCTOR_HOME)
	rm -rf $(VENV) $(EXCHANGE) $(INFERENCE) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
