// SPDX-License-Identifier: GPL-2.0
/* The reference: reduces sorted lines key<TAB>value without any code of aggnet.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct acc - the result of the lines of a key so far
 * @value: of all functions
 * @count: lines
 */
struct acc {
	__int128 value;
	int64_t count;
};

/* The value of one line. */
static int64_t one(const char *function, int64_t v)
{
	if (!strcmp(function, "count"))
		return 1;
	return *function == 'l' ? !!v : v;
}

static void fold(const char *function, struct acc *acc, int64_t v)
{
	acc->count++;
	v = one(function, v);
	if (acc->count == 1)
		acc->value = v;
	else if (!strcmp(function, "min"))
		acc->value = v < acc->value ? v : acc->value;
	else if (!strcmp(function, "max"))
		acc->value = v > acc->value ? v : acc->value;
	else if (!strcmp(function, "product"))
		acc->value *= v;
	else if (!strcmp(function + 1, "and"))
		acc->value &= v;
	else if (!strcmp(function + 1, "or"))
		acc->value |= v;
	else if (!strcmp(function + 1, "xor"))
		acc->value ^= v;
	else
		acc->value += v;
}

static void emit(const char *function, const char *key, const struct acc *acc)
{
	if (!strcmp(function, "average"))
		printf("%s\t%.17g\n", key,
		       (double)acc->value / (double)acc->count);
	else
		printf("%s\t%" PRId64 "\n", key, (int64_t)acc->value);
}

int main(int argc, char **argv)
{
	char line[1024], key[1024] = "";
	struct acc acc = { 0, 0 };
	char *tab;

	if (argc != 2) {
		fprintf(stderr, "usage: reference_reduce FUNCTION\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		int64_t v;

		tab = strchr(line, '\t');
		if (!tab) {
			fprintf(stderr, "reference_reduce: no tab in: %s", line);
			return 1;
		}
		*tab = '\0';
		v = strtoll(tab + 1, NULL, 10);
		if (strcmp(line, key)) {
			if (acc.count)
				emit(argv[1], key, &acc);
			strcpy(key, line);
			acc = (struct acc){ 0, 0 };
		}
		fold(argv[1], &acc, v);
	}
	if (acc.count)
		emit(argv[1], key, &acc);
	return ferror(stdin) || fflush(stdout);
}
