# Each target sets up what it needs in .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/*/*.cpp native/*/*.hpp)

.PHONY: demo test test-all test-sanitized lint format bench clean

demo: $(VENV)/.ready
	$(BIN)/anonset demo demo --force

test: $(VENV)/.ready-dev
	$(BIN)/pytest -n auto

test-all: $(VENV)/.ready-dev
	$(BIN)/pytest -n auto -m "slow or not slow"

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

bench: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist demo .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "anonset needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.ready: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.ready-dev: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.ready
