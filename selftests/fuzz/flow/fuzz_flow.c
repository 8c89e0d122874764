// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: a transfer of five nodes through a hostile network, crashes and
 * new epochs. A result has every source's records once, or the transfer fails.
 */
#include <linux/compiler.h>

#include "script.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	script_run(data, size < 4096 ? size : 4096);
	return 0;
}
