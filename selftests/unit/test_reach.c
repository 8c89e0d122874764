// SPDX-License-Identifier: GPL-2.0
/* Unit tests of what "aggctl apply" and "aggctl host check" say of planned neighbours and
 * members: a namespace stands for this host, another one for a router with all that is
 * behind it, and the node's entries are the test's.
 */
#include <arpa/inet.h>
#include <errno.h>
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
#include "names.h"
#include "neighbour.h"
#include "node.h"
#include "plan/plan_apply.h"
#include "kselftest_harness.h"

#define SELF	0x0a010001	/* 10.1.0.1 */
#define ROUTER	0x0a0100fe	/* 10.1.0.254 */
#define BEHIND	0x0a020004	/* 10.2.0.4, which the router is, too */
#define SILENT	0x0a010009	/* 10.1.0.9 */

/* The router is the host behind it, too. */
static const char router_setup[] =
	"ip link set lo up && sysctl -qw net.ipv4.ip_forward=1 &&"
	"ip address add 10.1.0.254/24 dev far && ip link set far up &&"
	"ip address add 10.2.0.4/32 dev lo";

static const char host_setup[] =
	"ip link set lo up && ip address add 10.1.0.1/24 dev near &&"
	"ip link set near up && ip route add default via 10.1.0.254";

/* The node. */
static struct played {
	struct aggnet_node_info node;
	struct aggnet_port_info port;
	struct aggnet_tree_info tree;
} played;

int __wrap_aggnet_ctl_open(struct aggnet_ctl **ctl);
int __wrap_aggnet_ctl_open(struct aggnet_ctl **ctl)
{
	*ctl = (void *)&played;
	return 0;
}

void __wrap_aggnet_ctl_close(struct aggnet_ctl *ctl);
void __wrap_aggnet_ctl_close(struct aggnet_ctl *ctl)
{
	(void)ctl;
}

int __wrap_aggnet_node_get(struct aggnet_ctl *ctl,
			   struct aggnet_node_info *node);
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
			    struct aggnet_port_info **list, size_t *n);
int __wrap_aggnet_port_list(struct aggnet_ctl *ctl,
			    struct aggnet_port_info **list, size_t *n)
{
	(void)ctl;
	return list_of(&played.port, sizeof(played.port), (void **)list, n);
}

int __wrap_aggnet_tree_list(struct aggnet_ctl *ctl,
			    struct aggnet_tree_info **list, size_t *n);
int __wrap_aggnet_tree_list(struct aggnet_ctl *ctl,
			    struct aggnet_tree_info **list, size_t *n)
{
	(void)ctl;
	return list_of(&played.tree, sizeof(played.tree), (void **)list, n);
}

void __wrap_aggnet_tree_list_free(struct aggnet_tree_info *list, size_t n);
void __wrap_aggnet_tree_list_free(struct aggnet_tree_info *list, size_t n)
{
	(void)n;
	free(list);
}

FIXTURE(reach) {
	pid_t router;
	int ready;
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

/* Never returns: it ends with the test. */
static void be_router(int told, int tell)
{
	char c;

	if (unshare(CLONE_NEWNET) || write(tell, "", 1) != 1 ||
	    read(told, &c, 1) != 1 || system(router_setup) ||
	    write(tell, "", 1) != 1)
		_exit(1);
	while (read(told, &c, 1) > 0)
		;
	_exit(0);
}

FIXTURE_SETUP(reach)
{
	int up[2], down[2];
	char c;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP(return, "no namespace: %s", strerror(errno));
	setenv("AGGNET_NETWORK", "", 1);
	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	self->router = fork();
	if (!self->router) {
		close(down[1]);
		be_router(down[0], up[1]);
	}
	self->ready = up[0];
	ASSERT_EQ(1, read(up[0], &c, 1));
	run(_metadata, "ip link add near type veth peer name far netns %d",
	    (int)self->router);
	ASSERT_EQ(1, write(down[1], "", 1));
	ASSERT_EQ(1, read(up[0], &c, 1));
	run(_metadata, "%s", host_setup);
	/* The kernel notices the carrier a little later. */
	while (!device_up("near"))
		sched_yield();
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
	kill(self->router, SIGKILL);
	waitpid(self->router, NULL, 0);
}

/* The description that this host has; "" or further lines. */
static void describe(struct __test_metadata *_metadata, const char *lines)
{
	static char path[] = "/tmp/aggnet-reach.XXXXXX";
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

/* The finding and the fix of the row of "host check" about an address, or NULL. */
static const char *finding(json_t **rows, const char *addr, const char **fix)
{
	const char *text;
	json_t *row;
	bool good;
	size_t i;

	json_decref(*rows);
	*rows = node_check(&good);
	json_array_foreach(*rows, i, row) {
		text = json_string_value(json_object_get(row, "finding"));
		if (strcmp(json_string_value(json_object_get(row, "what")),
			   "neighbour") || strncmp(text, addr, strlen(addr)))
			continue;
		*fix = json_string_value(json_object_get(row, "fix"));
		return text;
	}
	return NULL;
}

/* The echo request is forwarded, and answered; the module would send nothing. */
TEST_F(reach, behind_a_gateway)
{
	const char *fix;

	describe(_metadata, "");
	EXPECT_STREQ("aggctl: a1: the planned link near to 10.2.0.4 (b4) cannot be used: it is behind gateway 10.1.0.254: if the switch routes, add 'address tor-a 10.1.0.254' to the description and plan again, or apply the plan with --force\n",
		     refusal(_metadata, "10.2.0.4"));
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
	played.tree.link_neighbour = in(BEHIND);
	EXPECT_STREQ("10.2.0.4: it is behind gateway 10.1.0.254, so packets of the plan leave by plain IP, and no node on the way merges them: if the switch routes, add 'address tor-a 10.1.0.254' to the description and plan again",
		     finding(&self->rows, "10.2.0.4", &fix));
	EXPECT_EQ(NULL, fix);
	played.tree.link_neighbour = in(ROUTER);
	EXPECT_STREQ("10.1.0.254: answers on near with packets of 1500 bytes",
		     finding(&self->rows, "10.1.0.254", &fix));
}

/* A route by another device does not count. */
TEST_F(reach, another_device)
{
	run(_metadata, "ip link add mgmt type veth && ip link set mgmt up &&"
	    "ip address add 192.0.2.1/24 dev mgmt &&"
	    "ip route add 10.1.0.254/32 via 192.0.2.9");
	EXPECT_STREQ("", refusal(_metadata, "10.1.0.254"));
}

TEST_F(reach, silent_host)
{
	const char *fix;

	describe(_metadata, "address a9 10.1.0.9\n");
	played.tree.link_neighbour = in(SILENT);
	ASSERT_NE(NULL, finding(&self->rows, "10.1.0.9: no answer on near", &fix));
	EXPECT_STREQ("ssh a9 aggctl host check", fix);
}

/* It has an address of the description. */
TEST_F(reach, silent_switch)
{
	const char *fix;

	describe(_metadata, "address tor-a 10.1.0.9\n");
	played.tree.link_neighbour = in(SILENT);
	ASSERT_NE(NULL, finding(&self->rows, "10.1.0.9: no answer on near", &fix));
	EXPECT_EQ(NULL, fix);
}

/* Nothing describes it, but it leads to a whole network. */
TEST_F(reach, silent_router)
{
	const char *fix;

	run(_metadata, "ip route add 10.3.0.0/16 via 10.1.0.9");
	played.tree.link_neighbour = in(SILENT);
	played.tree.incast_id = 0x0a030001;
	ASSERT_NE(NULL, finding(&self->rows, "10.1.0.9: no answer on near", &fix));
	EXPECT_EQ(NULL, fix);
}

TEST_HARNESS_MAIN
