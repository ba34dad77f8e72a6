# The commands of bitpath. Each is a line or two that calls a script or cargo.
#
#   make study STUDY_ARGS="--quick"    arguments for the study
#   make test SETUP=                   install nothing

SETUP ?= scripts/setup
CARGO ?= cargo
STUDY_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
BENCH_SIM_ARGS ?=
BENCH_PROBE_ARGS ?=
BENCH_RTP_ARGS ?=
BENCH_TUNE_ARGS ?=

# rustup installs here, which a shell that is already open does not search.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

.PHONY: study test bench bench-sim bench-probe bench-rtp bench-tune lint setup clean

study: setup
	$(CARGO) build --release --locked --package bitpath-cli
	$(or $(CARGO_TARGET_DIR),target)/release/bitpath study $(STUDY_ARGS)

test: setup
	$(CARGO) test --workspace --locked $(TEST_ARGS)

bench: setup
	$(CARGO) bench --workspace --locked $(BENCH_ARGS)

bench-sim: setup
	scripts/setup-peers
	scripts/bench-sim $(BENCH_SIM_ARGS)

bench-probe: setup
	scripts/setup-peers probe
	scripts/bench-probe $(BENCH_PROBE_ARGS)

bench-rtp: setup
	scripts/setup-peers rtp
	scripts/bench-rtp $(BENCH_RTP_ARGS)

bench-tune: setup
	$(CARGO) build --release --locked --package bitpath-cli
	scripts/bench-tune $(BENCH_TUNE_ARGS)

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings

setup:
	@$(SETUP)

clean:
	$(CARGO) clean
