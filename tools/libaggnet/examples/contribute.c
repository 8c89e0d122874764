// SPDX-License-Identifier: GPL-2.0
/* Contributes the words of standard input: contribute JOB RECEIVER
 * Build: cc contribute.c $(pkg-config --cflags --libs aggnet)
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet_data.h>

/* A number that is one from its first character to its last. */
static int parse_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = value;
	return !isdigit((unsigned char)*text) || *end || value > UINT32_MAX;
}

int main(int argc, char **argv)
{
	char word[258];		/* a key of 256 bytes is refused */
	struct aggnet_source *s;
	struct in_addr receiver;
	unsigned int job;
	int err;

	if (argc != 3 || parse_number(argv[1], &job) ||
	    !inet_aton(argv[2], &receiver)) {
		fprintf(stderr, "usage: contribute JOB RECEIVER\n");
		return 2;
	}
	err = aggnet_source_open(&s, receiver, job, NULL);
	while (!err && scanf("%257s", word) == 1)
		err = aggnet_source_add(s, word, strlen(word), 1);
	/* Without finish(), close() aborts: the input would not be complete. */
	if (!err && !ferror(stdin))
		err = aggnet_source_finish(s);
	if (err)
		fprintf(stderr, "contribute: %s\n", aggnet_source_error(s));
	if (!err && ferror(stdin)) {
		fprintf(stderr, "contribute: cannot read the words\n");
		err = -EIO;
	}
	aggnet_source_close(s);
	return !!err;
}
