# make demo   set up, ingest real recordings as one day, ask six questions (no key, no GPU)
# make test   set up and run everything that CI runs
# make quick  the tests of the store, models and commands alone, on another Python:
#             make quick PYTHON=python3.13 VENV=.venv-3.13
# make docs   build the documentation's site in build/site; a broken link or name is an error

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint types imports unit quick docs clean

demo: $(VENV)/.demo
	$(BIN)/egomem demo

test: lint types imports docs unit

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/zensical build --clean --strict

# CPython before 3.11.8 may fail in ast.parse when the garbage collector runs inside it
# (python/cpython#106905), so the tests are compiled first with the collector off.
unit: $(VENV)/.dev
	-$(BIN)/python -c "import gc, pytest; gc.disable(); pytest.main(['--collect-only', '-qq'])" >/dev/null
	$(BIN)/pytest

quick: $(VENV)/.quick
	$(BIN)/pytest -q tests/memory tests/models tests/cli tests/test_api.py tests/test_config.py \
		tests/timeline tests/text tests/evaluate/test_run_db.py

$(VENV)/.quick: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=25.1'
	$(PIP) --editable '.[models,parquet,plots]' --group tests
	touch $@

$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=25.1'
	$(PIP) --editable '.[embedded]'
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(PIP) --editable '.[all]' --group dev --group docs
	touch $@

clean:
	rm -rf $(VENV) .venv-* .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
