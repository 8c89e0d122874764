/* SPDX-License-Identifier: GPL-2.0 */
/* The command line and figures of programs that run rounds of one kind. */
#ifndef NET_ROUNDS_H
#define NET_ROUNDS_H

#include <stddef.h>

/**
 * rounds_begin() - read SEED ROUNDS KIND, seed the generator and find the kind
 * @argc: must be 4
 * @argv: the program's arguments
 * @kinds: the kinds; the first member of each is its name
 * @n: how many
 * @size: bytes of one
 * @rounds: gets the number of rounds
 *
 * Return: the kind; exits with 2 if there is none of that name, or no round
 */
const void *rounds_begin(int argc, char **argv, const void *kinds, size_t n,
			 size_t size, unsigned int *rounds);

/* Return: the median of @n values, at least one; sorts them */
long rounds_median(long *value, unsigned int n);

#endif
