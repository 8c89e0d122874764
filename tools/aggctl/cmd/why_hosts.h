/* SPDX-License-Identifier: GPL-2.0 */
/* "aggctl why" on all hosts of a file. */
#ifndef AGGCTL_WHY_HOSTS_H
#define AGGCTL_WHY_HOSTS_H

#include <jansson.h>

#include "remote/hosts.h"

/**
 * why_hosts() - ask all hosts
 * @hosts: loaded
 * @arguments: of aggctl, for a shell: they have a host print an answer as why_text.h
 *	has it, as JSON
 *
 * Return: an array in the order of the file, or NULL with an error line printed. An
 * object has "host", its name; "said" ("as planned", "wrong" or "not known"); "error",
 * why it is not known, or null; and what the host has answered.
 */
json_t *why_hosts(const struct hosts *hosts, const char *arguments);

/**
 * why_hosts_print() - print what hosts have answered, after a line about all hosts and
 *	one for each that is not as planned
 * @hosts: as above
 * @job: " " and the job that they were asked about, or ""
 * @answers: of why_hosts()
 */
void why_hosts_print(const struct hosts *hosts, const char *job,
		     const json_t *answers);

/* Return: an exit status */
int why_hosts_status(const json_t *answers);

#endif
