# The verbs of this repository. Everything lives in .venv; nothing outside the folder is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := fixtures/vaults/sample

# hnswlib is compiled here: portable code runs on every machine that gets a copy of the result.
export HNSWLIB_NO_NATIVE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run demo test check format lint types bench goldens lock wheel clean

help: ## show these verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.run ## set up what is needed to use khiipd

demo: run ## set up, index the sample vault, recall a few things from it
	@$(BIN)/python tests/demo.py $(SAMPLE)

test: $(VENV)/.dev ## set up and run every test
	$(BIN)/python -m pytest -n auto --dist worksteal

check: format lint types test ## format, lint, types, tests

format: $(VENV)/.dev ## is everything formatted?
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev ## ruff's rules
	$(BIN)/ruff check .

types: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

bench: $(VENV)/.dev .cache/bench/.ready ## measure everything that the README claims
	$(BIN)/python tests/bench/run.py --st-python .cache/bench/bin/python --update-readme

goldens: $(VENV)/.dev ## write fixtures/api anew from what the service says
	KHIIP_WRITE_GOLDEN=1 $(BIN)/python -m pytest -q tests/sidecar/test_golden.py tests/sidecar/test_openapi.py

lock: ## settle versions and hashes anew (needs uv)
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements.lock
	uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --python-version 3.11 pyproject.toml --extra dev \
	  -c requirements.lock -o requirements-dev.lock

wheel: $(VENV)/.dev ## build the wheel into dist/
	$(BIN)/python -m pip wheel -q --no-deps -w dist .

clean: ## remove everything that the verbs above made
	rm -rf $(VENV) .cache dist .mypy_cache .ruff_cache .pytest_cache .hypothesis $(SAMPLE)/.khiip

.cache/bench/.ready: requirements-bench.txt
	$(PYTHON) -m venv .cache/bench
	.cache/bench/bin/python -m pip install -q -r requirements-bench.txt
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python requirements.lock pyproject.toml
	$(BIN)/python -m pip install -q --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -q --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements-dev.lock
	@touch $@
