# SPDX-License-Identifier: GPL-2.0
# The pure cores: files that compile unchanged in user space. For Kbuild and for
# every program that compiles them.

# How values are merged and encoded; the library compiles these, too.
AGGNET_VALUE := accum float_sum pairs reduce shape vector
AGGNET_CORE := $(AGGNET_VALUE) aggtable bloom crc fanout filter fingerprint packet \
	       record runs sender tag uhash window
# Builds for tests set this: tests plant faults in merges.
AGGNET_CORE += $(if $(filter y,$(AGGNET_FAULTS)),fault)
