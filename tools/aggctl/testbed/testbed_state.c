// SPDX-License-Identifier: GPL-2.0
/* The state file of the running testbed: its description as JSON. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggctl.h"
#include "testbed/testbed.h"

#define STATE_DIR	"/run/aggnet"
#define STATE_FILE	STATE_DIR "/testbed.json"
#define LOCK_FILE	STATE_DIR "/testbed.lock"

static json_t *json_addr(struct in_addr addr)
{
	char text[INET_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET, &addr, text, sizeof(text)));
}

static json_t *json_mac(const uint8_t *mac)
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			    mac[2], mac[3], mac[4], mac[5]);
}

/* Its level: a switch of a graph has none. */
static unsigned int level_of(const struct testbed *tb,
			     const struct tb_port *port)
{
	if (!port->of_switch)
		return port->number;
	return tb_is_mesh(tb->topo) ? 0 :
	       aggt_topo_switch_level(tb->topo, port->node);
}

static void add_port(const struct testbed *tb, const struct tb_port *port,
		     json_t *ports)
{
	const struct tb_port far = tb_far_port(port);
	char name[ADDRESSING_NAME_LEN], far_name[ADDRESSING_NAME_LEN];
	json_t *json;
	uint8_t mac[6];

	tb_port_mac(tb, port, mac);
	json = json_pack("{s:s, s:i}", "name", tb_port_name(port, name),
			 "level", level_of(tb, port));
	if (!port->of_switch) {
		struct in_addr addr = addressing_of_port(tb->topo, port->node,
							 port->number);

		json_object_set_new(json, "address", json_addr(addr));
		json_object_set_new(json, "prefixlen",
				    json_integer(tb_prefixlen(tb)));
	}
	json_object_set_new(json, "mac", json_mac(mac));
	json_object_set_new(json, far.of_switch ? "switch" : "server",
			    json_string(tb_node_name(tb, far.of_switch,
						     far.node)));
	json_object_set_new(json, "port",
			    json_string(tb_port_name(&far, far_name)));
	json_array_append_new(ports, json);
}

static json_t *ports_json(const struct testbed *tb, bool of_switch,
			  uint32_t node)
{
	unsigned int i, n = tb_ports(tb, of_switch, node);
	json_t *ports = json_array();
	struct tb_port port;

	for (i = 0; i < n; i++)
		if (tb_port(tb, of_switch, node, i, &port))
			add_port(tb, &port, ports);
	return ports;
}

static json_t *server_json(const struct testbed *tb, aggt_node server)
{
	/* Before the name, whose buffer it uses, too. */
	json_t *ports = ports_json(tb, false, server);

	return json_pack("{s:s, s:s, s:i, s:o, s:o}",
			 "name", tb_node_name(tb, false, server),
			 "role", "server", "number", server, "identity",
			 json_addr(addressing_of_server(tb->topo, server)),
			 "ports", ports);
}

static json_t *switch_json(const struct testbed *tb, uint32_t sw)
{
	const struct tb_port any = { .of_switch = true, .node = sw };
	json_t *ports = ports_json(tb, true, sw);

	return json_pack("{s:s, s:s, s:i, s:i, s:o}",
			 "name", tb_node_name(tb, true, sw), "role", "switch",
			 "number", sw, "level", level_of(tb, &any),
			 "ports", ports);
}

/**
 * tb_state_json() - describe a testbed
 * @tb: the testbed
 * @complete: it is up, not half-made
 *
 * Return: the description, NULL if memory is short.
 */
json_t *tb_state_json(const struct testbed *tb, bool complete)
{
	const struct rtnl_shape *shape = &tb->shape;
	json_t *nodes = json_array(), *state;
	uint32_t i;

	for (i = 0; i < tb_servers(tb); i++)
		json_array_append_new(nodes, server_json(tb, tb_server(tb, i)));
	for (i = 0; i < tb_switches(tb); i++)
		json_array_append_new(nodes, switch_json(tb, tb_switch(tb, i)));
	state = json_pack("{s:s, s:b, s:b, s:i, s:i, s:i, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}",
			 "topology", aggt_topo_name(tb->topo),
			 "complete", complete, "partial", tb->part != NULL,
			 "servers", tb_servers(tb), "switches", tb_switches(tb),
			 "mtu", tb->mtu,
			 "switching", tb->aggnet_switches ? "aggnet" : "dumb",
			 "rate", (json_int_t)shape->rate,
			 "core", (json_int_t)tb->core,
			 "delay", (json_int_t)shape->delay,
			 "loss", shape->loss, "duplicate", shape->duplicate,
			 "reorder", shape->reorder, "corrupt", shape->corrupt,
			 "nodes", nodes);
	if (tb->description &&
	    json_object_set_new(state, "description",
				json_string(tb->description))) {
		json_decref(state);
		return NULL;
	}
	return state;
}

static int make_dir(void)
{
	return mkdir(STATE_DIR, 0755) && errno != EEXIST ? -1 : 0;
}

/**
 * tb_lock() - keep other commands from changing the testbed
 *
 * The lock lasts until the process ends, however it ends. The file stays: if a
 * command removed it, another could lock a file that has no name any more.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_lock(void)
{
	int fd;

	if (make_dir())
		goto bad;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		goto bad;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK) {
		err("another 'aggctl testbed' command is running; try again when it has ended");
		close(fd);
		return -1;
	}
	close(fd);
bad:
	err("%s: %s", LOCK_FILE, strerror(errno));
	return -1;
}

/**
 * tb_state_exists() - whether a testbed is up or half-made
 */
bool tb_state_exists(void)
{
	return !access(STATE_FILE, F_OK);
}

/**
 * tb_state_save() - write the state file
 * @tb: the testbed
 * @complete: it is up, not half-made
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_state_save(const struct testbed *tb, bool complete)
{
	const char *tmp = STATE_FILE ".new";
	json_t *state = tb_state_json(tb, complete);
	int ret;

	if (!state) {
		err("out of memory");
		return -1;
	}
	if (make_dir())
		ret = -1;
	else
		ret = json_dump_file(state, tmp, JSON_INDENT(1));
	json_decref(state);
	if (!ret)
		ret = rename(tmp, STATE_FILE);
	if (ret)
		err("%s: %s", STATE_FILE, strerror(errno));
	return ret;
}

/**
 * tb_state_remove() - remove the state file
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_state_remove(void)
{
	if (!unlink(STATE_FILE) || errno == ENOENT)
		return 0;
	err("%s: %s", STATE_FILE, strerror(errno));
	return -1;
}

/**
 * tb_state_load() - read the state file
 *
 * Return: its content, or NULL with an error line printed.
 */
json_t *tb_state_load(void)
{
	json_error_t error;
	json_t *state;

	if (!tb_state_exists()) {
		err("no testbed is up");
		return NULL;
	}
	state = json_load_file(STATE_FILE, 0, &error);
	if (!state)
		err("%s: line %d: %s", STATE_FILE, error.line, error.text);
	return state;
}

/** tb_is_partial() - whether the running testbed has the nodes of plans only */
bool tb_is_partial(void)
{
	json_t *state = tb_state_load();
	bool partial = json_is_true(json_object_get(state, "partial"));

	json_decref(state);
	return partial;
}

/**
 * tb_state_open() - get the running testbed
 * @tb: filled in; tb_free() is due in any case
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_state_open(struct testbed *tb)
{
	struct rtnl_shape *shape = &tb->shape;
	const char *topology, *switching, *description = NULL;
	json_int_t rate, delay, core = 0;
	struct aggt_err why;
	json_error_t error;
	int mtu, partial, ret = -1;
	json_t *state;

	memset(tb, 0, sizeof(*tb));
	state = tb_state_load();
	if (!state)
		return -1;
	if (json_unpack_ex(state, &error, 0,
			   "{s:s, s?s, s:b, s:i, s:s, s:I, s?I, s:I, s:F, s:F, s:F, s:F}",
			   "topology", &topology,
			   "description", &description,
			   "partial", &partial, "mtu", &mtu,
			   "switching", &switching, "rate", &rate,
			   "core", &core,
			   "delay", &delay, "loss", &shape->loss,
			   "duplicate", &shape->duplicate,
			   "reorder", &shape->reorder,
			   "corrupt", &shape->corrupt)) {
		err("%s: %s", STATE_FILE, error.text);
	} else {
		tb->mtu = (uint32_t)mtu;
		tb->aggnet_switches = !strcmp(switching, "aggnet");
		shape->rate = (uint64_t)rate;
		shape->delay = (uint64_t)delay;
		tb->core = (uint64_t)core;
		tb->description = description ? strdup(description) : NULL;
		tb->topo = description ? aggt_topo_describe(description, &why) :
					 aggt_topo_parse(topology, &why);
		if (!tb->topo)
			err("%s: %s", STATE_FILE, why.text);
		else
			ret = partial ? tb_part_restore(tb,
						json_object_get(state, "nodes")) : 0;
	}
	json_decref(state);
	return ret;
}
