/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that a seed repeats: splitmix64. */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

static inline unsigned long long splitmix64(unsigned long long *state)
{
	unsigned long long z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif /* SELFTESTS_RANDOM_H */
