// SPDX-License-Identifier: GPL-2.0
/* A handle for commands that work in one namespace. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "aggctl.h"
#include "ctl_open.h"

/**
 * ctl_open() - open a handle of the namespace that we are in
 *
 * Return: the handle, or NULL with an error line printed.
 */
struct aggnet_ctl *ctl_open(void)
{
	struct aggnet_ctl *ctl;

	if (!aggnet_ctl_open(&ctl))
		return ctl;
	err("%s", aggnet_ctl_error(ctl));
	aggnet_ctl_close(ctl);
	return NULL;
}

/**
 * ctl_refused() - print why the last request was refused
 * @ctl: the handle
 * @what: what it was about
 *
 * Return: ST_FAILED.
 */
int ctl_refused(struct aggnet_ctl *ctl, const char *what)
{
	return fail("%s: %s", what, aggnet_ctl_error(ctl));
}

/**
 * ctl_port() - find a device
 * @name: its name
 * @ifindex: its index
 *
 * Return: an exit status.
 */
int ctl_port(const char *name, uint32_t *ifindex)
{
	*ifindex = if_nametoindex(name);
	return *ifindex ? ST_DONE : fail("%s: %s", name, strerror(errno));
}
