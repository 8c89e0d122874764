/* SPDX-License-Identifier: GPL-2.0 */
/* What the administrator decides: options, and the lines of aggd.conf. */
#ifndef AGGD_CONF_H
#define AGGD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "aggd.h"

/**
 * struct allowed - a user or group that may submit jobs
 * @group: it is a group
 * @id: of the user or group
 */
struct allowed {
	bool group;
	uint32_t id;
};

/**
 * struct conf - all settings; the word of a line and of an option is the same
 * @file: aggd.conf
 * @socket: where programs connect
 * @state: directory of jobs and the counter of IDs
 * @aggctl: program that plans, applies and withdraws
 * @topology: of the network, as for aggctl plan
 * @hosts: file for aggctl apply --hosts; NULL: entries of this host, or of a testbed
 * @ssh: for aggctl apply --ssh; NULL: its default
 * @sudo: hosts run sudo aggctl
 * @all: each user may submit
 * @allowed: users that may submit, if not all
 * @n_allowed: how many
 * @jobs: that are in force at the same time
 * @user_jobs: of a user that have not ended
 * @queue: jobs that wait
 * @node_memory: bytes that all jobs together may reserve at a node
 * @user_memory: of them that the jobs of a user may reserve
 * @memory: of a tree at a node, if the job does not say
 * @time: ms that a job is in force, if it does not say
 * @time_max: the most that it can ask for
 * @children: processes of aggctl at the same time
 * @child_time: ms after which one is killed
 * @retry: ms until a withdrawal is tried again; it doubles, up to 64 times as much
 * @connections: at the same time
 * @user_connections: of a user
 * @idle: ms after which a connection without a job is closed
 * @history: jobs that have ended and are still shown
 * @first: job ID that the counter begins with
 * @store: "file", or "etcd URL,..."
 * @etcd: the URLs; NULL: no etcd
 * @etcd_ca: file of certificates that those of etcd come from; NULL: those of the host
 * @etcd_cert: certificate that etcd is shown; NULL: none
 * @etcd_key: of this certificate
 * @lease: ms without an answer of etcd after which another process may lead
 */
struct conf {
	const char *file;
	const char *socket;
	const char *state;
	const char *aggctl;
	const char *topology;
	const char *hosts;
	const char *ssh;
	bool sudo;
	bool all;
	struct allowed *allowed;
	size_t n_allowed;
	uint32_t jobs;
	uint32_t user_jobs;
	uint32_t queue;
	uint64_t node_memory;
	uint64_t user_memory;
	uint64_t memory;
	uint32_t time;
	uint32_t time_max;
	uint32_t children;
	uint32_t child_time;
	uint32_t retry;
	uint32_t connections;
	uint32_t user_connections;
	uint32_t idle;
	uint32_t history;
	uint32_t first;
	const char *store;
	const char *etcd;
	const char *etcd_ca;
	const char *etcd_cert;
	const char *etcd_key;
	uint32_t lease;
};

extern struct conf conf;

/**
 * conf_read() - read the options and the file
 * @argc: of main()
 * @argv: of main(); an option counts more than a line
 *
 * It prints help and version itself, and faults to standard error.
 *
 * Return: -1: go on; else the exit status
 */
int conf_read(int argc, char **argv);

/**
 * conf_allows() - may this user submit jobs?
 * @uid: of the user
 * @gids: of its groups
 * @n: how many
 */
bool conf_allows(uint32_t uid, const gid_t *gids, size_t n);

/* Is this user the administrator: root, or the user of this process? */
bool conf_is_admin(uint32_t uid);

#endif
