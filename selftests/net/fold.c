// SPDX-License-Identifier: GPL-2.0
/* The reference: reduces sorted lines key<TAB>value, knows nothing of aggnet. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __int128 fold(const char *function, __int128 acc, int64_t v)
{
	if (!strcmp(function, "min"))
		return v < acc ? v : acc;
	if (!strcmp(function, "max"))
		return v > acc ? v : acc;
	return acc + (strcmp(function, "count") ? v : 1);
}

static void emit(const char *key, __int128 acc)
{
	printf("%s\t%" PRId64 "\n", key, (int64_t)acc);
}

int main(int argc, char **argv)
{
	char line[1024], key[1024] = "";
	bool any = false;
	__int128 acc = 0;
	char *tab;

	if (argc != 2) {
		fprintf(stderr, "usage: fold sum|min|max|count\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		int64_t v;

		tab = strchr(line, '\t');
		if (!tab) {
			fprintf(stderr, "fold: no tab in: %s", line);
			return 1;
		}
		*tab = '\0';
		v = strtoll(tab + 1, NULL, 10);
		if (any && !strcmp(line, key)) {
			acc = fold(argv[1], acc, v);
			continue;
		}
		if (any)
			emit(key, acc);
		any = true;
		strcpy(key, line);
		acc = strcmp(argv[1], "count") ? v : 1;
	}
	if (any)
		emit(key, acc);
	return ferror(stdin) || fflush(stdout);
}
