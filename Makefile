# Spillway: one Makefile, everything a person needs. `make help` prints the targets and the
# variables below.
#
#   LAB=day17-registers         the lab that grade and run work on
#   DIR=FOLDER                  what grade and run take (default: starter/LAB)
#   ARCH=sm_75                  for which GPU (default: answers.ini, else the GPU)
#   CUDA_HOME=/usr/local/cuda   the toolkit; without one nothing can be graded
#   SUITES="report cubin"       run only these test suites
#   V=1                         show the commands
#   WERROR=1                    compiler warnings are errors
#   SANITIZE=address,undefined  build with sanitizers, in a folder of its own
#   PREFIX=/usr/local DESTDIR=  where install puts things
#   ZSH_COMPLETIONS=FOLDER      below PREFIX, for zsh (default: share/zsh/site-functions)
#   CLASS="300 3000"            class sizes that bench grades
#   BUNDLE_TESTS=1              the bundle holds the test programs too
#   FAULTS=25                   calls of each kind that check lets fail; all: each one
#   SECONDS=60                  how long fuzz works on each target

LAB ?= day17-registers
DIR ?=
ARCH ?=
SUITES ?=
V ?= 0
WERROR ?= 0
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
ZSH_COMPLETIONS ?= share/zsh/site-functions
BUNDLE_TESTS ?= 0
ifeq ($(origin CC),default)
CC := gcc
endif

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

VERSION := 0.1.0

# ---- Variants: each set of flags builds into its own folder --------------------------------------
comma := ,
KNOWN_SANITIZERS := address undefined thread leak
BAD_SANITIZERS := $(filter-out $(KNOWN_SANITIZERS),$(subst $(comma), ,$(SANITIZE)))
ifneq ($(BAD_SANITIZERS),)
$(error SANITIZE=$(SANITIZE): unknown "$(BAD_SANITIZERS)"; known: $(KNOWN_SANITIZERS))
endif
BUILD := build/$(if $(SANITIZE),sanitize-$(subst $(comma),-,$(SANITIZE)),release)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- Toolkit and libraries -------------------------------------------------------------------------
ifndef CUDA_HOME
NVCC_ON_PATH := $(shell command -v nvcc 2>/dev/null)
CUDA_HOME := $(if $(NVCC_ON_PATH),$(patsubst %/bin/nvcc,%,$(realpath $(NVCC_ON_PATH))),$(wildcard /usr/local/cuda))
endif
# NVIDIA's packages, Conda's, and Ubuntu's own (whose CUDA_HOME is /usr) lay it out differently.
CUDART_STATIC := $(firstword $(wildcard $(addprefix $(CUDA_HOME)/,lib64/libcudart_static.a \
    targets/x86_64-linux/lib/libcudart_static.a lib/x86_64-linux-gnu/libcudart_static.a)))
CUDA_INCLUDE := $(patsubst %/cuda_runtime_api.h,-isystem %,$(filter-out /usr/include/%,$(firstword \
    $(wildcard $(addprefix $(CUDA_HOME)/,include/cuda_runtime_api.h targets/x86_64-linux/include/cuda_runtime_api.h)))))
# What `make deps` unpacked for this build alone, where nobody may install: its usr/, or nothing.
LOCAL = $(eval LOCAL := $$(shell cd build/deps/usr 2>/dev/null && pwd))$(LOCAL)
LOCAL_LIB = $(LOCAL)/lib/x86_64-linux-gnu
PKG_CONFIG = PKG_CONFIG_PATH="$(CURDIR)/build/deps/usr/lib/x86_64-linux-gnu/pkgconfig:$$PKG_CONFIG_PATH" pkg-config
PACKAGES := libgit2 jansson inih sqlite3 libcrypto
# Asked only when something is built: `make deps` may just have installed them.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $$(PKG_CONFIG) --cflags $$(PACKAGES) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $$(PKG_CONFIG) --libs $$(PACKAGES) 2>/dev/null))$(PKG_LIBS)
CHECK_CFLAGS = $(eval CHECK_CFLAGS := $$(shell $$(PKG_CONFIG) --cflags check 2>/dev/null))$(CHECK_CFLAGS)
CHECK_LIBS = $(eval CHECK_LIBS := $$(shell $$(PKG_CONFIG) --libs check 2>/dev/null))$(CHECK_LIBS)

# ---- Flags -----------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings \
            -Wformat=2 -Wundef -Wpointer-arith -Wcast-align -Wconversion -Wno-sign-conversion \
            -Wno-format-truncation # messages have a fixed room and are cut by design
# clang knows no such warning, wants literal formats where gcc sees the format attribute, and reports
# each lane loop that it does not vectorise.
ifneq ($(findstring clang,$(CC)),)
WARNINGS += -Wno-unknown-warning-option -Wno-format-nonliteral -Wno-pass-failed
endif
CPPFLAGS_ALL = -D_GNU_SOURCE -iquote grader -iquote . $(PKG_CFLAGS) \
               $(if $(LOCAL),-isystem $(LOCAL)/include -isystem $(LOCAL)/include/x86_64-linux-gnu) \
               $(if $(CUDART_STATIC),-DSPILLWAY_HAVE_CUDART=1 $(CUDA_INCLUDE)) \
               -DSPILLWAY_VERSION='"$(VERSION)"' $(CPPFLAGS)
HARDENING := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE -ffp-contract=off
CFLAGS_ALL = -std=c17 -O2 -g $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
             -fno-sanitize-recover=all -fPIE -ffp-contract=off,$(HARDENING)) $(if $(filter 1,$(WERROR)),-Werror) $(CFLAGS)
LDFLAGS_ALL = -pie $(if $(SANITIZE),-fsanitize=$(SANITIZE),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) \
              $(if $(LOCAL),-L$(LOCAL_LIB) -Wl$(comma)--disable-new-dtags -Wl$(comma)-rpath$(comma)$(LOCAL_LIB)) $(LDFLAGS)
# libstdc++ (for its demangler) is linked in: the program needs none to run, and the shared one does
# not export the demangler's inner call.
LIBSTDCXX := -static-libgcc -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic
LIBS = $(PKG_LIBS) $(CUDART_STATIC) $(LIBSTDCXX) -lm -ldl -lrt -lpthread

# ---- Sources ---------------------------------------------------------------------------------------
GRADER_SOURCES := $(wildcard grader/*.c grader/emulator/*.c labs/*.c labs/*/*.c reference/*/reference.c)
GRADER_OBJECTS := $(GRADER_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY_OBJECTS := $(filter-out $(BUILD)/grader/main.o,$(GRADER_OBJECTS))
# Suites run in this order, as many at a time as there are cores: the longest first.
CHECK_SOURCES := $(wildcard tests/check_mutants.c tests/check_cubin.c tests/check_sandbox.c)
CHECK_SOURCES += $(filter-out $(CHECK_SOURCES),$(sort $(wildcard tests/check_*.c)))
CHECK_OBJECTS := $(CHECK_SOURCES:%.c=$(BUILD)/%.o) $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support_*.c tests/truth/*.c))
ATTACK_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/attacks*.c))
BENCH_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/bench/class.c,$(wildcard tests/bench/*.c)) tests/support_driven.c)
HEADERS := $(wildcard grader/*.h grader/emulator/*.h labs/*.h labs/*/*.h reference/*/*.h tests/*.h tests/bench/*.h tests/fuzz/*.h tests/faults/*.h)
SPILLWAY := $(BUILD)/spillway
COMPLETIONS := $(BUILD)/completions/spillway.bash

.DEFAULT_GOAL := all

.PHONY: all
all: $(SPILLWAY)  ## build the program

.PHONY: deps
deps:  ## install what a build needs
	@CUDA_HOME=$(CUDA_HOME) sh packaging/deps

$(BUILD)/libspillway.a: $(LIBRARY_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(SPILLWAY): $(BUILD)/grader/main.o $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# A change of flags rebuilds what they affect. With deps among the goals, nothing is built before it.
$(BUILD)/flags: FORCE | $(filter deps,$(MAKECMDGOALS))
	@$(PKG_CONFIG) --exists $(PACKAGES) || \
	 { echo "Libraries are missing ($(PACKAGES)): 'make deps' installs them" >&2; exit 1; }
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' | cmp -s - $@ || \
	 printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' > $@
.PHONY: FORCE
FORCE:

COMPILE = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -MMD -MP -MF
$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(@:.o=.d) -c -o $@ $<

# Ubuntu 22.04's inih.pc has the version "undefined".
$(BUILD)/grader/libraries.o: EXTRA_CFLAGS = $(patsubst %,-DSPILLWAY_INIH_VERSION='"%"',$(filter-out undefined,$(shell $(PKG_CONFIG) --modversion inih)))
# The CPU reference is written to be vectorised, which -O2 of gcc 11 does not do.
$(BUILD)/reference/%.o: EXTRA_CFLAGS = -O3
# The lane loops of the emulator are worth the vectoriser; lanes_avx2 is chosen at run time.
$(BUILD)/grader/emulator/lanes_base.o: EXTRA_CFLAGS = -O3
$(BUILD)/grader/emulator/lanes_avx2.o: EXTRA_CFLAGS = -O3 -mavx2 -mfma
$(BUILD)/grader/emulator/rounding.o: EXTRA_CFLAGS = -frounding-math

$(CHECK_OBJECTS): EXTRA_CFLAGS = $(CHECK_CFLAGS) -iquote tests -iquote $(BUILD)/tests
$(ATTACK_OBJECTS) $(BUILD)/tests/mutants.o $(BUILD)/tests/mutant_words.o: \
    EXTRA_CFLAGS = -iquote tests

-include $(GRADER_OBJECTS:.o=.d) $(CHECK_OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $(BUILD)/tests/mutants.d $(BUILD)/tests/mutant_words.d \
         $(ATTACK_OBJECTS:.o=.d) $(wildcard $(BUILD)/tests/fuzz/*.d $(BUILD)/tests/faults/*.d) \
         $(BUILD)/tests/bench/class.d \
         $(HEADERS:%=$(BUILD)/%.d)

# ---- Use -------------------------------------------------------------------------------------------
SUBMISSION := $(or $(DIR),starter/$(LAB))

.PHONY: grade
grade: $(SPILLWAY)  ## grade a submission, without a GPU too (LAB= DIR= ARCH=)
	$(Q)$(SPILLWAY) grade '$(SUBMISSION)' $(if $(ARCH),--arch '$(ARCH)') \
	 $(if $(filter file,$(origin LAB)),,--lab '$(LAB)')

.PHONY: watch hint
watch: $(SPILLWAY)  ## grade again at each save (LAB= DIR=)
	$(Q)$(SPILLWAY) watch '$(SUBMISSION)'

hint: $(SPILLWAY)  ## the next hint, by what was graded last (LAB= ITEM=)
	$(Q)$(SPILLWAY) hint '$(LAB)' $(or $(ITEM),next)

# -arch=native needs a GPU to ask.
.PHONY: run
run:  ## build and run the lab's own program (LAB= DIR= ARCH=)
	$(Q)[ -x '$(CUDA_HOME)/bin/nvcc' ] || { echo "No nvcc was found: 'make doctor' says how to get one" >&2; exit 1; }
	$(Q)source=$$(ls '$(SUBMISSION)'/*.cu | head -n 1) && mkdir -p build/run && \
	 arch=$(or $(ARCH),$$([ -e /dev/nvidiactl -o -e /dev/dxg ] && echo native || echo sm_75)) && \
	 echo "nvcc -std=c++17 -O3 -arch=$$arch -Xptxas -v -o build/run/$(LAB) $$source" && \
	 '$(CUDA_HOME)/bin/nvcc' -std=c++17 -O3 -arch=$$arch -Xptxas -v -o 'build/run/$(LAB)' "$$source" && \
	 { 'build/run/$(LAB)'; status=$$?; [ $$status -ne 3 ] || { status=0; \
	   echo "The program needs a GPU; 'make grade' runs its kernels without one."; }; exit $$status; }

.PHONY: doctor
doctor: $(SPILLWAY)  ## what this machine lacks for grading, and what mends it
	$(Q)$(SPILLWAY) doctor

# ---- Tests -----------------------------------------------------------------------------------------
# Every tests/check_<module>.c exports suite_<module>(); the list is made from the file names.
$(BUILD)/tests/suites.inc: $(CHECK_SOURCES) Makefile
	@mkdir -p $(@D)
	$(Q)printf 'SUITE(%s)\n' $(filter-out main,$(patsubst tests/check_%.c,%,$(CHECK_SOURCES))) > $@
$(CHECK_OBJECTS) $(BUILD)/tests/testing.h.ok: | $(BUILD)/tests/suites.inc

$(BUILD)/tests/check: $(CHECK_OBJECTS) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CHECK_LIBS) $(LIBS)

# Wrong and sly kernels, each of which must lose its marks and no others.
$(BUILD)/tests/mutants: $(BUILD)/tests/mutants.o $(BUILD)/tests/mutant_words.o $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

.PHONY: mutants
mutants: $(BUILD)/tests/mutants  ## grade wrong kernels and show what each loses (ARGS=)
	$(Q)CUDA_HOME='$(CUDA_HOME)' $(BUILD)/tests/mutants $(ARGS)

# Submissions that attack the grader, each of which must get what an honest failure gets.
ATTACKS := $(BUILD)/tests/attacks
$(ATTACKS): $(ATTACK_OBJECTS) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

.PHONY: attacks
attacks: $(SPILLWAY) $(ATTACKS)  ## grade hostile submissions: each is blocked (ARGS=)
	$(Q)CUDA_HOME='$(CUDA_HOME)' $(ATTACKS) --spillway $(SPILLWAY) $(ARGS)

# Readers of outside bytes: tests/fuzz/fuzz_<x>.c is a target, tests/fuzz/corpus/<x>/ what it starts
# from, tests/fuzz/<x>.dict (if any) its words. Any compiler replays a target over its corpus; clang's
# libFuzzer fuzzes it, in a build of its own. What that finds is kept in the corpus.
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/%)
FUZZ_SUPPORT := $(BUILD)/tests/fuzz/repository.o $(BUILD)/tests/fuzz/replies.o
FUZZ_BUILD := build/fuzz
FUZZ_CC ?= $(firstword $(shell command -v clang-14 clang))
SECONDS ?= 60
$(FUZZ_REPLAYS): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(FUZZ_SUPPORT) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Self-contained but for the C library and what pkg-config names, so that they run elsewhere too.
$(BUILD)/libfuzzer/%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_SUPPORT) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) -static-libsan -fsanitize=fuzzer -o $@ $^ $(LIBS)

.PHONY: fuzz-build
fuzz-build:  ## build the fuzzers, in build/fuzz/libfuzzer (FUZZ_TARGETS=; needs clang)
	$(Q)$(MAKE) CC=$(or $(FUZZ_CC),$(error fuzzing needs clang)) BUILD=$(FUZZ_BUILD) SANITIZE=address,undefined \
	 CFLAGS='-O1 -gline-tables-only -fsanitize=fuzzer-no-link' $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/libfuzzer/%)

.PHONY: fuzz
fuzz: fuzz-build  ## fuzz each reader (SECONDS= each, FUZZ_TARGETS=; needs clang)
	$(Q)for target in $(FUZZ_TARGETS); do \
	 mkdir -p $(FUZZ_BUILD)/corpus/$$target && echo "== $$target" && \
	 $(FUZZ_BUILD)/libfuzzer/$$target -max_total_time=$(SECONDS) -timeout=25 -rss_limit_mb=4096 \
	  $$(test -e tests/fuzz/$$target.dict && echo -dict=tests/fuzz/$$target.dict) -verbosity=0 -print_final_stats=1 \
	  -artifact_prefix=$(FUZZ_BUILD)/$$target- $(FUZZ_BUILD)/corpus/$$target tests/fuzz/corpus/$$target || exit; done

# Spillway in front of which any call of the C library can fail, and which looks for leaks at its end.
FAULTY := $(BUILD)/tests/faulty
$(FAULTY): $(BUILD)/grader/main.o $(BUILD)/tests/faults/faults.o $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $(if $(SANITIZE),,-fsanitize=leak) -o $@ $^ $(LIBS)

# What the tests look at, as a user gets it: a bundle, an installation, and one taken away again.
STAGED := $(BUILD)/staged
.PHONY: staged
staged: $(if $(SANITIZE),,gradescope autolab) $(SPILLWAY) $(COMPLETIONS)
	$(Q)rm -rf $(STAGED)
	$(Q)$(call install_into,$(STAGED)/installed,/usr)
	$(Q)$(call install_into,$(STAGED)/uninstalled,/usr)
	$(Q)$(call uninstall_from,$(STAGED)/uninstalled,/usr)
	$(Q)! command -v dpkg-deb >/dev/null || sh packaging/deb light $(STAGED)/package $(STAGED)/installed $(VERSION)

TEST_ENVIRONMENT = SPILLWAY_BINARY=$(abspath $(SPILLWAY)) CUDA_HOME='$(CUDA_HOME)' \
                   SPILLWAY_STAGED=$(abspath $(STAGED)) $(if $(FAULTS),SPILLWAY_FAULTS=$(FAULTS)) $(if $(SANITIZE),,SPILLWAY_BUNDLE=$(abspath $(BUNDLE)) \
                   SPILLWAY_AUTOGRADERS=$(abspath build))

# SUITES= is for working on one module: only what it needs.
.PHONY: check
check: $(SPILLWAY) $(BUILD)/tests/check $(BUILD)/tests/mutants $(ATTACKS) $(FUZZ_REPLAYS) $(FAULTY) $(if $(SUITES),$(if $(filter delivery autograders package colab,$(SUITES)),staged),staged check-headers format-check)  ## run the tests (SUITES=)
	$(Q)$(TEST_ENVIRONMENT) $(BUILD)/tests/check $(SUITES)

.PHONY: check-full
check-full: check tidy  ## the tests, also sanitized and by clang, and tidy: slow
	$(Q)$(MAKE) check SANITIZE=address,undefined
	$(Q)$(MAKE) check CC=clang BUILD=build/clang
	$(Q)$(MAKE) check SUITES=faults FAULTS=all
	$(Q)SPILLWAY_TEST_KILLS=100 $(MAKE) check SUITES=batch_days
	$(Q)$(MAKE) check-package

# The native twin is compiled as well as the compiler can, and not warned about what it is: int taps.
$(BUILD)/tests/bench/native.o: EXTRA_CFLAGS = -O3 -mavx2 -mfma -ffp-contract=fast -Wno-conversion
$(BUILD)/tests/bench/bench: $(BENCH_OBJECTS) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(BUILD)/tests/bench/class: $(BUILD)/tests/bench/class.o $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# CLASS="300 3000" also compares a large class with a small one: that takes half an hour.
CLASS ?= 300
.PHONY: bench
bench: $(SPILLWAY) $(BUILD)/tests/bench/bench $(BUILD)/tests/bench/class  ## speed, as ratios beside their bars (needs nvcc; CLASS=)
	$(Q)status=0; $(BUILD)/tests/bench/bench $(SPILLWAY) '$(CUDA_HOME)/bin/nvcc' || status=$$?; \
	 $(BUILD)/tests/bench/class $(SPILLWAY) '$(CUDA_HOME)/bin/nvcc' $(CLASS) || status=$$?; exit $$status

.PHONY: check-labs
check-labs: $(SPILLWAY) $(BUILD)/tests/check $(BUILD)/tests/mutants  ## the labs' tests: reference, starter, mutants
	$(Q)$(TEST_ENVIRONMENT) $(BUILD)/tests/check lab reference hints release mutants

# What a student edits is the reference without what stands between its solution markers.
.PHONY: starter
starter: $(SPILLWAY)  ## make starter/ from the solution markers of reference/
	$(Q)for lab in $(notdir $(wildcard reference/*)); do for source in reference/$$lab/*.cu; do \
	 $(SPILLWAY) release $$lab --starter > $(BUILD)/starter && cp $(BUILD)/starter starter/$$lab/$${source##*/} || exit; done; done

# On a machine with a GPU.
.PHONY: check-gpu
check-gpu: $(SPILLWAY) $(BUILD)/tests/check $(BUILD)/tests/mutants $(ATTACKS)  ## what needs a GPU: faults, reference, mutants, attacks
	$(Q)$(TEST_ENVIRONMENT) $(BUILD)/tests/check gpu
	$(Q)for lab in $(notdir $(wildcard reference/*)); do \
	 $(SPILLWAY) grade reference/$$lab --lab $$lab --executor gpu --fail-under 100 --verbose && \
	 $(BUILD)/tests/mutants --lab $$lab --executor gpu || exit; done
	$(Q)$(ATTACKS) --spillway $(SPILLWAY) --executor gpu

# Each header is complete by itself.
.PHONY: check-headers
check-headers: $(HEADERS:%=$(BUILD)/%.ok)  ## each header compiles alone
$(BUILD)/%.h.ok: EXTRA_CFLAGS = $(CHECK_CFLAGS) -iquote tests -iquote $(BUILD)/tests
$(BUILD)/%.h.ok: %.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $< > $(@:.ok=.c)
	$(Q)$(COMPILE) $(@:.ok=.d) -MT $@ -fsyntax-only $(@:.ok=.c) && touch $@

# ---- Source ----------------------------------------------------------------------------------------
# Another version of clang-format would format otherwise.
C_FILES = $(sort $(GRADER_SOURCES) $(HEADERS) $(wildcard tests/*.c tests/*/*.c))
FORMATTER = for f in clang-format-14 clang-format; do \
	 case "$$($$f --version 2>/dev/null)" in *"version 14."*) formatter=$$f; break ;; esac; done

.PHONY: format
format:  ## lay out the C files with clang-format 14
	$(Q)$(FORMATTER); $${formatter:?is not here: install clang-format-14} -i $(C_FILES)

.PHONY: format-check
format-check:  ## are the C files laid out so?
	$(Q)$(FORMATTER); if [ -z "$$formatter" ]; then echo "skipped format-check: no clang-format 14 here"; else \
	 $$formatter --dry-run -Werror $(C_FILES); fi

.PHONY: tidy
tidy: $(GRADER_SOURCES:%.c=$(BUILD)/%.tidy)  ## lint with clang-tidy (.clang-tidy says which checks)
$(BUILD)/%.tidy: %.c $(BUILD)/%.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)tidy=$$(command -v clang-tidy-14 clang-tidy | head -n 1); $${tidy:?is not here: install clang-tidy} \
	 --quiet --warnings-as-errors='*' $< -- -std=c17 $(CPPFLAGS_ALL) 2> >(grep -v 'warnings\? generated' >&2) && touch $@

# ---- Delivery --------------------------------------------------------------------------------------
# What a program in PREFIX/bin finds as PREFIX/share/spillway: everything of a lab but its solution.
DATA_FILES = $(filter %.cu %.ini %.ipynb %.md %.tsv %/hints,$(wildcard labs/*/* starter/*/* exercises/*/*)) \
             $(wildcard packaging/student/*)
$(COMPLETIONS): $(SPILLWAY) packaging/completions
	$(call say,HELP,$(@D))
	$(Q)sh packaging/completions '$(abspath $(SPILLWAY))' $(@D)

.PHONY: completions
completions: $(COMPLETIONS)  ## completions for bash, zsh and fish

# $(1) is the root, $(2) the prefix.
install_into = install -D -m 755 $(SPILLWAY) '$(1)$(2)/bin/spillway' && \
	 install -D -m 644 spillway.1 '$(1)$(2)/share/man/man1/spillway.1' && \
	 install -D -m 644 $(BUILD)/completions/spillway.bash '$(1)$(2)/share/bash-completion/completions/spillway' && \
	 install -D -m 644 $(BUILD)/completions/_spillway '$(1)$(2)/$(ZSH_COMPLETIONS)/_spillway' && \
	 install -D -m 644 $(BUILD)/completions/spillway.fish '$(1)$(2)/share/fish/vendor_completions.d/spillway.fish' && \
	 install -d '$(1)$(2)/share/pkgconfig' && sed 's,@PREFIX@,$(2),; s,@VERSION@,$(VERSION),' \
	  packaging/spillway.pc.in >'$(1)$(2)/share/pkgconfig/spillway.pc' && \
	 for file in $(DATA_FILES); do install -D -m 644 $$file '$(1)$(2)/share/spillway/'$$file; done
uninstall_from = rm -f '$(1)$(2)/bin/spillway' '$(1)$(2)/share/man/man1/spillway.1' \
	 '$(1)$(2)/share/bash-completion/completions/spillway' '$(1)$(2)/$(ZSH_COMPLETIONS)/_spillway' \
	 '$(1)$(2)/share/fish/vendor_completions.d/spillway.fish' '$(1)$(2)/share/pkgconfig/spillway.pc' && \
	 rm -rf '$(1)$(2)/share/spillway'

.PHONY: install
install: $(SPILLWAY) $(COMPLETIONS)  ## install below PREFIX (DESTDIR=)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)$(call install_into,$(DESTDIR),$(PREFIX))

.PHONY: uninstall
uninstall:  ## remove what install put there
	$(Q)$(call uninstall_from,$(DESTDIR),$(PREFIX))

# The bundle's programs look for their libraries beside themselves. RPATH, not RUNPATH: the libraries
# must find one another there as well.
BUNDLE := build/bundle/spillway-$(VERSION)-linux-x86_64
BUNDLE_RPATH := -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib'
$(BUILD)/bundled/spillway: $(BUILD)/grader/main.o
$(BUILD)/bundled/check: $(CHECK_OBJECTS)
$(BUILD)/bundled/mutants: $(BUILD)/tests/mutants.o $(BUILD)/tests/mutant_words.o
$(BUILD)/bundled/attacks: $(ATTACK_OBJECTS)
$(BUILD)/bundled/%: $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $(BUNDLE_RPATH) -o $@ $(filter %.o,$^) $(BUILD)/libspillway.a \
	 $(if $(filter-out $(BUILD)/bundled/spillway,$@),$(CHECK_LIBS)) $(LIBS)

BUNDLED := $(BUILD)/bundled/spillway $(if $(filter 1,$(BUNDLE_TESTS)),$(addprefix $(BUILD)/bundled/,check mutants attacks))
.PHONY: bundle
bundle: $(BUNDLED)  ## a folder that runs on another Linux (BUNDLE_TESTS=)
	$(if $(SANITIZE),$(error a bundle with sanitizers runs nowhere else: leave SANITIZE= out))
	$(call say,BUNDLE,$(BUNDLE))
	$(Q)sh packaging/bundle '$(BUNDLE)' $(BUNDLED) -- $(DATA_FILES)
	$(Q)tar -C '$(dir $(BUNDLE))' -czf '$(BUNDLE).tar.gz' '$(notdir $(BUNDLE))'

# The cells of each lab's notebook as plain Python, to be run where there is no Jupyter.
.PHONY: colab-script
colab-script:  ## the notebooks' cells as Python scripts
	@mkdir -p build
	$(Q)for notebook in labs/*/colab.ipynb; do lab=$${notebook#labs/}; lab=$${lab%%/*}; \
	 sh packaging/notebook-script $$notebook > build/colab-$$lab.py && echo build/colab-$$lab.py || exit; done

# Autograders to be uploaded, for one lab (LAB=).
.PHONY: gradescope
gradescope: bundle  ## autograder.zip for Gradescope (LAB=)
	$(Q)sh packaging/autograder gradescope build/gradescope '$(BUNDLE)' '$(LAB)'

.PHONY: autolab
autolab: bundle  ## autograde.tar and Makefile for Autolab (LAB=)
	$(Q)sh packaging/autograder autolab build/autolab '$(BUNDLE)' '$(LAB)'

.PHONY: dist
dist:  ## a source archive of the last commit
	@mkdir -p build
	$(Q)sh packaging/dist build/spillway-$(VERSION).tar.gz spillway-$(VERSION)
	@echo build/spillway-$(VERSION).tar.gz

.PHONY: deb
deb: dist  ## a Debian package of the last commit (needs debhelper)
	$(Q)sh packaging/deb full build/deb build/spillway-$(VERSION).tar.gz $(VERSION)

# The package as debhelper builds it: lintian's opinion, then installed, used and removed.
.PHONY: check-package
check-package: staged $(SPILLWAY) $(BUILD)/tests/check  ## build the Debian package, install, grade, remove
	$(Q)if ! command -v dh >/dev/null; then echo "skipped check-package: no debhelper here"; else $(MAKE) deb && \
	 $(TEST_ENVIRONMENT) SPILLWAY_DEB=$$(ls $(abspath build/deb)/spillway_*.deb) $(BUILD)/tests/check package; fi

.PHONY: clean
clean:  ## remove everything that was built
	$(Q)rm -rf build

.PHONY: help
help:  ## this list
	@echo "Targets:"; awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo; echo "Variables (make TARGET NAME=VALUE):"; sed -n 's/^#   \([A-Z]\)/  \1/p' Makefile
