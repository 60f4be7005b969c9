# The verbs of this repository. Everything lives in .venv; nothing outside the folder is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SAMPLE := fixtures/vaults/sample
PLUGIN := obsidian-plugin

# hnswlib is compiled here: portable code runs on every machine that gets a copy of the result.
export HNSWLIB_NO_NATIVE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run demo test check format lint types bench goldens lock wheel clean
.PHONY: plugin plugin-test plugin-check plugin-release

help: ## show these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.run ## set up what is needed to use khiipd

demo: run ## set up, index the sample vault, recall a few things from it
	@$(BIN)/python tests/demo.py $(SAMPLE)

test: $(VENV)/.dev .cache/inspector/.tried ## set up and run every test
	$(BIN)/python -m pytest -n auto --dist worksteal
	@$(MAKE) --no-print-directory plugin-test

check: format lint types plugin-check test ## format, lint, types, tests

plugin: $(PLUGIN)/node_modules/.ready ## build the Obsidian plugin (needs Node 20)
	cd $(PLUGIN) && npm run --silent build

# The engine needs no Node; where there is none, or no registry of its packages, it is said.
plugin-test: ## the plugin's tests, in a real browser too
	@if command -v npm >/dev/null && $(MAKE) --no-print-directory $(PLUGIN)/node_modules/.ready; \
	then $(MAKE) --no-print-directory .plugin-tests; \
	else echo "LEFT OUT: the plugin's tests, for they need Node 20 and npm's registry" >&2; fi

.PHONY: .plugin-tests
.plugin-tests: plugin
	cd $(PLUGIN) && npm run --silent test
	@if $(PLUGIN)/scripts/chromium.sh >/dev/null; then cd $(PLUGIN) && npm run --silent test:browser; \
	else echo "LEFT OUT: the plugin's tests in a browser, for there is no Chromium" >&2; fi

plugin-check: $(PLUGIN)/node_modules/.ready ## the plugin's format, lint and types
	cd $(PLUGIN) && npm run --silent check

plugin-release: plugin ## the three files that a person installs, as dist/khiip-plugin.zip
	mkdir -p dist && rm -f dist/khiip-plugin.zip
	cd $(PLUGIN) && $(PYTHON) -m zipfile -c ../dist/khiip-plugin.zip main.js manifest.json styles.css

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
	rm -rf $(PLUGIN)/node_modules $(PLUGIN)/main.js $(PLUGIN)/.shots

$(PLUGIN)/node_modules/.ready: $(PLUGIN)/package-lock.json
	cd $(PLUGIN) && npm ci --silent --no-audit --no-fund
	@touch $@

# The MCP Inspector's command line, which a few tests call; they are skipped where npm has it not.
.cache/inspector/.tried: tests/mcp_server/inspector/package-lock.json
	@rm -rf .cache/inspector && mkdir -p .cache/inspector
	@cp tests/mcp_server/inspector/package*.json .cache/inspector/
	@cd .cache/inspector && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
	  || echo "no MCP Inspector: its tests are skipped"
	@touch $@

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
