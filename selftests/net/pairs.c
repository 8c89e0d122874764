// SPDX-License-Identifier: GPL-2.0
/* Prints rows of choices such that every pair of choices of two columns is in
 * some row. These are far fewer rows than all combinations.
 * Usage: pairs SEED "a b c" "x y" ... (one argument per column); prints one row a line
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/random.h"

#define COLS	12
#define CHOICES	12
#define TRIES	256	/* rows drawn; the best one is taken */
#define ATTEMPTS	50	/* complete sets drawn; the shortest is taken */
#define ROWS		(COLS * (COLS - 1) / 2 * CHOICES * CHOICES)

static char *choice[COLS][CHOICES];
static int choices[COLS];
static int cols;
static bool covered[COLS][CHOICES][COLS][CHOICES];
static unsigned long long state;

struct rows {
	int n;
	int row[ROWS][COLS];
};

static unsigned int draw(unsigned int below)
{
	return (unsigned int)((splitmix64(&state) >> 33) % below);
}

/* Count the pairs of a row that no earlier row has; mark them if @take. */
static int gain(const int *row, bool take)
{
	int a, b, n = 0;

	for (a = 0; a < cols; a++) {
		for (b = a + 1; b < cols; b++) {
			n += !covered[a][row[a]][b][row[b]];
			covered[a][row[a]][b][row[b]] |= take;
		}
	}
	return n;
}

/* Find a pair that is still missing, so that each row makes progress. */
static bool missing(int *a, int *i, int *b, int *j)
{
	for (*a = 0; *a < cols; ++*a)
		for (*b = *a + 1; *b < cols; ++*b)
			for (*i = 0; *i < choices[*a]; ++*i)
				for (*j = 0; *j < choices[*b]; ++*j)
					if (!covered[*a][*i][*b][*j])
						return true;
	return false;
}

static void best_row(int *best, int a, int i, int b, int j)
{
	int row[COLS], most = -1, try, c, n;

	for (try = 0; try < TRIES; try++) {
		for (c = 0; c < cols; c++)
			row[c] = c == a ? i : c == b ? j :
				 (int)draw(choices[c]);
		n = gain(row, false);
		if (n > most) {
			most = n;
			memcpy(best, row, sizeof(row));
		}
	}
	gain(best, true);
}

static void attempt(struct rows *rows)
{
	int a, b, i, j;

	memset(covered, 0, sizeof(covered));
	rows->n = 0;
	while (missing(&a, &i, &b, &j))
		best_row(rows->row[rows->n++], a, i, b, j);
}

int main(int argc, char **argv)
{
	static struct rows rows, best;
	int i, c;

	if (argc < 4 || argc > COLS + 2) {
		fprintf(stderr, "usage: pairs SEED COLUMN COLUMN...\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0);
	for (cols = 0; cols < argc - 2; cols++) {
		char *word = strtok(argv[cols + 2], " ");

		for (; word && choices[cols] < CHOICES;
		     word = strtok(NULL, " "))
			choice[cols][choices[cols]++] = word;
	}
	attempt(&best);
	for (i = 1; i < ATTEMPTS; i++) {
		attempt(&rows);
		if (rows.n < best.n)
			best = rows;
	}
	for (i = 0; i < best.n; i++)
		for (c = 0; c < cols; c++)
			printf("%s%c", choice[c][best.row[i][c]],
			       c + 1 < cols ? ' ' : '\n');
	return 0;
}
