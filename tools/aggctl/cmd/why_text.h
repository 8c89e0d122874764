/* SPDX-License-Identifier: GPL-2.0 */
/* What "aggctl why" prints about a node, from an answer that may be another host's. */
#ifndef AGGCTL_WHY_TEXT_H
#define AGGCTL_WHY_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * An answer is an object: "node", the name of the node, and the arrays "findings" about
 * it, "trees", "fallbacks" and "notes" about its host. Nothing of it controls a terminal.
 */

/* Cause of the finding about a node that has no entry; more words follow. */
#define WHY_NO_ENTRY	"it has no entry"

/* The words that follow if one transfer was asked for. */
#define WHY_OF_ONE	" of this transfer"

/* Is something not as planned? */
bool why_is_wrong(const json_t *answer);

/* Is a transfer of it not complete yet? */
bool why_waits(const json_t *answer);

/* Print it on standard output. */
void why_print(const json_t *answer);

/**
 * why_print_first() - print the first thing that is not as planned, in one line
 * @answer: why_is_wrong() holds
 * @host: where the next command is to be executed
 */
void why_print_first(const json_t *answer, const char *host);

#endif
