/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions to etcd by the JSON gateway of its version 3: one at a time, each answered
 * within a bounded time. An endpoint that does not answer is left for the next one.
 */
#ifndef AGGD_ETCD_H
#define AGGD_ETCD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "aggd.h"

#define ETCD_ENDPOINTS	5
#define ETCD_ANSWER_MAX	(4u << 20)	/* bytes */

/* Are these URLs with commas between? Return: 0, or -1 with @why */
int etcd_check(const char *endpoints, struct text *why);

/**
 * struct etcd_access - what is asked, and how; files are PEM, and NULL: none
 * @endpoints: URLs that etcd_check() has accepted
 * @ms: the most that a question takes, on all endpoints together
 * @ca: certificates that those of the endpoints must come from; NULL: those of the host
 * @cert: certificate that the endpoints are shown
 * @key: of this certificate
 * @cluster: ID of the cluster that they are members of; 0: that of the first answer
 */
struct etcd_access {
	const char *endpoints;
	int64_t ms;
	const char *ca;
	const char *cert;
	const char *key;
	uint64_t cluster;
};

/* Set what is asked, without a connection. Return: 0, or -1 with @why */
int etcd_open(const struct etcd_access *access, struct text *why);

/* Return: the ID of the cluster that has answered, 0: none */
uint64_t etcd_cluster(void);

/**
 * etcd_ask() - ask, and wait for the answer
 * @path: below /v3/
 * @question: it is freed; NULL: no memory
 * @why: set on failure
 *
 * If no endpoint answers, questions of the next while fail without being sent. A question
 * without an answer may have had its effect, and may have it later.
 *
 * Return: the answer, an object, which the caller frees; NULL
 */
json_t *etcd_ask(const char *path, json_t *question, struct text *why);

/* The next question is sent, also if the last one had no answer a moment ago. */
void etcd_hurry(void);

/* Has the last question had no answer? Return: the sentence about it, or NULL */
const char *etcd_silence(void);

/* Return: bytes as a value of a question: a base64 string; NULL: no memory */
json_t *etcd_encode(const void *bytes, size_t len);

/**
 * etcd_decode() - the bytes of a value of an answer
 * @value: NULL: no bytes, as etcd leaves out what is empty
 * @len: set
 *
 * Return: the bytes and a 0, to be freed; NULL: not base64, or no memory
 */
char *etcd_decode(const json_t *value, size_t *len);

/* Return: member @name of @object, which etcd writes as a string; 0: not there */
uint64_t etcd_number(const json_t *object, const char *name);

#endif
