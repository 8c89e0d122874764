/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of the table in main.c, each defined in cmd_NAME.c. */
#ifndef AGGCTL_CMD_H
#define AGGCTL_CMD_H

#include "aggctl.h"

extern const struct command cmd_apply;
extern const struct command cmd_eval;
extern const struct command cmd_export;
extern const struct command cmd_host;
extern const struct command cmd_link;
extern const struct command cmd_monitor;
extern const struct command cmd_node;
extern const struct command cmd_plan;
extern const struct command cmd_port;
extern const struct command cmd_recv;
extern const struct command cmd_send;
extern const struct command cmd_stats;
extern const struct command cmd_supervise;
extern const struct command cmd_testbed;
extern const struct command cmd_tree;
extern const struct command cmd_withdraw;

#endif
