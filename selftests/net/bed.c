// SPDX-License-Identifier: GPL-2.0
/* A testbed that only this process sees: /run, with the namespaces' names, is
 * private.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "bed.h"
#include "../lib/device.h"
#include "netns.h"
#include "testbed/testbed.h"

#define MTU	1500
#define DOWN	8	/* devices that may be down at a time */

struct bed bed;

static struct {
	int netns;
	char device[ADDRESSING_NAME_LEN];
} down[DOWN];
static unsigned int n_down;

static void die(const char *what)
{
	fprintf(stderr, "testbed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t servers(void)
{
	return aggt_topo_servers(bed.topo);
}

static const char *name_of(uint32_t node)
{
	return node < servers() ? addressing_server_name(node) :
				  addressing_switch_name(node - servers());
}

static struct testbed recipe(void)
{
	return (struct testbed){
		.topo = bed.topo, .mtu = MTU, .aggnet_switches = true,
	};
}

/* Mount events of other namespaces change nothing in this one. */
static void be_alone(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount("", "/", "none", MS_PRIVATE | MS_REC, NULL) ||
	    mount("bed", "/run", "tmpfs", 0, NULL))
		die("/run");
}

void bed_make(const char *topology)
{
	struct testbed tb;
	bool loaded;
	uint32_t i;

	be_alone();
	bed.topo = aggt_topo_parse(topology, NULL);
	tb = recipe();
	if (!bed.topo || tb_up(&tb) || tb_attach(&tb, &loaded))
		exit(1);
	for (i = 0; i < servers() + aggt_topo_switches(bed.topo); i++) {
		bed.netns[i] = netns_open(name_of(i));
		if (bed.netns[i] < 0 || netns_enter_fd(bed.netns[i], name_of(i)))
			exit(1);
		if (i < servers() && aggnet_ctl_open(&bed.ctl[i])) {
			fprintf(stderr, "%s: %s\n", name_of(i),
				aggnet_ctl_error(bed.ctl[i]));
			exit(1);
		}
	}
}

void bed_unmake(void)
{
	struct testbed tb = recipe();
	uint32_t i;

	for (i = 0; i < servers(); i++)
		aggnet_ctl_close(bed.ctl[i]);
	for (i = 0; i < servers() + aggt_topo_switches(bed.topo); i++)
		close(bed.netns[i]);
	if (tb_down(&tb))
		exit(1);
	aggt_topo_free(bed.topo);
}

/* --- breaking links and switches --------------------------------------- */

static void set(int netns, const char *device, bool up)
{
	if (setns(netns, CLONE_NEWNET) || device_set_up(device, up))
		die(device);
}

static void take_down(uint32_t node, const char *device)
{
	down[n_down].netns = bed.netns[node];
	snprintf(down[n_down++].device, ADDRESSING_NAME_LEN, "%s", device);
	set(bed.netns[node], device, false);
}

void bed_cut(aggt_node server, unsigned int level, bool at_switch)
{
	char device[ADDRESSING_NAME_LEN];

	if (!at_switch) {
		snprintf(device, sizeof(device), "eth%u", level);
		take_down(server, device);
		return;
	}
	snprintf(device, sizeof(device), "p%u",
		 aggt_topo_digit(bed.topo, server, level));
	take_down(servers() + aggt_topo_switch(bed.topo, server, level), device);
}

void bed_stop(uint32_t sw)
{
	take_down(servers() + sw, TB_BRIDGE);
}

/* --- mending them --------------------------------------------------- */

static int route(aggt_node server)
{
	const char *name = addressing_server_name(server);
	struct testbed tb = recipe();
	struct rtnl *r;
	int err;

	if (netns_enter_fd(bed.netns[server], name))
		return -1;
	r = rtnl_open(name);
	err = !r || tb_routes(&tb, r, server) || rtnl_commit(r);
	rtnl_close(r);
	return err;
}

void bed_mend(void)
{
	struct testbed tb = recipe();
	aggt_node i;

	while (n_down--)
		set(down[n_down].netns, down[n_down].device, true);
	n_down = 0;
	if (tb_settle(&tb))
		exit(1);
	for (i = 0; i < servers(); i++)
		if (route(i))
			exit(1);
}
