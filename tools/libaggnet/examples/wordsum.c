// SPDX-License-Identifier: GPL-2.0
/* Counts words together with others: each sender runs "wordsum JOB RECEIVER",
 * the receiver "wordsum JOB". Build: cc wordsum.c $(pkg-config --libs aggnet)
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

static int contribute(struct aggnet_source *s)
{
	char word[258];		/* a key of 256 bytes is refused */
	int err = 0;

	while (!err && scanf("%257s", word) == 1)
		err = aggnet_source_add(s, word, strlen(word), 1);
	/* Without finish(), close() aborts: the input would not be complete. */
	if (!err && ferror(stdin)) {
		perror("wordsum: standard input");
		exit(1);
	}
	return err ? err : aggnet_source_finish(s);
}

static int receive(struct aggnet_sink *k)
{
	struct aggnet_entry e;
	int err = aggnet_sink_run(k);

	while (!err && aggnet_sink_next(k, &e))
		printf("%.*s\t%lld\n", (int)e.klen, (const char *)e.key,
		       (long long)e.value);
	/* What was printed before it was flushed may have failed, too. */
	if (!err && (fflush(stdout) || ferror(stdout))) {
		perror("wordsum");
		exit(1);
	}
	return err ? err : aggnet_sink_commit(k);
}

int main(int argc, char **argv)
{
	struct in_addr receiver = { INADDR_ANY };
	struct aggnet_source *s = NULL;
	struct aggnet_sink *k = NULL;
	unsigned int job;
	int err;

	if (argc < 2 || argc > 3 || parse_number(argv[1], &job) ||
	    (argc > 2 && !inet_aton(argv[2], &receiver))) {
		fprintf(stderr, "usage: wordsum JOB [RECEIVER]\n");
		return 2;
	}
	if (argc > 2) {
		err = aggnet_source_open(&s, receiver, job, NULL);
		if (!err)
			err = contribute(s);
	} else {
		err = aggnet_sink_open(&k, receiver, job, NULL);
		if (!err)
			err = receive(k);
	}
	if (err)
		fprintf(stderr, "wordsum: %s\n", s ? aggnet_source_error(s) :
			aggnet_sink_error(k));
	aggnet_source_close(s);
	aggnet_sink_close(k);
	return !!err;
}
