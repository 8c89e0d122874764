// SPDX-License-Identifier: GPL-2.0
/* Unit tests of what "aggctl apply" and "aggctl host check" say of planned neighbours and
 * members: a namespace stands for this host, one for a router, and one for a server
 * behind it; the node's entries and links are the test's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggnet.h"
#include "host/node_check.h"
#include "info.h"
#include "names.h"
#include "neighbour.h"
#include "node.h"
#include "plan/plan_apply.h"
#include "kselftest_harness.h"

#define SELF	0x0a010001	/* 10.1.0.1 */
#define ROUTER	0x0a0100fe	/* 10.1.0.254 */
#define BEHIND	0x0a020004	/* 10.2.0.4 */
#define SILENT	0x0a010009	/* 10.1.0.9 */
#define NO_HOST	0x0a020009	/* 10.2.0.9 */

static const char router_setup[] =
	"ip link set lo up && sysctl -qw net.ipv4.ip_forward=1 &&"
	"ip address add 10.1.0.254/24 dev far && ip link set far up &&"
	"ip address add 10.2.0.254/24 dev spine && ip link set spine up";

static const char server_setup[] =
	"ip link set lo up && ip address add 10.2.0.4/24 dev eth0 &&"
	"ip link set eth0 up && ip route add default via 10.2.0.254";

static const char host_setup[] =
	"ip link set lo up && ip address add 10.1.0.1/24 dev near &&"
	"ip link set near up && ip route add default via 10.1.0.254";

/* The node. */
static struct played {
	struct aggnet_node_info node;
	struct aggnet_port_info port;
	struct aggnet_tree_info tree;
	struct aggnet_link_info link;
	size_t links;	/* to neighbours of consecutive addresses */
} played;

int __wrap_aggnet_ctl_open(struct aggnet_ctl **ctl)
{
	*ctl = (void *)&played;
	return 0;
}

void __wrap_aggnet_ctl_close(struct aggnet_ctl *ctl)
{
	(void)ctl;
}

int __wrap_aggnet_node_get(struct aggnet_ctl *ctl,
			   struct aggnet_node_info *node)
{
	(void)ctl;
	*node = played.node;
	return 0;
}

static int list_of(const void *one, size_t size, void **list, size_t *n)
{
	*list = malloc(size);
	memcpy(*list, one, size);
	*n = 1;
	return 0;
}

int __wrap_aggnet_port_list(struct aggnet_ctl *ctl,
			    struct aggnet_port_info **list, size_t *n)
{
	(void)ctl;
	return list_of(&played.port, sizeof(played.port), (void **)list, n);
}

int __wrap_aggnet_tree_list(struct aggnet_ctl *ctl,
			    struct aggnet_tree_info **list, size_t *n)
{
	(void)ctl;
	return list_of(&played.tree, sizeof(played.tree), (void **)list, n);
}

int __wrap_aggnet_link_list(struct aggnet_ctl *ctl,
			    struct aggnet_link_info **list, size_t *n)
{
	(void)ctl;
	*n = played.links ? played.links : 1;
	*list = calloc(*n, sizeof(**list));
	for (size_t i = 0; i < *n; i++) {
		(*list)[i] = played.link;
		(*list)[i].neighbour.s_addr = htonl(ntohl(played.link.neighbour.s_addr) +
						    (uint32_t)i);
	}
	return 0;
}

void __wrap_aggnet_tree_list_free(struct aggnet_tree_info *list, size_t n)
{
	(void)n;
	free(list);
}

/**
 * struct other - a process in a namespace of its own
 * @pid: the process
 * @tell: a line for it is a command that it executes
 * @done: it writes a byte there when it is ready, and after each command
 */
struct other {
	pid_t pid;
	FILE *tell;
	int done;
};

FIXTURE(reach) {
	struct other router;
	struct other server;
	json_t *rows;
};

static void run(struct __test_metadata *_metadata, const char *fmt, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	ASSERT_EQ(0, system(command)) TH_LOG("%s", command);
}

/* Never returns: it ends when it is told no more. */
static void execute(FILE *told, int done)
{
	char command[512];

	if (unshare(CLONE_NEWNET) || write(done, "", 1) != 1)
		_exit(1);
	while (fgets(command, sizeof(command), told))
		if (system(command) || write(done, "", 1) != 1)
			_exit(1);
	_exit(0);
}

static void wait_done(struct __test_metadata *_metadata, struct other *other)
{
	char c;

	ASSERT_EQ(1, read(other->done, &c, 1));
}

static void tell(struct __test_metadata *_metadata, struct other *other,
		 const char *command)
{
	fprintf(other->tell, "%s\n", command);
	fflush(other->tell);
	wait_done(_metadata, other);
}

static void begin(struct __test_metadata *_metadata, struct other *other)
{
	int told[2], done[2];

	ASSERT_EQ(0, pipe2(told, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(done, O_CLOEXEC));
	other->pid = fork();
	if (!other->pid) {
		close(told[1]);
		close(done[0]);
		execute(fdopen(told[0], "r"), done[1]);
	}
	close(told[0]);
	close(done[1]);
	other->tell = fdopen(told[1], "w");
	other->done = done[0];
	wait_done(_metadata, other);
}

static void end(struct other *other)
{
	kill(other->pid, SIGKILL);
	waitpid(other->pid, NULL, 0);
	fclose(other->tell);
	close(other->done);
}

/* The kernel notices a carrier a little later. */
static void wait_up(const char *device)
{
	while (!device_up(device))
		sched_yield();
}

FIXTURE_SETUP(reach)
{
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP(return, "no namespace: %s", strerror(errno));
	setenv("AGGNET_NETWORK", "", 1);
	begin(_metadata, &self->router);
	begin(_metadata, &self->server);
	run(_metadata, "ip link add near type veth peer name far netns %d &&"
	    "ip link add spine netns %d type veth peer name eth0 netns %d",
	    (int)self->router.pid, (int)self->router.pid, (int)self->server.pid);
	tell(_metadata, &self->router, router_setup);
	tell(_metadata, &self->server, server_setup);
	run(_metadata, "%s", host_setup);
	wait_up("near");
	played = (struct played){
		.node.address.s_addr = htonl(SELF),
		.port = { .ifindex = if_nametoindex("near"), .ifname = "near" },
		.tree.link_ifindex = if_nametoindex("near"),
		.tree.incast_id = BEHIND,
	};
	self->rows = NULL;
}

FIXTURE_TEARDOWN(reach)
{
	json_decref(self->rows);
	end(&self->server);
	end(&self->router);
}

/* The description that this host has; "" or further lines. */
static void describe(struct __test_metadata *_metadata, const char *lines)
{
	char path[] = "/tmp/aggnet-reach.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	ASSERT_NE(NULL, f);
	fprintf(f, "topology graph\nhost a1\nhost a9\nhost b4\n"
		"switch tor-a\nswitch tor-b\nswitch spine\n"
		"link a1 tor-a\nlink a9 tor-a\nlink b4 tor-b\n"
		"link tor-a spine\nlink tor-b spine\n"
		"address a1 10.1.0.1\naddress b4 10.2.0.4\n%s", lines);
	fclose(f);
	setenv("AGGNET_NETWORK", path, 1);
	free(names_add(""));
	err_names(names_add);
	unlink(path);
}

static struct in_addr in(uint32_t addr)
{
	return (struct in_addr){ htonl(addr) };
}

/* What is said to standard error of a plan with this neighbour, "": it is not refused. */
static const char *refusal(struct __test_metadata *_metadata, const char *to)
{
	struct node_port port = { "p0", if_nametoindex("near"), true };
	const struct node node = { .name = "a1", .port = &port, .n_ports = 1 };
	json_t *entry = json_pack("{s:[{s:s, s:s}]}", "trees", "link_port",
				  "p0", "link_neighbour", to);
	static char said[512];
	FILE *f = tmpfile();
	int was = dup(STDERR_FILENO), ret;
	size_t n;

	ASSERT_NE(NULL, f);
	dup2(fileno(f), STDERR_FILENO);
	ret = plan_links_check(&node, entry, true);
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	fclose(f);
	json_decref(entry);
	EXPECT_EQ(ret, n ? -1 : 0);
	return said;
}

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

/* How many rows "host check" has of neighbours or members; all rows are kept. */
static size_t checked(json_t **rows, const char *what)
{
	size_t i, n = 0;
	json_t *row;
	bool good;

	json_decref(*rows);
	*rows = node_check(&good);
	json_array_foreach(*rows, i, row)
		n += !strcmp(text_of(row, "what"), what);
	return n;
}

/* The finding, and the fix, of the first of these rows. */
static const char *finding(json_t **rows, const char *what, const char **fix)
{
	json_t *row;
	size_t i;

	if (!checked(rows, what))
		return NULL;
	json_array_foreach(*rows, i, row)
		if (!strcmp(text_of(row, "what"), what))
			break;
	*fix = text_of(row, "fix");
	return text_of(row, "finding");
}

#define EXPECT_FOUND(what, text, command) do {				\
	const char *fix, *found = finding(&self->rows, what, &fix);	\
									\
	ASSERT_NE(NULL, found);						\
	EXPECT_EQ(0, strncmp(found, text, strlen(text))) TH_LOG("%s", found); \
	EXPECT_STREQ(command, fix ? fix : "none");			\
} while (0)

/* The echo request is forwarded, and answered; the module would send nothing. */
TEST_F(reach, behind_a_gateway)
{
	describe(_metadata, "");
	EXPECT_STREQ("aggctl: a1: the planned link near to 10.2.0.4 (b4) cannot be used: it is behind gateway 10.1.0.254: if the switch routes, add 'address tor-a 10.1.0.254' to the description of the network, and plan again, or apply the plan with --force\n",
		     refusal(_metadata, "10.2.0.4"));
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
	played.tree.link_neighbour = in(BEHIND);
	EXPECT_FOUND("neighbour", "10.2.0.4: it is behind gateway 10.1.0.254, so packets of the plan leave by plain IP, and no node on the way merges them: if the switch routes, add 'address tor-a 10.1.0.254' to the description of the network, and plan again",
		     "none");
}

TEST_F(reach, all_answer)
{
	played.tree.link_neighbour = in(ROUTER);
	EXPECT_FOUND("neighbour", "10.1.0.254: answers on near with packets of 1500 bytes",
		     "none");
	EXPECT_FOUND("member", "10.2.0.4: answers by its route with packets of 1500 bytes",
		     "none");
}

/* Each is asked once: the member is a neighbour, of an entry and of a link. */
TEST_F(reach, once)
{
	played.tree.link_neighbour = in(ROUTER);
	played.tree.incast_id = ROUTER;
	played.tree.children = (struct aggnet_addrs){
		(struct in_addr []){ in(ROUTER), in(BEHIND), in(BEHIND), in(SELF) },
		4,
	};
	played.link.ifindex = played.port.ifindex;
	played.link.neighbour = in(ROUTER);
	EXPECT_EQ(1, checked(&self->rows, "neighbour"));
	EXPECT_EQ(1, checked(&self->rows, "member"));
}

/* A route may name the neighbour itself as its next hop, which it is. */
TEST_F(reach, on_link_by_route)
{
	run(_metadata, "ip route add 10.1.0.254/32 via 10.1.0.254 dev near onlink");
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
	played.tree.link_neighbour = in(ROUTER);
	EXPECT_FOUND("neighbour", "10.1.0.254: answers on near with packets of 1500 bytes",
		     "none");
}

/* It answers ARP, and the kernel would ask it; the module would send nothing. */
TEST_F(reach, no_network)
{
	tell(_metadata, &self->router, "ip address add 10.5.0.1/24 dev far");
	run(_metadata, "ip route del default");
	EXPECT_STREQ("aggctl: a1: the planned link near to 10.5.0.1 cannot be used: it is on no network that is connected to the device: the device needs an address of its network, or apply the plan with --force\n",
		     refusal(_metadata, "10.5.0.1"));
	played.tree.link_neighbour = in(0x0a050001);
	EXPECT_FOUND("neighbour", "10.5.0.1: it is on no network that is connected to the device, so packets of the plan leave by plain IP",
		     "none");
}

/* The module sends to IPv4 neighbours only. */
TEST_F(reach, over_ipv6)
{
	run(_metadata, "ip route add 10.6.0.1/32 via inet6 fe80::1 dev near");
	EXPECT_NE('\0', *refusal(_metadata, "10.6.0.1"));
}

/* A description where one switch joins networks: its address would not be used. */
TEST_F(reach, one_switch_that_routes)
{
	describe(_metadata, "link b4 tor-a\n");
	EXPECT_NE(NULL, strstr(refusal(_metadata, "10.2.0.4"),
			       "describe each network as a switch of its own"));
}

/* Programs may bind addresses that are not of this host. */
TEST_F(reach, nonlocal_bind)
{
	run(_metadata, "sysctl -qw net.ipv4.ip_nonlocal_bind=1");
	played.tree.link_neighbour = in(ROUTER);
	EXPECT_EQ(1, checked(&self->rows, "member"));
}

/* A neighbour that rejects ICMP is there. */
TEST_F(reach, rejects)
{
	tell(_metadata, &self->router,
	     "nft 'add table ip f; add chain ip f i { type filter hook input priority 0; }; add rule ip f i icmp type echo-request reject with icmp type host-prohibited'");
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
	played.tree.link_neighbour = in(ROUTER);
	EXPECT_FOUND("neighbour", "10.1.0.254: rejects echo requests on near, so it is there",
		     "none");
	EXPECT_EQ(1, checked(&self->rows, "member"));
}

/* A route by another device does not count. */
TEST_F(reach, another_device)
{
	run(_metadata, "ip link add mgmt type veth && ip link set mgmt up &&"
	    "ip address add 192.0.2.1/24 dev mgmt &&"
	    "ip route add 10.1.0.254/32 via 192.0.2.9");
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
}

/* ARP may have given up, or not. */
static const char silence[] = "10.1.0.9: no answer on near (";

TEST_F(reach, silent_host)
{
	describe(_metadata, "address a9 10.1.0.9\n");
	played.tree.link_neighbour = in(SILENT);
	EXPECT_FOUND("neighbour", silence, "ssh a9 aggctl host check");
}

/* It has an address of the description. */
TEST_F(reach, silent_switch)
{
	describe(_metadata, "address tor-a 10.1.0.9\n");
	played.tree.link_neighbour = in(SILENT);
	EXPECT_FOUND("neighbour", silence, "none");
}

/*
 * Nothing describes it, but it leads to a whole network. The members there are not asked:
 * the router has to answer first.
 */
TEST_F(reach, silent_router)
{
	run(_metadata, "ip route add 10.3.0.0/16 via 10.1.0.9");
	played.tree.link_neighbour = in(SILENT);
	played.tree.incast_id = 0x0a030001;
	EXPECT_FOUND("neighbour", silence, "none");
	EXPECT_EQ(0, checked(&self->rows, "member"));
}

/* Schemes bloom and packet: the entry has no link. */
TEST_F(reach, links)
{
	played.tree.link_ifindex = 0;
	played.link.ifindex = played.port.ifindex;
	played.link.neighbour = in(SILENT);
	EXPECT_FOUND("neighbour", silence, "ssh 10.1.0.9 aggctl host check");
}

/* A device may have almost any name. */
TEST_F(reach, name_is_not_utf8)
{
	json_t *port;

	strcpy(played.port.ifname, "n\xff");
	EXPECT_FOUND("port", "n\\xff: it is down or has no cable", "none");
	played.port.has = AGGNET_HAS(AGGNET_A_PORT_IFNAME);
	port = info_json(&aggnet_noun_port, &played.port);
	EXPECT_STREQ("n\\xff", text_of(port, "ifname"));
	json_decref(port);
}

/* Those of a device that is down are not asked; they count. */
TEST_F(reach, more_than_are_asked)
{
	const char *found = NULL;
	json_t *row;
	bool good;
	size_t i;

	run(_metadata, "ip link set near down");
	played.tree.link_ifindex = 0;
	played.tree.incast_id = 0;
	played.link.ifindex = played.port.ifindex;
	played.link.neighbour = in(0x0a010101);
	played.links = 1030;
	self->rows = node_check(&good);
	json_array_foreach(self->rows, i, row)
		if (json_is_true(json_object_get(row, "note")) &&
		    json_is_true(json_object_get(row, "ok")))
			found = text_of(row, "finding");
	EXPECT_STREQ("6 neighbours and members are not asked: this command asks 1024: execute 'aggctl host check' on them",
		     found ? found : "none");
}

/*
 * Short packets pass all over; what is longer than the spine's MTU does not. If it is
 * mended, this host has not kept that MTU.
 */
TEST_F(reach, spine_mtu)
{
	tell(_metadata, &self->router, "ip link set spine mtu 1400");
	EXPECT_FOUND("member", "10.2.0.4: packets of 1500 bytes do not pass whole by its route, short ones do, the next link of 10.1.0.254 has an MTU of 1400: use one MTU on all servers and switches",
		     "none");
	run(_metadata, "! ip route get 10.2.0.4 | grep mtu");
	tell(_metadata, &self->router, "ip link set spine mtu 1500");
	EXPECT_FOUND("member", "10.2.0.4: answers by its route with packets of 1500 bytes",
		     "none");
}

/* Packets are as short as the route wants them, so the spine may be. */
TEST_F(reach, route_mtu)
{
	played.tree.children = (struct aggnet_addrs){
		(struct in_addr []){ in(BEHIND) }, 1,
	};
	tell(_metadata, &self->router, "ip link set spine mtu 1400");
	run(_metadata, "ip route add 10.2.0.4 via 10.1.0.254 mtu 1400");
	EXPECT_FOUND("member", "10.2.0.4: the MTU of its route is 1400: longer packets of other nodes do not pass here: use one MTU on all servers and switches",
		     "none");
}

/* A source only sends what its route takes. */
TEST_F(reach, route_mtu_of_a_source)
{
	tell(_metadata, &self->router, "ip link set spine mtu 1400");
	run(_metadata, "ip route add 10.2.0.4 via 10.1.0.254 mtu 1400");
	EXPECT_FOUND("member", "10.2.0.4: answers by its route with packets of 1400 bytes",
		     "none");
}

TEST_F(reach, route_mtu_shorter_than_a_request)
{
	run(_metadata, "ip route add 10.2.0.4 via 10.1.0.254 mtu 20");
	EXPECT_FOUND("member", "10.2.0.4: answers by its route with packets of 64 bytes",
		     "none");
}

/* Only the way back is short: the other end finds out which router it is. */
TEST_F(reach, spine_mtu_back)
{
	tell(_metadata, &self->router, "ip route add 10.1.0.1/32 dev far mtu lock 1400");
	EXPECT_FOUND("member", "10.2.0.4: packets of 1500 bytes do not pass whole by its route, short ones do, the answer came in fragments of 1396 bytes: use one MTU on all servers and switches",
		     "ssh 10.2.0.4 aggctl host check");
	tell(_metadata, &self->router, "ip route del 10.1.0.1/32 dev far");
	tell(_metadata, &self->server, "ip route add 10.1.0.0/24 via 10.2.0.254 mtu lock 1300");
	EXPECT_FOUND("member", "10.2.0.4: packets of 1500 bytes do not pass whole by its route, short ones do, the answer came in fragments of 1300 bytes: use one MTU on all servers and switches",
		     "ssh 10.2.0.4 aggctl host check");
}

/* Each is told of its own errors, though many wait for answers. */
TEST_F(reach, member_down)
{
	describe(_metadata, "address tor-b 10.2.0.254\n");
	tell(_metadata, &self->router, "ip route add unreachable 10.2.0.9/32");
	played.tree.incast_id = NO_HOST;
	played.tree.children = (struct aggnet_addrs){
		(struct in_addr []){ in(BEHIND) }, 1,
	};
	EXPECT_FOUND("member", "10.2.0.9: no answer by its route (No route to host, says 10.1.0.254): it is down, has no route back, or drops ICMP",
		     "none");
	EXPECT_EQ(2, checked(&self->rows, "member"));
}

/* The identity of this host has no route back. */
TEST_F(reach, own_identity)
{
	played.node.address = in(0x0a000001);
	EXPECT_EQ(0, checked(&self->rows, "member"));
	run(_metadata, "ip address add 10.0.0.1/32 dev lo");
	EXPECT_FOUND("member", "10.2.0.4: no answer by its route (",
		     "ssh 10.2.0.4 aggctl host check");
}

TEST_HARNESS_MAIN
