// SPDX-License-Identifier: GPL-2.0
/* Adds vectors of integers: each rank reads one from standard input, and prints the sum
 * of all: allreduce ROOT UP DOWN RANK RANKS, or allreduce alone, with AGGNET_GROUP and
 * AGGNET_RANK in the environment.
 * Build: cc allreduce.c $(pkg-config --cflags --libs aggnet)
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggnet_coll.h>

#define ELEMENTS	1000

static int parse_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = (uint32_t)value;
	return !isdigit((unsigned char)*text) || *end || value > UINT32_MAX;
}

/* Skip white space. Return: there is something behind it */
static int more(unsigned int *line)
{
	int c;

	while (isspace(c = getchar()))
		*line += c == '\n';
	return c != EOF && ungetc(c, stdin) != EOF;
}

/* Read the vector. Return: false: it was refused */
static int read_vector(int64_t mine[ELEMENTS], size_t *n)
{
	unsigned int line = 1;

	for (*n = 0; more(&line); ++*n) {
		errno = 0;
		if (*n < ELEMENTS && scanf("%" SCNd64, &mine[*n]) == 1 && !errno)
			continue;
		if (*n < ELEMENTS)
			fprintf(stderr, "allreduce: line %u: not a number of 64 bits\n",
				line);
		else
			fprintf(stderr, "allreduce: line %u: more than %d numbers\n",
				line, ELEMENTS);
		return 0;
	}
	if (ferror(stdin))
		perror("allreduce: standard input");
	return !ferror(stdin);
}

static int add(struct aggnet_group *g, const int64_t *mine, size_t n)
{
	int64_t sum[ELEMENTS];
	size_t i;
	int err;

	/* If the ranks have read vectors of different lengths, all get an error. */
	err = aggnet_allreduce(g, mine, sum, n);
	for (i = 0; !err && i < n; i++)
		printf("%" PRId64 "\n", sum[i]);
	return err;
}

int main(int argc, char **argv)
{
	struct aggnet_group_conf conf = {
		.rank = AGGNET_RANK_ENV,
		.function = AGGNET_FN_SUM, .vtype = AGGNET_VTYPE_INT64,
	};
	int64_t mine[ELEMENTS];
	struct aggnet_group *g;
	size_t n;
	int err;

	if (argc != 1 && (argc != 6 || !inet_aton(argv[1], &conf.root) ||
	    parse_number(argv[2], &conf.up) || parse_number(argv[3], &conf.down) ||
	    parse_number(argv[4], &conf.rank) ||
	    parse_number(argv[5], &conf.ranks))) {
		fprintf(stderr, "usage: allreduce [ROOT UP DOWN RANK RANKS]\n");
		return 2;
	}
	/* Before the other ranks wait for this one. */
	if (!read_vector(mine, &n))
		return 1;
	err = argc == 1 ? aggnet_group_create(&g, &conf) :
			  aggnet_group_open(&g, &conf);
	if (!err)
		err = add(g, mine, n);
	if (!err)
		err = aggnet_group_finish(g);
	if (err)
		fprintf(stderr, "allreduce: %s\n", aggnet_group_error(g));
	aggnet_group_close(g);
	return !!err;
}
