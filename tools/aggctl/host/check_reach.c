// SPDX-License-Identifier: GPL-2.0
/* Which neighbours and members of this node get packets of full length, and answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "host/checks.h"
#include "host/host.h"
#include "info.h"
#include "names.h"
#include "neighbour.h"
#include "route.h"

#define ECHO_SMALL	64	/* bytes; any MTU is larger */
#define ECHO_FULL	8292	/* bytes; no packet of a node is longer */
#define ASK_MANY	256	/* at the same time: each takes a descriptor */
#define ASK_MOST	1024

/**
 * struct reached - a neighbour or a member that is asked
 * @echo: the request
 * @ifindex: of the device by which it leaves; of a neighbour
 * @device: its name
 * @named: it has a fault that has a row already, and is not asked
 * @small: a short packet got an answer, if the one of full length did not
 * @limit: MTU of its route, if that is less than other nodes' packets have; else 0
 */
struct reached {
	struct echo echo;
	uint32_t ifindex;
	char device[IF_NAMESIZE];
	bool named;
	bool small;
	uint32_t limit;
};

/**
 * struct reach - all that are asked
 * @c: the checks
 * @list: neighbours, then members
 * @n: how many; @ASK_MOST at most
 * @n_neighbours: of them
 * @forwards: other nodes send by this one: an entry has children
 * @left_out: how many more there are
 */
struct reach {
	struct checks *c;
	struct reached *list;
	size_t n;
	size_t n_neighbours;
	bool forwards;
	size_t left_out;
};

bool checks_attached(const struct checks *c, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < c->n_attached; i++)
		if (c->attached[i].ifindex == ifindex)
			return true;
	return false;
}

/* Packets leave only by attached devices. */
static void check_attached(struct checks *c, uint32_t ifindex)
{
	char device[IF_NAMESIZE], command[64];

	if (checks_attached(c, ifindex) || !if_indextoname(ifindex, device))
		return;
	checks_add(c, false, "port", "%s: a planned link leaves by it, and it is not attached",
		   device);
	if (!host_device_is_plain(device))
		return;
	snprintf(command, sizeof(command), "aggctl port add %s", device);
	checks_fix(c, "%s", names_init(command));
}

/* It may answer an echo request all the same. */
static bool check_on_link(struct checks *c, uint32_t ifindex, struct in_addr to)
{
	char addr[INET_ADDRSTRLEN], via[INET_ADDRSTRLEN];
	struct in_addr gateway;

	if (route_on_link(to, ifindex, &gateway))
		return true;
	strcpy(addr, addr_text(to));
	if (!gateway.s_addr) {
		checks_add(c, false, "neighbour",
			   "%s: " ROUTE_NONE ", so packets of the plan leave by plain IP: the device needs an address of its network",
			   addr);
		return false;
	}
	strcpy(via, addr_text(gateway));
	checks_add(c, false, "neighbour",
		   "%s: it is behind gateway %s, so packets of the plan leave by plain IP, and no node on the way merges them: %s",
		   addr, via, names_router(to, gateway));
	return false;
}

static bool check_up(struct checks *c, uint32_t ifindex, struct in_addr to,
		     char device[IF_NAMESIZE])
{
	bool there = if_indextoname(ifindex, device);

	if (there && device_up(device))
		return true;
	checks_add(c, false, "neighbour", "%s: its device %s is down or has no cable",
		   addr_text(to), there ? device : "");
	if (there && host_device_is_plain(device))
		checks_fix(c, "ip link set %s up", device);
	return false;
}

/* The next one to be asked, or NULL. */
static struct reached *next(struct reach *r)
{
	struct reached *list;

	if (r->n == ASK_MOST) {
		r->left_out++;
		return NULL;
	}
	list = reallocarray(r->list, r->n + 1, sizeof(*list));
	if (!list)
		return NULL;
	r->list = list;
	list[r->n] = (struct reached){};
	return &list[r->n++];
}

static size_t full(const char *device)
{
	int mtu = device_mtu(device);

	return mtu < 0 ? ECHO_SMALL : mtu < ECHO_FULL ? (size_t)mtu : ECHO_FULL;
}

/* Entries have few different neighbours. */
static bool has_link(const struct reach *r, uint32_t ifindex, struct in_addr to)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->list[i].echo.to.s_addr == to.s_addr &&
		    r->list[i].ifindex == ifindex)
			return true;
	return false;
}

static void add_neighbour(struct reach *r, uint32_t ifindex, struct in_addr to)
{
	struct reached *one;

	if (!ifindex || !to.s_addr || has_link(r, ifindex, to))
		return;
	one = next(r);
	if (!one)
		return;
	one->ifindex = ifindex;
	one->echo.to = to;
	check_attached(r->c, ifindex);
	one->named = !check_up(r->c, ifindex, to, one->device) ||
		     !check_on_link(r->c, ifindex, to);
	one->echo.bytes = full(one->device);
}

/* Schemes bloom and packet have no link in the entry, but links of their own. */
static void add_neighbours(struct reach *r, struct aggnet_ctl *ctl,
			   const struct aggnet_tree_info *trees, size_t n)
{
	struct aggnet_link_info *links;
	size_t i, n_links;

	for (i = 0; i < n; i++)
		add_neighbour(r, trees[i].link_ifindex, trees[i].link_neighbour);
	if (aggnet_link_list(ctl, &links, &n_links)) {
		checks_add(r->c, false, "links", "%s", aggnet_ctl_error(ctl));
		return;
	}
	for (i = 0; i < n_links; i++)
		add_neighbour(r, links[i].ifindex, links[i].neighbour);
	free(links);
}

/* Another address may be a neighbour's that was asked. */
static void add_member(struct reach *r, struct in_addr to)
{
	char device[IF_NAMESIZE];
	struct reached *one;
	struct route route;
	size_t i;

	for (i = 0; i < r->n_neighbours; i++)
		if (r->list[i].echo.to.s_addr == to.s_addr)
			return;
	if (checks_own(to) || route_to(to, 0, &route) || !route.found ||
	    !if_indextoname(route.ifindex, device))
		return;
	one = next(r);
	if (!one)
		return;
	one->echo.from = r->c->identity;
	one->echo.to = to;
	one->echo.bytes = full(device);
	if (!route.mtu || route.mtu >= one->echo.bytes)
		return;
	one->echo.bytes = route.mtu > ECHO_SMALL ? route.mtu : ECHO_SMALL;
	one->limit = r->forwards ? route.mtu : 0;
}

/* Without its identity, this host gets no answers. */
static void add_members(struct reach *r)
{
	const struct checks *c = r->c;
	size_t i;

	r->n_neighbours = r->n;
	if (c->identity.s_addr && !checks_own(c->identity))
		return;
	for (i = 0; i < c->n_members; i++)
		add_member(r, c->member[i]);
}

/* Ask some of a list at the same time: the short packet, or that of full length. */
static void ask(struct reached **some, size_t n, bool small)
{
	struct echo echo[ASK_MANY];
	size_t i;

	for (i = 0; i < n; i++) {
		echo[i] = some[i]->echo;
		echo[i].device = some[i]->ifindex ? some[i]->device : NULL;
		if (small)
			echo[i].bytes = ECHO_SMALL;
	}
	neighbour_ask_all(echo, n);
	for (i = 0; i < n; i++)
		if (small)
			some[i]->small = !echo[i].result;
		else
			some[i]->echo = echo[i];
}

/* Those that do not answer are asked again, with a short packet. */
static void ask_twice(struct reached **some, size_t n)
{
	size_t i, silent = 0;

	ask(some, n, false);
	for (i = 0; i < n; i++)
		if (some[i]->echo.result)
			some[silent++] = some[i];
	ask(some, silent, true);
}

static void ask_all(struct reach *r)
{
	struct reached *some[ASK_MANY];
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		if (!r->list[i].named)
			some[n++] = &r->list[i];
		if (n < ASK_MANY && i + 1 < r->n)
			continue;
		ask_twice(some, n);
		n = 0;
	}
}

/* A switch takes no commands of a server. A route to one host may be by another host. */
static bool is_router(const struct checks *c, struct in_addr addr)
{
	struct route route;
	size_t i;

	if (names_is_host(addr))
		return false;
	for (i = 0; i < c->n_members; i++)
		if (!route_to(c->member[i], 0, &route) && route.prefix < 32 &&
		    route.gateway.s_addr == addr.s_addr)
			return true;
	return names_switch(addr);
}

/*
 * What is wrong is not on this host. If it is on another one, the command finds it
 * there; what other routers say is in the finding.
 */
static void add_fix(struct checks *c, const struct echo *e, bool other)
{
	struct in_addr at = other ? e->router : e->to;

	if (other ? names_is_host(at) : !is_router(c, at))
		checks_fix(c, "ssh %s aggctl host check", names_host(at));
}

static void name_mtu(struct checks *c, const char *what, const struct echo *e,
		     const char *way, bool other)
{
	char addr[INET_ADDRSTRLEN], why[96] = "";

	strcpy(addr, addr_text(e->to));
	if (e->mtu && other)
		snprintf(why, sizeof(why), ", the next link of %s has an MTU of %u",
			 addr_text(e->router), e->mtu);
	else if (e->mtu)
		snprintf(why, sizeof(why), ", the answer came in fragments of %u bytes",
			 e->mtu);
	checks_add(c, false, what,
		   "%s: packets of %zu bytes do not pass whole %s, short ones do%s: use one MTU on all servers and switches",
		   addr, e->bytes, way, why);
	add_fix(c, e, other);
}

static void name_silence(struct checks *c, const char *what,
			 const struct echo *e, const char *way, bool other)
{
	char addr[INET_ADDRSTRLEN], says[48] = "";

	strcpy(addr, addr_text(e->to));
	if (other)
		snprintf(says, sizeof(says), ", says %s", addr_text(e->router));
	checks_add(c, false, what, "%s: no answer %s (%s%s): it is down, %s, or drops ICMP",
		   addr, way, strerror(-e->result), says,
		   e->device ? "at another switch, has another address" :
		   "has no route back");
	add_fix(c, e, other);
}

/* An ICMP error of its own is an answer, too. */
static bool rejects(const struct echo *e)
{
	return e->result && e->router.s_addr == e->to.s_addr;
}

static void name_result(struct checks *c, const struct reached *one)
{
	const struct echo *e = &one->echo;
	const char *what = one->ifindex ? "neighbour" : "member";
	bool other = e->router.s_addr && e->router.s_addr != e->to.s_addr &&
		     !checks_own(e->router);
	char way[32] = "by its route";

	if (one->ifindex)
		snprintf(way, sizeof(way), "on %s", one->device);
	if (rejects(e))
		checks_add(c, true, what, "%s: rejects echo requests %s, so it is there",
			   addr_text(e->to), way);
	else if (!e->result && one->limit)
		checks_add(c, false, what, "%s: the MTU of its route is %u: longer packets of other nodes do not pass here: use one MTU on all servers and switches",
			   addr_text(e->to), one->limit);
	else if (!e->result)
		checks_add(c, true, what, "%s: answers %s with packets of %zu bytes",
			   addr_text(e->to), way, e->bytes);
	else if (e->result == -EPERM)
		checks_add(c, false, what, "%s: it cannot be asked: that needs CAP_NET_RAW, and a firewall here that lets ICMP pass",
			   addr_text(e->to));
	else if (one->small)
		name_mtu(c, what, e, way, other);
	else
		name_silence(c, what, e, way, other);
}

static bool has_fault(const struct reached *one)
{
	return one->named || (one->echo.result && !rejects(&one->echo));
}

/* Is the next hop of a member a neighbour with a fault? That has to be mended first. */
static bool is_behind_fault(const struct reach *r, const struct reached *one)
{
	struct route route;
	size_t i;

	if (one->ifindex || route_to(one->echo.to, 0, &route))
		return false;
	for (i = 0; i < r->n_neighbours; i++)
		if (has_fault(&r->list[i]) &&
		    r->list[i].echo.to.s_addr == route.gateway.s_addr)
			return true;
	return false;
}

void checks_reach(struct checks *c, struct aggnet_ctl *ctl,
		  const struct aggnet_tree_info *trees, size_t n)
{
	struct reach r = { .c = c };
	size_t i;

	for (i = 0; i < n; i++)
		r.forwards |= trees[i].children.n > 0;
	add_neighbours(&r, ctl, trees, n);
	add_members(&r);
	ask_all(&r);
	for (i = 0; i < r.n; i++)
		if (!r.list[i].named && !is_behind_fault(&r, &r.list[i]))
			name_result(c, &r.list[i]);
	if (r.left_out)
		checks_note(c, "member", "%zu neighbours and members are not asked: this command asks %d: execute 'aggctl host check' on them",
			    r.left_out, ASK_MOST);
	free(r.list);
}
