// SPDX-License-Identifier: GPL-2.0
/* Counts words together with others: each sender runs "wordsum JOB RECEIVER",
 * the receiver "wordsum JOB". Build: cc wordsum.c $(pkg-config --libs aggnet)
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet_data.h>

static int contribute(struct aggnet_source *s)
{
	char word[256];
	int err = 0;

	while (!err && scanf("%255s", word) == 1)
		err = aggnet_source_add(s, word, strlen(word), 1);
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
	struct in_addr receiver = { argc > 2 ? inet_addr(argv[2]) : 0 };
	unsigned int job = argc > 1 ? atoi(argv[1]) : 0;
	struct aggnet_source *s = NULL;
	struct aggnet_sink *k = NULL;
	int err;

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
