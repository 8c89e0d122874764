/* SPDX-License-Identifier: GPL-2.0 */
/* A program that runs rounds of one kind: its command line, and its figures. */
#ifndef NET_ROUNDS_H
#define NET_ROUNDS_H

#include <stddef.h>

/**
 * rounds_begin() - from SEED ROUNDS KIND seed, and find what is to be done
 * @argc: three arguments and the program
 * @argv: they
 * @kinds: what there is; the first member of each is its name
 * @n: how many
 * @size: of one
 * @rounds: how many are wanted
 *
 * Return: the kind; exits with 2 if there is none of that name, or no round
 */
const void *rounds_begin(int argc, char **argv, const void *kinds, size_t n,
			 size_t size, unsigned int *rounds);

/* Of @n figures, one at least, which are put in order. */
long rounds_median(long *value, unsigned int n);

#endif
