# Each target sets up what it needs in .venv by itself.
PYTHON ?= python3
VENV := .venv
# Tests start hundreds of processes; without compiled modules on disk each would compile the whole package again.
export PYTHONDONTWRITEBYTECODE :=
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*/*.cpp native/*/*.hpp)
NATIVE_TESTS := $(wildcard tests/native/*.cpp tests/native/*.hpp)

.PHONY: demo app test test-all test-sanitized test-address test-thread coverage coverage-native stubs fuzz lint format bench docs clean

demo: $(VENV)/.ready
	$(BIN)/anonset demo demo --force

# The local web page, opened in the browser.
app: $(VENV)/.ready-app
	$(BIN)/anonset app

# Spark starts processes of its own, and has the machine to itself. A worker that dies ends the run with the name of its test.
PYTEST = $(BIN)/pytest -n auto --dist loadgroup --max-worker-restart 0 --ignore tests/spark

test: $(VENV)/.ready-dev
	$(PYTEST)
	$(BIN)/pytest tests/spark

test-all: $(VENV)/.ready-dev
	$(PYTEST) -m "slow or not slow"
	$(BIN)/pytest -m "slow or not slow" tests/spark

# The native tests and the kernel tests with kernels that stop at the first bad memory access, undefined behaviour or data
# race. The module lies in a copy of the package; -S keeps Python from finding the installed one first. Python itself is
# not instrumented, so the sanitizer must be loaded before it, and what it never frees is not ours to report.
test-sanitized: test-address test-thread

CMAKE = $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCMAKE_BUILD_TYPE=Debug
SITE = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# build_kernels FOLDER, FLAGS OF THE TESTS, OPTIONS: module, native tests and a copy of the package in build/FOLDER
define build_kernels
	$(CMAKE) -S . -B build/$(1) -DPython_EXECUTABLE=$(abspath $(BIN)/python) $(3)
	$(BIN)/cmake --build build/$(1)
	$(CMAKE) -S tests/native -B build/$(1)/tests -DKERNELS=$(abspath build/$(1)/libkernels.a) -DCMAKE_CXX_FLAGS="$(2)"
	$(BIN)/cmake --build build/$(1)/tests
	rm -rf build/$(1)/package && mkdir -p build/$(1)/package
	cp -R src/anonset build/$(1)/package/ && rm -f build/$(1)/package/anonset/_native*.so
	cp build/$(1)/_native*.so build/$(1)/package/anonset/
endef

test-address: $(VENV)/.ready-dev
	$(call build_kernels,checked/address,-g -fsanitize=address$(COMMA)undefined,-DANONSET_SANITIZE=address$(COMMA)undefined -DANONSET_DEBUG_CHECKS=ON)
	UBSAN_OPTIONS=print_stacktrace=1 build/checked/address/tests/native_tests
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so):$$($(CXX) -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH=build/checked/address/package:$(SITE) \
		$(BIN)/python -S -m pytest --capture=sys tests/golden tests/oracle

# Threads slow down most under this one: Hypothesis tries fewer examples.
test-thread: $(VENV)/.ready-dev
	$(call build_kernels,checked/thread,-g -fsanitize=thread,-DANONSET_SANITIZE=thread)
	TSAN_OPTIONS=die_after_fork=0 build/checked/thread/tests/native_tests
	LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so):$$($(CXX) -print-file-name=libstdc++.so.6)" \
	TSAN_OPTIONS=die_after_fork=0:report_signal_unsafe=0 HYPOTHESIS_PROFILE=brief \
	PYTHONPATH=build/checked/thread/package:$(SITE) \
		$(BIN)/python -S -m pytest --capture=sys --timeout=1800 tests/golden tests/oracle

COMMA := ,

# How much of the code runs in the tests: Python by the whole suite, C++ by the native, golden and oracle tests.
coverage: coverage-native
	$(BIN)/pytest -q -n auto --cov=anonset --cov-report=term | grep -E "^(TOTAL|Name)"

coverage-native: $(VENV)/.ready-dev
	$(call build_kernels,checked/coverage,--coverage,-DANONSET_COVERAGE=ON)
	build/checked/coverage/tests/native_tests
	PYTHONPATH=build/checked/coverage/package:$(SITE) $(BIN)/python -S -m pytest -q tests/golden tests/oracle
	$(BIN)/python -m tools.coverage build/checked/coverage

# What nanobind says of the bindings, as the type checker reads it; run it after a change of a binding.
stubs: $(VENV)/.ready-dev
	$(BIN)/python -m tools.stubs

# An hour of fuzzing: each of the targets of tests/fuzz in turn. What is found stays in build/fuzz.
FUZZ_SECONDS ?= 105
fuzz: $(VENV)/.ready-dev
	mkdir -p build/fuzz
	$(BIN)/python -m tests.fuzz all --seconds $(FUZZ_SECONDS) --keep build/fuzz --work build/fuzz/corpus

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(NATIVE) $(NATIVE_TESTS)

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE) $(NATIVE_TESTS)

# The documentation site, into build/site; a broken link is an error.
docs: $(VENV)/.ready-dev
	$(BIN)/zensical build --clean --strict

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

$(VENV)/.ready-app: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable '.[app]'
	touch $@ $(VENV)/.ready

$(VENV)/.ready-dev: $(VENV)/bin/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.ready $(VENV)/.ready-app
