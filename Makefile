# `make` alone lists the targets.
SHELL := bash
.DEFAULT_GOAL := help
PY := .venv/bin/python
UV_VERSION := 0.9.30
PIP_AUDIT_VERSION := 2.10.1
GITLEAKS_VERSION := 8.30.1
# On a terminal uv shows what it downloads.
UV_OUTPUT := $(shell test -t 2 || echo --quiet)
STAMP := .venv/.stamp
# Processes that the tests are spread over, file by file.
WORKERS ?= 2
# What every training process imports. Its bytecode is written once here: where PYTHONDONTWRITEBYTECODE is set, as in many
# images, each process would compile it again, which is half of the time that `ante train` needs to begin.
IMPORTED := torch ray numba numpy pandas sympy mpmath
CLUSTER_IMAGE ?= runs/cluster/image.tar
export NO_MKDOCS_2_WARNING := 1
# Python keeps the bytecode of tests and packages, also where the environment, as in many images, forbids it: the next run starts sooner.
unexport PYTHONDONTWRITEBYTECODE

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP)  ## virtual environment with everything pinned, and this package in it

$(STAMP): requirements/all.txt pyproject.toml
	@test -x $(PY) || { python=$$(tools/python.sh) && tools/progress.sh "creating .venv" "$$python" -m venv .venv; }
	tools/progress.sh "installing uv" $(PY) -m pip install --quiet uv==$(UV_VERSION)
	tools/progress.sh "installing packages" .venv/bin/uv pip install $(UV_OUTPUT) --python $(PY) -r requirements/all.txt
	.venv/bin/uv pip install --quiet --python $(PY) --no-deps -e .
	@packages=$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
	  for each in $(IMPORTED:%="$$packages/%") src; do \
	    tools/progress.sh "compiling the bytecode of $${each##*/}" $(PY) -m compileall -q -j 0 -x py312_ "$$each" || exit 1; \
	  done
	@touch $@

warm: setup  ## compile the engine once, into the cache that everything shares
	$(PY) -m ante.cli warmup

test: warm  ## run the tests
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile

system:  ## what the tests need of the system: Chromium and a font (Debian, Ubuntu)
	tools/system.sh

test-slow: warm system  ## the slower tests: servers, a browser, training on Ray
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile --ignore=tests/hostile -m "(slow or s3 or browser or ray) and not nightly"

test-nightly: warm system  ## the slowest tests, each a minute or more; .ci/nightly runs them
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile --ignore=tests/hostile -m nightly

cluster-image:  ## build the image of Dockerfile.ray without a registry, for make cluster-test (root, debootstrap, buildah)
	tools/system.sh cluster
	tests/cluster/image.sh test $(CLUSTER_IMAGE)

cluster-test: setup  ## run everything on the Kubernetes of KUBECONFIG, with images brought by CLUSTER_LOAD
	tools/system.sh cluster
	CLUSTER_IMAGE=$(abspath $(CLUSTER_IMAGE)) $(PY) -m pytest -v -s -m cluster tests/cluster

test-bounds: setup  ## the engine's tests with every array access checked, compiled for that
	NUMBA_BOUNDSCHECK=1 $(PY) -m pytest -q tests/properties tests/engine tests/golden

test-nojit: setup  ## run the engine's property tests and a sample of recorded truth uncompiled, warnings as errors
	NUMBA_DISABLE_JIT=1 $(PY) -W error -m pytest -q -n $(WORKERS) --dist loadfile tests/properties tests/catalog tests/golden/test_uncompiled.py

mutants: setup  ## mutate 400 expressions of engine and learning (hours) and list those that no test notices
	$(PY) tools/mutate.py engine --mutants 300 --out runs/mutants/engine.jsonl
	$(PY) tools/mutate.py learning --mutants 40 --out runs/mutants/learning.jsonl
	$(PY) tools/mutate.py numerics --mutants 60 --out runs/mutants/numerics.jsonl

test-hostile: warm  ## every hostile input of tests/hostile: readers, commands, environments, servers, stores
	$(PY) -m pytest -q -n $(WORKERS) -m "not ray and not s3 and not browser and not cluster" tests/hostile

fuzz-readers: setup  ## fuzz every reader of files with coverage feedback (hours; Linux on x86-64)
	.venv/bin/uv pip install --quiet --python $(PY) -r requirements/fuzz.txt
	$(PY) -m tests.fuzz --minutes 60 --quiet-minutes 10

sbom: setup  ## write dist/sbom.json: every pinned package with version, source and SHA-256 (CycloneDX)
	.venv/bin/uv venv --quiet --clear build/sbom --python $(PY)
	.venv/bin/uv pip install --quiet --python build/sbom/bin/python -r requirements/sbom.txt
	mkdir -p dist
	build/sbom/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON -o dist/sbom.json requirements/all.txt

audit: setup  ## check every pinned package against the advisories of PyPI, with pip-audit; fails on any that is not checked
	.venv/bin/uvx --quiet --python $(PY) pip-audit@$(PIP_AUDIT_VERSION) --strict --disable-pip --require-hashes \
	  $(addprefix -r ,$(filter-out %-without.txt %-cpu.txt,$(wildcard requirements/*.txt)))

secrets:  ## search the whole history for credentials with gitleaks, which must be on PATH, or Go to run it
	@command -v gitleaks >/dev/null || command -v go >/dev/null || { echo "install gitleaks (https://github.com/gitleaks/gitleaks) or Go" >&2; exit 1; }
	$$(command -v gitleaks || echo go run github.com/zricethezav/gitleaks/v8@v$(GITLEAKS_VERSION)) git --no-banner --redact .

test-golden: warm  ## hold the engine against files of recorded truth: make test-golden FILES="..."
	$(PY) -m ante.cli golden check $(FILES)

lint: setup  ## ruff, layers, yaml, spelling, prose, generated files
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	git ls-files -z '*.yaml' '*.yml' | xargs -0 .venv/bin/yamllint
	git ls-files -z | xargs -0 .venv/bin/codespell
	$(PY) tools/prose.py
	$(MAKE) --no-print-directory generated

generated: warm  ## check that generated files are fresh
	$(PY) tools/write_dispatch.py --check
	$(PY) tools/write_protos.py --check
	$(PY) tools/write_replays.py --check
	$(PY) tools/write_chart.py --check
	$(PY) tools/write_dashboard.py --check
	$(PY) tools/write_manifests.py --check
	$(PY) -m tools.reference.architecture --check
	$(PY) -m tools.write_screens --check

types: setup  ## mypy
	.venv/bin/mypy

format: setup  ## rewrite the sources in our style
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

train: warm  ## a short PPO run that ends with a checkpoint, an evaluation and a video
	$(PY) -m ante.cli train --preset quick --name quick-$$(date +%Y%m%d-%H%M%S)

bench: warm  ## speed and memory of engine and environments
	$(PY) -m ante.cli bench

protos: setup  ## generate the Python of the .proto files
	$(PY) tools/write_protos.py

dispatch: setup  ## generate the dispatchers of jokers, bosses and consumables
	$(PY) tools/write_dispatch.py

notebooks: setup  ## add JupyterLab to .venv and open the notebooks
	tools/progress.sh "installing JupyterLab" .venv/bin/uv pip install $(UV_OUTPUT) --python $(PY) -r requirements/notebook.txt
	.venv/bin/jupyter lab notebooks

docs: setup  ## build the documentation site into build/site, offline, warnings are errors
	NO_MKDOCS_2_WARNING=1 NUMBA_DISABLE_JIT=1 $(PY) -m mkdocs --quiet build

docs-serve: setup  ## show the documentation site at http://127.0.0.1:8000 and rebuild it on changes
	NO_MKDOCS_2_WARNING=1 NUMBA_DISABLE_JIT=1 $(PY) -m mkdocs serve --watch src/ante --watch README.md

architecture: setup  ## generate docs/pictures/architecture.svg from the layers of pyproject.toml
	$(PY) -m tools.reference.architecture

screens: warm  ## generate the pictures and the recording of the terminal from their keys
	$(PY) -m tools.write_screens

chart: setup  ## generate the chart's values, schema, dashboard and reviewed renders; review the diff
	$(PY) tools/write_chart.py
	$(PY) tools/write_dashboard.py
	$(PY) -m tests.helm.renders

replays: warm  ## regenerate the recorded games of tests/golden/replays; review the diff
	$(PY) tools/write_replays.py

PIN = .venv/bin/uv pip compile pyproject.toml --python-version 3.11 --no-header --no-annotate --no-emit-index-url --generate-hashes --quiet
CPU_EXTRAS = --extra train --extra bus --extra serve --extra s3 --extra hints --extra cluster --extra data --extra track --extra knowledge-bolt
IMAGE_EXTRAS = $(CPU_EXTRAS) --extra gpu

lock: setup  ## pin the newest versions that pyproject.toml allows; images have the same
	$(PIN) --extra dev --upgrade -o requirements/all.txt
	$(PIN) $(IMAGE_EXTRAS) -c requirements/all.txt -o requirements/image.txt
	without=$$(grep -oE '^(torch|triton|cuda-[a-z-]+|nvidia-[a-z0-9-]+)==' requirements/image.txt | sed 's/^/--no-emit-package /; s/==//'); \
	  $(PIN) $(CPU_EXTRAS) $$without -c requirements/all.txt -o requirements/image-cpu.txt
	$(PIN) $(IMAGE_EXTRAS) --extra notebook -c requirements/all.txt -o requirements/notebook.txt
	echo cyclonedx-bom | $(PIN:pyproject.toml=-) -c requirements/all.txt -o requirements/sbom.txt

wheel: setup  ## build the sdist and the wheel of ante-balatro into dist/
	.venv/bin/uv build --quiet --out-dir dist

release: setup  ## build, sign and publish everything to the registry ANTE_REGISTRY: make release FLAGS=--dry-run
	$(PY) -m tools.release $(FLAGS)

clean:  ## remove what was built
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache build dist

.PHONY: help setup sbom audit secrets fuzz-readers system warm train test test-slow test-nightly cluster-image cluster-test test-bounds test-nojit test-golden test-hostile mutants lint generated types format bench dispatch notebooks docs docs-serve architecture screens protos chart replays lock wheel release clean
