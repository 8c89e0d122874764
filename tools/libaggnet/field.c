// SPDX-License-Identifier: GPL-2.0
/* Attributes to members of infos and back, by the tables of the nouns. */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static size_t length(const struct aggnet_field *f, const void *info)
{
	const void *member = (const char *)info + f->offset;

	switch (f->kind) {
	case AGGNET_FIELD_STRING:
		return strlen(member) + 1;
	case AGGNET_FIELD_FLAG:
		return 0;
	case AGGNET_FIELD_ADDRS:
		return ((const struct aggnet_addrs *)member)->n *
		       sizeof(struct in_addr);
	case AGGNET_FIELD_BLOB:
		return ((const struct aggnet_blob *)member)->n;
	default:
		return f->size;
	}
}

static const void *data(const struct aggnet_field *f, const void *info)
{
	const void *member = (const char *)info + f->offset;

	switch (f->kind) {
	case AGGNET_FIELD_ADDRS:
		return ((const struct aggnet_addrs *)member)->addr;
	case AGGNET_FIELD_BLOB:
		return ((const struct aggnet_blob *)member)->byte;
	default:
		return member;
	}
}

/**
 * aggnet_field_most() - most elements that a list of a request may have
 * @f: its field: addresses or bytes
 */
size_t aggnet_field_most(const struct aggnet_field *f)
{
	return f->kind == AGGNET_FIELD_BLOB ? AGGNET_FILTER_MAX :
					      AGGNET_ADDRS_MAX;
}

static size_t elements(const struct aggnet_field *f, const void *info)
{
	size_t n = length(f, info);

	if (f->kind == AGGNET_FIELD_ADDRS)
		return n / sizeof(struct in_addr);
	return f->kind == AGGNET_FIELD_BLOB ? n : 0;
}

/**
 * aggnet_field_too_long() - find a list with more than there is room for
 * @noun: of the info
 * @info: the info
 *
 * The length of an attribute has 16 bits, and libnl does not look. Bytes are in
 * the info itself, as many as it has room for.
 *
 * Return: the field, NULL: all fit
 */
const struct aggnet_field *
aggnet_field_too_long(const struct aggnet_noun *noun, const void *info)
{
	uint64_t has = *(const uint64_t *)info;
	const struct aggnet_field *f;

	for (f = noun->field; f < noun->field + noun->n; f++)
		if ((has & AGGNET_HAS(f->attr)) &&
		    elements(f, info) > aggnet_field_most(f))
			return f;
	return NULL;
}

/**
 * aggnet_field_size() - bytes that aggnet_field_put_all() puts into a request
 * @noun: of the info
 * @info: the info
 */
size_t aggnet_field_size(const struct aggnet_noun *noun, const void *info)
{
	uint64_t has = *(const uint64_t *)info;
	const struct aggnet_field *f;
	size_t size = 0;

	for (f = noun->field; f < noun->field + noun->n; f++)
		if (has & AGGNET_HAS(f->attr))
			size += (size_t)nla_total_size((int)length(f, info));
	return size;
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
		    nla_put(msg, noun->field[i].attr,
			    (int)length(&noun->field[i], info),
			    data(&noun->field[i], info)))
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
	case AGGNET_FIELD_COUNTS:
		/* A newer kernel may have more. */
		memcpy(member, nla_data(attr), len < f->size ? len : f->size);
		return 0;
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

int aggnet_enum_find(const char * const *names, const char *name)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}
