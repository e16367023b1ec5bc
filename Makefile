# `make` lists the targets. Everything runs in .venv, which is made on first use; it needs Python 3.11 or
# later somewhere on the machine (or PYTHON=/path/to/python).

PYTHON ?=
VENV ?= .venv
EXTRAS ?=
# A file's tests stay on one worker: they share what they compile.
PYTEST_ARGS ?= -n 2 --dist loadfile
N ?= 100000

# Compiled programs are kept between runs, except in `bench`, which measures compilation too. Tests have JAX keep them:
# it finds them again after a change of the sources that leaves the programs as they were.
demo pictures references model leaderboard: export CRUSH_GYM_CACHE ?= $(CURDIR)/.cache/programs
test test-slow test-all soak: export JAX_COMPILATION_CACHE_DIR ?= $(CURDIR)/.cache/jax
test test-slow test-all soak: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS ?= 0.2

# Any Python 3 can start the set-up; it then looks for one that is new enough.
STARTER = $(shell for name in $(PYTHON) python3 python python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 7))' >/dev/null 2>&1 && echo "$$name" && break; done)
SETUP = starter="$(STARTER)"; \
	[ -n "$$starter" ] || { echo "No Python was found: install Python 3.11 or later." >&2; exit 1; }; \
	"$$starter" scripts/setup.py $(if $(PYTHON),--python $(PYTHON)) $(if $(EXTRAS),--extras $(EXTRAS))
RUN = $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-all soak lint bench gpu-plan gpu-check pictures docs references model leaderboard clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make .venv and install everything into it
	@$(SETUP) --venv $(VENV)

DEMO = results/demo
DEMO_LEVELS = --levels "thesis/look-alike 13" --levels "thesis/look-alike 77" --levels "thesis/look-alike 100" \
	--levels points:7x7 --levels combo

demo: setup ## let five players play five levels; a table and a page
	@mkdir -p $(DEMO) && rm -f $(DEMO)/runs.sqlite*
	@$(RUN) -m crush_gym evaluate random greedy clouded heuristic mcts:simulations=25 \
		$(DEMO_LEVELS) --attempts 100 --processes 2 --out $(DEMO)/runs.sqlite
	@$(RUN) -m crush_gym leaderboard $(DEMO)/runs.sqlite --out $(DEMO)/leaderboard.html

test: setup ## run the tests but those marked slow
	@$(RUN) -m pytest $(PYTEST_ARGS) -m "not slow" --durations 10

test-slow: setup ## run the tests marked slow
	@$(RUN) -m pytest $(PYTEST_ARGS) -m slow

test-all: ## run all tests on Python 3.11 and on a later one, where both are there
	@for series in 3.11 3.12+; do \
		venv=.venv-$${series%+}; \
		$(SETUP) --venv $$venv --series $$series; status=$$?; \
		if [ $$status -eq 3 ]; then echo "Python $$series: skipped"; continue; fi; \
		[ $$status -eq 0 ] || exit $$status; \
		$$venv/bin/python -m pytest $(PYTEST_ARGS) || exit 1; \
	done

soak: setup ## compare N random boards with the slow reference: make soak N=1000000
	@$(RUN) -m tests.soak $(N)

lint: setup ## check style and types
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy

bench: setup ## measure speed: against C++, another simulator, and ourselves
	@$(RUN) -m benchmarks

gpu-plan: setup ## compile for a GPU that is only described, and count: downloads 4.4 GB (GPU_ARGS=--all for more)
	@$(RUN) -m benchmarks.gpu $(GPU_ARGS)

gpu-check: setup ## compare the GPU plan with the figures that ship: downloads 4.4 GB
	@$(RUN) -m benchmarks.gpu --check

pictures: setup ## draw docs/pictures anew
	@$(RUN) -m scripts.pictures

docs: setup ## write the documentation into site/: the rules, the environments, the reference
	@rm -rf site
	@$(RUN) -m scripts.docs site

references: setup ## let the reference players play every level that ships, for crush_gym/references
	@$(RUN) -m scripts.make_references

model: setup ## fit the model that `crush-gym predict` ships with, on synthetic players
	@$(RUN) -m scripts.make_prediction_model

leaderboard: setup ## draw docs/leaderboard from the rows that ship; PLAY="AGENT ..." has them play first
	@$(RUN) -m scripts.make_leaderboard $(if $(PLAY),--play $(PLAY))

clean: ## remove environments, caches and build products
	@rm -rf .venv .venv-* .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
