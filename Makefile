# All commands of the project. CI calls only these.
PYTHON ?= python3
BIN := .venv/bin
SIZE ?= 1024
FOR ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
.DEFAULT_GOAL := help

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: install ## from nothing: build, install, encrypt a 1 GiB file (or FILE=...), read a range, decrypt, compare
	@$(BIN)/python demo/demo.py --size-mib $(SIZE) $(if $(FILE),--file "$(FILE)")

check: tools ## in a minute, while you work: format, warnings, types, unit tests and architecture rules
	cargo fmt --all --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(BIN)/mypy --strict bindings/python/sealane
	cargo test --locked --quiet --lib --test project

test: develop tools test-plugin ## all tests: Rust, Python, published vectors, other implementations, architecture rules
	cargo test --locked
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m "not slow" bindings/python/tests lab/tests tests

test-plugin: ## the age plugin with which the tests exchange files; it has its own dependencies
	cargo build --locked --quiet --manifest-path tests/plugin/Cargo.toml --target-dir $${CARGO_TARGET_DIR:-$(CURDIR)/target}/plugin

test-hostile: develop tools ## attacks that take long: killed at every system call, random worlds and calls; needs strace and root
	@command -v strace >/dev/null || { echo "test-hostile needs strace"; exit 1; }
	cargo build --locked -p sealane-cli
	$(BIN)/python -m pytest -q -m slow -o faulthandler_timeout=1800 bindings/python/tests lab/tests tests

lint: develop tools ## format, warnings, types, type stubs against the binary, documentation, locked versions
	cargo fmt --all --check
	@for folder in fuzz tests/plugin; do cargo metadata --locked --format-version 1 --manifest-path $$folder/Cargo.toml >/dev/null || exit 1; done
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p sealane --lib --no-default-features --features files -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict bindings/python/sealane
	$(BIN)/python -m mypy.stubtest sealane._native --ignore-disjoint-bases
	@$(MAKE) --no-print-directory docs

bench: install tools ## the figures of the guide's page on speed, as ratios in one run
	cargo bench --locked -p sealane-lab-bench --bench ctr_bound
	cargo bench --locked -p sealane-lab-bench --bench gcm_bound
	cargo bench --locked -p sealane-lab-bench --bench ctr
	cargo bench --locked -p sealane-lab-bench --bench raw
	cargo bench --locked -p sealane-lab-bench --bench aead
	$(BIN)/python lab/bench/boundary.py
	$(BIN)/python lab/bench/raw.py
	$(BIN)/python lab/bench/hybrid.py
	$(BIN)/python lab/bench/rencrypt_calls.py
	cargo build --locked --release -p sealane-cli
	SEALANE_BINARY=target/release/sealane $(BIN)/python lab/bench/files.py --size $$(( $(SIZE) << 20 ))
	test -x target/tools/bin/rage || cargo install --quiet --locked --root target/tools rage@0.12.1
	SEALANE_BINARY=target/release/sealane $(BIN)/python lab/bench/recipients.py --size $$(( $(SIZE) << 20 ))
	$(BIN)/python lab/bench/bulk.py
	$(BIN)/python lab/bench/datasets.py --size $$(( $(SIZE) << 20 ))

bench-elixir: ## a call of the Elixir package beside :crypto, and the table of SpeckEx: SPECKEX=folder of it; a release build
	cd bindings/elixir && MIX_ENV=prod mix run bench/calls.exs
	cd bindings/elixir && MIX_ENV=prod mix run bench/speckex.exs
	$(if $(SPECKEX),bindings/elixir/bench/seed.sh $(SPECKEX),@echo "NOT RUN: the table of SpeckEx itself, which needs SPECKEX=folder of its repository")

bench-go: lib-go ## calls of the Go module beside crypto/cipher and x/crypto; with AESCTRAT=FOLDER, a clone of it, also beside aesctrat
	AESCTRAT="$(AESCTRAT)" lab/go/bench.sh

bench-crystal: lib-c ## a call of the Crystal package beside Crystal's OpenSSL, and the table of rfc8439.cr: RFC8439=folder of it
	bindings/crystal/bench/run.sh $${CARGO_TARGET_DIR:-$(CURDIR)/target} $(RFC8439)

bench-bindings: bench-go bench-elixir bench-crystal ## calls of the packages for other languages, all of the above

test-age: develop tools test-plugin ## age files and plugins against the program age 1.3, which is built here; needs Go
	test -x target/tools/bin/age || GOBIN="$(CURDIR)/target/tools/bin" go install filippo.io/age/cmd/age@v1.3.2 filippo.io/age/cmd/age-keygen@v1.3.2
	test -x target/tools/bin/age-plugin-tagtest || GOBIN="$(CURDIR)/target/tools/bin" go install filippo.io/age/cmd/age-plugin-batchpass@v1.3.2 filippo.io/age/tag/internal/age-plugin-tagtest@v1.3.2
	PATH="$(CURDIR)/target/tools/bin:$$PATH" $(BIN)/python -m pytest -q tests/interop/newer_age.py tests/interop/newer_age_plugins.py tests/interop/test_age.py tests/interop/test_age_plugins.py

JAVA_HERE = $(and $(shell command -v javac),$(shell command -v mvn))
test-tink: develop tools ## keyrings and what they encrypt against Tink in Go and Java, which are built here; needs Go, and a JDK and Maven for Java
	cd tests/interop/tink_go && test -z "$$(gofmt -l .)" && go build -mod=readonly -o "$(CURDIR)/target/tools/bin/tink_go" .
	$(if $(JAVA_HERE),mvn -q -B -C -f tests/interop/tink_java/pom.xml -Dfolder="$(CURDIR)/target/tools/tink_java" compile)
	TINK="go $(if $(JAVA_HERE),java)" $(BIN)/python -m pytest -q tests/interop/other_tink.py tests/interop/test_tink.py
	$(if $(JAVA_HERE),,@echo "NOT RUN: keyrings against Tink in Java, which needs a JDK and Maven")

STORES = s3 $(and $(shell command -v node),$(shell command -v npm),azure) $(and $(shell command -v go),google)
test-stores: develop tools $(BIN)/.stores ## encrypted files on S3 (moto), Azure (azurite) and Google (fake-gcs-server); needs node and npm, and Go
	$(if $(filter azure,$(STORES)),mkdir -p target/tools/azurite && cp tests/datasets/stores/package*.json target/tools/azurite/ && cd target/tools/azurite && npm ci --silent --ignore-scripts,@echo "NOT RUN: Azure, which needs node and npm")
	$(if $(filter google,$(STORES)),test -x target/tools/bin/fake-gcs-server || GOBIN="$(CURDIR)/target/tools/bin" go install github.com/fsouza/fake-gcs-server@v1.56.1,@echo "NOT RUN: Google Cloud Storage, which needs Go")
	STORES="$(STORES)" $(BIN)/python -m pytest -q -o faulthandler_timeout=300 tests/datasets/test_stores.py

test-engines: develop tools $(BIN)/.engines ## encrypted files in Ray Data and PySpark, which needs a JVM; the packages take 800 MB
	$(if $(shell command -v java),,@echo "NOT RUN: PySpark, which needs a JVM")
	$(if $(shell command -v javac),,@echo "NOT RUN: encrypted columns in PySpark, which need javac")
	ENGINES="ray_data $(if $(shell command -v java),spark) $(if $(shell command -v javac),spark_columns)" $(BIN)/python -m pytest -q tests/datasets/other_engines.py

test-c: ## the C library in the profile of the tests: vectors, bad input, threads, sanitizers, examples; needs cc and binutils
	@for tool in cc ld objcopy nm; do command -v $$tool >/dev/null || { echo "test-c needs $$tool"; exit 1; }; done
	cargo test --locked --quiet -p sealane-c
	cargo build --locked --quiet -p sealane-c -p sealane-cli
	bindings/c/test.sh $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/libsealane_c.a $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/sealane

test-elixir: ## the Elixir package: format, warnings, vectors, :crypto as reference, bad input, processes, examples; needs elixir
	@for tool in mix cc; do command -v $$tool >/dev/null || { echo "test-elixir needs $$tool"; exit 1; }; done
	cargo build --locked --quiet -p sealane-cli
	cd bindings/elixir && mix format --check-formatted
	cd bindings/elixir && MIX_ENV=test mix compile --warnings-as-errors
	cd bindings/elixir && mix test --warnings-as-errors

test-go: ## the Go module in the profile of the tests: vectors, bad input, race detector, sanitizer, README; needs Go, cc, binutils, pkg-config
	@for tool in go cc ld objcopy pkg-config; do command -v $$tool >/dev/null || { echo "test-go needs $$tool"; exit 1; }; done
	cargo build --locked --quiet -p sealane-c -p sealane-cli
	bindings/go/test.sh $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/libsealane_c.a $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/sealane

test-crystal: ## the Crystal package: vectors, other implementations, bad input, fibers, examples; needs crystal, cc and binutils
	@for tool in crystal cc ld objcopy; do command -v $$tool >/dev/null || { echo "test-crystal needs $$tool"; exit 1; }; done
	cargo build --locked --quiet -p sealane-c -p sealane-cli
	bindings/crystal/test.sh $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/libsealane_c.a $${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/sealane

# The features of the crates sealane and sealane-providers, each list without the default ones.
PROVIDER_FEATURES := "" aegis aws-lc ring
SEALANE_FEATURES := "" aegis aws-lc ring aead-traits files pkcs11 files,aead-traits
check-features: ## the crates without the default features: with each feature, without a C compiler, without std, for wasm32 and macOS; needs rustup
	for features in $(PROVIDER_FEATURES); do \
		cargo clippy --locked --quiet -p sealane-providers --no-default-features --features "$$features" -- -D warnings || exit 1; \
	done
	for features in $(SEALANE_FEATURES); do \
		cargo clippy --locked --quiet -p sealane --lib --no-default-features --features "$$features" -- -D warnings || exit 1; \
	done
	cargo test --locked --quiet -p sealane-messages --lib --features aead-traits rustcrypto::
	cargo test --locked --quiet -p sealane-messages --doc --features aead-traits rustcrypto
	CC=/bin/false CXX=/bin/false cargo build --locked --quiet -p sealane --lib --no-default-features --features aead-traits --target-dir "$${CARGO_TARGET_DIR:-$(CURDIR)/target}/no-c"
	rustup target add wasm32-unknown-unknown thumbv7em-none-eabihf aarch64-unknown-none aarch64-apple-darwin
	for target in wasm32-unknown-unknown thumbv7em-none-eabihf aarch64-unknown-none; do \
		cargo clippy --locked --quiet -p sealane-kernels --no-default-features --target $$target -- -D warnings || exit 1; \
	done
	cargo test --locked --quiet -p sealane-kernels --no-default-features --lib
	cargo check --locked --quiet -p sealane-kernels --target wasm32-unknown-unknown
	cargo check --locked --quiet -p sealane-providers --no-default-features --target wasm32-unknown-unknown
	cargo check --locked --quiet -p sealane --no-default-features --features aead-traits --target aarch64-apple-darwin
	cargo check --locked --quiet -p sealane-rustls --no-default-features --target aarch64-apple-darwin

check-macos: $(BIN)/.release ## the program, the Python module and the C library type-checked for macOS on Arm, with Zig as their C compiler; needs rustup
	rustup target add aarch64-apple-darwin
	PATH="$(CURDIR)/$(BIN):$$PATH" cargo-zigbuild check --locked -p sealane-cli -p sealane-python -p sealane-c --target aarch64-apple-darwin

test-windows: ## the crates and the program for Windows: built with mingw, run under Wine; needs gcc-mingw-w64-x86-64, wine64 and rustup
	@command -v x86_64-w64-mingw32-gcc >/dev/null || { echo "test-windows needs x86_64-w64-mingw32-gcc"; exit 1; }
	rustup target add x86_64-pc-windows-gnu
	tests/windows/run.sh

FIPS := --locked --target-dir "$${CARGO_TARGET_DIR:-$(CURDIR)/target}/fips"
test-fips: ## a build with the feature fips: vectors in the FIPS module of AWS-LC, and the refusal of everything else; needs cc, cmake, Go and perl
	@for tool in cc cmake go perl; do command -v $$tool >/dev/null || { echo "test-fips needs $$tool"; exit 1; }; done
	cargo test $(FIPS) -p sealane-providers -p sealane -p sealane-cli --features sealane-providers/fips,sealane/fips,sealane-cli/fips --test fips
	cargo check $(FIPS) -p sealane-python --features fips

test-rustls: ## the cipher suites of rustls beside those over ring and aws-lc-rs, which is built a second time; RUSTLS=CHECKOUT also runs rustls's own tests, with BoGo
	cargo test --locked -p sealane-rustls --features aws-lc-rs
	$(if $(RUSTLS),bindings/rustls/tests/rustls.sh "$(RUSTLS)")

test-bindings: test-c test-go test-elixir test-crystal ## the packages for other languages, all of the above

test-ct: ## constant time: the kernels under valgrind and their machine code, on x86-64; and secrets left on the stack
	@for tool in valgrind objdump; do command -v $$tool >/dev/null || { echo "test-ct needs $$tool"; exit 1; }; done
	RUSTFLAGS="-C symbol-mangling-version=v0" cargo build --locked --release -p sealane-kernels --example constant_time
	$(PYTHON) tests/constant_time/check.py $${CARGO_TARGET_DIR:-target}/release/examples/constant_time
	RUSTFLAGS="-C symbol-mangling-version=v0" cargo test --locked --release -p sealane-kernels --test it stack::

# claim: tested-emulated
test-arch: test-aarch64 test-s390x test-i686 ## the kernels on other processors, emulated; needs the packages that .ci/run installs

# Arm, a big-endian processor, and one of 32 bits: $(call elsewhere,name,NAME,emulator,variants that have to run,options)
comma := ,
define elsewhere
	CARGO_TARGET_$(2)_UNKNOWN_LINUX_GNU_LINKER=$(1)-linux-gnu-gcc CARGO_TARGET_$(2)_UNKNOWN_LINUX_GNU_RUNNER="$(3)" \
	SEALANE_VARIANTS=$(4) cargo test --locked --target $(1)-unknown-linux-gnu -p sealane-kernels $(5)
endef
test-aarch64:
	$(call elsewhere,aarch64,AARCH64,qemu-aarch64-static -L /usr/aarch64-linux-gnu,neon-aes-sha3$(comma)neon-aes$(comma)neon$(comma)portable)
test-s390x:
	$(call elsewhere,s390x,S390X,qemu-s390x-static -L /usr/s390x-linux-gnu,portable,$(SLOW_HERE))
# The emulator takes a minute for the tests in tests/it/linear.rs. The portable variant passes them on the other processors.
SLOW_HERE := -- --skip of_whole_messages
test-i686:
	$(call elsewhere,i686,I686,$(RUN_I686),portable)
# Where the kernel runs 32-bit programs they are not emulated, which takes a twentieth of the time.
LIB_I686 := /usr/i686-linux-gnu/lib
LD_I686 := $(LIB_I686)/ld-linux.so.2
RUN_I686 = $(shell $(LD_I686) --version >/dev/null 2>&1 && echo $(LD_I686) --library-path $(LIB_I686) || echo qemu-i386-static -L /usr/i686-linux-gnu)

test-miri: ## the portable variants under Miri, seven minutes; needs a nightly compiler with the component miri
	MIRIFLAGS=-Zmiri-env-forward=SEALANE_VARIANTS SEALANE_VARIANTS=portable cargo +nightly miri test --locked -p sealane-kernels

FUZZ := PATH="$(CURDIR)/target/tools/bin:$$PATH" cargo +nightly fuzz run
fuzz: target/tools/bin/cargo-fuzz ## each fuzz target for FOR=60 seconds; needs a nightly compiler, fetches cargo-fuzz
	for target in $$(basename -s .seeds fuzz/seeds/*); do \
		$(PYTHON) fuzz/seeds.py unpack $$target fuzz/corpus/$$target && \
		$(FUZZ) $$target fuzz/corpus/$$target -- -max_total_time=$(FOR) -max_len=70000 || exit 1; \
	done

fuzz-seeds: target/tools/bin/cargo-fuzz ## add to the seeds the fewest short inputs of fuzz/corpus that reach more code
	for target in $$(ls fuzz/corpus); do \
		seeds=target/seeds/$$target && rm -rf $$seeds && $(PYTHON) fuzz/seeds.py unpack $$target $$seeds && \
		$(FUZZ) $$target $$seeds fuzz/corpus/$$target -- -set_cover_merge=1 -use_counters=0 -max_len=4096 && \
		$(PYTHON) fuzz/seeds.py pack $$target $$seeds || exit 1; \
	done

target/tools/bin/cargo-fuzz:
	cargo install --quiet --locked --root target/tools cargo-fuzz@0.13.2

coverage: ## lines of the parsers that tests and fuzz seeds reach, at least 95 %; slow, fetches cargo-llvm-cov
	test -x target/tools/bin/cargo-llvm-cov || cargo install --quiet --locked --root target/tools cargo-llvm-cov@0.9.1
	PATH="$(CURDIR)/target/tools/bin:$$PATH" cargo llvm-cov --locked $(addprefix -p sealane-,base messages engine keys files folders) -p sealane -p sealane-fuzz-targets --lcov --output-path target/parsers.lcov
	$(PYTHON) fuzz/coverage.py target/parsers.lcov

mutants: ## small changes of the lines that differ from BASE=REVISION, or of FILE=crates/keys/src/encoding/*.rs, that a test should catch; fetches cargo-mutants
	test -x target/tools/bin/cargo-mutants || cargo install --quiet --locked --root target/tools cargo-mutants@27.1.0
	git diff $(or $(BASE),HEAD~) -- crates > target/mutants.diff
	nice -n 15 target/tools/bin/cargo-mutants mutants --output target $(if $(FILE),--file '$(FILE)',--in-diff target/mutants.diff)

deny: target/tools/bin/cargo-deny ## licences, advisories and sources of all dependencies; fetches cargo-deny
	target/tools/bin/cargo-deny check

target/tools/bin/cargo-deny:
	cargo install --quiet --locked --root target/tools cargo-deny@0.20.2

target/tools/bin/cargo-semver-checks:
	cargo install --quiet --locked --root target/tools cargo-semver-checks@0.51.0

target/tools/bin/cargo-deb:
	cargo install --quiet --locked --root target/tools cargo-deb@3.8.0

docs: ## the Rust documentation, with warnings as errors
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace --lib

site: develop docs $(BIN)/.site ## the documentation site in target/site/html, with its links and references checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/site/build.py

site-check: site ## the site in Chromium at three widths: accessibility (axe), search, overflow; needs chromium and node
	@for tool in chromium npm node; do command -v $$tool >/dev/null || { echo "site-check needs $$tool"; exit 1; }; done
	mkdir -p target/site-check
	cp docs/site/package.json docs/site/package-lock.json docs/site/browser.mjs target/site-check/
	cd target/site-check && npm ci --silent && node browser.mjs ../site/html screenshots

wheels: $(BIN)/.release ## wheels for Linux in dist/: x86-64 and aarch64, glibc and musl; four release builds. ONLY=manylinux-x86_64 builds one
	$(BIN)/python release/wheels.py $(ONLY)

test-wheels: $(BIN)/.release ## install and test the wheels of dist/: glibc, a Python built for musl, and aarch64 emulated; needs root, debootstrap, qemu-user-static, musl. ONLY=... as above
	release/test_wheels.sh $(ONLY)

check-free-threaded: ## the Python module for CPython 3.14t, type-checked: Debian has no package of this interpreter
	PYO3_CONFIG_FILE="$(CURDIR)/release/cp314t.txt" cargo check --locked -p sealane-python

sbom: $(BIN)/.release ## bills of materials (CycloneDX) of the wheel, the program and the C library in dist/sbom
	$(BIN)/python release/sbom.py

semver: venv target/tools/bin/cargo-semver-checks ## public names of the crates against the last release, or against BASE=REVISION
	$(BIN)/python release/semver.py $(BASE)

# Compiling cargo-semver-checks takes minutes, so it waits for a release to compare with.
RELEASES := $(shell git tag --list 'v*' 2>/dev/null)
release-check: $(BIN)/.release target/tools/bin/cargo-deny $(if $(RELEASES),target/tools/bin/cargo-semver-checks) ## what a release needs: versions, public names, licences, advisories, bills of materials, reproducible builds; FAST=1 builds without optimisation
	$(BIN)/python release/check.py $(if $(FAST),--reproducible=--fast)

deb: $(BIN)/.release target/tools/bin/cargo-deb ## the Debian package in dist/; a release build
	program=$$($(BIN)/python release/program.py) && release/deb.sh "$$program" dist

test-deb: ## install and remove the package of dist/ in a new Debian system; needs root and debootstrap
	@for tool in debootstrap chroot; do command -v $$tool >/dev/null || { echo "test-deb needs $$tool"; exit 1; }; done
	release/test_deb.sh dist/sealane_*.deb

lib-c: ## the C library, header and sealane.pc in target/c, which can be moved; a release build of several minutes
	cargo build --locked --release -p sealane-c
	bindings/c/link.sh $${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/libsealane_c.a $${CARGO_TARGET_DIR:-$(CURDIR)/target}/c

lib-go: lib-c ## the C library as an object file in the Go module, for `go build`
	cp $${CARGO_TARGET_DIR:-$(CURDIR)/target}/c/sealane.o bindings/go/internal/static/sealane_$$(go env GOOS)_$$(go env GOARCH).syso

man: ## manual pages of the program, in target/man/man1
	cargo run --locked --quiet -p sealane-cli -- man target/man/man1

wheel: venv ## a wheel in dist/
	$(BIN)/python -m maturin build --release --locked --out dist

# With FAST=1 the build is not optimised.
UNOPTIMISED := CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
sdist: venv ## the source distribution in dist/; pip installs it in an empty environment, where the README's examples run. FAST=1 builds without optimisation
	rm -f dist/sealane-*.tar.gz
	$(BIN)/python -m maturin sdist --out dist
	$(if $(FAST),$(UNOPTIMISED)) release/test_wheel.sh dist/sealane-*.tar.gz

clean: ## remove everything that was built
	rm -rf target .venv .demo dist

# ---- prerequisites of the commands above --------------------------------------------------------------------------------

venv: $(BIN)/maturin
$(BIN)/maturin: bindings/python/build-requirements.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bindings/python/build-requirements.txt
	@touch $@

# The release build, as users get it. Cargo knows what is out of date, so this always runs.
install: venv
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .

# The build for tests, in the same profile as `cargo test`, which shares its dependencies; Python sources are used in place.
develop: venv
	PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/maturin develop --locked --quiet

tools: $(BIN)/.tools
$(BIN)/.tools: bindings/python/tests/requirements.txt | venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r bindings/python/tests/requirements.txt
	@touch $@

$(BIN)/.stores: tests/datasets/stores/requirements.txt | tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	@touch $@

$(BIN)/.engines: tests/datasets/engines/requirements.txt | tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $<
	@touch $@

$(BIN)/.site: docs/site/requirements.txt | tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r docs/site/requirements.txt
	@touch $@

$(BIN)/.release: release/requirements.txt | venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r release/requirements.txt
	@touch $@

.PHONY: check-macos test-fips sdist semver test-stores test-engines man help check-features test-rustls wheels sbom release-check deb test-deb test-wheels check-free-threaded site site-check bench-bindings test-bindings demo check develop test test-plugin test-hostile test-c test-crystal bench-crystal test-go test-elixir bench-elixir test-age test-tink test-arch test-aarch64 test-s390x test-i686 test-ct test-miri lint bench bench-go fuzz fuzz-seeds coverage mutants deny docs lib-c lib-go wheel clean venv install tools
