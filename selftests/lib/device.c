// SPDX-License-Identifier: GPL-2.0
/* Network devices in the namespace of the calling thread. */
#include <net/if.h>
/* Included after net/if.h: both define some names. */
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

#define WAIT_MS	60000

static int device_ioctl(unsigned long request, const char *device,
			struct ifreq *ifr)
{
	int err, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", device);
	err = ioctl(fd, request, ifr);
	close(fd);
	return err;
}

int device_set_up(const char *device, bool up)
{
	struct ifreq ifr = {};

	if (device_ioctl(SIOCGIFFLAGS, device, &ifr))
		return -1;
	ifr.ifr_flags = (short)(up ? ifr.ifr_flags | IFF_UP :
				     ifr.ifr_flags & ~IFF_UP);
	return device_ioctl(SIOCSIFFLAGS, device, &ifr);
}

int device_set_mtu(const char *device, int mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	return device_ioctl(SIOCSIFMTU, device, &ifr);
}

union answer {
	struct nlmsghdr h;
	char bytes[16384];
};

/* Request information about a device. Return: bytes, or -1 */
static ssize_t device_request(uint16_t type, uint16_t flags,
			      const char *device, union answer *answer)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
	} request = {
		.h = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.info.ifi_index = (int)if_nametoindex(device),
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len = -1;

	if (send(fd, &request, sizeof(request), 0) > 0)
		len = recv(fd, answer, sizeof(*answer), 0);
	close(fd);
	return len;
}

/*
 * The operational state. Linkwatch's work sets it and lets the device send under
 * one hold of the RTNL, which this request takes, too: if the state is up, the
 * device sends. (IFF_RUNNING is also set while the state is not yet known.)
 */
static int device_state(const char *device)
{
	union answer answer = {};
	int len = 0, state = -1;
	struct rtattr *a;

	if (device_request(RTM_GETLINK, 0, device, &answer) > 0 &&
	    answer.h.nlmsg_type == RTM_NEWLINK)
		len = (int)IFLA_PAYLOAD(&answer.h);
	for (a = IFLA_RTA(NLMSG_DATA(&answer.h)); RTA_OK(a, len);
	     a = RTA_NEXT(a, len))
		if (a->rta_type == IFLA_OPERSTATE)
			state = *(unsigned char *)RTA_DATA(a);
	return state;
}

void device_delete(const char *device)
{
	union answer answer;

	if (if_nametoindex(device) &&
	    device_request(RTM_DELLINK, NLM_F_ACK, device, &answer) < 0)
		perror("# link del");
}

int device_wait(const char *device)
{
	int tries, state = -1;

	for (tries = 0; tries < WAIT_MS; tries++) {
		state = device_state(device);
		if (state == IF_OPER_UP)
			return 0;
		poll(NULL, 0, 1);
	}
	fprintf(stderr, "%s does not come up: state %d\n", device, state);
	return -1;
}
