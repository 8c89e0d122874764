/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that the files of the control part share: requests, dumps,
 * attributes.
 */
#ifndef AGGNET_CTL_H
#define AGGNET_CTL_H

#include "aggnet.h"

struct nl_msg;
struct nlattr;

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define AGGNET_ERROR_LEN	256

struct aggnet_ctl {
	struct nl_sock *sock;
	int family;
	struct nl_sock *events;
	uint32_t steps;		/* sent since the plan was begun */
	char error[AGGNET_ERROR_LEN];
};

/* ctl.c; @noun and @info may be NULL: no attributes */
int aggnet_ctl_fail(struct aggnet_ctl *ctl, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int aggnet_ctl_fail_socket(struct aggnet_ctl *ctl, int nlerr);
int aggnet_ctl_do(struct aggnet_ctl *ctl, int cmd, int flags,
		  const struct aggnet_noun *noun, const void *info);
int aggnet_ctl_get(struct aggnet_ctl *ctl, int cmd,
		   const struct aggnet_noun *noun, const void *request,
		   void *info);
int aggnet_ctl_dump(struct aggnet_ctl *ctl, int cmd,
		    const struct aggnet_noun *noun, void **list, size_t *n);

/**
 * typedef aggnet_ctl_take - take the attributes of one answer
 * @attrs: first attribute
 * @len: bytes of all of them
 * @arg: of the caller
 *
 * Return: 0 or a negative errno.
 */
typedef int (*aggnet_ctl_take)(const struct nlattr *attrs, int len, void *arg);

int aggnet_ctl_exchange(struct aggnet_ctl *ctl, struct nl_msg *msg,
			const struct aggnet_noun *noun, aggnet_ctl_take take,
			void *arg);
struct nl_msg *aggnet_ctl_msg(struct aggnet_ctl *ctl, int cmd, int flags,
			      const struct aggnet_noun *noun, const void *info);

struct aggnet_plan_info {
	uint64_t has;
	uint32_t steps;
};

extern const struct aggnet_noun aggnet_noun_plan;

/* plan.c; aggnet_ctl_do() of what a plan would stage */
int aggnet_ctl_step(struct aggnet_ctl *ctl, int cmd, int flags,
		    const struct aggnet_noun *noun, const void *info);

/* field.c */
size_t aggnet_field_most(const struct aggnet_field *f);
size_t aggnet_field_size(const struct aggnet_noun *noun, const void *info);
const struct aggnet_field *
aggnet_field_too_long(const struct aggnet_noun *noun, const void *info);
int aggnet_field_put_all(struct nl_msg *msg, const struct aggnet_noun *noun,
			 const void *info);
int aggnet_field_take_all(const struct aggnet_noun *noun,
			  const struct nlattr *attrs, int len, void *info);
void aggnet_field_clear(const struct aggnet_noun *noun, void *info);

/* A row of a noun's table; the member is named like the attribute. */
#define FIELD(noun, member, number, what, told) { \
	.name = #member, .attr = number, .kind = AGGNET_FIELD_##what, \
	.answer = told, .offset = offsetof(struct aggnet_##noun##_info, member), \
	.size = sizeof(((struct aggnet_##noun##_info *)0)->member) }
#define FIELD_ENUM(noun, member, number, told, list) { \
	.name = #member, .attr = number, .kind = AGGNET_FIELD_ENUM, \
	.answer = told, .offset = offsetof(struct aggnet_##noun##_info, member), \
	.size = sizeof(((struct aggnet_##noun##_info *)0)->member), \
	.names = aggnet_##list##_names }
#define FIELD_COUNTS(noun, member, number, told, list) { \
	.name = #member, .attr = number, .kind = AGGNET_FIELD_COUNTS, \
	.answer = told, .offset = offsetof(struct aggnet_##noun##_info, member), \
	.size = sizeof(((struct aggnet_##noun##_info *)0)->member), \
	.names = aggnet_##list##_names }

#endif
