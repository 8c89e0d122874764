/* SPDX-License-Identifier: GPL-2.0 */
/* The connection of a program to aggd. */
#ifndef AGGCTL_JOB_CLIENT_H
#define AGGCTL_JOB_CLIENT_H

#include <jansson.h>

/**
 * job_connect() - connect to aggd
 * @path: its socket
 *
 * Return: the connection, for fclose(); NULL with an error line printed
 */
FILE *job_connect(const char *path);

/**
 * job_ask() - send a request, and wait for the answer
 * @aggd: the connection
 * @request: it is freed
 * @st: set to ST_FAILED or ST_USAGE on failure
 *
 * Return: the answer, which the caller frees; NULL with an error line printed
 */
json_t *job_ask(FILE *aggd, json_t *request, int *st);

#endif
