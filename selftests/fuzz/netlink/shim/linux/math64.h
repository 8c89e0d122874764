/* SPDX-License-Identifier: GPL-2.0 */
/* Division is the compiler's, as in the unit tests. */
#include "../../../../unit/shim/linux/math64.h"
