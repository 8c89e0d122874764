// SPDX-License-Identifier: GPL-2.0
/* A userspace combiner: merges sorted records of TCP connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "combiner.h"

/* As long as a record of aggnet is in a packet. */
struct line {
	uint64_t key;
	int64_t value;
	uint16_t end;
} __attribute__((packed));

_Static_assert(sizeof(struct line) == LOAD_RECORD, "length of a record");

/**
 * struct input - a connection, and its first record that is not merged yet
 * @file: NULL after its end
 * @head: the record
 */
struct input {
	FILE *file;
	struct line head;
};

static bool put(FILE *out, struct load_record r)
{
	const struct line line = { r.key, r.value, 0 };

	return fwrite(&line, sizeof(line), 1, out) == 1;
}

/* The parent closes when it has read everything. */
static bool finish(FILE *out)
{
	char c;

	return !fflush(out) && !shutdown(fileno(out), SHUT_WR) &&
	       !recv(fileno(out), &c, 1, 0);
}

bool combiner_source(int fd, const struct load *load, uint32_t source)
{
	FILE *out = fdopen(fd, "w");
	bool good = out;
	uint32_t i;

	for (i = 0; good && i < load->records; i++)
		good = put(out, load_record(load, source, i));
	return good && finish(out);
}

/* Read the next record, or close at the end. Return: is the stream sound? */
static bool next(struct input *in)
{
	bool good;

	if (fread(&in->head, sizeof(in->head), 1, in->file) == 1)
		return true;
	good = feof(in->file);
	fclose(in->file);
	in->file = NULL;
	return good;
}

static bool accept_all(int listener, struct input *in, uint32_t inputs)
{
	uint32_t i;
	int fd;

	for (i = 0; i < inputs; i++) {
		fd = accept(listener, NULL, NULL);
		in[i].file = fd < 0 ? NULL : fdopen(fd, "r");
		if (!in[i].file)
			return false;
	}
	for (i = 0; i < inputs; i++)
		if (!next(&in[i]))
			return false;
	return true;
}

/* Take the least key of all inputs. Return: was there one? */
static bool least(struct input *in, uint32_t inputs, struct load_record *r,
		  bool *good)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < inputs; i++) {
		if (in[i].file && (!found || in[i].head.key < r->key)) {
			r->key = in[i].head.key;
			found = true;
		}
	}
	r->value = 0;
	for (i = 0; found && i < inputs; i++) {
		if (in[i].file && in[i].head.key == r->key) {
			r->value += in[i].head.value;
			*good = *good && next(&in[i]);
		}
	}
	return found;
}

bool combiner_merge(int listener, uint32_t inputs, int fd,
		    struct load_check *check)
{
	struct input *in = calloc(inputs, sizeof(*in));
	FILE *out = check ? NULL : fdopen(fd, "w");
	struct load_record r;
	bool good = in && (check || out) && accept_all(listener, in, inputs);

	while (good && least(in, inputs, &r, &good)) {
		if (check)
			load_came(check, r);
		else
			good = put(out, r);
	}
	free(in);
	return good && (check || finish(out));
}
