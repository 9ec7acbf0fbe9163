# leyden: `make demo` shows what it does, `make test` proves it. `make help` lists the rest.

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

# Sub-makes use all cores.
BUILD_ALL := $(MAKE) --no-print-directory -j$(JOBS)

include_dirs := -Iplatform -Ihost -Icl
# On s390x C's standard has floats computed in double: other digits than kernels and files have.
float_only := $(if $(filter s390x-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-fexcess-precision=fast)
common  := -std=c11 $(float_only) -D_GNU_SOURCE $(WARNINGS) $(include_dirs) -fvisibility=hidden -fPIC -pthread $(SANITIZE)
lib_libs := -lOpenCL -lcrypto -lz -lm -ldl -pthread
# Only asked for once the packages are there.
tool_cflags = $(shell pkg-config --cflags cairo jansson)
tool_libs   = $(shell pkg-config --libs cairo jansson)

# Whatever lies in the two trees; test_dialects holds it against host/methods/registry.c.
kernels     := $(sort $(notdir $(wildcard cl/*.cl kernels_cuda/*.cu)))
kernel_text := $(wildcard cl/*.cl cl/*.h kernels_cuda/*.cu kernels_cuda/*.cuh)
lib_sources := $(filter-out platform/embed.c,$(wildcard platform/*.c platform/*/*.c)) \
               $(wildcard host/*/*.c host/methods/*/*.c host/long_range/*/*.c)
lib_objects  := $(lib_sources:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
tool_objects := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/*.c)) $(BUILD)/bench_page.o
tests        := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
test_support := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(wildcard tests/test_*.c tests/fuzz_*.c tests/offline_*.c tests/bench_*.c tests/make_*.c),$(wildcard tests/*.c)))

all: $(BUILD)/leyden $(BUILD)/libleyden.a $(BUILD)/libleyden.so.$(VERSION)

help:
	@echo "make           build the command and the libraries in $(BUILD)/; V=1 shows whole commands"
	@echo "make demo      install what is missing (as root), build, compute the map of a protein, draw it"
	@echo "make test      install what is missing (as root), build, run the tests: 15 minutes at most on two cores"
	@echo "make check     the same without installing anything; TEST_LEVEL=quick|pairwise|full, TEST_JOBS=N"
	@echo "make check-all all that needs no card: the tests in pairs of all they vary, sanitizers, fuzzers: an hour at most on two cores"
	@echo "make lint      format, conversions and casts, cppcheck, widths of comments and prose: a minute"
	@echo "make pages     manual pages and completions, from the command's tables of options, in $(BUILD)/pages"
	@echo "make python    the wheel of the Python package in $(BUILD)/python"
	@echo "make sdist     the Python package's sources, and a wheel for other Linux systems, in $(BUILD)/dist"
	@echo "make install   PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR=$(DESTDIR); make uninstall takes it away again"
	@echo "make deb       Debian packages of the command and the library, $(BUILD)/*.deb"
	@echo "make asan ubsan tsan   the tests under a sanitizer; make sanitize: asan and ubsan at once"
	@echo "make fuzz      the readers under libFuzzer, FUZZ_SECONDS=$(FUZZ_SECONDS) each"
	@echo "make oclgrind  the kernels under Oclgrind"
	@echo "make matrix    every driver and architecture that can be had here: maps, checks, a page of the results"
	@echo "make power arm s390x   as root: build and tests on another architecture, under QEMU"
	@echo "make bare      as root: the README's commands in a bare Debian 12, 20 minutes"
	@echo "make golden    are maps, boundaries and reports the bytes that are kept in tests/data/golden?"
	@echo "make offline   compile every kernel for every architecture at hand, without a card"
	@echo "make examples  APBS's own examples, with boundaries by leyden and by APBS"
	@echo "make bench     the kernels' rates on all devices"
	@echo "make deps      install the packages of packages.txt (as root)"
	@echo "make clean"

# ---- Packages ------------------------------------------------------------------------------------

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

$(BUILD)/embed: platform/embed.c platform/flatten.c platform/flatten.h | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC_FOR_BUILD) -std=c11 -D_GNU_SOURCE -O1 $(WARNINGS) -o $@ platform/embed.c platform/flatten.c

$(BUILD)/embedded.c: $(BUILD)/embed $(kernel_text)
	$(call say,GEN,$@)
	$(Q)$(BUILD)/embed cl,kernels_cuda $(kernels) > $@.new && mv $@.new $@

$(BUILD)/embedded.o: $(BUILD)/embedded.c
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(CFLAGS) -c -o $@ $<

$(BUILD)/tools/%.o: tools/%.c | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(tool_cflags) $(CFLAGS) -MMD -MP -c -o $@ $<

# The page of `leyden bench --html`, in which the command puts its report.
$(BUILD)/bench_page.c: tools/bench_page.html | $(BUILD)/complete
	$(call say,GEN,$@)
	$(Q){ echo '#include "bench_html.h"'; echo 'const char *const bench_page[] = {'; \
	      sed 's/[\\"?]/\\&/g; s/.*/"&\\n",/' $<; echo '0};'; } > $@.new && mv $@.new $@

$(BUILD)/bench_page.o: $(BUILD)/bench_page.c
	$(call say,CC,$<)
	$(Q)$(CC) $(common) -Itools $(tool_cflags) $(CFLAGS) -MMD -MP -c -o $@ $<

# Copies that look at every value on the way: as fast as plain ones where they are vectors.
$(BUILD)/host/layout/padding.o $(BUILD)/host/layout/transpose.o: own_flags := -O3
# So are transforms of several lines at once.
$(BUILD)/host/numerics/cosines.o: own_flags := -O3
# And rows of reciprocal roots, which set no errno.
$(BUILD)/host/numerics/spectrum.o: own_flags := -O3 -fno-math-errno
# The judge's loops are vectors, its square roots set no errno. Sums stay as they are written.
$(BUILD)/host/law/%.o: own_flags := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast
# It writes kernels' sources, which takes no time that can be measured; optimised or watched by
# sanitizers, it takes several times as long to compile.
$(BUILD)/platform/opencl/fft_vkfft.o: own_flags := -O0 -fno-sanitize=all
# Compilers vectorise its loop only with these flags; it meets no infinities. Sums stay as they are
# written: cl/pair.h rounds by adding a large number.
# So it is with the direct sums of the host.
$(BUILD)/host/methods/cutoff/overflow.o $(BUILD)/host/schedule/host_direct.o: own_flags := -O3 -ffast-math -fno-associative-math
# A peer is as fast as compilers make it; it meets no infinities either.
$(BUILD)/host/long_range/bench/lattice_serial_loop.o: own_flags := -O3 -ffast-math

# What tests compute by themselves is little.
$(BUILD)/tests/%.o: own_flags := -O1

$(BUILD)/%.o: %.c | $(BUILD)/complete
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common) $(CFLAGS) $(own_flags) -MMD -MP -c -o $@ $<

$(BUILD)/libleyden.a: $(lib_objects)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libleyden.so.$(VERSION): $(lib_objects)
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -shared -Wl,-soname,libleyden.so.$(SOVERSION) -Wl,--no-undefined -o $@ $^ $(lib_libs)

$(BUILD)/leyden: $(tool_objects) $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs) $(tool_libs)

# Manual pages and completions, from the command's own tables of options. What is built for another
# architecture is run here for that: they are made where they are to be installed, and not by `all`.
$(BUILD)/pages/pages: $(BUILD)/tools/pages/pages.o $(filter-out %/main.o,$(tool_objects)) $(BUILD)/libleyden.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs) $(tool_libs)

$(BUILD)/pages/leyden.1: $(BUILD)/pages/pages
	$(call say,GEN,$(@D))
	$(Q)$< $(@D)

pages: $(BUILD)/pages/leyden.1

# ---- Demo ----------------------------------------------------------------------------------------

# Barnase, an enzyme, in water.
DEMO_MOLECULE := /usr/share/apbs/examples/pbsam-barn_bars/barnase.pqr

demo: demo-deps
	@$(BUILD_ALL) all
	$(BUILD)/leyden map $(DEMO_MOLECULE) -o $(BUILD)/barnase.dx --dielectric 78.54
	$(BUILD)/leyden slice $(BUILD)/barnase.dx -o $(BUILD)/barnase.png --limits 5 --contours --title "Barnase in water (dielectric 78.54)"

# ---- Tests ---------------------------------------------------------------------------------------

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(test_support) $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) $(link_flags) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(lib_libs) $(own_libs)

# Calls of these functions from one file of the library to another go through the test.
wrapped_by = $(shell sed -n 's/^WRAPPED.[a-z_0-9 ]*, \([a-z_]*\),.*/\1/p' $(1))
$(BUILD)/tests/test_msm_faults $(BUILD)/tests/test_long_faults $(BUILD)/tests/test_host_jobs: link_flags = $(patsubst %,-Wl$(comma)--wrap=%,$(call wrapped_by,tests/$(@F).c))
$(BUILD)/tests/test_msm_devices: link_flags = -Wl,--wrap=kernels_distrust -Wl,--wrap=solver_seconds
$(BUILD)/tests/test_by_plane: link_flags = -Wl,--wrap=coordinates_are_many
$(BUILD)/tests/test_bench_frontier: link_flags = -Wl,--wrap=msm_choose_on

# The command's options for short-range sums, with all that they need.
$(BUILD)/tests/test_pairs $(BUILD)/tests/test_cli_batch $(BUILD)/tests/test_cli_files: own_libs = $(tool_libs)
$(BUILD)/tests/test_pairs: $(filter-out %/main.o,$(tool_objects))

# The method that CONTRIBUTING.md makes.
$(BUILD)/tests/tenth_method/%.o $(BUILD)/tests/test_tenth_method.o: own_flags = -Itests $(tool_cflags)
$(BUILD)/tests/test_tenth_method: $(BUILD)/tests/tenth_method/method.o | $(BUILD)/tests/tenth_method/leyden

# And the command that has it.
$(BUILD)/tests/tenth_method/leyden: $(filter-out %/registry.o,$(tool_objects)) $(BUILD)/libleyden.a \
                                    $(patsubst %,$(BUILD)/tests/tenth_method/%.o,method command registry)
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(lib_libs) $(tool_libs)

# A command whose first plans miss their tolerance.
$(BUILD)/tests/test_cli_redo: | $(BUILD)/tests/loose_plans/leyden
$(BUILD)/tests/loose_plans/leyden: $(tool_objects) $(BUILD)/libleyden.a $(BUILD)/tests/loose_plans/choose.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -Wl,--wrap=ley_long_range_choose -Wl,--wrap=ley_long_range_choose_points -o $@ \
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

$(BUILD)/tests/test_cuda: | $(fake_cuda)
$(BUILD)/tests/test_energy: | $(fake_nvml)

# PoCL with a fault, as a driver of its own, in a folder for the loader.
fake_icd := $(BUILD)/tests/fake_icd/vendors/fake.icd

$(BUILD)/tests/fake_icd/fake_icd.o: own_flags := -fno-sanitize=all
$(BUILD)/tests/fake_icd/libfake_icd.so: $(BUILD)/tests/fake_icd/fake_icd.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -fno-sanitize=all -shared -o $@ $< -ldl -pthread

$(fake_icd): $(BUILD)/tests/fake_icd/libfake_icd.so
	@mkdir -p $(@D)
	@echo $(abspath $<) > $@

$(BUILD)/tests/test_check $(BUILD)/tests/test_check_faults: | $(fake_icd)

# Faults before the real OpenCL, for the tests below.
# Never a sanitizer in it: linkers that drivers start have it before them, too.
$(BUILD)/tests/faulty_opencl/faulty_opencl.o: own_flags := -fno-sanitize=all
$(BUILD)/tests/faulty_opencl/faulty_opencl.so: $(BUILD)/tests/faulty_opencl/faulty_opencl.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -fno-sanitize=all -shared -o $@ $< -ldl -pthread

$(BUILD)/tests/test_faults $(BUILD)/tests/test_msm_devices $(BUILD)/tests/test_cli_batch $(BUILD)/tests/test_cli_late $(BUILD)/tests/test_cli_msm $(BUILD)/tests/test_cli_outputs $(BUILD)/tests/test_cli_points $(BUILD)/tests/test_fft: | $(BUILD)/tests/faulty_opencl/faulty_opencl.so

# The same of files.
$(BUILD)/tests/faulty_files/faulty_files.o: own_flags := -fno-sanitize=all
$(BUILD)/tests/faulty_files/faulty_files.so: $(BUILD)/tests/faulty_files/faulty_files.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -fno-sanitize=all -shared -o $@ $< -ldl

$(BUILD)/tests/test_cli_files: | $(BUILD)/tests/faulty_files/faulty_files.so

# An OpenCL driver that ends the process, for test_drivers; as above.
$(BUILD)/tests/dying_driver/dying_driver.o: own_flags := -fno-sanitize=all
$(BUILD)/tests/dying_driver/dying_driver.so: $(BUILD)/tests/dying_driver/dying_driver.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -fno-sanitize=all -shared -o $@ $< -ldl

$(BUILD)/tests/test_drivers: | $(BUILD)/tests/dying_driver/dying_driver.so

test: deps
	@$(BUILD_ALL) check

# Under a sanitizer those that run there; else all, as scripts run some of them.
checked := $(if $(SANITIZE),$(shell BUILD=$(BUILD) TEST_LEVEL=$(TEST_LEVEL) bash tests/run.sh --list $(tests)),$(tests))

# The tests alone, without installing anything; tests/run.sh says what TEST_LEVEL is.
check: all $(checked)
	@BUILD=$(BUILD) CC='$(CC)' $(if $(TEST_LEVEL),TEST_LEVEL=$(TEST_LEVEL)) bash tests/run.sh $(tests)

# Other architectures, each in a root of its own, and every driver that can be had here: as root,
# from minutes to an hour each. docs/testing.md has more.
power arm s390x:
	@bash tests/matrix/architecture.sh $(subst power,ppc64el,$(subst arm,arm64,$@))

# The README's commands in a bare Debian.
bare:
	@bash tests/bare.sh

matrix: all
	@BUILD=$(BUILD) bash tests/matrix/matrix.sh

# Needs the packages of `make deps EXTRA=lint`.
lint: $(BUILD)/complete
	@CC='$(CC)' FLAGS='$(filter-out $(SANITIZE),$(common)) $(tool_cflags)' JOBS=$(JOBS) bash tests/lint.sh

# What continuous integration runs.
check-all:
	@MAKE='$(BUILD_ALL)' bash tests/check_all.sh

both_sanitizers := BUILD=$(BUILD)/asan SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' CFLAGS='-O2 -g1 -fno-omit-frame-pointer'
sanitize:
	@$(BUILD_ALL) $(both_sanitizers) TEST_LEVEL=quick check
# What these tests look at, for scripts that run alone.
sanitized:
	@$(BUILD_ALL) $(both_sanitizers) all
asan:
	@$(BUILD_ALL) BUILD=$(BUILD)/asan SANITIZE=-fsanitize=address CFLAGS='-O2 -g1 -fno-omit-frame-pointer' TEST_LEVEL=quick check
ubsan:
	@$(BUILD_ALL) BUILD=$(BUILD)/ubsan SANITIZE='-fsanitize=undefined -fno-sanitize-recover=all' CFLAGS='-O2 -g1' TEST_LEVEL=quick check
tsan:
	@$(BUILD_ALL) BUILD=$(BUILD)/tsan SANITIZE=-fsanitize=thread CFLAGS='-O2 -g1' TEST_LEVEL=quick check

oclgrind: all $(addprefix $(BUILD)/tests/,test_lattice test_transfer test_epilogue test_solvers test_device_long)
	@BUILD=$(BUILD) bash tests/oclgrind.sh

# Every kernel in both languages, for every architecture that a compiler at hand can target; no card
# needed.
offline_tools := $(BUILD)/tests/offline_nvrtc $(BUILD)/tests/offline_specs

$(offline_tools): %: %.o $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs)

offline: $(offline_tools)
	@BUILD=$(BUILD) bash tests/offline.sh

FUZZ_SECONDS ?= 60
fuzzers := $(patsubst tests/fuzz_%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz_*.c))
fuzz_sources := $(wildcard $(addsuffix /*.c,$(addprefix host/,core source target expression io apbs))) host/law/solvent.c \
                $(addprefix platform/,error.c machine.c memory.c parallel.c) \
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
fuzz: fuzz-deps $(fuzzers)
	@set -e; for f in $(notdir $(fuzzers)); do \
	    mkdir -p $(BUILD)/fuzz/corpus_$$f; \
	    LEYDEN_CACHE_MB=0 $(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=20 -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus_$$f tests/corpus/$$f; done

# All cases; `check` runs the quick ones. Some minutes where kernels are built for the first time.
golden: all
	LEYDEN_CACHE_DIR=$(abspath $(BUILD)/cache-test) python3 tests/golden.py check --all --leyden $(BUILD)/leyden

# Some minutes.
examples: all
	python3 tests/apbs_examples.py $(BUILD)/leyden

bench: all
	$(BUILD)/leyden bench --device all

# What a small launch costs, on all devices or on those that DEVICE selects.
$(BUILD)/tests/bench_launches: $(BUILD)/tests/bench_launches.o $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs)

# What meshes are off by, as plans read it: after a change to splittings or windows.
$(BUILD)/tests/make_error_table: $(BUILD)/tests/make_error_table.o $(BUILD)/libleyden.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(common) $(CFLAGS) -o $@ $^ $(lib_libs)

error-table: $(BUILD)/tests/make_error_table
	$< > host/numerics/error_table_values.h.new
	mv host/numerics/error_table_values.h.new host/numerics/error_table_values.h

bench-launches: $(BUILD)/tests/bench_launches
	$(BUILD)/tests/bench_launches $(or $(DEVICE),all)

# ---- Python ------------------------------------------------------------------------------------

# Needs python3-cffi, -dev, -pip, -setuptools and -wheel, and nothing from PyPI.
PYTHON ?= /usr/bin/python3

python: $(BUILD)/libleyden.a
	@CC='$(CC)' LEYDEN_BUILD='$(abspath $(BUILD))' bash tests/build_python.sh $(PYTHON) $(BUILD)/python

# Asks PyPI for what builds and looks at packages.
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
user_docs := $(addprefix docs/,apbs.md check.md formats.md long-range.md plans.md short-range.md troubleshooting.md)
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
install: all pages $(BUILD)/installed/libleyden.a
	@for folder in $(PREFIX)/bin $(PREFIX)/include $(LIBDIR)/pkgconfig $(cmake_dir) $(doc_dir) $(man_dir) $(bash_dir) $(zsh_dir); do \
	    install -d "$(DESTDIR)$$folder" || exit; done
	install -m 755 $(BUILD)/leyden $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(headers) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(BUILD)/installed/libleyden.a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(BUILD)/libleyden.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libleyden.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libleyden.so.$(SOVERSION)
	ln -sf libleyden.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libleyden.so
	$(installed) packaging/leyden.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/leyden.pc
	$(installed) packaging/leydenConfig.cmake.in > $(DESTDIR)$(cmake_dir)/leydenConfig.cmake
	$(installed) packaging/leydenConfigVersion.cmake.in > $(DESTDIR)$(cmake_dir)/leydenConfigVersion.cmake
	install -m 644 LICENSE docs/example.c $(user_docs) $(DESTDIR)$(doc_dir)/
	install -m 644 $(BUILD)/pages/*.1 $(DESTDIR)$(man_dir)/
	install -m 644 $(BUILD)/pages/leyden.bash $(DESTDIR)$(bash_dir)/leyden
	install -m 644 $(BUILD)/pages/_leyden $(DESTDIR)$(zsh_dir)/
	@if [ -n "$(DESTDIR)" ]; then :; elif [ -x "$(LDCONFIG)" ] && [ "$$(id -u)" = 0 ]; then $(LDCONFIG); \
	elif [ -z "$(rpath)" ]; then echo "As root, run $(LDCONFIG): until then programs do not find libleyden.so."; fi

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/leyden $(addprefix $(DESTDIR)$(PREFIX)/include/,$(notdir $(headers)))
	rm -f $(DESTDIR)$(LIBDIR)/libleyden.a $(DESTDIR)$(LIBDIR)/libleyden.so* $(DESTDIR)$(LIBDIR)/pkgconfig/leyden.pc
	rm -rf $(DESTDIR)$(cmake_dir) $(DESTDIR)$(doc_dir)
	rm -f $(DESTDIR)$(man_dir)/leyden.1 $(DESTDIR)$(man_dir)/leyden-*.1 $(DESTDIR)$(bash_dir)/leyden $(DESTDIR)$(zsh_dir)/_leyden

# Debian packages: $(BUILD)/leyden_*.deb, the command, and libleyden for programs.
deb: all pages
	@BUILD=$(BUILD) bash packaging/deb.sh

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:

.PHONY: all help pages deps demo-deps fuzz-deps demo lint test check check-all sanitize sanitized asan ubsan tsan oclgrind golden offline fuzz examples bench bench-launches error-table python sdist power arm s390x bare matrix install uninstall deb clean
