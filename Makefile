# Riffle: `make demo` shows it, `make check` tests it. Meson does the work behind these names.
#   make          the program, build/riffle          make lint    formatting and static analysis
#   make demo     profile something, show it         make fuzz    fuzz every reader for a while
#   make check    every test                         make lab     remake the papers' figures
#   make lab SHORT=1   every figure from short streams, in minutes, into build/lab/short
#   make check-long    the same with the long versions of the suites that have one
#   make bench    speed, as ratios                   make install (DESTDIR and PREFIX are heeded)
#   make reliability   the tests behind doc/RELIABILITY.md, and its table anew
#   make mutants       change the code in 150 places, one at a time: do the tests notice?
#   make coverage      lines and branches that the tests reach
#   make fuzz-long     fuzz every reader for ten minutes each
#   make bench-probe   what profiling costs, beside Valgrind's own tools
# SETUP=no leaves the system's packages alone.
SETUP ?= yes
PREFIX ?= /usr/local
setup := $(if $(filter no,$(SETUP)),true,tools/setup)

all:     ; @$(setup) build && tools/build build
demo:    all ; @tools/demo
check:   ; @$(setup) check && tools/check
ci:      ; @$(setup) check && tools/check --lint
check-long: ; @$(setup) check && tools/check --long
bench:   ; @$(setup) check && tools/build build && tools/bench
bench-probe: ; @$(setup) check && tools/build build && bench/probe
lint:    ; @$(setup) check && tools/build build && tools/lint
fuzz:    ; @$(setup) check && tools/fuzz $(SECONDS_EACH)
fuzz-long: ; @$(setup) check && tools/fuzz 600
reliability: ; @$(setup) check && tools/build build && tools/reliability
mutants: ; @$(setup) check && tools/mutants
coverage: ; @$(setup) check && tools/coverage
lab:     ; @$(setup) lab && tools/build build && SHORT=$(SHORT) AGAIN=$(AGAIN) tools/lab
install: all ; @meson configure build -Dprefix=$(PREFIX) && meson install -C build --quiet
clean:   ; @rm -rf build build-asan build-clang build-cov build-fuzz build-mutants build-tsan
.PHONY: all demo check ci check-long bench bench-probe lint fuzz fuzz-long reliability coverage mutants lab install clean
