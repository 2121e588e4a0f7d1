# The commands of a working day. CI calls only these, .ci/run, and the Makefiles of tests, bindings, fuzz and release.
PYTHON ?= python3
BIN := .venv/bin
comma := ,
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
SIZE ?= 1024
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Some programs fail without it, for example Go and matplotlib.
export HOME := $(or $(HOME),$(shell $(PYTHON) -c 'import os; print(os.path.expanduser("~"))'))
# Where it is set, as in many containers, each process that a test starts compiles all packages that it imports. The tests of datasets
# take twice the processor time then.
unexport PYTHONDONTWRITEBYTECODE
# Every build for tests selects these, so that no dependency is built a second time with other features.
TESTS := --locked --workspace --tests
BUILD := $(TESTS) --lib --bins
# In increments the kernels take 140 s of processor time instead of 100, which pays only while one works on them.
demo test lint bench docs develop: export CARGO_INCREMENTAL = 0

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 8
	@echo "More in: tests bindings fuzz release ('make -C tests' lists them)"

demo: install ## from nothing: build, install, encrypt a 1 GiB file (or FILE=...), read a range, decrypt, compare
	@$(BIN)/python demo/demo.py --size-mib $(SIZE) $(if $(FILE),--file "$(FILE)")
	@echo "This was the profile '$(PROFILE)'.$(if $(filter demo,$(PROFILE)), Packages are built in 'release'$(comma) which is at least as fast.)"

check: tools ## in a minute, while you work: format, warnings, types, unit tests and architecture rules
	cargo fmt --all --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(BIN)/mypy --strict bindings/python/sealane
	cargo test --locked --quiet --lib --test project

NOT_RUN := $(CURDIR)/target/not-run
test: export SEALANE_NOT_RUN = $(NOT_RUN)
test: ## all tests: Rust, Python, published vectors, other implementations, architecture rules
	@$(MAKE) --no-print-directory --jobs=2 develop tools plugin
	@rm -f $(NOT_RUN)
	cargo test $(TESTS)
	cargo test --locked --workspace --doc
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m "not slow" bindings/python/tests lab/tests tests

RUSTDOC := RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace --lib
lint: develop tools ## format, warnings, types, type stubs against the binary, documentation, locked versions
	cargo fmt --all --check
	@for folder in fuzz tests/plugin; do cargo metadata --locked --format-version 1 --manifest-path $$folder/Cargo.toml >/dev/null || exit 1; done
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p sealane --lib --no-default-features --features files -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict bindings/python/sealane
	$(BIN)/python -m mypy.stubtest sealane._native --ignore-disjoint-bases
	$(RUSTDOC)

BENCH := cargo bench --locked -p sealane-lab-bench --features providers/aegis,providers/ring --bench
bench: install tools ## the figures of the guide's page on speed, as ratios in one run
	$(BENCH) ctr_bound
	$(BENCH) gcm_bound
	$(BENCH) ctr
	$(BENCH) raw
	$(BENCH) aead
	$(BIN)/python lab/bench/boundary.py
	$(BIN)/python lab/bench/raw.py
	$(BIN)/python lab/bench/hybrid.py
	$(BIN)/python lab/bench/jwe.py
	$(BIN)/python lab/bench/rencrypt_calls.py
	cargo build --locked --release -p sealane-cli
	SEALANE_BINARY=target/release/sealane $(BIN)/python lab/bench/files.py --size $$(( $(SIZE) << 20 ))
	test -x target/tools/bin/rage || cargo install --quiet --locked --root target/tools rage@0.12.1
	SEALANE_BINARY=target/release/sealane $(BIN)/python lab/bench/recipients.py --size $$(( $(SIZE) << 20 ))
	$(BIN)/python lab/bench/bulk.py
	$(BIN)/python lab/bench/datasets.py --size $$(( $(SIZE) << 20 ))

docs: develop $(BIN)/.site ## the Rust documentation, and the site in target/site/html with its links checked
	$(RUSTDOC)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/site/build.py

clean: ## remove everything that was built
	rm -rf target .venv .demo dist bindings/python/sealane/_native*.so

# ---- prerequisites of the commands above --------------------------------------------------------------------------------

venv: $(BIN)/maturin
$(BIN)/maturin: bindings/python/build-requirements.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bindings/python/build-requirements.txt
	@touch $@

# The package in the profile of the demo, or with PROFILE=release as users get it. Cargo knows what is out of date, so this
# always runs.
PROFILE ?= demo
bench: PROFILE := release
install: venv
	@echo "Building in the profile '$(PROFILE)' ..."
	rm -rf target/wheel
	$(BIN)/maturin build --locked --quiet --profile $(PROFILE) --out target/wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheel/*.whl

# The build of everything that tests run, in the profile of `cargo test`. The Python package is used in place.
develop: venv
	cargo build $(BUILD) --quiet
	$(BIN)/python bindings/python/develop.py "$(TARGET)/debug"

# The age plugin with which the tests exchange files; it has its own dependencies.
plugin:
	cargo build --locked --quiet --manifest-path tests/plugin/Cargo.toml --target-dir $(TARGET)/plugin

# Packages of the tests, and of single commands: $(BIN)/.NAME has the requirements of NAME.
tools: $(BIN)/.tools
REQUIREMENTS_tools := bindings/python/tests/requirements.txt
REQUIREMENTS_stores := tests/datasets/stores/requirements.txt
REQUIREMENTS_engines := tests/datasets/engines/requirements.txt
REQUIREMENTS_site := docs/site/requirements.txt
REQUIREMENTS_release := release/requirements.txt
.SECONDEXPANSION:
$(BIN)/.stores $(BIN)/.engines $(BIN)/.site: | tools
$(BIN)/.%: $$(REQUIREMENTS_$$*) | venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	@touch $@

.PHONY: help demo check test lint bench docs clean venv install develop plugin tools
