/* SPDX-License-Identifier: GPL-2.0 */
/* Make allocations fail, on a kernel with fault injection: those of a thread,
 * with /proc/thread-self/fail-nth, or the module's own, including those in
 * softirq.
 */
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "put_file.h"

#define FAULT_NTH	"/proc/thread-self/fail-nth"
#define FAULT_DEBUG	"/sys/kernel/debug/"
#define FAULT_MODULE	FAULT_DEBUG "fail_aggnet/"

static inline int fault_put_number(const char *name, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return put_file(name, text);
}

/* Return: the number in the file, or -1 */
static inline int fault_get(const char *name)
{
	char text[16] = "";
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 ? atoi(text) : -1;
}

/**
 * struct fault - a way to make allocations fail
 * @name: for messages
 * @able: can this kernel do it? Also keeps failures out of the kernel's log.
 * @arm: make the @nth allocation from now on fail; 0: none
 * @struck: has it failed?
 */
struct fault {
	const char *name;
	bool (*able)(void);
	void (*arm)(int nth);
	bool (*struck)(void);
};

static inline bool fault_thread_able(void)
{
	/* Allocations that may sleep must fail, too. */
	return !access(FAULT_NTH, W_OK) &&
	       !put_file(FAULT_DEBUG "failslab/verbose", "0") &&
	       !put_file(FAULT_DEBUG "failslab/ignore-gfp-wait", "N") &&
	       !put_file(FAULT_DEBUG "fail_page_alloc/verbose", "0") &&
	       !put_file(FAULT_MODULE "verbose", "0");
}

static inline void fault_thread_arm(int nth)
{
	fault_put_number(FAULT_NTH, nth);
}

static inline bool fault_thread_struck(void)
{
	return fault_get(FAULT_NTH) == 0;
}

static inline bool fault_module_able(void)
{
	return !put_file(FAULT_MODULE "verbose", "0") &&
	       !put_file(FAULT_MODULE "interval", "1") &&
	       !put_file(FAULT_MODULE "times", "0") &&
	       !put_file(FAULT_MODULE "probability", "100");
}

static inline void fault_module_arm(int nth)
{
	put_file(FAULT_MODULE "times", "0");
	fault_put_number(FAULT_MODULE "space", nth);
	if (nth)
		put_file(FAULT_MODULE "times", "1");
}

static inline bool fault_module_struck(void)
{
	return fault_get(FAULT_MODULE "times") == 0;
}

static const struct fault fault_thread __attribute__((unused)) = {
	"fail-nth", fault_thread_able, fault_thread_arm, fault_thread_struck,
};

static const struct fault fault_module __attribute__((unused)) = {
	"fail_aggnet", fault_module_able, fault_module_arm, fault_module_struck,
};

#define FAULT_NONE	"the kernel cannot make allocations fail"

#endif /* FAULT_H */
