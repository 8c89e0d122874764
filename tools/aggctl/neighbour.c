// SPDX-License-Identifier: GPL-2.0
/* Devices and neighbours, as the kernel of this host knows them. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "neighbour.h"
#include "info.h"

#define ECHO_MS		1000	/* a neighbour answers within this */

static int ask_device(const char *device, unsigned long request,
		      struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	memset(req, 0, sizeof(*req));
	if (fd < 0)
		return -errno;
	snprintf(req->ifr_name, sizeof(req->ifr_name), "%s", device);
	err = ioctl(fd, request, req) ? -errno : 0;
	close(fd);
	return err;
}

bool device_up(const char *device)
{
	const short up = IFF_UP | IFF_RUNNING;
	struct ifreq req;

	return !ask_device(device, SIOCGIFFLAGS, &req) &&
	       (req.ifr_flags & up) == up;
}

int device_mtu(const char *device)
{
	struct ifreq req;
	int err = ask_device(device, SIOCGIFMTU, &req);

	return err ? err : req.ifr_mtu;
}

bool addr_is_own(const struct ifaddrs *list, struct in_addr addr)
{
	const struct sockaddr_in *a;

	for (; list; list = list->ifa_next) {
		a = (const struct sockaddr_in *)list->ifa_addr;
		if (a && a->sin_family == AF_INET &&
		    a->sin_addr.s_addr == addr.s_addr)
			return true;
	}
	return false;
}

void device_mac(const char *device, char text[DEVICE_MAC_LEN])
{
	const unsigned char *mac;
	struct ifreq req;

	text[0] = 0;
	if (ask_device(device, SIOCGIFHWADDR, &req) ||
	    req.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return;
	mac = (const unsigned char *)req.ifr_hwaddr.sa_data;
	snprintf(text, DEVICE_MAC_LEN, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
}

void neighbour_ask_all(struct echo *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		list[i].result = -ETIMEDOUT;
		list[i].router.s_addr = 0;
		list[i].mtu = 0;
	}
	echo_ask_all(list, n, ECHO_MS);
	echo_ask_all(list, n, ECHO_MS);
}

bool neighbour_silent(const char *device, struct in_addr to)
{
	char line[256], addr[INET_ADDRSTRLEN], name[IF_NAMESIZE];
	FILE *f = fopen("/proc/net/arp", "re");
	bool silent = false;
	unsigned int flags;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%15s %*s %x %*s %*s %15s", addr, &flags,
			   name) == 3 &&
		    !strcmp(addr, addr_text(to)) && !strcmp(name, device))
			silent = !(flags & ATF_COM);
	if (f)
		fclose(f);
	return silent;
}
