/* SPDX-License-Identifier: GPL-2.0 */
/* Division by the compiler, as in the unit tests. */
#include "../../../../unit/shim/linux/math64.h"
