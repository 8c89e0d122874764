/* SPDX-License-Identifier: GPL-2.0 */
/* Requests: from a line to what it does and the answer. */
#ifndef AGGD_REQUEST_H
#define AGGD_REQUEST_H

#include <jansson.h>

#include "conn.h"

/**
 * request_answer() - do what a line asks for
 * @conn: where it comes from
 * @line: without the newline
 * @len: of it
 *
 * Return: the answer, which the caller frees; NULL: @conn waits for a job
 */
json_t *request_answer(struct conn *conn, const char *line, size_t len);

/* An answer that refuses; @usage: the request itself is wrong */
json_t *request_refusal(bool usage, const char *sentence);

/* The answer to a request that waits, when @job is in force or has ended */
json_t *request_waited(const struct job *job);

#endif
