# Everything is run through a virtual environment in .venv, made from the lock files.
# It needs Python 3.11 or newer, make, and a package index for the first run.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.PHONY: help demo test check bench format docs lock clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-14s %s\n' "$$name" "$$text"; done

demo: .venv/base ## compact a recorded session, show what was kept, and get one cut line back
	@$(BIN)/python examples/demo.py

test: .venv/dev ## run all tests and doctests in random order, with coverage
	@$(BIN)/python -m pytest --cov --cov-report=term $(TESTS)

check: .venv/dev ## format, lint, types, layers, spelling, generated texts, docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/codespell src tests docs examples benchmarks .ci Makefile pyproject.toml *.md
	@$(BIN)/cog --check --verbosity=0 -I docs docs/*.md
	@$(BIN)/mkdocs build --strict --quiet

bench: .venv/dev ## measure speed and memory
	@$(BIN)/python benchmarks/run.py

format: .venv/dev ## put the code, and the generated parts of the docs, in order
	@$(BIN)/ruff check --fix --exit-zero --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/cog -r --verbosity=0 -I docs docs/*.md

docs: .venv/dev ## build the docs into site/
	@$(BIN)/mkdocs build --strict

lock: ## make the lock files anew (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url --group build pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url --group build --group dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean: ## remove what was made here, the environment too
	rm -rf .venv .demo site .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* .import_linter_cache

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "reefknot needs Python 3.11 or newer: set PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv

.venv/base: requirements.lock pyproject.toml | .venv/bin/python
	@echo "installing what reefknot needs"
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: requirements-dev.lock .venv/base
	@echo "installing what its tests and checks need"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@
