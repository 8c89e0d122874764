/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This host in a described network: what of the description it lacks, as the
 * commands that provide it.
 */
#ifndef AGGCTL_HOST_H
#define AGGCTL_HOST_H

#include <jansson.h>
#include <stdbool.h>

#include "plan/plan.h"

/**
 * struct host - a server of a network, and the settings of this host
 * @plan: its topology and its description; the rest is empty
 * @file: which has the description, or NULL
 * @server: which server of the topology this host is
 * @ifaddrs: addresses of this host
 * @missing: commands that are still to be typed, in their order: strings
 * @advice: what the user has to decide: objects with finding and command
 * @checked: number of settings
 * @moved: bits of the ports that have another level
 */
struct host {
	struct plan plan;
	const char *file;
	aggt_node server;
	struct ifaddrs *ifaddrs;
	json_t *missing;
	json_t *advice;
	size_t checked;
	uint64_t moved;
};

/**
 * host_open() - find this host in a network
 * @host: filled
 * @network: --topology's argument
 * @name: its name there, or NULL: the server with an address, else the name, of
 *	this host
 *
 * Return: an exit status, ST_DONE or with an error line printed; host_close() in all
 * cases
 */
int host_open(struct host *host, const char *network, const char *name);

/**
 * host_look() - compare this host with the network
 * @host: opened; @missing and @checked are filled
 *
 * Changes nothing. Return: 0, or -1 with an error line printed: a port of the network is
 * none of this host's, or this user may not read the module's state
 */
int host_look(struct host *host);

void host_close(struct host *host);

/* Commands are for a shell, and a device may have almost any name. */
bool host_device_is_plain(const char *device);

/* host_description.c */

/**
 * host_description_missing() - how the description comes to where commands read it
 * @file: the description
 * @text: its text
 *
 * Return: a command for a shell, which replaces another description at once, to be
 * freed; NULL if this description is there, if commands read none, or if @file cannot be
 * read again
 */
char *host_description_missing(const char *file, const char *text);

#endif
