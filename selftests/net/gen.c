// SPDX-License-Identifier: GPL-2.0
/* Makes the input of a test: lines key<TAB>value, which are the same for the
 * same seed. It writes to standard output or to files; each file has the next
 * seed. -s: in the order of keys.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/random.h"

#define KEY_MAX	255

static unsigned long long state;
static FILE *out;

static uint64_t draw(void)
{
	return splitmix64(&state);
}

/*
 * Print key number @id, which differs from all other keys and is @klen bytes
 * long.
 */
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
	fwrite(key, 1, n, out);
}

/* Any exponent: most sums differ from the result of adding one by one. */
static void put_real(bool single)
{
	int64_t r = (int64_t)draw();

	if (single)
		fprintf(out, "%.9g", (float)ldexp((double)r, (int)(draw() % 120) - 120));
	else
		fprintf(out, "%.17g", ldexp((double)r, (int)(draw() % 400) - 230));
}

static int64_t value(const char *kind, unsigned long r)
{
	if (!strcmp(kind, "one"))
		return 1;
	if (!strcmp(kind, "factors"))
		return (draw() % 64 ? 1 : 2) * (draw() & 1 ? 1 : -1);
	if (!strcmp(kind, "limits"))
		return r & 1 ? INT64_MIN : INT64_MAX;
	if (!strcmp(kind, "wide"))
		return (int64_t)draw() >> 4;
	return (int64_t)(draw() % 2001) - 1000;
}

static void put_value(const char *kind, unsigned long r)
{
	putc('\t', out);
	if (!strncmp(kind, "real", 4))
		put_real(!strcmp(kind, "real32"));
	else if (!strcmp(kind, "steps"))
		fprintf(out, "%.17g",
			((int)(draw() % (1 << 21)) - (1 << 20)) / 1024.);
	else
		fprintf(out, "%lld", (long long)value(kind, r));
	if (!strcmp(kind, "pairs"))
		fprintf(out, "\t%llu", (unsigned long long)(draw() % 500));
	putc('\n', out);
}

/*
 * "real", "real32": numbers of any exponent. "steps": multiples of 2^-10.
 * "pairs": small values with IDs. "wide": values of 60 bits. "factors":
 * products of a few dozen fit into 64 bits. "limits": each key gets INT64_MAX
 * and INT64_MIN in turn, so sums exceed 64 bits on the way and return into
 * range. With the length "offset" keys are the indices of a vector, in order.
 */
static int generate(uint64_t seed, char **argv)
{
	unsigned long records = strtoul(argv[0], NULL, 0), r;
	uint64_t keys = strtoull(argv[1], NULL, 0), id = 0;

	state = seed;
	for (r = 0; r < records; r++) {
		if (strcmp(argv[3], "limits") || !(r & 1))
			id = records <= keys ? r : draw() % keys;
		if (strcmp(argv[2], "offset"))
			put_key(id, argv[2]);
		else
			fprintf(out, "%lu", r);
		put_value(argv[3], r);
	}
	return ferror(out) || fflush(out);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keys have no byte below the tab, so lines sort in the order of their keys. */
static int put_sorted(char *text, unsigned long lines)
{
	char **line = malloc((lines + 1) * sizeof(*line));
	unsigned long i;

	if (!line)
		return 1;
	for (i = 0; i < lines; i++)
		line[i] = strsep(&text, "\n");
	qsort(line, lines, sizeof(*line), by_bytes);
	for (i = 0; i < lines; i++)
		puts(line[i]);
	free(line);
	return ferror(stdout) || fflush(stdout);
}

static int generate_sorted(uint64_t seed, char **argv)
{
	char *text = NULL;
	size_t size;
	int err = 1;

	out = open_memstream(&text, &size);
	if (!out)
		return 1;
	if (!generate(seed, argv))
		err = put_sorted(text, strtoul(argv[0], NULL, 0));
	fclose(out);
	free(text);
	return err;
}

int main(int argc, char **argv)
{
	bool sorted = argc > 1 && !strcmp(argv[1], "-s");
	int (*make)(uint64_t seed, char **argv) = generate;
	uint64_t seed;
	int i;

	argc -= sorted;
	argv += sorted;
	if (argc < 6) {
		fprintf(stderr,
			"usage: gen [-s] SEED RECORDS KEYS KLEN|mix|offset KIND [FILE...]\n");
		return 2;
	}
	if (sorted)
		make = generate_sorted;
	out = stdout;
	seed = strtoull(argv[1], NULL, 0);
	if (argc == 6)
		return make(seed, argv + 2);
	for (i = 6; i < argc; i++) {
		if (!freopen(argv[i], "w", stdout)) {
			perror(argv[i]);
			return 1;
		}
		if (make(seed++, argv + 2))
			return 1;
	}
	return 0;
}
