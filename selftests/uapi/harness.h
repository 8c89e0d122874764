/* SPDX-License-Identifier: GPL-2.0 */
/* The kselftest harness with longer timeouts: they end a test that hangs, but
 * not one that is slow on a debug kernel or a busy machine.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300	/* seconds */
#define LONG			3000	/* many rounds on a debug kernel */

#endif /* HARNESS_H */
