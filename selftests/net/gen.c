// SPDX-License-Identifier: GPL-2.0
/* Makes the input of a test: lines key<TAB>value, the same for a seed. To
 * standard output, or to files: each has the next seed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"

#define KEY_MAX	255

static unsigned long long state;

static uint64_t draw(void)
{
	return splitmix64(&state);
}

/* Key number @id: as long as @klen says, and no other key's. */
static void put_key(uint64_t id, const char *klen)
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned int want = !strcmp(klen, "mix") ?
			    (unsigned int)(1 + id * 2654435761u % 40) :
			    (unsigned int)atoi(klen);
	unsigned int n = 0;
	char key[KEY_MAX + 1];

	do {
		key[n++] = digit[id % 62];
		id /= 62;
	} while (id);
	while (n < want && n < KEY_MAX)
		key[n++] = '_';
	fwrite(key, 1, n, stdout);
}

static int64_t value(const char *kind, unsigned long r)
{
	if (!strcmp(kind, "one"))
		return 1;
	if (!strcmp(kind, "factors"))
		return (draw() % 64 ? 1 : 2) * (draw() & 1 ? 1 : -1);
	if (!strcmp(kind, "limits"))
		return r & 1 ? INT64_MIN : INT64_MAX;
	return (int64_t)(draw() % 2001) - 1000;
}

/*
 * "factors": products of a few dozen fit 64 bits. "limits": each key gets
 * INT64_MAX and INT64_MIN in turn, so that sums pass far beyond 64 bits on the
 * way and come back.
 */
static int generate(uint64_t seed, char **argv)
{
	unsigned long records = strtoul(argv[0], NULL, 0), r;
	uint64_t keys = strtoull(argv[1], NULL, 0), id = 0;

	state = seed;
	for (r = 0; r < records; r++) {
		if (strcmp(argv[3], "limits") || !(r & 1))
			id = records <= keys ? r : draw() % keys;
		put_key(id, argv[2]);
		printf("\t%lld\n", (long long)value(argv[3], r));
	}
	return ferror(stdout) || fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t seed;
	int i;

	if (argc < 6) {
		fprintf(stderr,
			"usage: gen SEED RECORDS KEYS KLEN|mix small|one|limits|factors [FILE...]\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	if (argc == 6)
		return generate(seed, argv + 2);
	for (i = 6; i < argc; i++) {
		if (!freopen(argv[i], "w", stdout)) {
			perror(argv[i]);
			return 1;
		}
		if (generate(seed++, argv + 2))
			return 1;
	}
	return 0;
}
