// SPDX-License-Identifier: GPL-2.0
/* A datagram that a device, here a tap, has not yet split into fragments is
 * left to IP, and a device whose type changes is no longer a port. Needs root
 * and the module.
 */
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/aggnet_packet.h>

#include "../lib/device.h"
#include "../lib/inet_sum.h"
#include "harness.h"
#include "member.h"

#define HEADERS	(sizeof(struct iphdr) + sizeof(struct udphdr))

/* A frame as a tap takes it; its data are not an aggnet packet. */
struct frame {
	struct virtio_net_hdr vnet;
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	uint8_t data[5000];
} __attribute__((packed));

FIXTURE(tap) {
	struct aggnet_ctl *ctl;
	int fd;
	struct frame frame;
};

#define SELF	FIXTURE_DATA(tap)

/* Attach the tap, set it up and give it an address. Return: 0 or negative */
static int tap_up(SELF *self)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = ip("10.16.0.1"),
	};
	struct ifreq ifr = {
		.ifr_name = "tap0",
		.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR,
	};
	int err, fd = socket(AF_INET, SOCK_DGRAM, 0);

	/* There is no udev; the kernel loads the driver on open(). */
	mkdir("/dev/net", 0755);
	mknod("/dev/net/tun", S_IFCHR | 0600, makedev(10, 200));
	self->fd = open("/dev/net/tun", O_RDWR);
	err = self->fd < 0 || ioctl(self->fd, TUNSETIFF, &ifr);
	memcpy(&ifr.ifr_addr, &address, sizeof(address));
	err = err || ioctl(fd, SIOCSIFADDR, &ifr);
	ifr.ifr_flags = IFF_UP;
	err = err || ioctl(fd, SIOCSIFFLAGS, &ifr) ||
	      ioctl(fd, SIOCGIFHWADDR, &ifr);
	close(fd);
	if (err)
		return -1;
	memcpy(self->frame.eth.h_dest, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	return attach(self->ctl, "tap0", true);
}

FIXTURE_SETUP(tap)
{
	self->ctl = make_node(NODE_A);
	ASSERT_NE(NULL, self->ctl);
	ASSERT_EQ(0, tap_up(self));
}

FIXTURE_TEARDOWN(tap)
{
	close(self->fd);
	aggnet_ctl_close(self->ctl);
}

/* Give the tap a datagram to aggnet's port, with @bytes bytes. */
static int give(SELF *self, size_t bytes, uint8_t gso_type)
{
	struct frame *f = &self->frame;
	struct iphdr iph = {
		.version = 4,
		.ihl = 5,
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.tot_len = htons(HEADERS + bytes),
		.saddr = ip("10.16.0.2").s_addr,
		.daddr = ip(NODE_A).s_addr,
	};

	iph.check = inet_sum(&iph);
	f->ip = iph;
	f->udp = (struct udphdr) {
		.dest = htons(AGGNET_UDP_PORT),
		.len = htons(sizeof(f->udp) + bytes),
		/*
		 * The sum of the addresses only: the device adds the payload's.
		 */
		.check = ~inet_fold(inet_add(IPPROTO_UDP + sizeof(f->udp) +
					     bytes, &iph.saddr, 8)),
	};
	f->eth.h_source[0] = 2;
	f->eth.h_proto = htons(ETH_P_IP);
	f->vnet = (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = gso_type,
		.hdr_len = ETH_HLEN + HEADERS,
		.gso_size = 1480,
		.csum_start = ETH_HLEN + sizeof(f->ip),
		.csum_offset = offsetof(struct udphdr, check),
	};
	bytes += offsetof(struct frame, data);
	return write(self->fd, f, bytes) == (ssize_t)bytes ? 0 : -1;
}

TEST_F(tap, datagram__is_looked_at)
{
	ASSERT_EQ(0, give(self, 1000, VIRTIO_NET_HDR_GSO_NONE));
	EXPECT_EQ(1, counter(self->ctl, "drop_version"));
}

/* Return: how many datagrams IP has passed to UDP; -1: unknown */
static int udp_received(void)
{
	FILE *f = fopen("/proc/thread-self/net/snmp", "r");
	int good = -1, ports = 0, bad = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Udp: %d %d %d", &good, &ports, &bad) == 3)
			break;
	if (f)
		fclose(f);
	return good + ports + bad;
}

/* A datagram that would leave as fragments: only the first has a UDP header. */
TEST_F(tap, fragments__are_not)
{
	ASSERT_EQ(0, give(self, 1480 * 3, VIRTIO_NET_HDR_GSO_UDP));
	EXPECT_EQ(0, counter(self->ctl, "drop_length"));
	/* UDP does not split it either, but it has reached UDP. */
	EXPECT_EQ(1, udp_received());
}

static size_t ports(struct aggnet_ctl *ctl)
{
	struct aggnet_port_info *list;
	size_t n;

	if (aggnet_port_list(ctl, &list, &n))
		return SIZE_MAX;
	free(list);
	return n;
}

TEST_F(tap, another_type__is_no_port)
{
	struct aggnet_event_info event = { 0 };

	ASSERT_EQ(0, aggnet_events_join(self->ctl));
	ASSERT_EQ(0, device_set_up("tap0", false));
	ASSERT_EQ(0, ioctl(self->fd, TUNSETLINK, ARPHRD_ETHER));
	EXPECT_EQ(1, ports(self->ctl));
	ASSERT_EQ(0, ioctl(self->fd, TUNSETLINK, ARPHRD_NONE));
	ASSERT_EQ(0, ports(self->ctl));
	ASSERT_EQ(0, aggnet_events_next(self->ctl, &event));
	EXPECT_EQ(AGGNET_EVENT_PORT_GONE, event.kind);
	aggnet_event_clear(&event);
	EXPECT_GT(0, attach(self->ctl, "tap0", true));
	/* It is not attached again by itself. */
	ASSERT_EQ(0, ioctl(self->fd, TUNSETLINK, ARPHRD_ETHER));
	EXPECT_EQ(0, ports(self->ctl));
	EXPECT_EQ(0, attach(self->ctl, "tap0", true));
}

TEST_HARNESS_MAIN
