/* SPDX-License-Identifier: GPL-2.0 */
/* Core: what stands between a netlink socket and the module's family. */
#ifndef _NETLINK_CORE_H
#define _NETLINK_CORE_H

#include <net/genetlink.h>

#define PORTIDS		8	/* sockets, that stage plans */

/**
 * struct answer - messages of the module to one request
 * @bytes: they follow each other, aligned as netlink's are
 * @len: bytes
 */
struct answer {
	u8 *bytes;
	size_t len;
};

/**
 * core_request() - a request, as the kernel's generic netlink takes it
 * @nlh: with a generic header behind its own at least
 * @part: bytes that a part of a dump has, unless the module asks for more
 * @answer: its messages are added to it
 * @extack: what the module, or the core, says of a refusal
 *
 * Return: 0 or a negative errno
 */
int core_request(const struct nlmsghdr *nlh, u32 part, struct answer *answer,
		 struct netlink_ext_ack *extack);

/* Does a command take an attribute of this type? */
bool core_takes(u8 cmd, unsigned int type);

void core_close(u32 portid);	/* a socket is closed */
void core_take_device(u32 ifindex);	/* a device goes away */

void answer_add(struct answer *answer, const void *bytes, size_t len);
void answer_free(struct answer *answer);

/* The kernel as the module finds it, from insmod to rmmod. */
void kernel_start(void);
void kernel_end(void);
extern struct net kernel_net;	/* the one that is configured */

#define INSIST(cond, what) do {						\
	if (!(cond))							\
		core_fail(__func__, what);				\
} while (0)

void __attribute__((noreturn)) core_fail(const char *where, const char *what);

#endif /* _NETLINK_CORE_H */
