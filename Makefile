# Spillway: one Makefile, everything a person needs. `make help` lists the targets.
#
#   V=1                            show the commands
#   LAB=day17-registers            the lab that grade and run work on
#   ARCH=sm_75                     the architecture to grade for (default: what answers.ini or the GPU says)
#   SANITIZE=address,undefined     build into a folder of its own with sanitizers (or thread)
#   WERROR=1                       warnings are errors (CI)
#   CUDA_HOME=/usr/local/cuda      the toolkit; without one the grader builds, but cannot grade
#   PREFIX=/usr/local DESTDIR=     where install puts things

LAB ?= day17-registers
ARCH ?=
V ?= 0
WERROR ?= 0
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
CXX ?= g++

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
CUDART_STATIC := $(firstword $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a \
                                        $(CUDA_HOME)/targets/x86_64-linux/lib/libcudart_static.a))
PACKAGES := libgit2 jansson inih
# Asked only when something is built, so that `make deps` and `make help` work on a bare machine.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $$(PACKAGES) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $$(PACKAGES) 2>/dev/null))$(PKG_LIBS)
CHECK_CFLAGS = $(eval CHECK_CFLAGS := $$(shell pkg-config --cflags check 2>/dev/null))$(CHECK_CFLAGS)
CHECK_LIBS = $(eval CHECK_LIBS := $$(shell pkg-config --libs check 2>/dev/null))$(CHECK_LIBS)

# ---- Flags -----------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings \
            -Wformat=2 -Wundef -Wpointer-arith -Wcast-align -Wconversion -Wno-sign-conversion \
            -Wno-format-truncation # messages have a fixed room and are cut by design
CPPFLAGS_ALL = -D_GNU_SOURCE -iquote grader -iquote . $(PKG_CFLAGS) \
               $(if $(CUDART_STATIC),-DSPILLWAY_HAVE_CUDART=1 -isystem $(CUDA_HOME)/include) \
               -DSPILLWAY_VERSION='"$(VERSION)"' $(CPPFLAGS)
HARDENING := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE -ffp-contract=off
CFLAGS_ALL = -std=c17 -O2 -g $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
             -fno-sanitize-recover=all -fPIE -ffp-contract=off,$(HARDENING)) $(if $(filter 1,$(WERROR)),-Werror) $(CFLAGS)
LDFLAGS_ALL = -pie $(if $(SANITIZE),-fsanitize=$(SANITIZE),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) $(LDFLAGS)
LIBS = $(PKG_LIBS) $(CUDART_STATIC) -l:libstdc++.a -lm -ldl -lrt -lpthread

# ---- Sources ---------------------------------------------------------------------------------------
GRADER_SOURCES := $(wildcard grader/*.c grader/emulator/*.c labs/*.c labs/*/lab.c reference/*/reference.c)
GRADER_OBJECTS := $(GRADER_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY_OBJECTS := $(filter-out $(BUILD)/grader/main.o,$(GRADER_OBJECTS))
CHECK_SOURCES := $(sort $(wildcard tests/check_*.c))
CHECK_OBJECTS := $(CHECK_SOURCES:%.c=$(BUILD)/%.o) $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support_*.c))
SPILLWAY := $(BUILD)/spillway

.DEFAULT_GOAL := all

.PHONY: all
all: $(SPILLWAY)  ## build the program

$(BUILD)/libspillway.a: $(LIBRARY_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(SPILLWAY): $(BUILD)/grader/main.o $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# A change of flags rebuilds what they affect.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' | cmp -s - $@ || \
	 printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL))' > $@
.PHONY: FORCE
FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# The CPU reference is written to be vectorised, which -O2 of gcc 11 does not do.
$(BUILD)/reference/%.o: EXTRA_CFLAGS = -O3

$(CHECK_OBJECTS): EXTRA_CFLAGS = $(CHECK_CFLAGS) -iquote tests -iquote $(BUILD)/tests

-include $(GRADER_OBJECTS:.o=.d) $(CHECK_OBJECTS:.o=.d)

# ---- Tests -----------------------------------------------------------------------------------------
# Every tests/check_<module>.c exports suite_<module>(); the list is made from the file names.
$(BUILD)/tests/suites.inc: $(CHECK_SOURCES) Makefile
	@mkdir -p $(@D)
	$(Q)printf 'SUITE(%s)\n' $(filter-out main,$(patsubst tests/check_%.c,%,$(CHECK_SOURCES))) > $@
$(CHECK_OBJECTS): $(BUILD)/tests/suites.inc

$(BUILD)/tests/check: $(CHECK_OBJECTS) $(BUILD)/libspillway.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CHECK_LIBS) $(LIBS)

SUITES ?=
.PHONY: check
check: $(SPILLWAY) $(BUILD)/tests/check  ## run the tests (SUITES="report cubin": only those)
	$(Q)SPILLWAY_BINARY=$(abspath $(SPILLWAY)) CUDA_HOME=$(CUDA_HOME) $(BUILD)/tests/check $(SUITES)

.PHONY: clean
clean:  ## remove everything that was built
	$(Q)rm -rf build

.PHONY: help
help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
