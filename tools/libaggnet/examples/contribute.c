// SPDX-License-Identifier: GPL-2.0
/* Contributes the words of standard input: contribute JOB RECEIVER
 * Build: cc contribute.c $(pkg-config --cflags --libs aggnet)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet_data.h>

int main(int argc, char **argv)
{
	struct in_addr receiver = { argc > 2 ? inet_addr(argv[2]) : 0 };
	struct aggnet_source *s = NULL;
	char word[258];		/* a key of 256 bytes is refused */
	int err;

	err = aggnet_source_open(&s, receiver, argc > 1 ? atoi(argv[1]) : 0,
				 NULL);
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
