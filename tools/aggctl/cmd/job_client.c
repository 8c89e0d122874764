// SPDX-License-Identifier: GPL-2.0
/* Requests to aggd: a line of JSON each, and a line as the answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "aggctl.h"
#include "cmd/job_client.h"

FILE *job_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	FILE *aggd = NULL;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		err("%s: longer than the name of a socket can be", path);
		return NULL;
	}
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		aggd = fdopen(fd, "r+");
	if (aggd)
		return aggd;
	err("aggd: %s: %s: %s", path, strerror(errno),
	    errno == EACCES ? "you may not connect to it" :
			      "start aggd, or name its socket with --socket");
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int send_line(FILE *aggd, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0, at = 0;
	ssize_t n = text ? 0 : -1;

	json_decref(request);
	if (text)
		text[len++] = '\n';
	/* The newline took the place of the end of the string. */
	for (; n >= 0 && at < len; at += (size_t)n)
		n = send(fileno(aggd), text + at, len - at, MSG_NOSIGNAL);
	free(text);
	return n < 0 ? -1 : 0;
}

static json_t *receive_line(FILE *aggd)
{
	json_t *answer = NULL;
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, aggd) >= 0)
		answer = json_loads(line, 0, NULL);
	free(line);
	return answer;
}

/* Return: ST_DONE, or another status with an error line printed */
static int check_answer(const json_t *answer)
{
	const char *error = json_string_value(json_object_get(answer, "error"));
	const char *fault = json_string_value(json_object_get(answer, "fault"));

	if (json_is_true(json_object_get(answer, "ok")))
		return ST_DONE;
	err("aggd: %s", error ? error : "it has refused the request");
	return fault && !strcmp(fault, "usage") ? ST_USAGE : ST_FAILED;
}

json_t *job_ask(FILE *aggd, json_t *request, int *st)
{
	json_t *answer = NULL;

	*st = ST_FAILED;
	/* If aggd refuses the connection, its sentence is there all the same. */
	if (!send_line(aggd, request) || errno == EPIPE || errno == ECONNRESET)
		answer = receive_line(aggd);
	if (!answer) {
		err("aggd: the connection was closed before the answer: 'aggctl job list' shows what was done");
		return NULL;
	}
	*st = check_answer(answer);
	if (!*st)
		return answer;
	json_decref(answer);
	return NULL;
}
