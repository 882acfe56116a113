# Each target creates the environment that it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv takes a tenth of the time of pip, which stands in where only pip's configuration says where packages are.
UV_VENV := .venv-uv
UV := $(UV_VENV)/bin/uv
# A pip before 25.1 doesn't know dependency groups.
install = $(UV) pip install --quiet --python $(1)/bin/python $(2) || { $(1)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade 'pip>=25.1' && $(1)/bin/python -m pip --disable-pip-version-check --quiet install $(2); }
# "compat" puts the folder on the path by name: no finder that doubles the start of each of the tests' processes.
EDITABLE := --config-settings editable_mode=compat --editable

# The tests start hundreds of processes, each of which would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

LINTERS := pyright mypy imports ruff ruff-format

.DEFAULT_GOAL := help
.PHONY: help modules demo test test-quick test-runtime test-near test-browser test-frameworks install-frameworks test-free-threading test-stores store-load store-load-postgres test-site test-extras lock-frameworks conformance grammars docs docs-serve coverage laws matrix campaign campaign-compare compare-peers campaign-expressions campaign-ignore campaign-parsers code-judges probe-judge search-judge stubs-judge model-judge damage corrections mutation bench bench-code bench-quick bench-replay package lint $(LINTERS) format clean

# The time is that of a processor, at the sizes that are the default, without what is installed first.
help: ## show this list, with how long each target takes on one core
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

modules: $(VENV)/.base ## list the modules of the package, each with the question that it answers · 1 s
	@$(BIN)/python tests/house/module_index.py

demo: $(VENV)/.base ## decode 1,164 real calls of 14 tools, and run two conversations · 1 s
	@$(BIN)/python docs/examples/airline/demo.py

# conftest.py keeps the tests of a file in one process; tests/conftest.py puts slow files first.
# One process more than there are cores, since many tests wait for a process or a time limit.
CORES := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
WORKERS ?= $(shell expr $(CORES) + 1)
PARALLEL ?= --numprocesses $(WORKERS) --no-loadscope-reorder
PYTEST := $(BIN)/python -m pytest
# Each test runs once: those that specify the engine under coverage, and beside them the others, without, so that no core waits
# while a part begins or ends; tests/conftest.py says which. With ARGS there is no coverage, since a part of the tests can't cover
# everything; nor on newer Pythons, which run other branches.
MEASURED = $(if $(ARGS),,$(shell $(BIN)/python -c 'import sys; print("yes" if sys.version_info[:2] == (3, 11) else "")'))
# One process, which hands nothing to another one, has time for them on up to 7 cores.
FEW = --numprocesses $(shell expr $(CORES) / 8 '*' 2) --no-loadscope-reorder
test: $(VENV)/.test ## run all tests; each branch of the engine must be covered (ARGS="-k name" runs a part, without coverage) · 7 min
	@$(if $(MEASURED),$(both_parts),$(PYTEST) $(PARALLEL) $(ARGS))

# What a developer starts, and what is about the repository itself, has its tests in these folders.
BESIDE := $(addprefix tests/,workbench pages house site campaign corrections damage extras frameworks matrix model_judge mutation tool_search typing)

# xdist hands each result from one process to another, which takes longer than most tests, and each of its processes collects all
# tests. So on few cores the others are three parts, each of which is a process; many of their tests wait, so that nobody is idle.
FIRST := $(filter-out tests/frameworks,$(BESIDE))
SECOND := $(addprefix tests/,adapters code_mode code_tools)
IN_PARTS = $(and $(filter 1 2 3,$(CORES)),$(filter file,$(origin WORKERS)))
part = $(PYTEST) --part rest $(1)

# What runs behind is shown at the end. A shell has to be told that an interrupt ends that, too.
define both_parts
$(call covered,$(FEW)) >$(VENV)/engine.txt 2>&1 & engine=$$!; \
$(if $(IN_PARTS),$(call part,$(SECOND)),true) >$(VENV)/second.txt 2>&1 & second=$$!; \
$(if $(IN_PARTS),$(call part,$(patsubst %,--ignore=%,$(FIRST) $(SECOND))),true) >$(VENV)/third.txt 2>&1 & third=$$!; \
trap 'kill $$engine $$second $$third; exit 130' INT TERM; \
$(if $(IN_PARTS),$(call part,$(FIRST)),$(PYTEST) $(PARALLEL) --part rest); failed=$$?; \
for each in $$second $$third $$engine; do wait $$each || failed=1; done; \
cat $(VENV)/second.txt $(VENV)/third.txt; echo 'The tests that specify the engine, and what they cover:'; cat $(VENV)/engine.txt; \
exit $$failed
endef

test-quick: $(VENV)/.test ## run all tests but the slow ones · minutes
	$(PYTEST) $(PARALLEL) -m "not slow" $(ARGS)

test-runtime: $(VENV)/.test ## run the tests of what runs inside a program: no workbench, no pages · minutes
	$(PYTEST) $(PARALLEL) $(BESIDE:%=--ignore=%) $(ARGS) tests

NEAR = $(wildcard tests/$(ROOM) tests/workbench/$(ROOM) tests/tools/$(ROOM) tests/test_$(ROOM).py)
test-near: $(VENV)/.test ## run the tests of one room of the package (ROOM=providers) · seconds
	@test -n "$(ROOM)" || { echo 'which room? make test-near ROOM=providers'; exit 2; }
	@test -n "$(NEAR)" || { echo 'tests/ has nothing named $(ROOM)'; exit 2; }
	$(PYTEST) $(PARALLEL) $(NEAR) $(ARGS)

# Not all frameworks can be installed side by side, so there are several environments. The tests of the first take as long as all others.
FRAMEWORKS ?= together $(filter-out together,$(notdir $(patsubst %/requirements.in,%,$(wildcard tests/frameworks/*/requirements.in))))
FRAMEWORKS_VENV := .venv-frameworks
FRAMEWORK_TESTS = $(if $(filter together,$(FRAMEWORKS)),together conformance) $(filter-out together,$(FRAMEWORKS))
test-frameworks: | $(UV) ## install real agent frameworks, and run the tests with them · minutes
	@$(MAKE) --no-print-directory --keep-going --jobs=$(WORKERS) $(IN_TURN) $(FRAMEWORK_TESTS:%=tests/frameworks/%/run)

# What one environment says stays together, where make knows how.
IN_TURN := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Some are installed while the tests of others run.
tests/frameworks/%/run: $(FRAMEWORKS_VENV)/%/.built
	@$(FRAMEWORKS_VENV)/$*/bin/python -m pytest tests/frameworks/$* $(ARGS)

# Its programs wait for each other, so that others can use the time; it needs no framework but the SDK of MCP.
tests/frameworks/conformance/run: $(FRAMEWORKS_VENV)/together/.built
	@$(FRAMEWORKS_VENV)/together/bin/python -m pytest tests/frameworks/conformance $(ARGS)

install-frameworks: $(FRAMEWORKS:%=$(FRAMEWORKS_VENV)/%/.built) ## only install them · minutes

CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
test-browser: $(VENV)/.browser ## look at the inspector and the example of an inbox in Chromium, and check it with axe (needs npm; installs Chromium on Debian) · minutes
	@test -n "$(CHROMIUM)" || { echo 'no Chromium: apt-get install chromium, or CHROMIUM=/path/of/it'; exit 2; }
	INSPECTOR_BROWSER=$(CHROMIUM) $(PYTEST) $(wildcard tests/workbench/inspector/*_in_browser.py) $(ARGS)

test-site: docs $(VENV)/.browser ## look at the built site in Chromium: links, axe at two widths in light and dark, keyboard · minutes
	@test -n "$(CHROMIUM)" || { echo 'no Chromium: apt-get install chromium, or CHROMIUM=/path/of/it'; exit 2; }
	SITE_BROWSER=$(CHROMIUM) $(PYTEST) --numprocesses auto tests/site $(ARGS)

test-extras: | $(UV) ## run the tests of each extra with its lowest and newest versions (EXTRAS="cli mcp agno") · an hour
	@$(UV_VENV)/bin/python tests/extras/run.py --uv $(UV) $(EXTRAS) $(ARGS)

lock-frameworks: | $(UV) ## pin all that the frameworks of tests/frameworks/*/requirements.in need · minutes
	for name in $(FRAMEWORKS); do \
		$(UV) pip compile --quiet --universal --python-version 3.11 --no-annotate --upgrade \
			--override tests/frameworks/overrides.txt --custom-compile-command "make lock-frameworks" \
			tests/frameworks/$$name/requirements.in --output-file tests/frameworks/$$name/requirements.txt || exit 1; \
	done

test-stores: ## run the tests of the store in a real PostgreSQL (Debian: apt-get install postgresql) · 1 min
	@$(MAKE) --no-print-directory test-frameworks FRAMEWORKS=stores

# Only wheels, so that nothing is compiled. The newest hypothesis doesn't install there, and tests of other libraries that don't are skipped.
FREE := $(VENV)-free
FREE_TESTS ?= tests/execution tests/rounds tests/tools tests/codec tests/test_value.py
test-free-threading: $(FREE)/.built ## run the tests of threads on a Python without the GIL (PYTHON_FREE=python3.14t) · minutes
	@$(FREE)/bin/python -X gil=0 -m pytest $(FREE_TESTS) $(ARGS)

$(FREE)/.built:
	@test -n "$(PYTHON_FREE)" || { echo 'which Python? make test-free-threading PYTHON_FREE=python3.14t'; exit 2; }
	$(PYTHON_FREE) -m venv $(FREE)
	@$(FREE)/bin/python -m pip --disable-pip-version-check --quiet install --only-binary :all: 'anyio>=4.8' 'attrs>=24.2' annotated-types click 'hypothesis<6.140' isoduration jsonschema jsonschema-rs pytest rfc3339-validator rich starlette sybil trio uvicorn
	@$(FREE)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --editable .
	@touch $@

store-load: $(VENV)/.test ## run a desk of four workers on a store, and kill them (ARGS="--kills 4 --wait 2") · 2 min
	@$(BIN)/python tests/campaign/store_load.py $(ARGS)

store-load-postgres: $(FRAMEWORKS_VENV)/stores/.built ## the same with PostgreSQL, which is killed for 4 seconds · 2 min
	@PYTHONPATH=. $(FRAMEWORKS_VENV)/stores/bin/python tests/campaign/store_load.py --postgres --kills 4 --away-at 8 $(ARGS)

conformance: $(FRAMEWORKS_VENV)/together/.built ## run the protocol's own tests on our server, gateway and client (needs npm; ARGS=--own, ARGS=--write for docs/) · minutes
	@PYTHONPATH=tests/frameworks:. $(FRAMEWORKS_VENV)/together/bin/python -m conformance.measure $(ARGS)

grammars: $(FRAMEWORKS_VENV)/grammars/.built ## compare constrained decoding with decoding (EXAMPLES=1000 SEED=0, ARGS=--write for docs/) · 10 min
	@PYTHONPATH=tests/frameworks:. $(FRAMEWORKS_VENV)/grammars/bin/python -m grammars.measure --examples $(EXAMPLES) --seed $(SEED) $(ARGS)

# The tracer of coverage.py more than doubles the time, and SlipCover adds little; where there is no wheel of that, the tracer does the same.
TRACED_BY = $(shell $(BIN)/python -c 'import importlib.util as i; print("-p tests.reached_branches" if i.find_spec("slipcover") else "--cov --cov-report=term-missing:skip-covered --cov-fail-under=100")')
# What is missing stands near the end, so no list of skipped tests follows.
covered = $(PYTEST) $(1) $(TRACED_BY) -rfE --part engine $(ARGS) tests
coverage: $(VENV)/.test ## check only that each branch of the engine is covered, by the tests that specify it (Python 3.11) · minutes
	$(call covered,$(PARALLEL))

EXAMPLES ?= 1000
LAWS_SEED = $(if $(filter file,$(origin SEED)),$(shell $(PYTHON) -c 'import random; print(random.getrandbits(32))'),$(SEED))
laws: $(VENV)/.test ## try each law with many more examples than `make test`, others each time (EXAMPLES=1000, SEED=number of an earlier run) · an hour
	@export HYPOTHESIS_PROFILE=thorough EXAMPLES=$(EXAMPLES) LAWS_SEED=$(LAWS_SEED); \
	$(PYTEST) $(PARALLEL) -p tests.laws.drawn_laws -m hypothesis --hypothesis-seed=$$LAWS_SEED $(ARGS)

SITE := build/website
docs: $(VENV)-docs/.docs ## build the site of the documentation into build/website/site; a broken link or reference fails · minutes
	@$(VENV)-docs/bin/python website/prepare.py $(SITE)
	@cd $(SITE) && ../../$(VENV)-docs/bin/zensical build --clean --strict
	@echo 'The site begins at $(SITE)/site/index.html'

docs-serve: docs ## show the site on this machine
	@cd $(SITE) && ../../$(VENV)-docs/bin/zensical serve

matrix: $(VENV)/bin/python | $(UV) ## run all tests on the newer Pythons that are installed, and on Pyodide · minutes
	@$(BIN)/python tests/matrix/run.py --uv $(UV) $(ARGS)

PAIRS ?= 1000000
SEED ?= 0
campaign: $(VENV)/.test ## compare decoder and schema with two validators (PAIRS=1000000 SEED=0) · 3 min
	$(BIN)/python tests/campaign/run.py --pairs $(PAIRS) --seed $(SEED)

EXPRESSIONS ?= 100000
campaign-expressions: $(VENV)/.test ## compare the regular expressions of documents with re (EXPRESSIONS=100000 SEED=0) · 3 min
	$(BIN)/python tests/campaign/expressions.py --expressions $(EXPRESSIONS) --seed $(SEED)

CASES ?= 10000
campaign-ignore: $(VENV)/.test ## compare the files that the code tools read with those of git (CASES=10000 SEED=0) · 1 min
	@$(BIN)/python tests/code_tools/git_judge.py $(CASES) $(SEED)

campaign-parsers: $(VENV)/.test ## ask the code tools about hostile texts, of which none may take long · half an hour
	$(BIN)/python tests/campaign/parsers.py $(ARGS)

COMPARED ?= 100000
campaign-compare: $(VENV)/.test ## compare random schemas with edits of them, judged by jsonschema (COMPARED=100000 SEED=0) · 7 min
	$(BIN)/python tests/campaign/compare.py --pairs $(COMPARED) --seed $(SEED)

PEERS := $(VENV)-peers
compare-peers: $(VENV)/.test $(PEERS)/.built ## ask other checkers about the same edits of schemas, write docs/changes.md (EDITS=2000 SEED=0) · minutes
	$(BIN)/python tests/campaign/peers/run.py --pairs $(EDITS) --seed $(SEED) --python $(PEERS)/bin/python --modules $(PEERS) --write

SEARCH := $(VENV)-search
search-judge: $(SEARCH)/.built ## ask the tool search for the tools of BFCL, beside fastmcp and rank_bm25, write docs/tool-search.md (ARGS=--print) · minutes
	PYTHONPATH=. $(SEARCH)/bin/python tests/tool_search/judge.py $(ARGS)

$(SEARCH)/.built: tests/tool_search/requirements.txt | $(UV)
	$(PYTHON) -m venv $(SEARCH)
	@$(call install,$(SEARCH),-r $<)
	@touch $@

EDITS ?= 2000
$(PEERS)/.built: tests/campaign/peers/requirements.txt tests/campaign/peers/package.json | $(UV)
	$(PYTHON) -m venv $(PEERS)
	@$(call install,$(PEERS),-r $<)
	cp tests/campaign/peers/package.json $(PEERS)/ && npm install --silent --prefix $(PEERS)
	@touch $@

BENCH ?= .venv-bench
bench: $(BENCH)/.bench ## compare with other libraries, write docs/benchmarks/; a part with ARGS='encode --rounds 9' · 11 min
	$(BENCH)/bin/python -m benchmarks $(ARGS)

bench-quick: $(BENCH)/.bench ## measure only the limits that we aim at; fails if one is missed · 2 min
	$(BENCH)/bin/python -m benchmarks --quick $(ARGS)

bench-code: $(VENV)/.test ## measure the code tools on the standard library, write docs/code-tools.md (ARGS=--print) · minutes
	@$(BIN)/python -m benchmarks.code_base $(ARGS)

CALLS ?= 1000000
bench-replay: $(VENV)/.test ## measure replay and decode_lines beside other readers of JSON lines (CALLS=1000000) · 2 min
	@$(BIN)/python -m benchmarks.replay $(CALLS)

code-judges: $(VENV)/.test ## compare the code tools with griffe, Go, gofmt and pyright, write docs/code-tools.md (ARGS=--print) · minutes
	@$(BIN)/python tests/code_tools/judges.py $(ARGS)
	@$(BIN)/python tests/code_tools/finding_judges.py $(ARGS)

probe-judge: $(VENV)/.test ## probe four servers with planted faults, and each without a fault with ten seeds · many minutes
	@PYTHONPATH=tests/workbench/probe $(BIN)/python tests/workbench/probe/planted_faults.py
	@$(BIN)/python tests/workbench/probe_judge/judge.py

BFCL := bfcl-eval==2026.3.23
stubs-judge: $(VENV)/.dev $(VENV)/.stubs ## check the stubs of 3,420 real functions with pyright and tsc (needs npm) · minutes
	@$(BIN)/python tests/code_mode/stubs_judge.py $(VENV)/stubs/bfcl_eval-*.whl $(VENV)/stubs/node_modules/.bin/tsc

$(VENV)/.stubs: $(VENV)/.test
	$(PIP) download --no-deps --dest $(VENV)/stubs $(BFCL)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/stubs typescript@5.9.3
	@touch $@

# It needs a model, which isn't here: docs/provider-judges.md says where there are some.
MODEL_VENV := $(VENV)-model
SAMPLES ?= 40
model-judge: $(MODEL_VENV)/.built ## ask a real model for calls, and again after errors (MODEL=file.gguf or http://127.0.0.1:8080/v1; SAMPLES=40 SEED=0, ARGS=--write for docs/) · hours
	@test -n "$(MODEL)" || { echo 'which model? make model-judge MODEL=file.gguf, or MODEL=http://127.0.0.1:8080/v1'; exit 2; }
	@PYTHONPATH=. $(MODEL_VENV)/bin/python tests/model_judge/model_judge.py "$(MODEL)" --data $(MODEL_VENV)/bfcl_eval-*.whl --samples $(SAMPLES) --seed $(SEED) $(ARGS)

$(MODEL_VENV)/.built: tests/model_judge/requirements.txt | $(UV)
	$(PYTHON) -m venv $(MODEL_VENV)
	@$(call install,$(MODEL_VENV),-r $<)
	$(MODEL_VENV)/bin/python -m pip --disable-pip-version-check --quiet download --no-deps --dest $(MODEL_VENV) $(BFCL)
	@touch $@

damage: $(VENV)/.test ## damage real calls, and count those that repair restores (SEED=0) · 2 min
	$(BIN)/python tests/damage/run.py --seed $(SEED)

corrections: $(VENV)/.test ## make mistakes of twelve kinds in right calls, and count the errors that end with the right call (SEED=0, ARGS=--examples) · 1 min
	@$(BIN)/python tests/corrections/run.py --seed $(SEED) $(ARGS)

MUTANTS ?= 300
mutation: $(VENV)/.mutation ## change the code at random, and count the changes that tests notice (ROOMS="rounds lint" MUTANTS=300 SEED=0) · hours
	$(BIN)/python tests/mutation/run.py $(ROOMS) --mutants $(MUTANTS) --seed $(SEED) $(ARGS)

# It is built from what is committed, since what lies about in a folder would be in the source distribution too. `pipx run` and
# the empty environment take the newest click and rich from the index.
PACKAGE := build/package
package: $(VENV)/.package ## build the wheel and the source distribution into build/package, and try them (twine, an empty environment, pipx) · 25 s
	@rm -rf $(PACKAGE) && mkdir -p $(PACKAGE)/source
	@git archive HEAD | tar -x -C $(PACKAGE)/source
	@cd $(PACKAGE)/source && $(CURDIR)/$(BIN)/python -m build --outdir $(CURDIR)/$(PACKAGE) >$(CURDIR)/$(PACKAGE)/log.txt 2>&1 || { cat $(CURDIR)/$(PACKAGE)/log.txt; exit 1; }
	@! grep -i warning $(PACKAGE)/log.txt
	@$(BIN)/python -m twine check --strict $(PACKAGE)/*.whl $(PACKAGE)/*.tar.gz
	@$(PYTHON) -m venv $(PACKAGE)/empty && $(PACKAGE)/empty/bin/python -m pip --disable-pip-version-check --quiet install $(PACKAGE)/*.whl
	@cd $(PACKAGE) && empty/bin/python -c 'from operator_schema import *; print("with nothing else:", json_schema(dict[str, int]))'
	@PIPX_HOME=$(CURDIR)/$(PACKAGE)/pipx $(BIN)/python -m pipx run --spec "$$(echo $(CURDIR)/$(PACKAGE)/*.whl)[cli]" operator-schema --version

$(VENV)/.package: $(VENV)/bin/python pyproject.toml setup.cfg | $(UV)
	@$(call install,$(VENV),--group release)
	@touch $@

lint: $(VENV)/.dev ## run ruff, mypy, pyright and import-linter · 1 min
	@$(MAKE) --no-print-directory --keep-going --jobs=$(CORES) $(IN_TURN) $(LINTERS)

$(LINTERS): $(VENV)/.dev
ruff:
	$(BIN)/ruff check .
ruff-format:
	$(BIN)/ruff format --check .
mypy:
	$(BIN)/mypy
pyright:
	$(BIN)/pyright
imports:
	$(BIN)/lint-imports

format: $(VENV)/.dev ## fix and format with ruff · 1 s
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove environments and caches
	rm -rf $(VENV) $(UV_VENV) $(VENV)-docs $(SEARCH) $(FREE) $(MODEL_VENV) .venv-peers .venv-bench* .venv-matrix $(FRAMEWORKS_VENV) .venv-extras build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python $(UV_VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else f"Python 3.11 or newer is needed, this is {sys.version}")'
	$(PYTHON) -m venv $(@:/bin/python=)

$(UV): | $(UV_VENV)/bin/python
	@$(UV_VENV)/bin/python -m pip --disable-pip-version-check --quiet install uv==0.13.9

$(VENV)/.base: $(VENV)/bin/python pyproject.toml setup.cfg
	@echo "installing the package into $(VENV)"
	@$(PIP) install $(EDITABLE) .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml setup.cfg | $(UV)
	@$(call install,$(VENV),$(EDITABLE) . --group test)
	@touch $@ $(VENV)/.base

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml setup.cfg | $(UV)
	@$(call install,$(VENV),$(EDITABLE) . --group dev)
	@touch $@ $(VENV)/.test $(VENV)/.base

# The browser is that of the system: playwright would download one of its own.
$(VENV)/.browser: $(VENV)/.test
	$(if $(CHROMIUM),,apt-get update -qq && apt-get install -qq --no-install-recommends chromium)
	@$(call install,$(VENV),playwright==1.65.2)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14.1
	@touch $@

$(VENV)-docs/.docs: pyproject.toml setup.cfg | $(UV)
	$(PYTHON) -m venv $(VENV)-docs
	@$(call install,$(VENV)-docs,--editable '.[testing]' --group docs)
	@touch $@

$(VENV)/.mutation: $(VENV)/.test
	@$(call install,$(VENV),$(EDITABLE) . --group mutation)
	@touch $@

# Everything is in the list, so no resolver refuses what overrides.txt says.
$(FRAMEWORKS_VENV)/%/.built: tests/frameworks/%/requirements.txt | $(UV)
	@echo "installing the frameworks of tests/frameworks/$*"
	@rm -rf $(FRAMEWORKS_VENV)/$*
	@$(UV) venv --quiet --python $(UV_VENV)/bin/python $(FRAMEWORKS_VENV)/$*
	@$(UV) pip install --quiet --python $(FRAMEWORKS_VENV)/$*/bin/python --no-deps --requirement $<
	@touch $@

$(BENCH)/.bench: pyproject.toml setup.cfg | $(UV)
	$(PYTHON) -m venv $(BENCH)
	@$(call install,$(BENCH),$(EDITABLE) . --group bench)
	@touch $@
