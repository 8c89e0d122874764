/* SPDX-License-Identifier: GPL-2.0 */
/* The checksums of IPv4 and UDP (RFC 1071). */
#ifndef SELFTESTS_INET_SUM_H
#define SELFTESTS_INET_SUM_H

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t inet_add(uint32_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum;
}

/* In network order. */
static inline uint16_t inet_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static inline uint16_t inet_sum(const struct iphdr *ip)
{
	return inet_fold(inet_add(0, ip, sizeof(*ip)));
}

/* Of LEN bytes after the IP header, with the field itself taken as it stands. */
static inline uint16_t inet_udp_sum(const struct iphdr *ip,
				    const struct udphdr *uh, size_t len)
{
	uint32_t sum = inet_add(IPPROTO_UDP + ntohs(uh->len), &ip->saddr, 8);

	return inet_fold(inet_add(sum, uh, len));
}

#endif /* SELFTESTS_INET_SUM_H */
