// SPDX-License-Identifier: GPL-2.0
/* See two_nodes.h. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "../lib/device.h"
#include "two_nodes.h"

static int configure(const char *commands)
{
	FILE *pipe = popen("ip -batch -", "w");

	if (!pipe)
		return -1;
	fputs(commands, pipe);
	return pclose(pipe);
}

/* Run commands in the namespace of a node. */
static int configure_in(int ns, const char *commands)
{
	return setns(ns, CLONE_NEWNET) ? -1 : configure(commands);
}

static int make_both(struct two_nodes *n)
{
	n->ns_t = -1;
	n->b = make_node(NODE_B);
	n->ns_b = open("/proc/self/ns/net", O_RDONLY);
	n->a = make_node(NODE_A);
	n->ns_a = open("/proc/self/ns/net", O_RDONLY);
	return n->a && n->b && n->ns_a >= 0 && n->ns_b >= 0 ? 0 : -1;
}

static int wait_in(int ns, const char *device)
{
	return setns(ns, CLONE_NEWNET) ? -1 : device_wait(device);
}

int two_nodes_up(struct two_nodes *n)
{
	char link[128];

	if (make_both(n))
		return -1;
	snprintf(link, sizeof(link),
		 "link add name va type veth peer name vb netns /proc/%d/fd/%d\n",
		 getpid(), n->ns_b);
	if (configure(link) ||
	    configure("address add 10.16.0.1/24 dev va\n"
		      "link set va up\n"
		      "route add " NODE_B " via 10.16.0.2 src " NODE_A "\n"))
		return -1;
	if (configure_in(n->ns_b,
			 "address add 10.16.0.2/24 dev vb\n"
			 "link set vb up\n"
			 "route add " NODE_A " via 10.16.0.1 src " NODE_B "\n"))
		return -1;
	/* This leaves the caller in the namespace of b. */
	return wait_in(n->ns_a, "va") ?: wait_in(n->ns_b, "vb");
}

static int forward(void)
{
	int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY);
	int err = write(fd, "1", 1) == 1 ? 0 : -1;

	close(fd);
	return err;
}

int two_nodes_apart(struct two_nodes *n)
{
	char links[256];

	if (make_both(n))
		return -1;
	n->t = make_node(NODE_T);
	n->ns_t = open("/proc/self/ns/net", O_RDONLY);
	snprintf(links, sizeof(links),
		 "link add name ta type veth peer name va netns /proc/%d/fd/%d\n"
		 "link add name tb type veth peer name vb netns /proc/%d/fd/%d\n",
		 getpid(), n->ns_a, getpid(), n->ns_b);
	if (!n->t || n->ns_t < 0 || configure(links) || forward() ||
	    configure("address add 10.16.0.3/24 dev ta\n"
		      "address add 10.17.0.3/24 dev tb\n"
		      "link set ta up\n"
		      "link set tb up\n") ||
	    configure_in(n->ns_a,
			 "address add 10.16.0.1/24 dev va\n"
			 "link set va up\n"
			 "route add " NODE_B " via 10.16.0.3 src " NODE_A "\n"
			 "route add " NODE_T " via 10.16.0.3 src " NODE_A "\n") ||
	    configure_in(n->ns_b,
			 "address add 10.17.0.2/24 dev vb\n"
			 "link set vb up\n"
			 "route add " NODE_A " via 10.17.0.3 src " NODE_B "\n"
			 "route add " NODE_T " via 10.17.0.3 src " NODE_B "\n") ||
	    configure_in(n->ns_t,
			 "route add " NODE_A " via 10.16.0.1\n"
			 "route add " NODE_B " via 10.17.0.2\n") ||
	    wait_in(n->ns_a, "va") || wait_in(n->ns_b, "vb") ||
	    wait_in(n->ns_t, "ta") || wait_in(n->ns_t, "tb"))
		return -1;
	return 0;
}

int two_nodes_direct(struct two_nodes *n)
{
	char link[128];

	snprintf(link, sizeof(link),
		 "link add name da type veth peer name db netns /proc/%d/fd/%d\n",
		 getpid(), n->ns_b);
	return configure_in(n->ns_a, link) ?:
	       configure("address add 10.18.0.1/24 dev da\n"
			 "link set da up\n") ?:
	       configure_in(n->ns_b, "address add 10.18.0.2/24 dev db\n");
}

void two_nodes_down(struct two_nodes *n)
{
	aggnet_ctl_close(n->a);
	aggnet_ctl_close(n->b);
	aggnet_ctl_close(n->t);
	close(n->ns_a);
	close(n->ns_b);
	close(n->ns_t);
}
