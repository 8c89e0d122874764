/* SPDX-License-Identifier: GPL-2.0 */
/* Core: the code between a netlink socket and the module's family. */
#ifndef _NETLINK_CORE_H
#define _NETLINK_CORE_H

#include <net/genetlink.h>

#define PORTIDS		8	/* sockets that stage plans */

/**
 * struct answer - the module's messages to one request
 * @bytes: the messages, aligned like netlink's
 * @len: bytes
 */
struct answer {
	u8 *bytes;
	size_t len;
};

/**
 * core_request() - send a request like the kernel's generic netlink
 * @nlh: with at least a generic header behind its own
 * @part: size of a part of a dump, unless the module asks for more
 * @answer: its messages are added to it
 * @extack: the error of the module, or of the core
 *
 * Return: 0 or a negative errno
 */
int core_request(const struct nlmsghdr *nlh, u32 part, struct answer *answer,
		 struct netlink_ext_ack *extack);

/* Does a command take an attribute of this type? */
bool core_takes(u8 cmd, unsigned int type);

void core_close(u32 portid);	/* a socket is closed */
void core_take_device(u32 ifindex);	/* a device is deleted */

void answer_add(struct answer *answer, const void *bytes, size_t len);
void answer_free(struct answer *answer);

/* The kernel around the module, from insmod to rmmod. */
void kernel_start(void);
void kernel_end(void);
extern struct net kernel_net;	/* the one that is configured */

#define INSIST(cond, what) do {						\
	if (!(cond))							\
		core_fail(__func__, what);				\
} while (0)

void __attribute__((noreturn)) core_fail(const char *where, const char *what);

#endif /* _NETLINK_CORE_H */
