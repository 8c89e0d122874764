/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing is exported. */
#define EXPORT_SYMBOL(sym)	_Static_assert(1, #sym)
#define EXPORT_SYMBOL_GPL(sym)	_Static_assert(1, #sym)
