# Every target sets up what it needs: a fresh clone has only Python, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow test-integrations test-faults lint bench peers clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/demo-ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[demo]"
	touch $@

demo: $(VENV)/demo-ready ## minimise Hartmann6 in batches of 10, with a table and a picture
	$(BIN)/python examples/demo.py

lint: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint ## format, lint, types, tests
	$(BIN)/pytest --numprocesses 2

test-slow: $(VENV)/ready ## statistical checks and long runs: some 20 minutes
	$(BIN)/pytest -m slow --numprocesses 2

test-integrations: $(VENV)/ready ## Ray Tune, joblib on Dask and Ray, many workers on PostgreSQL, for real: 5 minutes
	$(BIN)/pytest -m integration

SEED ?= 0
SIGNALS ?= 40
test-faults: $(VENV)/ready ## signals at random moments on real runs (SIGNALS for each of 8 configurations), storages away: an hour
	COVEY_FAULT_SEED=$(SEED) COVEY_FAULT_SIGNALS=$(SIGNALS) $(BIN)/pytest -m faults -rP

bench: $(VENV)/ready ## seconds of ask(), and where they go
	$(BIN)/python benchmarks/cost.py

peers: $(patsubst benchmarks/peers/requirements/%.txt,.peers/%/ready,$(wildcard benchmarks/peers/requirements/*.txt)) ## environments of the optimisers that covey bench versus compares with

# Every package is pinned, those that others need too: nothing is left to resolve.
.peers/%/ready: benchmarks/peers/requirements/%.txt
	$(PYTHON) -m venv .peers/$*
	.peers/$*/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	touch $@

clean:
	rm -rf $(VENV) .peers demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
