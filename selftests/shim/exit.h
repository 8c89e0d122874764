/* SPDX-License-Identifier: GPL-2.0 */
/* Included before each test: the harness ends a test's process with _exit(),
 * which would skip the leak check, and the counts of a build with --coverage.
 * With this file a leak fails the test.
 */
#ifndef _SHIM_EXIT_H
#define _SHIM_EXIT_H

#include <unistd.h>

#ifdef SHIM_COVERAGE
void __gcov_dump(void);

static inline int shim_last_words(int status)
{
	__gcov_dump();
	return status;
}
#else
#include <sanitizer/lsan_interface.h>

static inline int shim_last_words(int status)
{
	return status == 0 && __lsan_do_recoverable_leak_check() ? 1 : status;
}
#endif

__attribute__((noreturn, unused))
static void shim_exit(int status)
{
	(_exit)(shim_last_words(status));
}

#define _exit(status)	shim_exit(status)

#endif /* _SHIM_EXIT_H */
