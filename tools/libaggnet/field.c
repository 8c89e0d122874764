// SPDX-License-Identifier: GPL-2.0
/* Attributes to members of infos and back, by the tables of the nouns. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

/**
 * aggnet_field_too_long() - find a list that no attribute has room for
 * @noun: of the info
 * @info: the info
 *
 * The length of an attribute has 16 bits, and libnl does not look.
 *
 * Return: the field, NULL: all fit
 */
const struct aggnet_field *
aggnet_field_too_long(const struct aggnet_noun *noun, const void *info)
{
	uint64_t has = *(const uint64_t *)info;
	const struct aggnet_field *f;

	for (f = noun->field; f < noun->field + noun->n; f++) {
		const struct aggnet_addrs *addrs =
			(const void *)((const char *)info + f->offset);

		if (f->kind == AGGNET_FIELD_ADDRS &&
		    (has & AGGNET_HAS(f->attr)) && addrs->n > AGGNET_ADDRS_MAX)
			return f;
	}
	return NULL;
}

static int put(struct nl_msg *msg, const struct aggnet_field *f,
	       const void *info)
{
	const void *member = (const char *)info + f->offset;
	const struct aggnet_addrs *addrs = member;
	const struct aggnet_blob *blob = member;

	switch (f->kind) {
	case AGGNET_FIELD_STRING:
		return nla_put_string(msg, f->attr, member);
	case AGGNET_FIELD_FLAG:
		return nla_put_flag(msg, f->attr);
	case AGGNET_FIELD_ADDRS:
		return nla_put(msg, f->attr,
			       (int)(addrs->n * sizeof(*addrs->addr)),
			       addrs->addr);
	case AGGNET_FIELD_BLOB:
		return nla_put(msg, f->attr, (int)blob->n, blob->byte);
	default:
		return nla_put(msg, f->attr, (int)f->size, member);
	}
}

/**
 * aggnet_field_put_all() - put the members that an info has into a request
 * @msg: the request
 * @noun: of the info
 * @info: the info
 *
 * Return: 0 or -EMSGSIZE.
 */
int aggnet_field_put_all(struct nl_msg *msg, const struct aggnet_noun *noun,
			 const void *info)
{
	uint64_t has = *(const uint64_t *)info;
	size_t i;

	for (i = 0; i < noun->n; i++)
		if ((has & AGGNET_HAS(noun->field[i].attr)) &&
		    put(msg, &noun->field[i], info))
			return -EMSGSIZE;
	return 0;
}

static int take_addrs(const struct nlattr *attr, struct aggnet_addrs *addrs)
{
	size_t len = (size_t)nla_len(attr);

	addrs->n = 0;
	if (len % sizeof(*addrs->addr))
		return -EPROTO;
	addrs->addr = malloc(len ? len : 1);
	if (!addrs->addr)
		return -ENOMEM;
	memcpy(addrs->addr, nla_data(attr), len);
	addrs->n = len / sizeof(*addrs->addr);
	return 0;
}

static int take_blob(const struct nlattr *attr, struct aggnet_blob *blob)
{
	size_t len = (size_t)nla_len(attr);

	if (len > sizeof(blob->byte))
		return -EPROTO;
	memcpy(blob->byte, nla_data(attr), len);
	blob->n = len;
	return 0;
}

static int take(const struct aggnet_field *f, const struct nlattr *attr,
		void *info)
{
	char *member = (char *)info + f->offset;
	size_t len = (size_t)nla_len(attr);

	switch (f->kind) {
	case AGGNET_FIELD_STRING:
		if (len > f->size)
			len = f->size;
		memcpy(member, nla_data(attr), len);
		member[f->size - 1] = '\0';
		return 0;
	case AGGNET_FIELD_FLAG:
		*(bool *)member = true;
		return 0;
	case AGGNET_FIELD_ADDRS:
		return take_addrs(attr, (struct aggnet_addrs *)member);
	case AGGNET_FIELD_BLOB:
		return take_blob(attr, (struct aggnet_blob *)member);
	default:
		if (len != f->size)
			return -EPROTO;
		memcpy(member, nla_data(attr), len);
		return 0;
	}
}

/**
 * aggnet_field_take_all() - fill an info from attributes; unknown ones are newer
 *	than we are and left out
 * @noun: of the info
 * @attrs: first attribute
 * @len: bytes of all of them
 * @info: the info, whatever it was before
 *
 * Return: 0, -EPROTO or -ENOMEM; aggnet_field_clear() is due in any case.
 */
int aggnet_field_take_all(const struct aggnet_noun *noun,
			  const struct nlattr *attrs, int len, void *info)
{
	size_t i;
	int err;

	memset(info, 0, noun->size);
	for (i = 0; i < noun->n; i++) {
		const struct aggnet_field *f = &noun->field[i];
		const struct nlattr *attr = nla_find(attrs, len, f->attr);

		if (!attr)
			continue;
		err = take(f, attr, info);
		if (err)
			return err;
		*(uint64_t *)info |= AGGNET_HAS(f->attr);
	}
	return 0;
}

/**
 * aggnet_field_clear() - free what an answered info owns
 * @noun: of the info
 * @info: the info
 */
void aggnet_field_clear(const struct aggnet_noun *noun, void *info)
{
	size_t i;

	for (i = 0; i < noun->n; i++) {
		const struct aggnet_field *f = &noun->field[i];

		if (f->kind == AGGNET_FIELD_ADDRS)
			free(((struct aggnet_addrs *)
			      ((char *)info + f->offset))->addr);
	}
	memset(info, 0, noun->size);
}

const struct aggnet_field *aggnet_field_find(const struct aggnet_noun *noun,
					     const char *name)
{
	size_t i;

	for (i = 0; i < noun->n; i++)
		if (!strcmp(noun->field[i].name, name))
			return &noun->field[i];
	return NULL;
}
