// SPDX-License-Identifier: GPL-2.0
/* Finds addresses in messages, and the hosts that have them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addressing.h"
#include "aggctl.h"
#include "aggtree.h"
#include "info.h"
#include "names.h"

const char *names_file(void)
{
	const char *path = getenv("AGGNET_NETWORK");

	return path ? path : NAMES_FILE;
}

static char *plan_text;
static bool is_read;

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	bool good;

	good = f && getdelim(&text, &size, 0, f) > 0;
	if (f)
		fclose(f);
	if (good)
		return text;
	free(text);
	return NULL;
}

static const struct aggt_topo *description(void)
{
	static struct aggt_topo *topo;
	char *text;

	if (is_read)
		return topo;
	is_read = true;
	text = plan_text ? plan_text : read_file(names_file());
	plan_text = NULL;
	aggt_topo_free(topo);
	topo = text ? aggt_topo_describe(text, NULL) : NULL;
	free(text);
	return topo;
}

void names_of_plan(const json_t *plan)
{
	const char *text = json_string_value(json_object_get(plan, "description"));

	if (!text || getenv("AGGNET_NETWORK"))
		return;
	free(plan_text);
	plan_text = strdup(text);
	is_read = false;
}

static bool has_addr(const struct aggt_topo *topo, aggt_node server,
		     const char *addr)
{
	const char *own = aggt_topo_address(topo, server);
	unsigned int port;

	if (own && !strcmp(own, addr))
		return true;
	for (port = 0; port < aggt_topo_ports(topo, server); port++) {
		own = aggt_topo_port_address(topo, server, port);
		if (own && !strcmp(own, addr))
			return true;
	}
	return false;
}

static bool is_of_name(char c)
{
	return c && (isalnum((unsigned char)c) || strchr("._-", c));
}

/* As a word: "node10" does not say "node1". A full stop may end a sentence. */
static bool says_name(const char *text, const char *name)
{
	const size_t len = strlen(name);
	const char *at = text, *end;

	for (; (at = strstr(at, name)); at++) {
		end = at + len;
		end += *end == '.' && !is_of_name(end[1]);
		if ((at == text || !is_of_name(at[-1])) && !is_of_name(*end))
			return true;
	}
	return false;
}

/* The host with this address, or AGGT_NONE. */
static aggt_node find_host(const struct aggt_topo *topo, const char *addr)
{
	aggt_node v;

	for (v = 0; v < aggt_topo_servers(topo); v++)
		if (has_addr(topo, v, addr))
			return v;
	return AGGT_NONE;
}

/* Its name, in a buffer that the next call overwrites; NULL: it is AGGT_NONE. */
static const char *host_name(const struct aggt_topo *topo, aggt_node v)
{
	static char number[16];
	const char *name;

	if (v == AGGT_NONE)
		return NULL;
	name = aggt_topo_server_name(topo, v);
	snprintf(number, sizeof(number), "v%u", v);
	return name ? name : number;
}

static const char *host_with(const struct aggt_topo *topo, const char *addr)
{
	return host_name(topo, find_host(topo, addr));
}

/* The switch that routes by this address, or NULL. Such a switch has a name. */
static const char *switch_with(const struct aggt_topo *topo, const char *addr)
{
	const char *own;
	uint32_t w;

	for (w = 0; w < aggt_topo_switches(topo); w++) {
		own = aggt_topo_switch_address(topo, w);
		if (own && !strcmp(own, addr))
			return aggt_topo_switch_name(topo, w);
	}
	return NULL;
}

/* Not if @text, the message, says the name anyway. */
static void put_name(FILE *f, const struct aggt_topo *topo, const char *addr,
		     const char *text)
{
	const char *name = host_with(topo, addr);

	if (!name)
		name = switch_with(topo, addr);
	if (name && !says_name(text, name))
		fprintf(f, " (%s)", name);
}

/* As much of @text as an address may be made of; *@addr is empty if it is none. */
static size_t take_word(const char *text, char *addr)
{
	size_t len = strspn(text, "0123456789.");
	struct in_addr parsed;

	/* The full stop of a sentence. */
	while (len && text[len - 1] == '.')
		len--;
	addr[0] = '\0';
	if (len >= INET_ADDRSTRLEN)
		return len;
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, &parsed) != 1)
		addr[0] = '\0';
	return len;
}

static bool may_begin(char before)
{
	return !before || strchr(" (,=", before);
}

static void put_text(FILE *f, const struct aggt_topo *topo, const char *whole)
{
	const char *text = whole;
	char addr[INET_ADDRSTRLEN], before = '\0';
	bool quoted = false;
	size_t len;

	for (; *text; text += len, before = text[-1]) {
		len = may_begin(before) ? take_word(text, addr) : 0;
		/* An apostrophe begins no quotation. */
		if (*text == '\'')
			quoted = !quoted && may_begin(before);
		if (!len) {
			fputc(*text, f);
			len = 1;
			continue;
		}
		fprintf(f, "%.*s", (int)len, text);
		/* A subnet is no host. */
		if (addr[0] && !quoted && text[len] != '/')
			put_name(f, topo, addr, whole);
	}
}

char *names_add(const char *text)
{
	const struct aggt_topo *topo = description();
	char *copy = NULL;
	size_t size;
	FILE *f;

	if (!topo)
		return strdup(text);
	f = open_memstream(&copy, &size);
	if (!f)
		return NULL;
	put_text(f, topo, text);
	fclose(f);
	return copy;
}

void names_print(FILE *f, const char *fmt, ...)
{
	char *text = NULL, *named = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		named = names_add(text);
	put_safe(f, named ? named : "out of memory");
	free(named);
	free(text);
}

bool names_parse(const char *text, struct in_addr *addr)
{
	const struct aggt_topo *topo = description();
	const char *name, *own;
	aggt_node v;

	for (v = 0; topo && v < aggt_topo_servers(topo); v++) {
		name = aggt_topo_server_name(topo, v);
		own = aggt_topo_address(topo, v);
		if (!name || strcmp(name, text))
			continue;
		*addr = addressing_identity(v);
		return !own || inet_pton(AF_INET, own, addr) == 1;
	}
	return addr_parse(text, addr);
}

const char *names_no_host(void)
{
	static char fault[640];
	const char *file = names_file();
	struct aggt_err error = {};
	struct aggt_topo *topo;
	char *text;

	if (!*file)
		return "not an IPv4 address, and AGGNET_NETWORK names no description with names";
	errno = 0;
	text = read_file(file);
	topo = text ? aggt_topo_describe(text, &error) : NULL;
	if (topo)
		snprintf(fault, sizeof(fault),
			 "neither an IPv4 address nor the name of a host in %s",
			 file);
	else if (text)
		snprintf(fault, sizeof(fault),
			 "not an IPv4 address, and %s, which would have names of hosts, is refused: %s",
			 file, error.text);
	else
		snprintf(fault, sizeof(fault),
			 "not an IPv4 address, and this host has no names: %s: %s: 'aggctl host init --topology @FILE --run' installs it",
			 file, errno ? strerror(errno) : "it is empty");
	aggt_topo_free(topo);
	free(text);
	return fault;
}

json_t *names_json(const json_t *value)
{
	json_t *array, *item;
	char *text;
	size_t i;

	if (json_is_array(value)) {
		array = json_array();
		json_array_foreach((json_t *)value, i, item)
			json_array_append_new(array, names_json(item));
		return array;
	}
	text = names_add(json_string_value(value));
	item = json_string(text ? text : json_string_value(value));
	free(text);
	return item;
}

void names_put(json_t *row, const char *member)
{
	const json_t *value = json_object_get(row, member);

	if (json_is_string(value) || json_is_array(value))
		json_object_set_new(row, member, names_json(value));
}

const char *names_init(const char *other)
{
	static char command[512];

	if (access(names_file(), R_OK))
		return other;
	snprintf(command, sizeof(command),
		 "aggctl host init --topology @%s --run", names_file());
	return command;
}

bool names_is_host(struct in_addr addr)
{
	const struct aggt_topo *topo = description();

	return topo && find_host(topo, addr_text(addr)) != AGGT_NONE;
}

const char *names_host(struct in_addr addr)
{
	const struct aggt_topo *topo = description();
	const char *text = addr_text(addr);
	const char *name = topo ? host_with(topo, text) : NULL;

	return name ? name : text;
}

const char *names_switch(struct in_addr addr)
{
	const struct aggt_topo *topo = description();

	return topo ? switch_with(topo, addr_text(addr)) : NULL;
}

/* The host of the description that has an address of this one, or AGGT_NONE. */
static aggt_node described_self(const struct aggt_topo *topo)
{
	const struct sockaddr_in *sa;
	aggt_node self = AGGT_NONE;
	struct ifaddrs *all, *i;

	if (getifaddrs(&all))
		return AGGT_NONE;
	for (i = all; i && self == AGGT_NONE; i = i->ifa_next) {
		sa = (const void *)i->ifa_addr;
		if (sa && sa->sin_family == AF_INET)
			self = find_host(topo, addr_text(sa->sin_addr));
	}
	freeifaddrs(all);
	return self;
}

/* The links by switches from this host to another one, and the first switch; 0: none. */
static unsigned int links_to(const struct aggt_topo *topo, const char *addr,
			     const char **name)
{
	aggt_node self = described_self(topo), to = find_host(topo, addr);
	unsigned int links = 0;
	uint32_t sw = AGGT_NONE;

	if (self != AGGT_NONE && to != AGGT_NONE && self != to)
		links = aggt_topo_hop_links(topo, self, to);
	if (links)
		sw = aggt_topo_hop_switch(topo, self, to, 0);
	if (sw == AGGT_NONE)
		return 0;
	*name = aggt_topo_switch_name(topo, sw);
	return links;
}

const char *names_router(struct in_addr to, struct in_addr gateway)
{
	const struct aggt_topo *topo = description();
	static char advice[192];
	const char *sw = NULL;
	char addr[INET_ADDRSTRLEN];

	strcpy(addr, addr_text(to));
	/* A plan uses the addresses of switches only where there are several on the way. */
	if (topo && links_to(topo, addr, &sw) == 2)
		return "if the switch routes, describe each network as a switch of its own, with its gateway's address, and plan again";
	snprintf(advice, sizeof(advice),
		 "if the switch routes, add 'address %s %s' to the description of the network, and plan again",
		 sw ? sw : "SWITCH", addr_text(gateway));
	return advice;
}

const char *names_self(const char *label)
{
	static char self[256];
	const struct aggt_topo *topo = *label ? NULL : description();
	const char *name = !topo ? label :
			   host_name(topo, described_self(topo));

	if (name && *name) {
		snprintf(self, sizeof(self), "%s", name);
		return self;
	}
	gethostname(self, sizeof(self) - 1);
	self[strcspn(self, ".")] = '\0';
	return self;
}
