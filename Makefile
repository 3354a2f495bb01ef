# One entry point for people and CI. Longer steps are scripts in tools/.
#
#   PYTHON=python3.13    the interpreter that .venv is made with
#   SERVERS=redis-7.0    the servers that the tests run on (all: tools/servers --list)
#   PORT=6379            the port of `make serve`
#   BENCH=--quick        options of `make bench`

PYTHON ?= python3
SERVERS ?= $(shell tools/servers --list)
PORT ?= 6379

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export PATH := $(PATH):$(HOME)/.cargo/bin

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement
MODULE := target/release/librq_module.so
MODULE_IN_PACKAGE := python/reliableq/librq_module.so

CARGO_FILES := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml)
SOURCES = $(CARGO_FILES) $(shell find $(addprefix crates/,$1) -name '*.rs')
PACKAGE_SOURCES = pyproject.toml LICENSE $(wildcard README.md) \
	$(shell find python -name '*.py' -o -name '*.pyi' -o -name py.typed)

.PHONY: help demo build test test-servers test-spark bench serve wheel lint docs servers java clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target text; do \
		printf '  make %-14s %s\n' "$$target" "$$text"; done

demo: .venv/.native ## Show the life of a message, and a pipeline through Spark (needs no server)
	@MAKE='$(MAKE)' tools/demo

build: .venv/.native $(MODULE_IN_PACKAGE) ## Build the module and the package, both for use from here

test: servers java build wheel lint .venv/.bench ## Run everything that CI runs
	cargo test --quiet
	$(BIN)/python -m pytest
	tools/test-servers $(filter-out redis-7.0,$(SERVERS)) -- -m essential

test-servers: servers build .venv/.test ## Run the module's whole suite on every supported server
	tools/test-servers $(SERVERS)

test-spark: servers java build wheel ## Run the tests of Spark on every supported version of it
	tools/test-spark

bench: build .venv/.test .venv/.bench ## Measure the module against Streams and Lists
	@command -v valgrind >/dev/null || tools/apt-install valgrind
	$(BIN)/python -m bench $(BENCH)

serve: build ## Run a server with the module, on port PORT; its data stay in .serve/PORT
	@server=$$(tools/servers redis-7.0); \
	exec $(BIN)/reliableq serve --url 'redis://localhost:$(PORT)' --data '.serve/$(PORT)' --server "$$server"

wheel: dist/.built ## Leave a wheel in dist/, with the module inside
	@ls dist/*.whl

lint: .venv/.test .venv/.spark .venv/.native .venv/.libclang ## Check formatting, lints, types and layers
	tools/lint

docs: ## Write docs/commands.md anew from the command table
	@mkdir -p target
	cargo run --quiet -p rq-command --example commands > target/commands.md
	@mv target/commands.md docs/commands.md

servers: .venv/.build ## Obtain the servers that the tests run on, into .servers/
	@tools/servers redis-7.0 $(SERVERS) >/dev/null

java: .venv/.build ## Obtain the Java that Spark runs on, into .java/ where the system has none
	@tools/java >/dev/null

clean: ## Remove all that was built, the virtualenvs, the servers and Java included
	rm -rf target .venv .venv-spark-* .servers .java .serve dist demo-output python/reliableq/*.so

# The virtualenv. The files named .venv/.* say what is in it, so they vanish with it.

.venv/.build: tools/requirements/build.txt
	@tools/prerequisites '$(PYTHON)'
	@echo "reliableq: setting up the virtualenv .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) $<
	@touch $@

.venv/.package .venv/.test .venv/.bench .venv/.spark: .venv/.%: tools/requirements/%.txt .venv/.build
	@echo "reliableq: installing $< into .venv"
	@$(PIP) $<
	@touch $@

.venv/.libclang: tools/libclang tools/requirements/libclang.txt .venv/.build
	@$(BIN)/python tools/libclang > $@

# The package, installed so that changed Python files take effect at once.
.venv/.native: $(call SOURCES,rq-core rq-command rq-dump rq-store rq-embedded rq-py) pyproject.toml .venv/.build .venv/.package
	@echo "reliableq: building the Python package"
	@$(BIN)/maturin develop --release
	@touch $@

# The Redis module.

$(MODULE): $(call SOURCES,rq-core rq-command rq-module) .venv/.libclang
	@echo "reliableq: building the Redis module"
	@source .venv/.libclang; cargo build --release -p rq-module
	@touch $@

# A running server may have the old file mapped: replace it, never write into it.
$(MODULE_IN_PACKAGE): $(MODULE)
	@cp --remove-destination $< $@

dist/.built: .venv/.native $(MODULE_IN_PACKAGE) $(PACKAGE_SOURCES)
	@echo "reliableq: building the wheel"
	@rm -rf dist
	@$(BIN)/maturin build --release --interpreter $(BIN)/python --out dist
	@touch $@
