# Each target sets up what it needs in .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*/*.cpp native/*/*.hpp)

.PHONY: demo test test-all test-sanitized fuzz lint format bench clean

demo: $(VENV)/.ready
	$(BIN)/anonset demo demo --force

test: $(VENV)/.ready-dev
	$(BIN)/pytest -n auto

test-all: $(VENV)/.ready-dev
	$(BIN)/pytest -n auto -m "slow or not slow"

# The kernel tests with a native module that stops at the first bad memory access or undefined behaviour. The module lies
# in a copy of the package; -S keeps Python from finding the installed one first. Python itself is not instrumented, so the
# sanitizer must be loaded before it, and what it never frees is not ours to report.
SANITIZED := build/sanitized
test-sanitized: $(VENV)/.ready-dev
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
		-DPython_EXECUTABLE=$(abspath $(BIN)/python) -DANONSET_SANITIZE=ON -DANONSET_DEBUG_CHECKS=ON -DCMAKE_BUILD_TYPE=Debug
	$(BIN)/cmake --build $(SANITIZED)
	rm -rf $(SANITIZED)/package && mkdir -p $(SANITIZED)/package
	cp -R src/anonset $(SANITIZED)/package/ && rm -f $(SANITIZED)/package/anonset/_native*.so
	cp $(SANITIZED)/_native*.so $(SANITIZED)/package/anonset/
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so):$$($(CXX) -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH=$(SANITIZED)/package:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
		$(BIN)/python -S -m pytest --capture=sys tests/golden tests/oracle

# An hour of fuzzing: each of the targets of tests/fuzz in turn. What is found stays in build/fuzz.
FUZZ_SECONDS ?= 225
fuzz: $(VENV)/.ready-dev
	mkdir -p build/fuzz
	$(BIN)/python -m tests.fuzz all --seconds $(FUZZ_SECONDS) --keep build/fuzz --work build/fuzz/corpus

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
