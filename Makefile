# SPDX-License-Identifier: GPL-2.0
# What a person types; "make help" lists it. Everything that is built is under
# build/, but for aggnet.ko here and tools/aggctl/aggctl.

QUIET_MAKE := $(MAKE) --no-print-directory -s
TOP := $(CURDIR)
ifneq ($(words $(TOP)),1)
$(error the path of this tree has white space: '$(TOP)'; move the tree)
endif
BUILD := $(TOP)/build
VM := selftests/vm
# Of the guest: 6.1, 6.12, debug or kcsan.
KERNEL ?= 6.12
# Of make debug-kernel: debug or kcsan.
CONFIG ?= debug
# Of make check: tests that were chosen run on the debug kernel if it says "part".
DEBUG ?= $(if $(TESTS)$(KERNELS),no,part)
# Of make fuzz, for each target.
SECONDS ?= 60
# Of make soak: how long, how often the tests that loop do, and the seed.
MINUTES ?= 10
ROUNDS ?= 100
SEED ?= $(shell echo $$$$)
PREFIX ?= /usr/local
DESTDIR ?=

# What modules are built against: the running kernel's headers if they are
# here, else those of a guest kernel, if they are under build/.
RUNNING := $(wildcard /lib/modules/$(shell uname -r)/build)
KDIR ?= $(RUNNING)

.PHONY: all
all: modules tools

.PHONY: help
help:
	@sed -n 's/^#H //p' Makefile

#H make                    modules and tools
#H make modules [KDIR=]    aggnet.ko for one kernel, left here too
#H make headers            those of a guest kernel, unpacked under build/, for
#H                         hosts without headers of the running one
#H make tools              libaggtree, libaggnet, aggctl, aggd
#H make mpi                shims that give programs of MPICH and Open MPI groups
#H make install            module, tools, libraries, Python package, man pages
#H                         (PREFIX, DESTDIR)
#H make uninstall          what install put there (PREFIX, DESTDIR, KDIR)
#H make demo               the main job on real input, in the VM
#H make check [KERNELS=] [TESTS=]
#H                         every test, on the host and on the kernels, and some
#H                         on the debug kernel (an hour on two CPUs)
#H make check-debug [TESTS=]
#H                         the same tests in the VM on the debug kernel, and
#H                         faults on purpose that it must catch (two hours)
#H make tests-list [TESTS=]
#H                         each test and what it proves
#H make cluster            guests as machines with the Debian packages: what the
#H                         page "Your cluster" says; two of them with systemd
#H make soak [MINUTES=10] [KERNEL=]
#H                         random transfers while all kinds of things go wrong
#H make coverage           lines and branches that the tests reach, and lines
#H                         that none does (two hours with a debug kernel)
#H make unit               unit tests of the pure cores, on the host
#H make fuzz [SECONDS=60]  fuzzers of parsers and buffers
#H make model              the protocol's SPIN model
#H make netlink-generated  sources that follow from the netlink spec
#H make lint               checkpatch, sparse, W=1, shellcheck; silent if clean
#H make bench              benchmarks beside their peers, in the VM
#H make eval [NAME=]       the papers' tables beside ours
#H make eval-live [NAME='tables table2 fig7 skew graphs stripes'] [SEEDS=5]
#H                         [K='2 3 4 5 6'] completion times, in the VM
#H make vm CMD='...' [KERNEL=6.1|6.12|debug|kcsan]
#H                         a command as root in the VM
#H make setup              what the above need: packages, guest kernels
#H make debug-kernel [CONFIG=debug|kcsan]
#H                         a kernel with checkers, from the cache or built (about
#H                         12 minutes); kcsan looks for data races
#H make clean              what was built, not what was downloaded
#H make distclean          build/ altogether

.PHONY: setup
setup:
	@$(VM)/setup.sh

# Of a guest kernel, where there are none of the running one.
.PHONY: headers
headers:
	@KERNELS=$(KERNEL) $(VM)/setup.sh headers

.PHONY: modules
modules:
	@$(VM)/setup.sh check-modules
	@kdir="$(KDIR)"; \
	[ -n "$$kdir" ] || kdir=$$($(VM)/module.sh instead $(KERNEL)) || exit 1; \
	$(VM)/module.sh build "$$kdir" aggnet.ko

.PHONY: tools
tools:
	@$(VM)/setup.sh check-tools
	@$(QUIET_MAKE) -C tools/libaggtree O=$(BUILD)/tools/libaggtree all
	@$(QUIET_MAKE) -C tools/libaggnet O=$(BUILD)/tools/libaggnet
	@$(QUIET_MAKE) -C tools/aggctl O=$(BUILD)/tools
	@$(QUIET_MAKE) -C tools/aggd O=$(BUILD)/tools PREFIX=$(PREFIX)

# Those MPIs that this host has.
.PHONY: mpi
mpi: tools
	@$(QUIET_MAKE) -C tools/mpi O=$(BUILD)/tools

# The module in the tree of modules that a guest sees.
.PHONY: guest-module
guest-module: setup
	@$(VM)/module.sh guest $(KERNEL)

.PHONY: vm
# What the caller typed, not what make would expand it to.
vm: override export CMD := $(value CMD)
vm: setup tools guest-module
	@KERNEL=$(KERNEL) $(VM)/run.sh "$$CMD"

.PHONY: demo
demo:
	@KERNELS=$(KERNEL) $(VM)/setup.sh demo kernels
	@$(QUIET_MAKE) tools
	@module=$$($(VM)/module.sh product $(KERNEL)) && \
		VM_MODULE=$$module KERNEL=$(KERNEL) selftests/demo/demo.sh

# In this order, whatever -j says: what set-up leaves alone is looked at before.
.PHONY: check
check:
	@$(VM)/untouched.sh record
	@$(VM)/setup.sh
	@[ "$(DEBUG)" = no ] || $(VM)/debug-kernel.sh
	@$(QUIET_MAKE) tools
	@DEBUG=$(DEBUG) $(VM)/check.sh

.PHONY: check-debug
check-debug: setup
	@$(VM)/debug-kernel.sh
	@$(QUIET_MAKE) tools
	@HOST=0 KERNELS= DEBUG=all $(VM)/check.sh

.PHONY: tests-list
tests-list:
	@$(VM)/suites.sh list

.PHONY: cluster
cluster: setup
	@PACKAGES=1 selftests/cluster/servers.sh
	@PACKAGES=1 selftests/cluster/racks.sh
	@PACKAGES=1 selftests/cluster/causes.sh
	@PACKAGES=1 selftests/cluster/failures.sh
	@PACKAGES=1 selftests/cluster/rack_failures.sh
	@selftests/cluster/packages.sh

.PHONY: soak
soak: setup tools guest-module
	@$(QUIET_MAKE) -C selftests/net all
	@$(QUIET_MAKE) -C selftests/uapi all
	@KERNEL=$(KERNEL) VM_TIMEOUT=$$(($(MINUTES) * 60 + 7200)) $(VM)/run.sh \
		"MINUTES=$(MINUTES) ROUNDS=$(ROUNDS) SEED=$(SEED) \
		selftests/soak/soak.sh"

.PHONY: coverage
coverage: setup tools
	@$(VM)/coverage.sh

.PHONY: unit
unit: setup
	@$(QUIET_MAKE) -C selftests/unit run

.PHONY: fuzz
fuzz: setup
	@$(QUIET_MAKE) -C selftests/fuzz run SECONDS=$(SECONDS)
	@$(QUIET_MAKE) -C selftests/fuzz/library run SECONDS=$(SECONDS)
	@$(QUIET_MAKE) -C selftests/fuzz/flow run SECONDS=$(SECONDS)
	@$(QUIET_MAKE) -C selftests/fuzz/netlink run SECONDS=$(SECONDS)

# What follows from the spec is committed: a build needs neither Python nor YAML.
.PHONY: netlink-generated
netlink-generated:
	@/usr/bin/python3 tools/netlink/generate.py .

.PHONY: model
model: setup
	@$(QUIET_MAKE) -C selftests/model run

.PHONY: lint
lint: setup
	@$(VM)/lint.sh

.PHONY: bench
bench: setup tools
	@module=$$($(VM)/module.sh product $(KERNEL)) && \
		VM_MODULE=$$module KERNEL=$(KERNEL) selftests/perf/bench.sh

.PHONY: eval
eval: tools
	@tools/aggctl/aggctl eval $(or $(NAME),--rst Documentation/evaluation.rst)

.PHONY: eval-live
eval-live: setup tools
	@module=$$($(VM)/module.sh product $(KERNEL)) && VM_MODULE=$$module \
		KERNEL=$(KERNEL) SEEDS=$(SEEDS) K='$(K)' selftests/live/eval.sh $(NAME)

.PHONY: debug-kernel
debug-kernel: setup
	@$(VM)/debug-kernel.sh $(CONFIG)

.PHONY: install
install: modules tools
	@$(VM)/module.sh install "$(KDIR)" "$(DESTDIR)"
	$(MAKE) -C tools/libaggtree O=$(BUILD)/tools/libaggtree install \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/libaggnet O=$(BUILD)/tools/libaggnet install \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/aggctl O=$(BUILD)/tools install \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/aggd O=$(BUILD)/tools install \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/python install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

.PHONY: uninstall
uninstall:
	$(MAKE) -C tools/libaggtree O=$(BUILD)/tools/libaggtree uninstall \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/libaggnet O=$(BUILD)/tools/libaggnet uninstall \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/aggctl O=$(BUILD)/tools uninstall \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/aggd O=$(BUILD)/tools uninstall \
		PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	$(MAKE) -C tools/python uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	@$(VM)/module.sh uninstall "$(KDIR)" "$(DESTDIR)"

# By the shell and quoted: make would split a path at white space.
.PHONY: clean
clean:
	[ ! -d "$(BUILD)" ] || find "$(BUILD)" -mindepth 1 -maxdepth 1 \
		! -name cache ! -name vm ! -name kselftest \
		! -name setup.lock -exec rm -rf {} +
	rm -rf "$(BUILD)"/vm/run.* "$(BUILD)"/vm/linux-*
	rm -f aggnet.ko tools/aggctl/aggctl tools/aggd/aggd

.PHONY: distclean
distclean: clean
	rm -rf "$(BUILD)"
