// SPDX-License-Identifier: GPL-2.0
/* A network device of the namespace that the thread is in. */
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

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
