/* SPDX-License-Identifier: GPL-2.0 */
/* A client of the family that gives access to everything that the kernel
 * answers.
 */
#ifndef NL_H
#define NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <linux/aggnet.h>

#define NL_SIZE		(128 * 1024)	/* of a request or an answer */
#define NL_ATTR_MAX	64

/**
 * struct nl - a socket, its request and the answer
 * @fd: the socket
 * @family: ID of the family
 * @group: ID of its multicast group
 * @seq: of the request
 * @text: message of the last error, or ""
 * @blamed: attribute that the error refers to, 0: none
 * @missing: attribute that the error reports as missing, 0: none
 * @attr: attributes of the last message, by type
 * @flags: header flags of all messages of the last dump, ORed
 * @request: the message being made
 * @answer: the last datagram
 * @kept: attributes of the answer that came before its ACK
 * @kept_len: their bytes
 */
struct nl {
	int fd;
	uint16_t family;
	uint32_t group;
	uint32_t seq;
	char text[256];
	int blamed;
	int missing;
	const struct nlattr *attr[NL_ATTR_MAX];
	unsigned int flags;
	union {
		struct nlmsghdr head;
		char bytes[NL_SIZE];
	} request;
	union {
		struct nlmsghdr head;
		char bytes[NL_SIZE];
	} answer;
	char kept[NL_SIZE];
	size_t kept_len;
};

/* Open in the caller's namespace. Return: 0 or -errno (-ENOENT: no module). */
int nl_open(struct nl *nl);
void nl_close(struct nl *nl);

/* Make a request ... */
void nl_begin(struct nl *nl, uint8_t cmd, uint16_t flags);
void nl_put(struct nl *nl, uint16_t type, const void *data, size_t len);
void nl_u8(struct nl *nl, uint16_t type, uint8_t value);
void nl_u16(struct nl *nl, uint16_t type, uint16_t value);
void nl_u32(struct nl *nl, uint16_t type, uint32_t value);
void nl_u64(struct nl *nl, uint16_t type, uint64_t value);
void nl_str(struct nl *nl, uint16_t type, const char *value);

/* ... and send it. Return: 0 or the kernel's -errno; the answer is in @attr. */
int nl_talk(struct nl *nl);

/* Send a request without attributes. */
int nl_do(struct nl *nl, uint8_t cmd);

/* Send the request of a dump without taking an answer. */
void nl_dump_send(struct nl *nl);

/**
 * nl_dump_next() - take the next datagram of a dump
 * @nl: socket
 * @each: called for each message, with @nl->attr set; may be NULL
 * @arg: its argument
 *
 * Return: 1 if there is more, 0 at the end, or -errno
 */
int nl_dump_next(struct nl *nl, void (*each)(struct nl *nl, void *arg),
		 void *arg);

/* Take a whole dump. */
int nl_dump(struct nl *nl, uint8_t cmd,
	    void (*each)(struct nl *nl, void *arg), void *arg);

/* Join the group of events; take one event (false: none came within @ms). */
int nl_join(struct nl *nl);
bool nl_event(struct nl *nl, int ms);

/* Enter a nest (the last one of its type): @attr then has its attributes. */
void nl_enter(struct nl *nl, int type);

/* Attributes of the last message; a missing one reads as 0. */
bool nl_has(const struct nl *nl, int type);
size_t nl_len(const struct nl *nl, int type);
const void *nl_data(const struct nl *nl, int type);
uint8_t nl_get_u8(const struct nl *nl, int type);
uint16_t nl_get_u16(const struct nl *nl, int type);
uint32_t nl_get_u32(const struct nl *nl, int type);
uint64_t nl_get_u64(const struct nl *nl, int type);

#endif /* NL_H */
