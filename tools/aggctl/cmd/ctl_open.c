// SPDX-License-Identifier: GPL-2.0
/* A handle for commands that work in one namespace. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "names.h"

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
 * @what: the object of the request
 *
 * Return: ST_FAILED.
 */
int ctl_refused(struct aggnet_ctl *ctl, const char *what)
{
	return fail("%s: %s", what, aggnet_ctl_error(ctl));
}

/**
 * ctl_ask() - send one request in the current namespace
 * @request: the request; returns a negative errno if it is refused
 * @arg: its argument
 * @what: its object, for the error line
 *
 * Return: an exit status.
 */
int ctl_ask(int (*request)(struct aggnet_ctl *ctl, void *arg), void *arg,
	    const char *what)
{
	struct aggnet_ctl *ctl = ctl_open();
	int st = ST_DONE;

	if (!ctl)
		return ST_FAILED;
	if (request(ctl, arg))
		st = ctl_refused(ctl, what);
	aggnet_ctl_close(ctl);
	return st;
}

/**
 * ctl_show() - print all infos of a noun
 * @ctl: how to print
 * @list: request that fills in a struct ctl_list
 * @noun: of its infos
 * @what: what they are, for the error line
 * @cols: columns of the table
 * @ncols: how many
 *
 * Return: an exit status.
 */
int ctl_show(const struct aggctl *ctl,
	     int (*list)(struct aggnet_ctl *ctl, void *list),
	     const struct aggnet_noun *noun, const char *what,
	     const struct column *cols, size_t ncols)
{
	struct ctl_list found = {};
	int st = ctl_ask(list, &found, what);
	json_t *rows, *row;
	size_t i;

	if (st)
		return st;
	rows = json_array();
	info_rows(rows, noun, found.info, found.n, NULL);
	free(found.info);
	/* Only links have a neighbour. */
	json_array_foreach(rows, i, row)
		if (!ctl->json)
			names_put(row, "neighbour");
	return out_table(ctl, cols, ncols, rows);
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
