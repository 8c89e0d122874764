/* SPDX-License-Identifier: GPL-2.0 */
/* The options of commands that run on other hosts. */
#ifndef AGGCTL_HOSTS_OPTIONS_H
#define AGGCTL_HOSTS_OPTIONS_H

#include "cmd/cmd.h"
#include "remote/hosts.h"

#define HOSTS_DEFAULT	{ .ssh = HOSTS_SSH, .timeout_ms = 30000 }

#define HOSTS_OPTIONS(hosts) \
	{ "hosts", OPT_STRING, &(hosts).file, "FILE", \
	  "on all hosts, by ssh; FILE has lines 'NODE [HOST]'" }, \
	{ "ssh", OPT_STRING, &(hosts).ssh, "COMMAND", \
	  "what runs 'aggctl ...' on a host [" HOSTS_SSH "]" }, \
	{ "sudo", OPT_FLAG, &(hosts).sudo, NULL, \
	  "have the hosts run 'sudo -n aggctl ...'" }, \
	{ "timeout", OPT_WAIT, &(hosts).timeout_ms, "TIME", \
	  "how long a host may take for each step [30s]" }

/**
 * hosts_options() - whether the options fit together
 * @ctl: the command line
 * @verb: has HOSTS_OPTIONS
 * @hosts: what they have set
 *
 * Return: ST_DONE or ST_USAGE, then an error line is out.
 */
int hosts_options(const struct aggctl *ctl, const struct verb *verb,
		  const struct hosts *hosts);

#endif
