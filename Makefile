# Everything runs in an environment of its own, .venv, which these targets create and keep up
# to date. They need nothing but Python 3.11 or newer, pip (22.3 or newer) and make: Debian
# splits ensurepip off, so the environment is made without pip and the system's pip fills it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# The file that says which Python the environment is of. It is empty without a Python.
VERSION := $(shell $(PYTHON) -c 'import platform; print(platform.python_version())' 2>/dev/null)
OF_PYTHON := $(VENV)/.python-$(VERSION)
PIP     = $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check --quiet

# Each module is compiled once, and not at each start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help serve test test-slow fuzz prove bench lint format openapi examples pictures rules screenshots release dist lock

help: ## Show this help
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

serve: $(VENV)/.runtime ## Serve on http://127.0.0.1:8000 (HOST, PORT, REDIS_URL, DATA_DIR, …)
	@exec $(BIN)/ludotheque serve

test: $(VENV)/.dev ## Run the tests (ARGS="..." is passed to pytest)
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# The others measure, or drown the machine in load: each of them needs it for itself.
SIDE_BY_SIDE = tests/engine tests/browser

test-slow: $(VENV)/.dev ## Run the tests that take long (ARGS as well)
	@$(BIN)/python -m pytest -m slow -n auto --dist worksteal $(SIDE_BY_SIDE) $(ARGS)
	@$(BIN)/python -m pytest -m slow $(SIDE_BY_SIDE:%=--ignore=%) $(ARGS)

fuzz: $(VENV)/.dev ## Send wrong and costly requests for long (REQUESTS=100000, SECONDS=1800, SEED=…)
	@$(BIN)/python -m tests.fuzz.worst
	@$(BIN)/python -m tests.fuzz.raw --requests $(or $(REQUESTS),100000) $(if $(SEED),--seed $(SEED))
	@$(BIN)/python -m tests.fuzz.by_document --seconds $(or $(SECONDS),1800) $(if $(SEED),--seed $(SEED))

prove: $(VENV)/.dev ## Count what is lost under load, races and failures (ARGS="--quick ...")
	@$(BIN)/python -m tests.proofs $(ARGS)

bench: $(VENV)/.dev ## Measure speed and memory, with wrk (ARGS="--quick http", --json, --keep)
	@$(BIN)/python -m bench $(ARGS)

lint: $(VENV)/.dev ## Check style, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.dev ## Format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

openapi: $(VENV)/.runtime ## Write openapi.yaml from the code
	@$(BIN)/ludotheque openapi --output openapi.yaml

examples: $(VENV)/.dev ## Record the document's examples from a real server, then write openapi.yaml
	@$(BIN)/python -m tests.document.record
	@$(BIN)/ludotheque openapi --output openapi.yaml

pictures: $(VENV)/.runtime ## Draw the sheet of Contrast's pictures, docs/contrast-pictures.svg
	@$(BIN)/python -m engine.pictures --sheet docs/contrast-pictures.svg

rules: ## Copy the rules of the games from engine/texts to docs/rules
	@for text in engine/texts/*.en.md; do cp "$$text" "docs/rules/$$(basename "$$text" .en.md).md"; done

screenshots: $(VENV)/.dev ## Take pictures of the table in the browser (FOLDER=build/screenshots ARGS="--keep")
	@$(BIN)/python -m tests.browser.screenshots $(or $(FOLDER),build/screenshots) $(ARGS)

release: $(VENV)/.dev openapi ## Keep openapi.yaml as the released document, if it breaks nothing
	@$(BIN)/python -m tests.document.compatibility --release

# Of the last commit, whatever else lies in this directory, and dated by it: so the bytes are the
# same wherever and whenever it is built.
dist: $(VENV)/.dev ## Build the sdist and the wheel of the last commit (DIST=dist)
	@rm -rf build/source && mkdir -p build/source
	@git archive --output=build/source.tar HEAD && tar -xf build/source.tar -C build/source
	@cd build/source && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
		$(abspath $(BIN))/hatchling build --directory '$(abspath $(or $(DIST),dist))'

lock: $(VENV)/.dev ## Pin the newest dependencies that pyproject.toml allows
	@$(LOCK) --upgrade --output-file requirements.lock
	@$(LOCK) --upgrade --group dev --constraint requirements.lock --output-file requirements-dev.lock

LOCK = $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
	--no-config --fork-strategy fewest --custom-compile-command 'make lock'

# The environment, and what has been installed into it. The development lock holds everything
# that the other one does, in the same versions.

# An environment of another Python is made anew.
$(OF_PYTHON):
	@[ -n '$(VERSION)' ] || { echo 'make needs Python 3.11 or newer, and there is no $(PYTHON): install it, or name another one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'make needs Python 3.11 or newer, and $(PYTHON) is $(VERSION): install a newer one, or name another one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || { echo 'make needs $(PYTHON) with pip: install it (Debian: python3-pip)' >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv --without-pip $(VENV)
	@touch $@

$(VENV)/.runtime: requirements.lock pyproject.toml $(OF_PYTHON)
	@echo 'Installing into $(VENV)'
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml $(OF_PYTHON)
	@echo 'Installing into $(VENV), with the tools for development'
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --editable .
	@touch $(VENV)/.runtime $@
