// SPDX-License-Identifier: GPL-2.0
/* Plans a word count and takes part in it: every member runs
 *	job DESCRIPTION JOB RUN SENDERS RECEIVER
 * with the same arguments, each with its words on standard input; the receiver
 * prints the counts. All compute the same plan, so nothing but the description of
 * the network (aggctl(8)) has to be copied to them. Each server needs its identity
 * and ports ("aggctl host init"); RUN must grow.
 * Build: cc job.c $(pkg-config --cflags --libs aggnet aggtree)
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet.h>
#include <aggnet_data.h>
#include <aggtree.h>

/* A number that is one from its first character to its last. */
static int parse_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*number = value;
	return !isdigit((unsigned char)*text) || *end || value > UINT32_MAX;
}

static struct aggt_topo *read_network(const char *path, struct aggt_err *err)
{
	char text[65536];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	int failed = !f || ferror(f);

	text[n] = '\0';
	if (failed)
		snprintf(err->text, sizeof(err->text), "%s: %s", path,
			 strerror(errno));
	if (f)
		fclose(f);
	if (failed)
		return NULL;
	if (n == sizeof(text) - 1) {
		*err = (struct aggt_err){ "the description exceeds 64 KiB" };
		return NULL;
	}
	return aggt_topo_describe(text, err);
}

static struct in_addr address(const char *text)
{
	return (struct in_addr){ text ? inet_addr(text) : INADDR_NONE };
}

static struct in_addr identity(const struct aggt_topo *topo, aggt_node server)
{
	return address(aggt_topo_address(topo, server));
}

/* Where packets go next: a router of a rack, the parent's port, or its only address. */
static struct in_addr next_hop(const struct aggt_topo *topo,
			       const struct aggt_entry *e)
{
	const char *text = NULL;

	if (aggt_topo_hop_links(topo, e->server, e->parent) > 2)
		text = aggt_topo_switch_address(topo,
				aggt_topo_hop_switch(topo, e->server, e->parent, 0));
	if (!text)
		text = aggt_topo_port_address(topo, e->parent, e->parent_level);
	return text ? address(text) : identity(topo, e->parent);
}

/* The device of this node that is attached with this level, 0: there is none. */
static uint32_t device(struct aggnet_ctl *ctl, uint32_t level)
{
	struct aggnet_port_info *list;
	uint32_t ifindex = 0;
	size_t n;

	if (aggnet_port_list(ctl, &list, &n))
		return 0;
	while (n--)
		if (list[n].level == level)
			ifindex = list[n].ifindex;
	free(list);
	return ifindex;
}

/* Put this server's entry in force. An older run's gives way. */
static int install(struct aggnet_ctl *ctl, const struct aggt_topo *topo,
		   const struct aggt_plan *plan, const struct aggt_entry *e,
		   uint32_t job, uint32_t run)
{
	const struct aggt_job *members = aggt_plan_job(plan);
	struct in_addr *children = calloc(e->n_children, sizeof(*children));
	struct aggnet_tree_info tree = {
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
		       AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		       AGGNET_HAS(AGGNET_A_TREE_CONTRIBUTORS) |
		       AGGNET_HAS(AGGNET_A_TREE_SOURCES) |
		       AGGNET_HAS(AGGNET_A_TREE_FUNCTION) |
		       AGGNET_HAS(AGGNET_A_TREE_WRITERS) |
		       AGGNET_HAS(AGGNET_A_TREE_SCHEME),
		.incast_id = aggnet_incast_id(job, identity(topo, e->receiver)),
		.instance = run, .contributors = e->contributors,
		.sources = e->sources, .function = AGGNET_FN_SUM,
		.writers = e->tasks, .scheme = AGGNET_SCHEME_ROUTE,
		.children = { children, e->n_children },
	};
	size_t i;
	int err;

	if (!children && e->n_children)
		return -ENOMEM;
	for (i = 0; i < e->n_children; i++)
		children[i] = identity(topo, e->children[i]);
	if (i)
		tree.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
	if (e->parent == AGGT_NONE) {
		tree.has |= AGGNET_HAS(AGGNET_A_TREE_MEMBERS);
		for (i = 0; i < members->n_senders; i++)
			tree.members += aggnet_member(ntohl(identity(topo,
						members->senders[i]).s_addr));
	} else {
		tree.has |= AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
			    AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR) |
			    AGGNET_HAS(AGGNET_A_TREE_HOPS);
		tree.scheme = AGGNET_SCHEME_EXACT;
		tree.hops = e->links;
		tree.link_ifindex = device(ctl, e->level);
		tree.link_neighbour = next_hop(topo, e);
	}
	err = aggnet_tree_add(ctl, &tree, true);
	free(children);
	return err;
}

/* The entry of the server with this identity, NULL: it has no part. */
static const struct aggt_entry *own_entry(const struct aggt_topo *topo,
					  const struct aggt_plan *plan,
					  struct in_addr self)
{
	const struct aggt_entry *entry;
	size_t n;

	for (entry = aggt_plan_entries(plan, &n); n--; entry++)
		if (identity(topo, entry->server).s_addr == self.s_addr)
			return entry;
	return NULL;
}

static int contribute(struct in_addr receiver, uint32_t job)
{
	struct aggnet_source *s;
	char word[258];		/* a key of 256 bytes is refused */
	int err = aggnet_source_open(&s, receiver, job, NULL);

	while (!err && scanf("%257s", word) == 1)
		err = aggnet_source_add(s, word, strlen(word), 1);
	/* Without finish(), close() aborts: the input would not be complete. */
	if (!err && !ferror(stdin))
		err = aggnet_source_finish(s);
	if (err)
		fprintf(stderr, "job: %s\n", aggnet_source_error(s));
	if (!err && ferror(stdin)) {
		fprintf(stderr, "job: cannot read the words\n");
		err = -EIO;
	}
	aggnet_source_close(s);
	return err;
}

static int receive(uint32_t job)
{
	struct in_addr any = { INADDR_ANY };
	struct aggnet_entry e;
	struct aggnet_sink *k;
	int err = aggnet_sink_open(&k, any, job, NULL);

	if (!err)
		err = aggnet_sink_run(k);
	while (!err && aggnet_sink_next(k, &e))
		printf("%.*s\t%lld\n", (int)e.klen, (const char *)e.key,
		       (long long)e.value);
	if (!err && !fflush(stdout) && !ferror(stdout))
		err = aggnet_sink_commit(k);
	if (err)
		fprintf(stderr, "job: %s\n", aggnet_sink_error(k));
	aggnet_sink_close(k);
	return err;
}

/* Install this node's entry, then do its part. */
static int take_part(const struct aggt_topo *topo, const struct aggt_plan *plan,
		     uint32_t job, uint32_t run)
{
	struct aggnet_node_info node = { 0 };
	const struct aggt_entry *entry = NULL;
	struct aggnet_ctl *ctl;
	int err = aggnet_ctl_open(&ctl);

	if (!err)
		err = aggnet_node_get(ctl, &node);
	if (!err)
		entry = own_entry(topo, plan, node.address);
	if (entry)
		err = install(ctl, topo, plan, entry, job, run);
	if (err)
		fprintf(stderr, "job: %s\n", aggnet_ctl_error(ctl));
	aggnet_ctl_close(ctl);
	/* The others would wait for a member whose identity is not the one described. */
	if (!err && !entry) {
		fprintf(stderr, "job: this node, %s, has no part in the plan\n",
			inet_ntoa(node.address));
		err = -ENOENT;
	}
	if (err)
		return err;
	if (entry->flags & AGGT_RECEIVER)
		return receive(job);
	return entry->tasks ?
	       contribute(identity(topo, entry->receiver), job) : 0;
}

int main(int argc, char **argv)
{
	struct aggt_err err;
	struct aggt_topo *topo;
	struct aggt_list senders = { 0 }, receivers = { 0 };
	struct aggt_plan *plan = NULL;
	unsigned int number, run;
	int status = 1;

	if (argc != 6 || parse_number(argv[2], &number) ||
	    parse_number(argv[3], &run)) {
		fprintf(stderr, "usage: job DESCRIPTION JOB RUN SENDERS RECEIVER\n");
		return 2;
	}
	topo = read_network(argv[1], &err);
	if (topo && !aggt_list_parse(topo, argv[4], 1, &senders, &err) &&
	    !aggt_list_parse(topo, argv[5], 1, &receivers, &err)) {
		struct aggt_job job = {
			.senders = senders.node, .n_senders = senders.n,
			.tasks = senders.tasks, .receivers = receivers.node,
			.n_receivers = receivers.n, .method = "auto", .seed = 1,
		};

		plan = aggt_plan_build(topo, &job, &err);
	}
	if (plan)
		status = !!take_part(topo, plan, number, run);
	else
		fprintf(stderr, "job: %s\n", err.text);
	aggt_plan_free(plan);
	aggt_list_clear(&senders);
	aggt_list_clear(&receivers);
	aggt_topo_free(topo);
	return status;
}
