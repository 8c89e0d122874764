/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plan on all its hosts, by commands that ssh runs there.
 *
 * Each host gets its own part of the plan, with its own keys, and nothing of the
 * others. A host stages its part and says so; if all have, they commit, parents first,
 * and say so; if all have, they keep it. A host that reads the end of its input
 * before it may keep the plan takes it back, so that a plan is in force on all hosts or
 * on none, also if the command is killed. A host that has nothing of the plan after a
 * failure says so; without that word, nothing is known of a host that was told to commit.
 */
#ifndef AGGCTL_APPLY_HOSTS_H
#define AGGCTL_APPLY_HOSTS_H

#include "plan/plan_apply.h"
#include "remote/hosts.h"

/* What is said between the command and a host. */
#define HELD_STAGED	"@staged"
#define HELD_COMMIT	"@commit"
#define HELD_IN_FORCE	"@in force"
#define HELD_UNCHANGED	"@in force already"
#define HELD_KEEP	"@keep"
#define HELD_WAIT	"@wait"		/* other hosts are not so far */
#define HELD_UNDONE	"@undone"
#define HELD_NO_SUPERVISOR	"@no supervisor"	/* nothing is withdrawn */

/* Entries that were in force, for scanf() and printf() */
#define HELD_WITHDRAWN	"@withdrawn %u"

/**
 * struct host_said - what a host has said of a plan
 * @changed: it did not have the whole plan, or has withdrawn some of it
 * @entries: how many entries it has withdrawn
 */
struct host_said {
	bool changed;
	unsigned int entries;
};

/**
 * apply_hosts() - put a plan in force on all its hosts, or on none
 * @file: the plan
 * @hosts: loaded
 * @options: of "aggctl apply" that each host gets, for a shell
 * @said: one for each part of the plan, zeroed
 *
 * What a host prints is printed as error lines, with its name before it.
 *
 * Return: 0, or -1 with an error line printed
 */
int apply_hosts(const struct plan_file *file, const struct hosts *hosts,
		const char *options, struct host_said *said);

/**
 * withdraw_hosts() - take a plan out of all its hosts, children first
 * @file: the plan
 * @hosts: loaded
 * @supervised: do not ask whether hosts supervise the plan: they do
 * @said: one for each part of the plan, zeroed
 *
 * Receivers that supervise it are first, so that the supervisors end.
 *
 * Continues after an error; a host that has nothing of the plan is none. Return: 0, or
 * -1 with error lines printed
 */
int withdraw_hosts(const struct plan_file *file, const struct hosts *hosts,
		   bool supervised, struct host_said *said);

/**
 * apply_held() - the part of apply_hosts() on a host
 * @netns: as plan_file_find()
 * @node: the host's node
 * @how: @replace and @unchecked are given
 *
 * The plan is the first line of standard input. Return: 0 if the plan stays, or -1
 * with an error line printed
 */
int apply_held(const char *netns, const char *node, struct plan_install *how);
int held_lock(const char *node, const struct plan_file *file, int *fd);

#endif
