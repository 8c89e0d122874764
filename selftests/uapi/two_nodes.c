// SPDX-License-Identifier: GPL-2.0
/* See two_nodes.h. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "two_nodes.h"

static int configure(const char *commands)
{
	FILE *pipe = popen("ip -batch -", "w");

	if (!pipe)
		return -1;
	fputs(commands, pipe);
	return pclose(pipe);
}

static int join_both(const struct two_nodes *n)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "link add name va type veth peer name vb netns /proc/%d/fd/%d\n"
		 "address add 10.16.0.1/24 dev va\n"
		 "link set va up\n"
		 "route add " NODE_B " via 10.16.0.2 dev va src " NODE_A "\n",
		 getpid(), n->ns_b);
	if (configure(text) || setns(n->ns_b, CLONE_NEWNET))
		return -1;
	return configure("address add 10.16.0.2/24 dev vb\n"
			 "link set vb up\n"
			 "route add " NODE_A
			 " via 10.16.0.1 dev vb src " NODE_B "\n");
}

int two_nodes_up(struct two_nodes *n)
{
	n->b = make_node(NODE_B);
	n->ns_b = open("/proc/self/ns/net", O_RDONLY);
	n->a = make_node(NODE_A);
	n->ns_a = open("/proc/self/ns/net", O_RDONLY);
	if (!n->a || !n->b || n->ns_a < 0 || n->ns_b < 0)
		return -1;
	return join_both(n);
}

void two_nodes_down(struct two_nodes *n)
{
	aggnet_ctl_close(n->a);
	aggnet_ctl_close(n->b);
	close(n->ns_a);
	close(n->ns_b);
}
