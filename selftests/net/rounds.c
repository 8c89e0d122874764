// SPDX-License-Identifier: GPL-2.0
/* The command line and figures of programs that run rounds of one kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "rounds.h"

const void *rounds_begin(int argc, char **argv, const void *kinds, size_t n,
			 size_t size, unsigned int *rounds)
{
	const char *kind = kinds;

	if (argc != 4) {
		fprintf(stderr, "usage: %s SEED ROUNDS KIND\n", argv[0]);
		exit(2);
	}
	seed(strtoull(argv[1], NULL, 0));
	*rounds = (unsigned int)strtoul(argv[2], NULL, 0);
	for (; n--; kind += size)
		if (*rounds && !strcmp(*(const char *const *)kind, argv[3]))
			return kind;
	fprintf(stderr, "%s: no %s rounds of %s\n", argv[0], argv[2], argv[3]);
	exit(2);
}

static int by_size(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

long rounds_median(long *value, unsigned int n)
{
	qsort(value, n, sizeof(*value), by_size);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}
