// SPDX-License-Identifier: GPL-2.0
/* Asks for the rules of this host's firewalls, and names the chains that drop. */
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
/* The rules that are added have this comment. */
#define MARK		"aggnet"
#define NFT		"nft "

/* --- the old tables ---------------------------------------------------------- */

/* Asking for a table that is not there would load it. */
static bool has_old_filter(void)
{
	FILE *f = fopen("/proc/self/net/ip_tables_names", "r");
	bool found = false;
	char line[64];

	while (f && fgets(line, sizeof(line), f))
		found |= !strcmp(line, "filter\n");
	if (f)
		fclose(f);
	return found;
}

/* Return: 0 or -errno */
static int ask_old(int fd, struct firewall_rules *rules)
{
	struct ipt_getinfo info = { .name = "filter" };
	struct ipt_get_entries *table;
	socklen_t len = sizeof(info);
	int ret = 0;

	if (getsockopt(fd, SOL_IP, IPT_SO_GET_INFO, &info, &len))
		return -errno;
	if (info.size > TABLE_MAX)
		return -EFBIG;
	len = sizeof(*table) + info.size;
	table = calloc(1, len);
	if (!table)
		return -ENOMEM;
	strcpy(table->name, info.name);
	table->size = info.size;
	if (getsockopt(fd, SOL_IP, IPT_SO_GET_ENTRIES, table, &len))
		ret = -errno;
	else
		firewall_old(rules, &info, table);
	free(table);
	return ret;
}

static void look_at_old(struct firewall *firewall, struct firewall_rules *rules)
{
	int fd, err;

	if (!has_old_filter())
		return;
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	err = fd < 0 ? -errno : ask_old(fd, rules);
	if (fd >= 0)
		close(fd);
	if (rules->failed)
		err = -EINVAL;
	if (err)
		snprintf(firewall->unread, sizeof(firewall->unread),
			 "the rules of iptables-legacy cannot be read: %s",
			 strerror(-err));
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
		if (!access("/sys/module/nf_tables", F_OK))
			snprintf(firewall->unread, sizeof(firewall->unread),
				 "the rules of nftables cannot be read: nft is not installed");
	} else if (status || !answer) {
		snprintf(firewall->unread, sizeof(firewall->unread),
			 "the rules of nftables cannot be read: 'nft -j list ruleset' fails");
		json_decref(answer);
		answer = NULL;
	}
	return answer;
}

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
	else if (is_plain(c->table) && is_plain(c->name))
		snprintf(drop->fix, sizeof(drop->fix),
			 NFT "insert rule %s %s %s udp dport %u accept comment "
			 MARK, c->family, c->table, c->name, port);
}

static void take_drop(struct firewall *firewall, const struct firewall_chain *c,
		      uint16_t port)
{
	struct firewall_drop *drop, *more;

	more = reallocarray(firewall->drop, firewall->n + 1, sizeof(*more));
	if (!more)
		return;
	firewall->drop = more;
	drop = &more[firewall->n++];
	*drop = (struct firewall_drop){
		.hook = c->hook, .sure = c->ends == FIREWALL_DROP,
		.fault = c->rest == FIREWALL_DROP,
	};
	snprintf(drop->finding, sizeof(drop->finding),
		 "chain %s of table %s%s%s %s UDP to port %u (%s): packets %s %s lost",
		 c->name, c->family ? c->family : "", c->family ? " " : "",
		 c->table, drop->sure ? "drops" : "may drop", port, c->what,
		 packets_of[c->hook], drop->sure ? "are" : "would be");
	name_fix(drop, c, port);
}

static void take_drops(struct firewall *firewall, struct firewall_rules *rules)
{
	struct firewall_chain *c;
	size_t i;

	for (i = 0; i < rules->n && !rules->failed; i++) {
		c = &rules->chain[i];
		if (c->hook == FIREWALL_HOOKS)
			continue;
		firewall_walk(rules, i);
		if (c->ends & (FIREWALL_DROP | FIREWALL_UNKNOWN))
			take_drop(firewall, c, rules->packet->port);
	}
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

void firewall_look(struct firewall *firewall,
		   const struct firewall_packet *packet)
{
	struct firewall_rules old = { .packet = packet };
	struct firewall_rules nft = { .packet = packet };
	json_t *answer;

	*firewall = (struct firewall){};
	look_at_old(firewall, &old);
	take_drops(firewall, &old);
	answer = has_nft() ? ask_nft(firewall) : NULL;
	if (answer)
		firewall_nft(&nft, answer);
	if (nft.failed)
		strcpy(firewall->unread, "out of memory");
	take_drops(firewall, &nft);
	join_forward(firewall);
	firewall_rules_free(&old);
	firewall_rules_free(&nft);
	json_decref(answer);
}

void firewall_free(struct firewall *firewall)
{
	free(firewall->drop);
	free(firewall->forward);
}
