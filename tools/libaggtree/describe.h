/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptions, line by line. */
#ifndef AGGT_DESCRIBE_H
#define AGGT_DESCRIBE_H

#include "graph.h"

/* Longest line that is not a comment. */
#define AGGT_LINE 512

/* Words of a line, but for that of a rack. */
#define AGGT_WORDS 4

/**
 * struct aggt_line - words of one line
 * @number: of the line
 * @word: up to AGGT_WORDS, of a rack as many as the line has
 * @n: how many words
 * @text: what the words point into
 */
struct aggt_line {
	unsigned int number;
	char *word[AGGT_LINE / 2];
	unsigned int n;
	char text[AGGT_LINE];
};

/** aggt_line_next - read the line at *@at. Return: 1, 0 at the end, or -1. */
int aggt_line_next(const char **at, struct aggt_line *line,
		   struct aggt_err *err);

/** aggt_line_blame - put the number of the line before the text of @err. */
void aggt_line_blame(unsigned int number, struct aggt_err *err);

/**
 * aggt_describe_graph - the hosts, switches and links of `topology graph`
 * @topo: gets the graph
 * @text: what follows the first line
 * @first: number of that line
 * @err: why it is refused, with the number of the line
 *
 * Return: 0 or -1.
 */
int aggt_describe_graph(struct aggt_topo *topo, const char *text,
			unsigned int first, struct aggt_err *err);

/** aggt_describes_graph - whether a line was one for aggt_describe_graph(). */
bool aggt_describes_graph(const struct aggt_line *line);

#endif /* AGGT_DESCRIBE_H */
