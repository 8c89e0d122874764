/* SPDX-License-Identifier: GPL-2.0 */
/* A question to all hosts of a file. */
#ifndef AGGCTL_ASK_H
#define AGGCTL_ASK_H

#include <jansson.h>

#include "remote/hosts.h"

/**
 * hosts_ask() - have all hosts print an object as JSON, at the same time
 * @hosts: loaded
 * @arguments: of aggctl, for a shell
 *
 * Return: an array in the order of the file, or NULL with an error line printed. An
 * object has "host", its name, and "answer", the object that the host has printed,
 * which may have any members, or "error", why there is none.
 */
json_t *hosts_ask(const struct hosts *hosts, const char *arguments);

#endif
