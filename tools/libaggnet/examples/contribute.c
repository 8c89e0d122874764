// SPDX-License-Identifier: GPL-2.0
/* Contributes the words of standard input: contribute JOB RECEIVER
 * Build: cc contribute.c $(pkg-config --cflags --libs aggnet)
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet_data.h>

int main(int argc, char **argv)
{
	struct in_addr receiver = { argc > 2 ? inet_addr(argv[2]) : 0 };
	struct aggnet_source *s = NULL;
	char word[256];
	int err;

	err = aggnet_source_open(&s, receiver, argc > 1 ? atoi(argv[1]) : 0,
				 NULL);
	while (!err && scanf("%255s", word) == 1)
		err = aggnet_source_add(s, word, strlen(word), 1);
	if (!err)
		err = aggnet_source_finish(s);
	if (err)
		fprintf(stderr, "contribute: %s\n", aggnet_source_error(s));
	aggnet_source_close(s);
	return !!err;
}
