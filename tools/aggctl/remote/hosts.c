// SPDX-License-Identifier: GPL-2.0
/* Reads the file of "--hosts", and makes commands for its hosts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "remote/hosts.h"

#define SPACES	" \t"	/* between the words of hosts.ssh */

/* A remote shell and ssh's options shall not see anything else in a name. */
static bool is_plain(const char *name)
{
	return name[0] && name[0] != '-' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-@:[]%")];
}

static int add_line(struct hosts *hosts, unsigned int number, char *line)
{
	char *save, *node, *to, *more;

	line[strcspn(line, "#\n")] = 0;
	node = strtok_r(line, " \t\r", &save);
	if (!node)
		return 0;
	to = strtok_r(NULL, " \t\r", &save);
	more = to ? strtok_r(NULL, " \t\r", &save) : NULL;
	if (more || !is_plain(node) || (to && !is_plain(to))) {
		err("%s: line %u: '%s' is not the name of a node and where ssh finds its host",
		    hosts->file, number, more ? more : to && !is_plain(to) ?
		    to : node);
		return -1;
	}
	if (json_object_get(hosts->to, node)) {
		err("%s: line %u: node %s has a line already", hosts->file,
		    number, node);
		return -1;
	}
	json_object_set_new(hosts->to, node, json_string(to ? to : node));
	return 0;
}

int hosts_load(struct hosts *hosts)
{
	FILE *f = fopen(hosts->file, "re");
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	hosts->to = json_object();
	if (!f) {
		err("%s: %s", hosts->file, strerror(errno));
		return -1;
	}
	while (!ret && getline(&line, &size, f) >= 0)
		ret = add_line(hosts, ++number, line);
	if (ferror(f)) {
		err("%s: cannot be read: %s", hosts->file, strerror(errno));
		ret = -1;
	}
	free(line);
	fclose(f);
	return ret;
}

void hosts_free(struct hosts *hosts)
{
	json_decref(hosts->to);
	hosts->to = NULL;
}

bool hosts_ssh_is_command(const char *ssh)
{
	size_t n = 0;

	while (*(ssh += strspn(ssh, SPACES))) {
		ssh += strcspn(ssh, SPACES);
		n++;
	}
	return n && n <= HOSTS_WORDS;
}

int hosts_find(const struct hosts *hosts, const char *node)
{
	if (is_plain(node) && json_object_get(hosts->to, node))
		return 0;
	err("%s: it has no line for node %s", hosts->file, node);
	return -1;
}

/* The words of @text in @argv, which has room for HOSTS_WORDS. Return: how many */
static size_t split(char *text, char **argv)
{
	char *save, *word = strtok_r(text, SPACES, &save);
	size_t n = 0;

	for (; word && n < HOSTS_WORDS; word = strtok_r(NULL, SPACES, &save))
		argv[n++] = word;
	return n;
}

char **hosts_command(const struct hosts *hosts, const char *node,
		     const char *arguments)
{
	const char *to = json_string_value(json_object_get(hosts->to, node));
	const char *sudo = hosts->sudo ? "sudo -n " : "";
	size_t list = (HOSTS_WORDS + 3) * sizeof(char *), n, room;
	char **argv, *text;

	room = strlen(hosts->ssh) + strlen(to) + strlen(sudo) +
	       strlen(arguments) + 64;
	argv = calloc(1, list + room);
	if (!argv) {
		err("out of memory");
		return NULL;
	}
	text = (char *)argv + list;
	n = split(strcpy(text, hosts->ssh), argv);
	text += strlen(hosts->ssh) + 1;
	argv[n++] = strcpy(text, to);
	text += strlen(to) + 1;
	sprintf(text, "%saggctl %s", sudo, arguments);
	argv[n] = text;
	return argv;
}
