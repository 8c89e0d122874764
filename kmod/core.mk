# SPDX-License-Identifier: GPL-2.0
# The pure cores: what compiles in user space as it is. For Kbuild and for every
# program that takes them.

# How values are merged and travel; the library takes these, too.
AGGNET_VALUE := accum float_sum pairs reduce shape vector
AGGNET_CORE := $(AGGNET_VALUE) aggtable bloom codec crc filter fingerprint runs \
	       sender window
