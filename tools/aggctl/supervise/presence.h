/* SPDX-License-Identifier: GPL-2.0 */
/* Which jobs are supervised in a network namespace. */
#ifndef AGGCTL_PRESENCE_H
#define AGGCTL_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * presence_open() - have presence_found() find this process
 * @job: that it supervises
 *
 * Return: a descriptor, which ends that when it is closed; or -1, with a warning
 */
int presence_open(uint32_t job);

/**
 * presence_found() - does any process in this network namespace supervise a job?
 * @job: its number
 */
bool presence_found(uint32_t job);

#endif
