/* SPDX-License-Identifier: GPL-2.0 */
/* Broadcast: a file or pipe that the root sends, and that members write out. */
#ifndef AGGCTL_BCAST_H
#define AGGCTL_BCAST_H

#include <netinet/in.h>
#include <stdint.h>

/**
 * bcast_send() - send all bytes of a file or pipe as the root
 * @command: name of the command, for messages
 * @job: job ID
 * @path: of the file; NULL or "-": standard input
 * @timeout_ms: of the whole transfer, 0: none
 *
 * Return: an exit status; ST_DONE when all members have everything
 */
int bcast_send(const char *command, uint32_t job, const char *path,
	       uint32_t timeout_ms);

/**
 * bcast_receive() - write the stream to standard output as a member
 * @command: name of the command, for messages
 * @root: identity of the root
 * @job: job ID
 * @timeout_ms: of the whole transfer, 0: none
 * @dir: what sync_directory() returned, to sync the output before the root gets DONE;
 *	-1: do not
 *
 * The root gets DONE only after all bytes were written.
 *
 * Return: an exit status
 */
int bcast_receive(const char *command, struct in_addr root, uint32_t job,
		  uint32_t timeout_ms, int dir);

#endif /* AGGCTL_BCAST_H */
