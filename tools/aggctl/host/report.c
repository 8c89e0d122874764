// SPDX-License-Identifier: GPL-2.0
/* Reads devices, addresses and gateways of this host. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggnet.h"
#include "host/report.h"
#include "info.h"
#include "neighbour.h"

#define NET	"/sys/class/net/"

static struct in_addr addr_of(const struct sockaddr *sa)
{
	return ((const struct sockaddr_in *)(const void *)sa)->sin_addr;
}

/* The first word of a file, "" if it cannot be read. */
static const char *word(const char *device, const char *file)
{
	static char text[32];
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), NET "%s/%s", device, file);
	text[0] = 0;
	f = fopen(path, "re");
	if (f && fscanf(f, "%31s", text) != 1)
		text[0] = 0;
	if (f)
		fclose(f);
	return text;
}

static bool has(const char *device, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), NET "%s/%s", device, file);
	return !access(path, F_OK);
}

/* Hardware, or what an administrator makes of hardware. */
static bool is_real(const char *device)
{
	char vlan[64];

	snprintf(vlan, sizeof(vlan), "/proc/net/vlan/%s", device);
	return has(device, "device") || has(device, "bonding") ||
	       !access(vlan, F_OK);
}

/*
 * The next hop of the route with the shortest prefix, by this device. A route to a
 * single host leads to an identity, not to other subnets.
 */
static struct in_addr gateway_of(const char *device)
{
	unsigned int to, via, flags, mask, least = 32, bits;
	struct in_addr found = {};
	char line[256], name[IF_NAMESIZE];
	FILE *f = fopen("/proc/net/route", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%15s %x %x %x %*d %*d %*d %x", name, &to, &via,
			   &flags, &mask) != 5 ||
		    !via || strcmp(name, device))
			continue;
		bits = (unsigned int)__builtin_popcount(mask);
		if (bits < least) {
			least = bits;
			found.s_addr = via;
		}
	}
	if (f)
		fclose(f);
	return found;
}

static json_t *device_json(const struct ifaddrs *i)
{
	struct in_addr gateway = gateway_of(i->ifa_name);
	const char *speed = word(i->ifa_name, "speed");
	json_t *device = json_object();
	char mac[DEVICE_MAC_LEN];
	long long rate = 0;

	/* -1: the driver does not know. */
	if (sscanf(speed, "%lld", &rate) == 1 && rate > 0)
		json_object_set_new(device, "rate",
				    json_integer(rate * 1000000));
	json_object_set_new(device, "name", info_text(i->ifa_name));
	device_mac(i->ifa_name, mac);
	json_object_set_new(device, "mac", json_string(mac));
	json_object_set_new(device, "mtu", json_integer(device_mtu(i->ifa_name)));
	json_object_set_new(device, "up", json_boolean(device_up(i->ifa_name)));
	json_object_set_new(device, "address",
			    json_string(addr_text(addr_of(i->ifa_addr))));
	json_object_set_new(device, "prefixlen", json_integer(
			    __builtin_popcount(addr_of(i->ifa_netmask).s_addr)));
	if (gateway.s_addr)
		json_object_set_new(device, "gateway",
				    json_string(addr_text(gateway)));
	return device;
}

static json_t *devices(bool all)
{
	json_t *list = json_array();
	struct ifaddrs *addrs, *i;

	if (getifaddrs(&addrs)) {
		err("host: addresses of this host: %s", strerror(errno));
		json_decref(list);
		return NULL;
	}
	for (i = addrs; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    !i->ifa_netmask || i->ifa_flags & IFF_LOOPBACK ||
		    (!all && !is_real(i->ifa_name)))
			continue;
		json_array_append_new(list, device_json(i));
	}
	freeifaddrs(addrs);
	return list;
}

/* Only an administrator may ask the module for the identity. */
static void add_module(json_t *report)
{
	struct aggnet_node_info node = {};
	struct aggnet_ctl *ctl = NULL;
	bool there = !aggnet_ctl_open(&ctl);

	json_object_set_new(report, "module", json_boolean(there));
	if (there && !aggnet_node_get(ctl, &node) && node.address.s_addr)
		json_object_set_new(report, "identity",
				    json_string(addr_text(node.address)));
	aggnet_ctl_close(ctl);
}

const char *host_own_name(void)
{
	static char self[256];

	gethostname(self, sizeof(self) - 1);
	self[strcspn(self, ".")] = 0;
	return self;
}

json_t *host_report(const char *name, bool all)
{
	json_t *list = devices(all), *report;

	if (!list)
		return NULL;
	report = json_pack("{s:s}", "name", name);
	add_module(report);
	report_net(report, list);
	json_object_set_new(report, "devices", list);
	return report;
}
