// SPDX-License-Identifier: GPL-2.0
/* The module is unloaded and loaded while packets for it come in without a
 * pause, with entries, ports, running timers and queued packets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sched.h>
#include <stdatomic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crew.h"
#include "ctree.h"
#include "frame.h"

#define BOUND	120	/* seconds: a longer wait is a hang */
#define BURST	64	/* packets */

static atomic_bool stop;
static atomic_uint sent;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Send OPENs in the name of s from its namespace: they wake the entries of a
 * and r. Pause after each burst, or the other CPU waits long for a quiescent
 * state.
 */
static void *traffic(void *arg)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = LINE_RIGHT,
	};
	struct frame f;
	int fd;

	(void)arg;
	line_enter(&line, S);
	fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("packet socket");
	while (!stop) {
		frame_open(&f, node_id(S), node_id(R),
			   1 + (uint32_t)draw() % 8, 1, false);
		line_mac(A, false, f.bytes);
		if (send(fd, f.bytes, f.len, 0) == (ssize_t)f.len &&
		    !(++sent % BURST))
			poll(NULL, 0, 1);
	}
	close(fd);
	return NULL;
}

static void load(int module)
{
	if (syscall(SYS_finit_module, module, "", 0))
		die("loading");
}

/* A control socket that was just closed may still hold the module. */
static void unload(void)
{
	long end = now_ms() + BOUND * 1000;

	while (syscall(SYS_delete_module, "aggnet", O_NONBLOCK)) {
		if (errno != EWOULDBLOCK || now_ms() > end)
			die("unloading");
		sched_yield();
	}
}

static void configure(void)
{
	struct aggnet_tree_info e = {
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
		       AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		       AGGNET_HAS(AGGNET_A_TREE_CONTRIBUTORS) |
		       AGGNET_HAS(AGGNET_A_TREE_SOURCES),
		.instance = 1,
		/*
		 * Two contributors, so that a merges and does not only forward.
		 */
		.contributors = 2,
		.sources = 2,
	};
	uint32_t job;
	int i;

	if (line_members(&line))
		exit(1);
	for (i = R; i >= A; i--)
		for (job = 1; job <= 8; job++) {
			e.incast_id = aggnet_incast_id(job, (struct in_addr){
						       node_id(R) });
			if (aggnet_tree_add(line.ctl[i], &e, false))
				die(aggnet_ctl_error(line.ctl[i]));
		}
}

/* Wait until packets have woken the entry of some job at a. */
static void wait_awake(void)
{
	uint64_t id = aggnet_incast_id(1 + (uint32_t)draw() % 8,
				       line_identity(&line, R));
	long end = now_ms() + BOUND * 1000;
	struct aggnet_tree_info tree = {};

	do {
		if (aggnet_tree_get(line.ctl[A], id, &tree))
			die(aggnet_ctl_error(line.ctl[A]));
		if (now_ms() > end)
			die("no packet wakes the entry");
	} while (tree.state == AGGNET_TREE_IDLE);
}

/*
 * reload SEED ROUNDS MODULE: MODULE is loaded, and is loaded again at the end
 */
int main(int argc, char **argv)
{
	unsigned long rounds, i;
	pthread_t thread;
	int module;

	if (argc != 4) {
		fputs("usage: reload SEED ROUNDS MODULE\n", stderr);
		return 2;
	}
	seed(strtoull(argv[1], NULL, 0));
	rounds = strtoul(argv[2], NULL, 0);
	module = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (module < 0)
		die(argv[3]);
	if (line_up(&line))
		return 1;
	line_close(&line);
	if (pthread_create(&thread, NULL, traffic, NULL))
		die("thread");
	for (i = 0; i < rounds; i++) {
		unload();
		load(module);
		configure();
		wait_awake();
		line_close(&line);
	}
	stop = true;
	pthread_join(thread, NULL);
	line_down(&line);
	printf("%lu unloads and loads under %u packets\n", rounds, sent);
	return 0;
}
