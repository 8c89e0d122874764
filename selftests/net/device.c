// SPDX-License-Identifier: GPL-2.0
/* A network device of the namespace that the thread is in. */
#include <net/if.h>
/* After it: they share names. */
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

#define WAIT_MS	60000

int device_set_up(const char *device, bool up)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {};
	int err;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	err = ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags = (short)(up ? ifr.ifr_flags | IFF_UP :
				     ifr.ifr_flags & ~IFF_UP);
	err = err ?: ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return err;
}

/*
 * The operational state. Linkwatch's work sets it and lets the device send under
 * one hold of the RTNL, which this request takes, too: if the state is up, the
 * device sends. (IFF_RUNNING is also set while the state is not yet known.)
 */
static int device_state(const char *device)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
	} request = {
		.h = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.info.ifi_index = (int)if_nametoindex(device),
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	union {
		struct nlmsghdr h;
		char bytes[16384];
	} answer = {};
	int len = 0, state = -1;
	struct rtattr *a;

	if (send(fd, &request, sizeof(request), 0) > 0 &&
	    recv(fd, &answer, sizeof(answer), 0) > 0 &&
	    answer.h.nlmsg_type == RTM_NEWLINK)
		len = (int)IFLA_PAYLOAD(&answer.h);
	for (a = IFLA_RTA(NLMSG_DATA(&answer.h)); RTA_OK(a, len);
	     a = RTA_NEXT(a, len))
		if (a->rta_type == IFLA_OPERSTATE)
			state = *(unsigned char *)RTA_DATA(a);
	close(fd);
	return state;
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
