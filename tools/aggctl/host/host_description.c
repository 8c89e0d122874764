// SPDX-License-Identifier: GPL-2.0
/* The description of the network, where commands on this host read it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/host.h"
#include "names.h"

static bool has_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	char *there = NULL;
	size_t size = 0;
	bool same;

	same = f && getdelim(&there, &size, '\0', f) > 0 && !strcmp(there, text);
	if (f)
		fclose(f);
	free(there);
	return same;
}

/* A path as a word of a shell's command, and not as an option. */
static void put_word(FILE *f, const char *path)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";
	const bool quote = path[strspn(path, plain)];
	const char *c;

	fputs(path[0] == '-' ? " ./" : " ", f);
	if (quote)
		fputc('\'', f);
	for (c = path; *c; c++)
		fputs(*c == '\'' ? "'\\''" : (char[]){ *c, '\0' }, f);
	if (quote)
		fputc('\'', f);
}

char *host_description_missing(const char *file, const char *text)
{
	const char *to = names_file();
	char *command = NULL;
	struct stat stats;
	size_t size;
	FILE *f;

	/* The text of a pipe is gone. */
	if (!to[0] || has_text(to, text) || stat(file, &stats) ||
	    !S_ISREG(stats.st_mode))
		return NULL;
	f = open_memstream(&command, &size);
	if (!f)
		return NULL;
	fputs("install -D -m 644", f);
	put_word(f, file);
	put_word(f, to);
	fputs(".new && mv", f);
	put_word(f, to);
	fputs(".new", f);
	put_word(f, to);
	fclose(f);
	return command;
}
