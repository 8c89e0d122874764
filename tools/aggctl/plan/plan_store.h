/* SPDX-License-Identifier: GPL-2.0 */
/* The file that tells which plan is in force. */
#ifndef AGGCTL_PLAN_STORE_H
#define AGGCTL_PLAN_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct plan_store - the file of a plan, locked
 * @path: as the user names it
 * @dir: its directory
 * @name: its name there
 * @file: the file that has the name
 * @uid: owner of the file, and of those that replace it
 * @gid: its group, likewise
 */
struct plan_store {
	const char *path;
	int dir;
	char *name;
	int file;
	uid_t uid;
	gid_t gid;
};

bool plan_store_is_file(const char *path);
int plan_store_lock(struct plan_store *store, const char *path);
int plan_store_open(struct plan_store *store, const char *path);
int plan_store_save(struct plan_store *store, const json_t *json);
void plan_store_close(struct plan_store *store);

#endif
