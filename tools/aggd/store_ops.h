/* SPDX-License-Identifier: GPL-2.0 */
/* What a store implements; only stores and store.c use it. */
#ifndef AGGD_STORE_OPS_H
#define AGGD_STORE_OPS_H

#include "store.h"

/**
 * struct store_ops - a store; each function is that of store.h
 * @open: the directory is open
 * @state: NULL: always STORE_READY
 * @tick: NULL: nothing is due
 * @close: NULL: nothing to do
 * @take_ids: as in store.h
 * @put: as in store.h
 * @get: as in store.h
 * @del: as in store.h
 * @del_plans: as in store.h
 * @each: as in store.h
 * @sync_plan: as in store.h
 * @fetch_plan: as in store.h
 */
struct store_ops {
	int (*open)(struct text *why);
	enum store_state (*state)(struct text *why);
	int64_t (*tick)(int64_t now);
	void (*close)(void);
	int (*take_ids)(uint32_t n, uint32_t *first, struct text *why);
	int (*put)(uint32_t id, const json_t *record, struct text *why);
	json_t *(*get)(uint32_t id, struct text *why);
	void (*del)(uint32_t id, uint32_t trees);
	void (*del_plans)(uint32_t id, uint32_t trees);
	int (*each)(int (*one)(uint32_t id, json_t *record, struct text *why),
		    struct text *why);
	int (*sync_plan)(uint32_t id, uint32_t tree, struct text *why);
	int (*fetch_plan)(uint32_t id, uint32_t tree, struct text *why);
};

extern const struct store_ops store_file;
extern const struct store_ops store_etcd;

/*
 * The directory has the plans of both stores, as aggctl reads and writes files: @plans is
 * the directory in it. Return: 0, or -1 with @why
 */
int store_file_open(const char *dir, const char *plans, struct text *why);

/* The plan that aggctl has written. Return: to be freed; NULL with @why */
char *store_file_read_plan(uint32_t id, uint32_t tree, size_t *len, struct text *why);

/* Write a plan for aggctl. Return: 0, or -1 with @why */
int store_file_write_plan(uint32_t id, uint32_t tree, const char *plan,
			  struct text *why);

/* The next ID of jobs in the directory. Return: 0, or -1 with @why */
int store_file_counter(uint32_t *next, struct text *why);

/* May a job whose record is in the directory have entries? Return: 0: no; -1 with @why */
int store_file_is_left(struct text *why);

/*
 * The directory names the cluster of etcd that jobs are in, and their number there, which
 * are not 0; 0: none. Return: 0, or -1 with @why
 */
int store_file_read_cluster(uint64_t *cluster, uint64_t *number, struct text *why);
int store_file_write_cluster(uint64_t cluster, uint64_t number, struct text *why);

/* Remove the files of plans: of a job, or all */
void store_file_del_plans(uint32_t id, uint32_t trees);
void store_file_del_all_plans(void);

#endif
