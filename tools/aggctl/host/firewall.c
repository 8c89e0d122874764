// SPDX-License-Identifier: GPL-2.0
/* Asks for the rules of this host's firewalls, and names the chains that drop. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
/* The kernel's headers have to know of the C library's addresses. */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/firewall.h"

#define TABLE_MAX	(256U << 20)	/* bytes; the kernel has no such table */
#define NOT_FOUND	127		/* status of a shell */
#define MEMBERS_TEXT	64		/* ", such as from A to B" */
/* The rules that are added have this comment. */
#define MARK		"aggnet"
#define NFT		"nft "
/* With more ports, the pairs of ports are not judged one by one. */
#define PAIRS_MAX	4
/* With more members, each sends to two others, not to all. */
#define MEMBERS_MAX	16
/* With more than these, FORWARD leaves some out: rules are read for each pair anew. */
#define MEMBERS_MOST	256

/* --- findings ---------------------------------------------------------------- */

static const char * const packets_of[FIREWALL_HOOKS] = {
	[FIREWALL_FORWARD] = "that are routed here",
	[FIREWALL_INPUT] = "for this host that come by no port of aggnet",
	[FIREWALL_OUTPUT] = "of this host",
};

/* A command line must not have what a shell would take for something else. */
static bool is_plain(const char *name)
{
	return *name && *name != '-' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.-")];
}

static void name_fix(struct firewall_drop *drop, const struct firewall_chain *c,
		     uint16_t port)
{
	if (!c->family)
		snprintf(drop->fix, sizeof(drop->fix),
			 "iptables-legacy -I %s -p udp --dport %u -m comment --comment "
			 MARK " -j ACCEPT", c->name, port);
	else if (!c->owned && is_plain(c->table) && is_plain(c->name))
		snprintf(drop->fix, sizeof(drop->fix),
			 NFT "insert rule %s %s %s udp dport %u accept comment "
			 MARK, c->family, c->table, c->name, port);
}

/* If the packets of some members are lost, print for which this was found. */
static void name_members(char *text, const struct firewall_chain *c)
{
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];

	*text = '\0';
	if (!c->from.s_addr || !c->to.s_addr)
		return;
	inet_ntop(AF_INET, &c->from, from, sizeof(from));
	inet_ntop(AF_INET, &c->to, to, sizeof(to));
	snprintf(text, MEMBERS_TEXT, ", such as from %s to %s", from, to);
}

static void take_drop(struct firewall *firewall, const struct firewall_chain *c,
		      uint16_t port)
{
	struct firewall_drop *drop, *more;
	char members[MEMBERS_TEXT];

	more = reallocarray(firewall->drop, firewall->n + 1, sizeof(*more));
	if (!more)
		return;
	firewall->drop = more;
	drop = &more[firewall->n++];
	*drop = (struct firewall_drop){
		.hook = c->hook, .sure = c->ends == FIREWALL_DROP,
		.fault = c->rest == FIREWALL_DROP,
	};
	name_members(members, c);
	snprintf(drop->finding, sizeof(drop->finding),
		 "chain %s of table %s%s%s %s UDP to port %u%s (%s): packets %s %s lost%s",
		 c->name, c->family ? c->family : "", c->family ? " " : "",
		 c->table, drop->sure ? "drops" : "may drop", port, members,
		 c->what, packets_of[c->hook], drop->sure ? "are" : "would be",
		 c->owned ? "; a program owns the table: permit the port there" :
		 "");
	name_fix(drop, c, port);
}

static void take_drops(struct firewall *firewall,
		       const struct firewall_rules *rules)
{
	const struct firewall_chain *c;

	for (c = rules->chain; c < rules->chain + rules->n; c++)
		if (c->ends & (FIREWALL_DROP | FIREWALL_UNKNOWN))
			take_drop(firewall, c, rules->packet->port);
}

/* --- ways through the host ----------------------------------------------------- */

/**
 * struct source - where rules are from: one of these
 * @nft: what nft answered
 * @old: a table of iptables-legacy
 * @info: its hooks
 */
struct source {
	json_t *nft;
	struct ipt_get_entries *old;
	struct ipt_getinfo info;
};

static void read_rules(struct firewall_rules *rules, const struct source *source)
{
	if (source->nft)
		firewall_nft(rules, source->nft);
	else
		firewall_old(rules, &source->info, source->old);
}

static unsigned int badness(const struct firewall_chain *c)
{
	return c->ends == FIREWALL_DROP ? 3 : c->rest == FIREWALL_DROP ? 2 :
	       c->ends & (FIREWALL_DROP | FIREWALL_UNKNOWN) ? 1 : 0;
}

/* Keep the worst verdict of each chain. A reading has the same chains each time. */
static void keep_worst(struct firewall_rules *worst, struct firewall_rules *rules,
		       const struct firewall_packet *way)
{
	struct firewall_chain *c, *kept;
	size_t i;

	for (i = 0; i < rules->n; i++) {
		c = &rules->chain[i];
		kept = &worst->chain[i];
		if (c->hook != way->hook)
			continue;
		firewall_walk(rules, i);
		if (badness(c) <= badness(kept))
			continue;
		kept->ends = c->ends;
		kept->rest = c->rest;
		kept->what = c->what;
		kept->from.s_addr = way->from ? way->from->s_addr : 0;
		kept->to.s_addr = way->to ? way->to->s_addr : 0;
	}
}

static bool judge_members(struct firewall_rules *worst, const struct source *source,
			  const struct firewall_packet *way);

/* If rules are for some members only, each of them is asked about. */
static void judge_way(struct firewall_rules *worst, const struct source *source,
		      const struct firewall_packet *way)
{
	struct firewall_rules rules = { .packet = way };

	read_rules(&rules, source);
	worst->failed |= rules.failed;
	if (!worst->failed && (!rules.by_member || way->from || way->to ||
			       !judge_members(worst, source, way)))
		keep_worst(worst, &rules, way);
	firewall_rules_free(&rules);
}

/* Return: whether such packets pass here */
static bool judge_pair(struct firewall_rules *worst, const struct source *source,
		       const struct firewall_packet *way,
		       const struct in_addr *from, const struct in_addr *to)
{
	struct firewall_packet one = *way;
	in_addr_t self = way->self.s_addr;

	if (from && to && from->s_addr == to->s_addr)
		return false;
	if (way->hook == FIREWALL_FORWARD && self &&
	    (from->s_addr == self || to->s_addr == self))
		return false;
	one.from = from;
	one.to = to;
	judge_way(worst, source, &one);
	return true;
}

/* Return: whether there are members whose packets pass here */
static bool judge_members(struct firewall_rules *worst, const struct source *source,
			  const struct firewall_packet *way)
{
	const struct in_addr *self = way->self.s_addr ? &way->self : NULL;
	const struct in_addr *list = way->identity;
	size_t n = way->n_identities, others = n <= MEMBERS_MAX ? n : 3, i, k;
	size_t step = way->hook == FIREWALL_FORWARD ? 1 + (n - 1) / MEMBERS_MOST : 1;
	bool any = false;

	for (i = 0; n > 1 && i < n; i += step) {
		if (way->hook == FIREWALL_INPUT)
			any |= judge_pair(worst, source, way, &list[i], self);
		else if (way->hook == FIREWALL_OUTPUT)
			any |= judge_pair(worst, source, way, self, &list[i]);
		else
			for (k = 1; k < others; k++)
				any |= judge_pair(worst, source, way, &list[i],
						  &list[(i + k) % n]);
	}
	return any;
}

/* A rule may be for one port, or for one that packets come by and one that they leave by. */
static void judge_hook(struct firewall_rules *worst, const struct source *source,
		       enum firewall_hook hook)
{
	struct firewall_packet way = *worst->packet;
	size_t n = way.n_devices, in, out, n_in, n_out;
	bool each = n && hook != FIREWALL_INPUT &&
		    (hook == FIREWALL_OUTPUT || n <= PAIRS_MAX);

	way.hook = hook;
	n_in = n && hook == FIREWALL_FORWARD ? n : 1;
	n_out = each ? n : 1;
	for (in = 0; in < n_in; in++) {
		for (out = 0; out < n_out; out++) {
			way.in = n ? way.device[in] : NULL;
			way.out = each ? way.device[out] : NULL;
			judge_way(worst, source, &way);
		}
	}
}

/* Return: 0, or -1 if the rules are wrong or there is no memory */
static int judge(struct firewall *firewall, const struct source *source,
		 const struct firewall_packet *packet)
{
	struct firewall_rules worst = { .packet = packet };
	enum firewall_hook hook;
	int ret;

	read_rules(&worst, source);
	for (hook = 0; hook < FIREWALL_HOOKS && !worst.failed; hook++)
		judge_hook(&worst, source, hook);
	if (!worst.failed)
		take_drops(firewall, &worst);
	ret = worst.failed ? -1 : 0;
	firewall_rules_free(&worst);
	return ret;
}

/* --- the old tables ---------------------------------------------------------- */

/* Asking for a table that is not there would load it. */
static bool has_old(const char *name)
{
	FILE *f = fopen("/proc/self/net/ip_tables_names", "r");
	bool found = false;
	char line[64];

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, name);
	}
	if (f)
		fclose(f);
	return found;
}

/* Return: 0 or -errno */
static int ask_old(int fd, const char *name, struct source *source)
{
	struct ipt_getinfo *info = &source->info;
	struct ipt_get_entries *table;
	socklen_t len = sizeof(*info);

	strcpy(info->name, name);
	if (getsockopt(fd, SOL_IP, IPT_SO_GET_INFO, info, &len))
		return -errno;
	if (info->size > TABLE_MAX)
		return -EFBIG;
	len = sizeof(*table) + info->size;
	table = calloc(1, len);
	if (!table)
		return -ENOMEM;
	source->old = table;
	strcpy(table->name, info->name);
	table->size = info->size;
	return getsockopt(fd, SOL_IP, IPT_SO_GET_ENTRIES, table, &len) ?
	       -errno : 0;
}

static void say_unread_old(struct firewall *firewall, int err)
{
	snprintf(firewall->unread, sizeof(firewall->unread),
		 "the rules of iptables-legacy cannot be read: %s",
		 strerror(-err));
}

/* Without the table, nothing is filled. */
static void read_old(struct firewall *firewall, const char *name,
		     struct source *source)
{
	int fd, err;

	if (!has_old(name))
		return;
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	err = fd < 0 ? -errno : ask_old(fd, name, source);
	if (fd >= 0)
		close(fd);
	if (!err)
		return;
	say_unread_old(firewall, err);
	free(source->old);
	source->old = NULL;
}

/* --- nftables ---------------------------------------------------------------- */

/* A kernel without nftables has no rules. */
static bool has_nft(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EPROTONOSUPPORT;
}

/* Return: NULL, with the reason; without one there are no rules */
static json_t *ask_nft(struct firewall *firewall)
{
	FILE *f = popen("nft -j list ruleset 2> /dev/null", "re");
	json_t *answer = f ? json_loadf(f, 0, NULL) : NULL;
	int status = f ? pclose(f) : -1;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
		if (access("/sys/module/nf_tables", F_OK))
			return NULL;
		firewall->unread_fix = "apt install nftables";
		snprintf(firewall->unread, sizeof(firewall->unread),
			 "the rules of nftables cannot be read: nft is not installed");
	} else if (status || !answer) {
		firewall->unread_fix = "nft -j list ruleset";
		snprintf(firewall->unread, sizeof(firewall->unread),
			 "the rules of nftables cannot be read: 'nft -j list ruleset' fails");
		json_decref(answer);
		answer = NULL;
	}
	return answer;
}

/* --- one command --------------------------------------------------------------- */

static bool is_nft(const struct firewall_drop *drop)
{
	return !strncmp(drop->fix, NFT, strlen(NFT));
}

/* Print the commands of nft as one transaction, or the others. Return: how many */
static size_t print_fixes(const struct firewall *firewall, bool nft, FILE *out)
{
	const struct firewall_drop *d;
	size_t n = 0;

	for (d = firewall->drop; d < firewall->drop + firewall->n; d++) {
		if (d->hook != FIREWALL_FORWARD || !d->fault || !d->fix[0] ||
		    is_nft(d) != nft)
			continue;
		fprintf(out, "%s%s", n ? "; " : "",
			d->fix + (nft ? strlen(NFT) : 0));
		n++;
	}
	return n;
}

/* A shell separates commands where nft would: several need quotation marks. */
static char *forward_text(const struct firewall *firewall, bool nft)
{
	char *text = NULL, *command = NULL;
	size_t size, n = 0;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		n = print_fixes(firewall, nft, out);
		fclose(out);
	}
	if (n && asprintf(&command, n > 1 ? NFT "'%s'" : nft ? NFT "%s" : "%s",
			  text) < 0)
		command = NULL;
	free(text);
	return command;
}

static void join_forward(struct firewall *firewall)
{
	char *nft = forward_text(firewall, true);
	char *old = forward_text(firewall, false);

	firewall->forward = nft ? nft : old;
	if (!nft || !old)
		return;
	if (asprintf(&firewall->forward, "%s && %s", nft, old) < 0)
		firewall->forward = NULL;
	free(nft);
	free(old);
}

/* May a rule exempt the packets from connection tracking? */
static bool exempts(const struct source *source,
		    const struct firewall_packet *packet)
{
	struct firewall_rules rules = { .packet = packet };

	if (source->nft || source->old)
		read_rules(&rules, source);
	firewall_rules_free(&rules);
	return rules.untracked;
}

void firewall_look(struct firewall *firewall,
		   const struct firewall_packet *packet)
{
	struct source nft = {}, filter = {}, raw = {};
	struct firewall_packet known = *packet;

	*firewall = (struct firewall){ .unread_fix = "" };
	read_old(firewall, "filter", &filter);
	read_old(firewall, "raw", &raw);
	nft.nft = has_nft() ? ask_nft(firewall) : NULL;
	known.untracked = exempts(&raw, packet) || exempts(&nft, packet);
	if (filter.old && judge(firewall, &filter, &known))
		say_unread_old(firewall, -EINVAL);
	if (nft.nft && judge(firewall, &nft, &known))
		strcpy(firewall->unread, "out of memory");
	join_forward(firewall);
	json_decref(nft.nft);
	free(filter.old);
	free(raw.old);
}

void firewall_free(struct firewall *firewall)
{
	free(firewall->drop);
	free(firewall->forward);
}
