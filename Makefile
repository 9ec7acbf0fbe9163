# leyden: `make help` lists the targets. What stands behind ## above a rule is its line there.

VERSION  := $(shell sed -n 's/^\#define LEY_VERSION "\(.*\)"/\1/p' host/leyden.h)
# Before 1.0 a minor version may change the interface; programs that were linked with another one
# do not find it.
SOVERSION := $(if $(filter 0.%,$(VERSION)),$(basename $(VERSION)),$(firstword $(subst ., ,$(VERSION))))

PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
DESTDIR  ?=
# Each flavour (plain, asan, ...) has a directory of its own.
BUILD    ?= build
CC       ?= cc
# Compiles what the build itself runs. For another architecture: CC=aarch64-linux-gnu-gcc
# CC_FOR_BUILD=cc.
CC_FOR_BUILD ?= $(CC)
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith
SANITIZE ?=
JOBS     := $(shell nproc)
# A line for each file, "CC platform/error.c"; V=1: whole commands.
Q        := $(if $(filter 1,$(V)),,@)
say       = $(if $(Q),@printf '  %-4s %s\n' $(1) $(2))

# MPI=1: leyden-mpi is built, too, with this compiler.
MPI      ?=
MPICC    ?= mpicc
# Those of two MPIs side by side, for tests: leyden-openmpi and leyden-mpich.
mpis     := $(foreach name,openmpi mpich,$(if $(shell command -v mpicc.$(name) 2>/dev/null),$(name)))

# Sub-makes use all cores.
BUILD_ALL := $(MAKE) --no-print-directory -j$(JOBS)

include_dirs := -Iplatform -Ihost -Icl
# On s390x C's standard has floats computed in double: other digits than kernels and files have.
float_only := $(if $(filter s390x-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-fexcess-precision=fast)
common  := -std=c11 $(float_only) -D_GNU_SOURCE $(WARNINGS) $(include_dirs) -fvisibility=hidden -fPIC -pthread $(SANITIZE)
lib_libs := -lOpenCL -lcrypto -lz -lm -ldl -pthread
# Only asked for once the packages are there.
tool_cflags = $(shell pkg-config --cflags cairo jansson)
tool_libs   = $(shell pkg-config --libs cairo jansson) -ltachyon-mt-thr

# Whatever lies in cl/, in both languages; test_dialects holds it against host/methods/registry.h.
sources     := $(sort $(notdir $(wildcard cl/*.cl)))
kernels     := $(sources) $(sources:.cl=.cu)
kernel_text := $(wildcard cl/*.cl cl/*.h cl/laws/*.h kernels_cuda/*.cu kernels_cuda/*.cuh)
lib_sources := $(filter-out platform/embed.c platform/ranks_mpi.c,$(wildcard platform/*.c platform/*/*.c)) \
               $(wildcard host/*/*.c host/methods/*/*.c host/long_range/*/*.c)
lib_objects  := $(lib_sources:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
tool_texts   := $(addprefix $(BUILD)/bench_,page.o references.o schema.o)
tool_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/*.c)) $(tool_texts)
tests        := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
test_support := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(wildcard tests/test_*.c tests/fuzz_*.c tests/offline_*.c tests/bench_*.c tests/make_*.c),$(wildcard tests/*.c)))

## Builds the command and the libraries in build/; V=1 shows whole commands; MPI=1: leyden-mpi, too.
all: $(BUILD)/leyden $(BUILD)/libleyden.a $(BUILD)/libleyden.so.$(VERSION) $(if $(MPI),$(BUILD)/leyden-mpi)

## Lists the targets, each by what stands behind two number signs above its rule.
help:
	@awk '/^## / {said = said (said == "" ? "" : " ") substr($$0, 4); next} \
	      said != "" && match($$0, /^[a-z][a-z0-9 -]*:/) {printf "make %-16s %s\n", substr($$0, 1, RLENGTH - 1), said} \
	      {said = ""}' $(firstword $(MAKEFILE_LIST))

# ---- Packages ------------------------------------------------------------------------------------

## Installs the packages of packages.txt, as root; EXTRA="extra lint": those of checks, too.
deps:
	@sh tests/install_packages.sh packages.txt build command device test demo $(EXTRA)

# What the demo needs, and none of the tests' packages.
demo-deps:
	@sh tests/install_packages.sh packages.txt build command device demo

# Says which packages the build lacks before a compiler stumbles over it; asked until nothing is
# missing. PURPOSES=build: what the library alone needs.
$(BUILD)/complete: packages.txt tests/missing_packages.sh
	@CC='$(CC)' sh tests/missing_packages.sh packages.txt $(PURPOSES)
	@mkdir -p $(@D) && touch $@

# ---- Build ---------------------------------------------------------------------------------------

# What results depend on that is no file: how all is compiled, and which sources there are. Each is
# kept as a text, which is written when it has changed.
$(BUILD)/flags: text = $(CC) $(common) $(CFLAGS) $(shell sed -n 's/.*own_flags :=//p' $(firstword $(MAKEFILE_LIST)))
$(BUILD)/sources: text = $(kernel_text) $(lib_sources) $(tool_objects)
quoted = '$(subst ','\'',$(text))'
$(BUILD)/flags $(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(quoted) | cmp -s - $@ || printf '%s\n' $(quoted) > $@

$(BUILD)/embed: platform/embed.c platform/flatten.c platform/flatten.h | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC_FOR_BUILD) -std=c11 -D_GNU_SOURCE -O1 $(WARNINGS) -o $@ platform/embed.c platform/flatten.c

$(BUILD)/embedded.c: $(BUILD)/embed $(kernel_text) $(BUILD)/sources
	$(call say,GEN,$@)
	$(Q)$(BUILD)/embed cl,kernels_cuda $(kernels) > $@.new && mv $@.new $@

$(BUILD)/embedded.o: $(BUILD)/embedded.c $(BUILD)/flags
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(CFLAGS) -Wno-overlength-strings -c -o $@ $<

$(BUILD)/tools/%.o: tools/%.c $(BUILD)/flags | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(tool_cflags) $(CFLAGS) -MMD -MP -c -o $@ $<

# The page of `leyden bench --html`, in which the command puts its report; the machines that scores
# are held against; the types of what reports say. Arrays of lines.
lines_of = { echo '\#include "$(2).h"'; echo 'const char *const $(1)[] = {'; \
             sed 's/[\\"?]/\\&/g; s/.*/"&\\n",/' $<; echo '0};'; } > $@.new && mv $@.new $@

$(BUILD)/bench_page.c: tools/bench_page.html | $(BUILD)/complete
	$(call say,GEN,$@)
	$(Q)$(call lines_of,bench_page,bench_html)

$(BUILD)/bench_references.c: tools/bench_references.json | $(BUILD)/complete
	$(call say,GEN,$@)
	$(Q)$(call lines_of,bench_references,bench_reference)

$(BUILD)/bench_schema.c: docs/bench.schema.json | $(BUILD)/complete
	$(call say,GEN,$@)
	$(Q)$(call lines_of,bench_schema,bench_schema)

$(tool_texts): $(BUILD)/%.o: $(BUILD)/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(common) -Itools $(tool_cflags) $(CFLAGS) -MMD -MP -c -o $@ $<

# Copies that look at every value on the way: as fast as plain ones where they are vectors.
$(BUILD)/host/layout/padding.o $(BUILD)/host/layout/transpose.o: own_flags := -O3
# And positions that go into their cells.
$(BUILD)/host/energy/batch.o: own_flags := -O3
# So are transforms of several lines at once.
$(BUILD)/host/numerics/cosines.o: own_flags := -O3
# Rows of products, and of comparisons.
$(BUILD)/host/surface/density.o $(BUILD)/host/surface/contour.o $(BUILD)/host/source/overlap.o: own_flags := -O3
# And rows of reciprocal roots, which set no errno.
$(BUILD)/host/numerics/spectrum.o: own_flags := -O3 -fno-math-errno
# The judge's loops are vectors, its square roots set no errno. Sums stay as they are written.
$(BUILD)/host/law/%.o: own_flags := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast
$(BUILD)/host/law/long_range_block.o: own_flags := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off
# Sums over charges and waves, written as vectors; square roots set no errno.
$(BUILD)/host/series/%.o: own_flags := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast
# Rows of sums as integers, and copies of positions.
$(BUILD)/host/average/density.o $(BUILD)/host/source/atoms.o: own_flags := -O3 -fno-trapping-math
# Rows of nodes, of which some are not-a-numbers, and bounds of bricks.
$(BUILD)/host/ions/host_map.o $(BUILD)/host/ions/search.o $(BUILD)/host/ions/bounds.o:\
    own_flags := -O3 -fno-math-errno -fno-trapping-math
# It writes kernels' sources, which takes no time that can be measured; optimised or watched by
# sanitizers, it takes several times as long to compile.
$(BUILD)/platform/opencl/fft_vkfft.o: own_flags := -O0 -fno-sanitize=all
# Compilers vectorise its loop only with these flags; it meets no infinities. Sums stay as they are
# written: cl/pair.h rounds by adding a large number.
# So it is with the direct sums of the host.
$(BUILD)/host/methods/cutoff/serial_pairs.o $(BUILD)/host/schedule/host_direct.o $(BUILD)/host/ions/exact.o: own_flags := -O3 -ffast-math -fno-associative-math
# A peer is as fast as compilers make it; it meets no infinities either.
$(BUILD)/host/long_range/bench/lattice_serial_loop.o: own_flags := -O3 -ffast-math

# What tests compute by themselves is little.
$(BUILD)/tests/%.o: own_flags := -O1 -Wno-unused-parameter -Wno-missing-field-initializers

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(CFLAGS) $(own_flags) -MMD -MP -c -o $@ $<

$(BUILD)/libleyden.a: $(lib_objects) $(BUILD)/sources
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(lib_objects)

$(BUILD)/libleyden.so.$(VERSION): $(lib_objects) $(BUILD)/sources
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libleyden.so.$(SOVERSION) -Wl,--no-undefined -o $@ $(lib_objects) $(lib_libs)

$(BUILD)/leyden: $(tool_objects) $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs) $(tool_libs)

# The same objects, with other ranks in front of the library's: several processes work together,
# which mpirun starts.
mpicc = $(if $(filter mpi,$*),$(MPICC),mpicc.$*)
$(foreach name,mpi openmpi mpich,$(BUILD)/ranks_$(name).o): $(BUILD)/ranks_%.o: platform/ranks_mpi.c $(BUILD)/flags | $(BUILD)/complete
	$(call say,CC,$<)
	$(Q)$(mpicc) $(common) $(CFLAGS) -MMD -MP -c -o $@ $<

$(foreach name,mpi openmpi mpich,$(BUILD)/leyden-$(name)): $(BUILD)/leyden-%: $(BUILD)/ranks_%.o $(tool_objects) $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(mpicc) $(common) $(CFLAGS) -o $@ $^ $(lib_libs) $(tool_libs)

# They come from the command's own tables of options. What is built for another
# architecture is run here for that: they are made where they are to be installed, and not by `all`.
$(BUILD)/pages/pages: $(BUILD)/tools/pages/pages.o $(filter-out %/main.o,$(tool_objects)) $(BUILD)/libleyden.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs) $(tool_libs)

$(BUILD)/pages/leyden.1: $(BUILD)/pages/pages
	$(call say,GEN,$(@D))
	$(Q)$< $(@D)

## Makes manual pages and completions in build/pages.
pages: $(BUILD)/pages/leyden.1

# ---- Demo ----------------------------------------------------------------------------------------

# Barnase, an enzyme, in water.
DEMO_MOLECULE := /usr/share/apbs/examples/pbsam-barn_bars/barnase.pqr

## Installs what is missing, as root, builds, computes the map of a protein and draws it.
demo: demo-deps
	@$(BUILD_ALL) all
	$(BUILD)/leyden map $(DEMO_MOLECULE) -o $(BUILD)/barnase.dx --dielectric 78.54
	$(BUILD)/leyden slice $(BUILD)/barnase.dx -o $(BUILD)/barnase.png --limits 5 --contours --title "Barnase in water"
	$(BUILD)/leyden surface $(DEMO_MOLECULE) -o $(BUILD)/barnase-surface.png

# ---- Tests ---------------------------------------------------------------------------------------

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(test_support) $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) $(link_flags) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(lib_libs) $(own_libs)

# Calls of these functions from one file of the library to another go through the test.
wrapped_by = $(shell sed -n 's/^WRAPPED.[a-z_0-9 ]*, \([a-z_]*\),.*/\1/p' $(1))
$(BUILD)/tests/test_msm_faults $(BUILD)/tests/test_long_faults $(BUILD)/tests/test_host_jobs: link_flags = $(patsubst %,-Wl$(comma)--wrap=%,$(call wrapped_by,tests/$(@F).c))
$(BUILD)/tests/test_average_devices $(BUILD)/tests/test_energy_devices $(BUILD)/tests/test_fit_devices: link_flags = -Wl,--wrap=kernels_distrust
$(BUILD)/tests/test_msm_devices: link_flags = -Wl,--wrap=kernels_distrust -Wl,--wrap=solver_seconds
$(BUILD)/tests/test_surface: link_flags = -Wl,--wrap=realloc
$(BUILD)/tests/test_by_plane: link_flags = -Wl,--wrap=coordinates_are_many
$(BUILD)/tests/test_bench_frontier: link_flags = -Wl,--wrap=msm_choose_on
$(BUILD)/tests/test_bench_frames: link_flags = -Wl,--wrap=ley_average_map -Wl,--wrap=ley_series_run -Wl,--wrap=ley_ions_place
$(BUILD)/tests/test_pair_lists: link_flags = -Wl,--wrap=lists_spec_for
$(BUILD)/tests/test_energy_faults: link_flags = -Wl,--wrap=sequence_launch -Wl,--wrap=arena_buffer -Wl,--wrap=kernels_distrust
$(BUILD)/tests/test_reciprocal: link_flags = -Wl,--wrap=fft_create
$(BUILD)/tests/test_bench_energy: link_flags = -Wl,--wrap=energy_part_finish -Wl,--wrap=ley_energy_run

$(BUILD)/tests/test_cli_batch $(BUILD)/tests/test_cli_files: own_libs = $(tool_libs)

# The method that CONTRIBUTING.md makes.
$(BUILD)/tests/tenth_method/%.o $(BUILD)/tests/test_tenth_method.o: own_flags = -Itests -Wno-unused-parameter $(tool_cflags)
$(BUILD)/tests/test_tenth_method: $(addprefix $(BUILD)/tests/tenth_method/,method.o rows.o) | $(BUILD)/tests/tenth_method/leyden

# And the command that has it.
$(BUILD)/tests/tenth_method/leyden: $(filter-out %/registry.o,$(tool_objects)) $(BUILD)/libleyden.a \
                                    $(patsubst %,$(BUILD)/tests/tenth_method/%.o,method rows command registry)
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(lib_libs) $(tool_libs)

# A command whose first plans miss their tolerance.
$(BUILD)/tests/test_cli_redo: | $(BUILD)/tests/loose_plans/leyden
$(BUILD)/tests/loose_plans/leyden: $(tool_objects) $(BUILD)/libleyden.a $(BUILD)/tests/loose_plans/choose.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -Wl,--wrap=msm_estimate -o $@ \
		$(filter %.o,$^) $(filter %.a,$^) $(lib_libs) $(tool_libs)
loose_ranks := $(mpis:%=$(BUILD)/tests/loose_plans/leyden-%)
$(loose_ranks): $(BUILD)/tests/loose_plans/leyden-%: $(BUILD)/ranks_%.o $(tool_objects) $(BUILD)/libleyden.a $(BUILD)/tests/loose_plans/choose.o
	$(call say,LINK,$@)
	$(Q)$(mpicc) $(common) $(CFLAGS) -Wl,--wrap=msm_estimate -o $@ \
		$(filter %.o,$^) $(filter %.a,$^) $(lib_libs) $(tool_libs)

# A CUDA driver and compiler without a card, for test_cuda, which opens them beside itself. What its
# kernels compute takes half of the test's time.
$(BUILD)/tests/fake_cuda/fake_cuda.o: own_flags := -O3 -ffast-math
fake_cuda := $(addprefix $(BUILD)/tests/fake_cuda/,libcuda.so.1 libnvrtc.so libcufft.so)
fake_nvml := $(BUILD)/tests/fake_cuda/libnvml.so

$(BUILD)/tests/fake_cuda/libcuda.so.1: $(BUILD)/tests/fake_cuda/fake_cuda.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libcuda.so.1 -o $@ $< -lm -pthread

$(BUILD)/tests/fake_cuda/libnvrtc.so: $(BUILD)/tests/fake_cuda/fake_nvrtc.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libnvrtc.so -o $@ $<

$(BUILD)/tests/fake_cuda/libcufft.so: $(BUILD)/tests/fake_cuda/fake_cufft.o $(BUILD)/tests/plain_fft.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libcufft.so -o $@ $^ -lm

$(fake_nvml): $(BUILD)/tests/fake_cuda/fake_nvml.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libnvml.so -o $@ $<

$(BUILD)/tests/test_cuda $(BUILD)/tests/test_cli_mistakes: | $(fake_cuda)
$(BUILD)/tests/test_energy: | $(fake_nvml)

# Objects that are loaded before others or as drivers. Never a sanitizer in them: linkers that
# drivers start have them before them, too.
loaded := $(foreach name,faulty_opencl faulty_files dying_driver fake_icd,$(BUILD)/tests/$(name)/$(name).so)

$(loaded:.so=.o): own_flags := -fno-sanitize=all
$(loaded): %.so: %.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -fno-sanitize=all -shared -o $@ $< -ldl -pthread

# PoCL with a fault, as a driver of its own, in a folder for the loader.
fake_icd := $(BUILD)/tests/fake_icd/vendors/fake.icd

$(fake_icd): $(BUILD)/tests/fake_icd/fake_icd.so
	@mkdir -p $(@D)
	@echo $(abspath $<) > $@

$(BUILD)/tests/test_check $(BUILD)/tests/test_check_faults: | $(fake_icd)

# Faults before the real OpenCL, for the tests below.
$(BUILD)/tests/test_cli_orbital $(BUILD)/tests/test_faults $(BUILD)/tests/test_average_devices $(BUILD)/tests/test_energy_devices $(BUILD)/tests/test_fit_devices $(BUILD)/tests/test_msm_devices $(BUILD)/tests/test_cli_batch $(BUILD)/tests/test_cli_ions $(BUILD)/tests/test_cli_late $(BUILD)/tests/test_cli_msm $(BUILD)/tests/test_cli_outputs $(BUILD)/tests/test_cli_points $(BUILD)/tests/test_fft: | $(BUILD)/tests/faulty_opencl/faulty_opencl.so

# The same of files.
$(BUILD)/tests/test_cli_files: | $(BUILD)/tests/faulty_files/faulty_files.so

# An OpenCL driver that ends the process.
$(BUILD)/tests/test_drivers: | $(BUILD)/tests/dying_driver/dying_driver.so

## Installs what is missing, as root, builds and runs the tests: 15 minutes at most on two cores.
test: deps
	@$(BUILD_ALL) check

# Under a sanitizer those that run there; else all, as scripts run some of them.
checked := $(if $(SANITIZE),$(shell BUILD=$(BUILD) TEST_LEVEL=$(TEST_LEVEL) bash tests/run.sh --list $(tests)),$(tests))

## Builds and runs the tests; TEST_LEVEL=quick|pairwise|full, TEST_JOBS=N: tests/run.sh has more.
check: $(if $(filter -fsanitize=thread,$(SANITIZE)),,all $(mpis:%=$(BUILD)/leyden-%) $(loose_ranks)) $(if $(SANITIZE),,pages) $(checked)
	@BUILD=$(BUILD) CC='$(CC)' $(if $(TEST_LEVEL),TEST_LEVEL=$(TEST_LEVEL)) bash tests/run.sh $(tests)

## Builds and tests on another architecture under QEMU, as root: from minutes to an hour each.
power arm s390x:
	@bash tests/matrix/architecture.sh $(subst power,ppc64el,$(subst arm,arm64,$@))

## Runs the README's commands in a bare Debian 12, as root: 20 minutes.
bare:
	@bash tests/bare.sh

## Tries every driver and architecture that can be had here and writes a page of the results.
matrix: all
	@BUILD=$(BUILD) bash tests/matrix/matrix.sh

## Checks format, conversions and casts, cppcheck, clang-tidy, widths; needs make deps EXTRA=lint.
lint: $(BUILD)/complete
	@CC='$(CC)' FLAGS='$(filter-out $(SANITIZE),$(common)) $(tool_cflags)' JOBS=$(JOBS) bash tests/lint.sh

## Checks all that needs no card: an hour at most on two cores; TEST_TURN=N: a part of it.
check-all:
	@MAKE='$(BUILD_ALL)' bash tests/check_all.sh

# Compilers take half as long with -O1 for what sanitizers add, and the tests hardly longer.
both_sanitizers := BUILD=$(BUILD)/asan SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' CFLAGS='-O1 -g1 -fno-omit-frame-pointer'
## Runs the tests under the sanitizers of addresses and of undefined behaviour at once.
sanitize:
	@$(BUILD_ALL) $(both_sanitizers) TEST_LEVEL=quick check
## Builds what these tests look at, for scripts that run alone.
sanitized:
	@$(BUILD_ALL) $(both_sanitizers) all
## Runs the tests under the address sanitizer.
asan:
	@$(BUILD_ALL) BUILD=$(BUILD)/asan SANITIZE=-fsanitize=address CFLAGS='-O1 -g1 -fno-omit-frame-pointer' TEST_LEVEL=quick check
## Runs the tests under the sanitizer of undefined behaviour.
ubsan:
	@$(BUILD_ALL) BUILD=$(BUILD)/ubsan SANITIZE='-fsanitize=undefined -fno-sanitize-recover=all' CFLAGS='-O2 -g1' TEST_LEVEL=quick check
## Runs the tests under the thread sanitizer.
tsan:
	@$(BUILD_ALL) BUILD=$(BUILD)/tsan SANITIZE=-fsanitize=thread CFLAGS='-O2 -g1' TEST_LEVEL=quick check

## Runs the kernels under Oclgrind.
oclgrind: all $(addprefix $(BUILD)/tests/,test_lattice test_transfer test_epilogue test_solvers test_device_long)
	@BUILD=$(BUILD) bash tests/oclgrind.sh

offline_tools := $(addprefix $(BUILD)/tests/,offline_nvrtc offline_specs)
small_programs := $(offline_tools) $(addprefix $(BUILD)/tests/,bench_launches bench_plan make_error_table)

$(small_programs): %: %.o $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs)

## Compiles every kernel in both languages for every architecture at hand, without a card.
offline: $(offline_tools)
	@BUILD=$(BUILD) bash tests/offline.sh

FUZZ_SECONDS ?= 60
fuzzers := $(patsubst tests/fuzz_%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz_*.c))
fuzz_sources := $(wildcard $(addsuffix /*.c,$(addprefix host/,core source target expression io apbs))) host/law/solvent.c \
                $(addprefix platform/,error.c machine.c memory.c parallel.c ranks.c) \
                $(addprefix platform/,costs.c kernel_wishes.c build_cache.c cache_limit.c clock.c environment.c log.c)

fuzz_objects := $(patsubst %.c,$(BUILD)/fuzz/objects/%.o,$(fuzz_sources))
fuzz_compiler := clang -std=c11 -D_GNU_SOURCE $(include_dirs) -g -O1 -fno-sanitize-recover=all -pthread

$(BUILD)/fuzz/objects/%.o: %.c | fuzz-deps
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(fuzz_compiler) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/%: tests/fuzz_%.c $(fuzz_objects) | fuzz-deps
	$(call say,LINK,$@)
	$(Q)$(fuzz_compiler) -fsanitize=fuzzer,address,undefined -o $@ $^ -lcrypto -lz -lm

-include $(fuzz_objects:.o=.d)

fuzz-deps:
	@sh tests/install_packages.sh packages.txt build extra

# New inputs are kept in BUILD; the corpus in tests/corpus only grows by hand.
## Runs the readers under libFuzzer, FUZZ_SECONDS=60 each.
fuzz: fuzz-deps $(fuzzers)
	@set -e; for f in $(notdir $(fuzzers)); do \
	    mkdir -p $(BUILD)/fuzz/corpus_$$f; \
	    LEYDEN_CACHE_MB=0 $(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=20 -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus_$$f tests/corpus/$$f; done

## Compares maps, boundaries and reports with the bytes that are kept, in all cases: some minutes.
golden: all
	LEYDEN_CACHE_DIR=$(abspath $(BUILD)/cache-test) python3 tests/golden.py check --all --leyden $(BUILD)/leyden

## Runs APBS's own examples, with boundaries by leyden and by APBS: some minutes.
examples: all
	python3 tests/apbs_examples.py $(BUILD)/leyden

## Measures the screen of all devices.
bench: all
	$(BUILD)/leyden bench --device all

## Makes docs/results.md of the screens that docs/results keeps, and a page of them in build/.
results: all
	$(BUILD)/leyden bench docs/results/*.json --markdown docs/results.md --html $(BUILD)/results.html

## Measures what a small launch costs, on all devices or on those that DEVICE selects.
bench-launches: $(BUILD)/tests/bench_launches
	$< $(or $(DEVICE),all)

## Measures how many maps a second a plan makes, of 92,000 and of 1,000 atoms, on DEVICE.
bench-plan: $(BUILD)/tests/bench_plan
	$< $(or $(DEVICE),gpu) 92000 108
	$< $(or $(DEVICE),gpu) 1000 65 dcs 3 2000

## Measures anew what meshes are off by, which plans read, after changes to splittings or windows.
error-table: $(BUILD)/tests/make_error_table
	$< > host/numerics/error_table_values.h.new
	mv host/numerics/error_table_values.h.new host/numerics/error_table_values.h

# ---- Python ------------------------------------------------------------------------------------

PYTHON ?= /usr/bin/python3

# Needs python3-cffi, -dev, -pip, -setuptools and -wheel, and nothing from PyPI.
## Makes the wheel of the Python package in build/python.
python: $(BUILD)/libleyden.a
	@CC='$(CC)' LEYDEN_BUILD='$(abspath $(BUILD))' bash tests/build_python.sh $(PYTHON) $(BUILD)/python

# Asks PyPI for what builds and looks at packages.
## Packs the Python package's sources and a wheel for other Linux systems, in build/dist.
sdist:
	@bash packaging/sdist.sh $(PYTHON) $(BUILD)/dist

# ---- Installation --------------------------------------------------------------------------------

LDCONFIG ?= /sbin/ldconfig
doc_dir   = $(PREFIX)/share/doc/leyden
man_dir   = $(PREFIX)/share/man/man1
bash_dir  = $(PREFIX)/share/bash-completion/completions
zsh_dir   = $(PREFIX)/share/zsh/site-functions
cmake_dir = $(LIBDIR)/cmake/leyden
# What users read, and what help texts name.
user_docs := $(wildcard docs/tutorials/*.md) \
             $(addprefix docs/,README.md apbs.md c-api.md check.md clusters.md command.md energies.md fitting.md formats.md ions.md long-range.md \
               mmgbsa.md orbitals.md plans.md python.md series.md short-range.md surfaces.md trajectories.md troubleshooting.md \
               example.c average.c options.schema.json gallery/surface.png gallery/membrane.png gallery/fitting.png)
# The loader knows these folders; programs that link with a library elsewhere must be told.
rpath     = $(if $(filter /usr /usr/local,$(PREFIX)),,-Wl$(comma)-rpath$(comma)$${libdir})
comma    := ,

# What programs are built with: all that leyden.h includes.
headers  := $(sort $(wildcard host/leyden*.h)) platform/leyden_status.h

# One object in which what is not public has no names: nothing of a program's own can meet it.
objcopy   = $(shell $(CC) -print-prog-name=objcopy)
$(BUILD)/installed/libleyden.a: $(lib_objects)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -r -nostdlib -o $(@D)/leyden.o $^
	$(Q)$(objcopy) --localize-hidden $(@D)/leyden.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(@D)/leyden.o

# Installed in place, the library is made known to the loader, which finds no new one by itself.
installed = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@RPATH@|$(rpath)|' \
                -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@INCLUDE_FROM_LIB@|$(shell realpath -m --relative-to=$(LIBDIR) $(PREFIX)/include)|'
## Installs the command, the library, headers and documents; PREFIX, LIBDIR, DESTDIR as usual.
install: all pages $(BUILD)/installed/libleyden.a
	@for folder in $(PREFIX)/bin $(PREFIX)/include $(LIBDIR)/pkgconfig $(cmake_dir) $(doc_dir) $(man_dir) $(bash_dir) $(zsh_dir); do \
	    install -d "$(DESTDIR)$$folder" || exit; done
	install -m 755 $(BUILD)/leyden $(if $(MPI),$(BUILD)/leyden-mpi) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(headers) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(BUILD)/installed/libleyden.a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(BUILD)/libleyden.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libleyden.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libleyden.so.$(SOVERSION)
	ln -sf libleyden.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libleyden.so
	$(installed) packaging/leyden.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/leyden.pc
	$(installed) packaging/leydenConfig.cmake.in > $(DESTDIR)$(cmake_dir)/leydenConfig.cmake
	$(installed) packaging/leydenConfigVersion.cmake.in > $(DESTDIR)$(cmake_dir)/leydenConfigVersion.cmake
	install -m 644 LICENSE $(DESTDIR)$(doc_dir)/
	@sh packaging/install_docs.sh "$(DESTDIR)$(doc_dir)" $(user_docs)
	install -m 644 $(BUILD)/pages/*.1 $(DESTDIR)$(man_dir)/
	install -m 644 $(BUILD)/pages/leyden.bash $(DESTDIR)$(bash_dir)/leyden
	install -m 644 $(BUILD)/pages/_leyden $(DESTDIR)$(zsh_dir)/
	@if [ -n "$(DESTDIR)" ]; then :; elif [ -x "$(LDCONFIG)" ] && [ "$$(id -u)" = 0 ]; then $(LDCONFIG); \
	elif [ -z "$(rpath)" ]; then echo "As root, run $(LDCONFIG): until then programs do not find libleyden.so."; fi

## Removes what install has installed.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,leyden leyden-mpi) $(addprefix $(DESTDIR)$(PREFIX)/include/,$(notdir $(headers)))
	rm -f $(DESTDIR)$(LIBDIR)/libleyden.a $(DESTDIR)$(LIBDIR)/libleyden.so* $(DESTDIR)$(LIBDIR)/pkgconfig/leyden.pc
	rm -rf $(DESTDIR)$(cmake_dir) $(DESTDIR)$(doc_dir)
	rm -f $(DESTDIR)$(man_dir)/leyden.1 $(DESTDIR)$(man_dir)/leyden-*.1 $(DESTDIR)$(bash_dir)/leyden $(DESTDIR)$(zsh_dir)/_leyden

## Makes Debian packages of the command and of the library for programs, build/*.deb.
deb: all pages
	@BUILD=$(BUILD) bash packaging/deb.sh

## Removes build/.
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
FORCE:

.PHONY: FORCE all help pages deps demo-deps fuzz-deps demo lint test check check-all sanitize sanitized asan ubsan tsan oclgrind golden offline fuzz examples bench results bench-launches error-table python sdist power arm s390x bare matrix install uninstall deb clean
