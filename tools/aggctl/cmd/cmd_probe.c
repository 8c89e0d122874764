// SPDX-License-Identifier: GPL-2.0
/* aggctl probe: group hosts into racks by measured round trips and rates. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/ping.h"
#include "cmd/racks.h"
#include "info.h"
#include "neighbour.h"
#include "output.h"

#define LINE	256

static struct {
	uint32_t count;
	uint64_t within;
} opt = {
	.count = 5,
};

/* --- measuring --------------------------------------------------------------- */

/* NAME=ADDRESS, or an address that is its own name. */
static int add_word(struct racks *racks, const char *word)
{
	char name[RACKS_NAME + 1];
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	struct in_addr addr;

	if (!len || len >= sizeof(name))
		return usage("probe: '%s' is not NAME=ADDRESS", word);
	memcpy(name, word, len);
	name[len] = '\0';
	if (inet_pton(AF_INET, equals ? equals + 1 : word, &addr) != 1)
		return usage("probe: '%s' is not NAME=ADDRESS with an IPv4 address",
			     word);
	return racks_add(racks, name, addr) == RACKS_MEMBERS ? ST_USAGE :
	       ST_DONE;
}

/*
 * Set @self to the member whose address is of this host. Where addresses of others may
 * be bound (ip_nonlocal_bind), bind() would not tell.
 */
static int find_self(const struct racks *racks, uint32_t *self)
{
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return fail("probe: addresses of this host: %s",
			    strerror(errno));
	for (*self = 0; *self < racks->n_members; (*self)++)
		if (addr_is_own(list, racks->member[*self].addr))
			break;
	freeifaddrs(list);
	if (*self < racks->n_members)
		return ST_DONE;
	return fail("probe: no member has an address of this host: 'ip -4 address' shows those that it has");
}

static int add_pair(json_t *list, const struct racks_member *from,
		    const struct racks_member *to, const struct ping *p)
{
	json_t *pair = json_pack("{s:s, s:o, s:s, s:o, s:I, s:I}",
				 "from", from->name,
				 "address", addr_json(from->addr),
				 "to", to->name,
				 "to_address", addr_json(to->addr),
				 "rtt_ns", (json_int_t)p->rtt,
				 "rate", (json_int_t)p->rate);

	return json_array_append_new(list, pair);
}

static int measure(const struct racks *racks, uint32_t self, json_t *list)
{
	struct ping p;
	int fd = ping_open();
	int st = fd < 0 ? ST_FAILED : ST_DONE;
	uint32_t i;

	for (i = 0; !st && i < racks->n_members; i++) {
		if (i == self)
			continue;
		if (ping(fd, racks->member[i].addr, opt.count, &p))
			st = ST_FAILED;
		else if (add_pair(list, &racks->member[self],
				  &racks->member[i], &p))
			st = fail("out of memory");
	}
	if (fd >= 0)
		close(fd);
	return st;
}

static void print_pairs(const json_t *list)
{
	const char *from, *address, *to, *to_address;
	json_int_t rtt, rate;
	json_t *pair;
	size_t i;

	json_array_foreach(list, i, pair) {
		json_unpack(pair, "{s:s, s:s, s:s, s:s, s:I, s:I}",
			    "from", &from, "address", &address, "to", &to,
			    "to_address", &to_address, "rtt_ns", &rtt,
			    "rate", &rate);
		printf("%s %s %s %s %" JSON_INTEGER_FORMAT " %"
		       JSON_INTEGER_FORMAT "\n", from, address, to, to_address,
		       rtt, rate);
	}
}

static int run_measure(const struct aggctl *ctl, int argc, char **argv)
{
	struct racks racks = { .member = NULL };
	json_t *list = json_array();
	uint32_t self = 0;
	int i, st = ST_DONE;

	for (i = 0; !st && i < argc; i++)
		st = add_word(&racks, argv[i]);
	if (!st && !opt.count)
		st = usage("probe: --count: must not be 0");
	if (!st)
		st = find_self(&racks, &self);
	if (!st)
		st = measure(&racks, self, list);
	if (!st && ctl->json)
		st = out_json(json_incref(list));
	else if (!st)
		print_pairs(list);
	json_decref(list);
	racks_free(&racks);
	return st;
}

/* --- grouping ---------------------------------------------------------------- */

/* scanf() would take a sign. */
static bool read_number(const char *digits, uint64_t *number)
{
	errno = 0;
	*number = strtoull(digits, NULL, 10);
	return !errno;
}

static int read_pair(struct racks *racks, const char *line)
{
	char name[2][RACKS_NAME + 1], text[2][INET_ADDRSTRLEN];
	char number[2][21], rest;
	struct racks_pair pair;
	struct in_addr addr[2];

	if (sscanf(line, "%47s %15s %47s %15s %20[0-9] %20[0-9] %c",
		   name[0], text[0], name[1], text[1], number[0], number[1],
		   &rest) != 6 ||
	    inet_pton(AF_INET, text[0], &addr[0]) != 1 ||
	    inet_pton(AF_INET, text[1], &addr[1]) != 1 ||
	    !read_number(number[0], &pair.rtt) ||
	    !read_number(number[1], &pair.rate) ||
	    !strcmp(name[0], name[1])) {
		err("not a line of 'aggctl probe measure'");
		return -1;
	}
	pair.a = racks_add(racks, name[0], addr[0]);
	if (pair.a == RACKS_MEMBERS)
		return -1;
	pair.b = racks_add(racks, name[1], addr[1]);
	if (pair.b == RACKS_MEMBERS)
		return -1;
	if (racks_measured(racks, &pair)) {
		err("out of memory");
		return -1;
	}
	return 0;
}

static int read_file(struct racks *racks, const char *name)
{
	FILE *in = fopen(name, "re");
	unsigned int number = 0;
	char line[LINE];
	int ret = 0;

	if (!in)
		return fail("probe: %s: %s", name, strerror(errno));
	while (!ret && fgets(line, sizeof(line), in)) {
		number++;
		ret = read_pair(racks, line);
	}
	if (ret)
		err("probe: %s: line %u is refused: measure again on the host of this file",
		    name, number);
	else if (ferror(in))
		ret = fail("probe: %s: %s", name, strerror(errno));
	fclose(in);
	return ret ? ST_FAILED : ST_DONE;
}

static int run_group(const struct aggctl *ctl, int argc, char **argv)
{
	struct racks racks = { .within = opt.within };
	int i, st = ST_DONE;

	if (ctl->json)
		return usage("probe group: prints a description; it cannot be combined with --json");
	for (i = 0; !st && i < argc; i++)
		st = read_file(&racks, argv[i]);
	if (!st && racks_find(&racks))
		st = ST_FAILED;
	/* Errors of standard output are reported at the end. */
	if (!st)
		racks_describe(&racks, stdout);
	racks_free(&racks);
	return st;
}

static const struct opt measure_opts[] = {
	{ "count", OPT_U32, &opt.count, "N",
	  "round trips, and trains of packets, for each member (5)" },
};

static const struct opt group_opts[] = {
	{ "within", OPT_TIME, &opt.within, "TIME",
	  "longest round trip within a rack (below the largest gap)" },
};

static const struct verb verbs[] = {
	{
		.name = "measure",
		.args = "[NAME=]ADDRESS [NAME=]ADDRESS...",
		.help = "measure round trip and rate from this host to the others",
		.min_args = 2,
		.max_args = RACKS_MEMBERS,
		.opts = measure_opts,
		.nopts = ARRAY_SIZE(measure_opts),
		.run = run_measure,
	},
	{
		.name = "group",
		.args = "FILE...",
		.help = "group members into racks by what they measured",
		.min_args = 1,
		.max_args = RACKS_MEMBERS,
		.opts = group_opts,
		.nopts = ARRAY_SIZE(group_opts),
		.run = run_group,
	},
};

const struct command cmd_probe = {
	.name = "probe",
	.help = "group hosts into racks by measured round trips and rates",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
