// SPDX-License-Identifier: GPL-2.0
/* Infos to JSON and back, by libaggnet's tables of fields. */
#include <ctype.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"

#define INCAST_FIELD	"incast_id"

static bool is_ifindex(const struct aggnet_field *f)
{
	return !strcmp(f->name, "ifindex") || !strcmp(f->name, "link_ifindex");
}

/**
 * info_bytes() - bytes in hex
 * @bytes: the bytes
 * @n: how many
 *
 * Return: the text, or NULL without memory.
 */
json_t *info_bytes(const uint8_t *bytes, size_t n)
{
	/* Hardware addresses are used to their colons. */
	const char *sep = n == AGGNET_MAC_LEN ? ":" : "";
	char text[2 * sizeof(struct aggnet_blob)] = "";
	size_t i, len = 0;

	for (i = 0; i < n && len + 4 < sizeof(text); i++)
		len += (size_t)sprintf(text + len, "%s%02x", i ? sep : "",
				       bytes[i]);
	return json_string(text);
}

/**
 * info_is_utf8() - whether a text can be a string of JSON, which is UTF-8
 * @text: the text
 */
bool info_is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string;
}

/**
 * info_text() - text that need not be UTF-8, which a string of JSON is
 * @text: such as the name of a device; or NULL
 *
 * Return: the text; if it is not UTF-8, with its bytes that are not ASCII as \xHH; or NULL
 * without text or memory.
 */
json_t *info_text(const char *text)
{
	json_t *string = json_string(text);
	char *escaped = NULL;
	size_t len;
	FILE *f;

	if (string || !text)
		return string;
	f = open_memstream(&escaped, &len);
	if (!f)
		return NULL;
	for (; *text; text++)
		fprintf(f, (unsigned char)*text < 0x80 ? "%c" : "\\x%02x",
			(unsigned char)*text);
	fclose(f);
	string = json_string(escaped);
	free(escaped);
	return string;
}

/* The name of a number; NULL: it has none. */
static const char *find_name(const char * const *names, uint8_t number)
{
	int i;

	for (i = 0; names[i]; i++)
		if (i == number)
			return names[i];
	return NULL;
}

static json_t *enum_json(const char * const *names, uint8_t value)
{
	const char *name = find_name(names, value);

	return name ? json_string(name) : json_integer(value);
}

static json_t *field_json(const struct aggnet_field *f, const void *info)
{
	const void *member = (const char *)info + f->offset;
	const struct aggnet_blob *blob = member;

	switch (f->kind) {
	case AGGNET_FIELD_U8:
		return json_integer(*(const uint8_t *)member);
	case AGGNET_FIELD_U16:
		return json_integer(*(const uint16_t *)member);
	case AGGNET_FIELD_U32:
		return json_integer(*(const uint32_t *)member);
	case AGGNET_FIELD_U64:
		return json_integer((json_int_t)*(const uint64_t *)member);
	case AGGNET_FIELD_ENUM:
		return enum_json(f->names, *(const uint8_t *)member);
	case AGGNET_FIELD_ADDR:
		return addr_json(*(const struct in_addr *)member);
	case AGGNET_FIELD_ADDRS:
		return addrs_json(member);
	case AGGNET_FIELD_STRING:
		return info_text(member);
	case AGGNET_FIELD_BYTES:
		return info_bytes(member, f->size);
	case AGGNET_FIELD_BLOB:
		return info_bytes(blob->byte, blob->n);
	default:
		return json_boolean(*(const bool *)member);
	}
}

/* A member for each of the numbers. */
static void put_counts(json_t *object, const struct aggnet_field *f,
		       const uint32_t *counts)
{
	char name[64];
	size_t i;

	for (i = 1; f->names[i]; i++) {
		snprintf(name, sizeof(name), "%s_%s", f->name, f->names[i]);
		json_object_set_new(object, name, json_integer(counts[i]));
	}
}

static void put_incast(json_t *object, uint64_t id)
{
	json_object_set_new(object, "job",
			    json_integer(aggnet_incast_job(id)));
	json_object_set_new(object, "receiver",
			    addr_json(aggnet_incast_receiver(id)));
}

/**
 * info_json() - an info as a JSON object
 * @noun: of the info
 * @info: the info
 *
 * Has to be called in the info's network namespace: ports are named.
 */
json_t *info_json(const struct aggnet_noun *noun, const void *info)
{
	uint64_t has = *(const uint64_t *)info;
	json_t *object = json_object();
	char name[IF_NAMESIZE];
	size_t i;

	for (i = 0; i < noun->n; i++) {
		const struct aggnet_field *f = &noun->field[i];
		const char *member = (const char *)info + f->offset;

		if (!(has & AGGNET_HAS(f->attr)))
			continue;
		if (!strcmp(f->name, INCAST_FIELD)) {
			put_incast(object, *(const uint64_t *)member);
			continue;
		}
		if (f->kind == AGGNET_FIELD_COUNTS) {
			put_counts(object, f, (const uint32_t *)member);
			continue;
		}
		json_object_set_new(object, f->name, field_json(f, info));
		if (is_ifindex(f) &&
		    if_indextoname(*(const uint32_t *)member, name))
			json_object_set_new(object, "port", info_text(name));
	}
	return object;
}

/**
 * info_rows() - infos as objects of a list
 * @rows: the list
 * @noun: of the infos
 * @list: they
 * @n: how many
 * @node: name of the node that they are of, as a member `node`; or NULL
 */
void info_rows(json_t *rows, const struct aggnet_noun *noun, const void *list,
	       size_t n, const char *node)
{
	json_t *row;
	size_t i;

	for (i = 0; i < n; i++) {
		row = info_json(noun, (const char *)list + i * noun->size);
		if (node)
			json_object_set_new(row, "node", json_string(node));
		json_array_append_new(rows, row);
	}
}

static bool set_bytes(const char *text, uint8_t *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i && *text == ':')
			text++;
		/* sscanf() takes a sign or blanks for digits, too. */
		if (!isxdigit((unsigned char)text[0]) ||
		    !isxdigit((unsigned char)text[1]) ||
		    sscanf(text, "%2hhx", &bytes[i]) != 1)
			return false;
		text += 2;
	}
	return !*text;
}

/* Two digits a byte, without colons. */
static bool set_blob(const char *text, struct aggnet_blob *blob)
{
	size_t len = strlen(text);

	blob->n = len / 2;
	return len && len % 2 == 0 && blob->n <= sizeof(blob->byte) &&
	       !strchr(text, ':') && set_bytes(text, blob->byte, blob->n);
}

static bool set_addrs(const char *text, struct aggnet_addrs *addrs)
{
	char *copy = strdup(text), *save = NULL, *item;
	struct in_addr *list;
	bool good = copy;

	free(addrs->addr);
	*addrs = (struct aggnet_addrs){};
	for (item = copy ? strtok_r(copy, ",", &save) : NULL; item && good;
	     item = strtok_r(NULL, ",", &save)) {
		list = realloc(addrs->addr, (addrs->n + 1) * sizeof(*list));
		good = list;
		if (!good)
			break;
		addrs->addr = list;
		good = addr_parse(item, &list[addrs->n++]);
	}
	free(copy);
	return good;
}

static bool set_enum(const char * const *names, const char *text,
		     uint8_t *value)
{
	int found = aggnet_enum_find(names, text);

	*value = (uint8_t)found;
	return found >= 0;
}

static bool set_u8(const char *text, uint8_t *value)
{
	uint32_t v;

	if (!value_parse(OPT_U32, text, &v) || v > UINT8_MAX)
		return false;
	*value = (uint8_t)v;
	return true;
}

static bool set_u16(const char *text, uint16_t *value)
{
	uint32_t v;

	if (!value_parse(OPT_U32, text, &v) || v > UINT16_MAX)
		return false;
	*value = (uint16_t)v;
	return true;
}

static bool set_string(const char *text, char *value, size_t size)
{
	if (strlen(text) >= size)
		return false;
	strcpy(value, text);
	return true;
}

static bool set_field(const struct aggnet_field *f, const char *text,
		      void *info)
{
	void *member = (char *)info + f->offset;

	switch (f->kind) {
	case AGGNET_FIELD_U8:
		return set_u8(text, member);
	case AGGNET_FIELD_U16:
		return set_u16(text, member);
	case AGGNET_FIELD_U32:
		return value_parse(OPT_U32, text, member);
	case AGGNET_FIELD_U64:
		return value_parse(OPT_SIZE, text, member);
	case AGGNET_FIELD_ENUM:
		return set_enum(f->names, text, member);
	case AGGNET_FIELD_ADDR:
		return addr_parse(text, member);
	case AGGNET_FIELD_ADDRS:
		return set_addrs(text, member);
	case AGGNET_FIELD_STRING:
		return set_string(text, member, f->size);
	case AGGNET_FIELD_BYTES:
		return set_bytes(text, member, f->size);
	case AGGNET_FIELD_BLOB:
		return set_blob(text, member);
	default:
		return false;
	}
}

/* Job and receiver are halves of the incast ID. */
static bool set_half(const struct aggnet_field *f, const char *name,
		     const char *text, void *info)
{
	uint64_t *id = (uint64_t *)((char *)info + f->offset);
	struct in_addr addr;
	uint32_t job;

	if (!strcmp(name, "job")) {
		if (!value_parse(OPT_U32, text, &job))
			return false;
		*id = (uint64_t)job << 32 | (uint32_t)*id;
	} else {
		if (!addr_parse(text, &addr))
			return false;
		*id = *id >> 32 << 32 | ntohl(addr.s_addr);
	}
	return true;
}

/**
 * info_set() - set one member of an info
 * @noun: of the info
 * @name: the member, or "job" or "receiver"
 * @text: its value
 * @info: the info
 * @where: begins the error line
 *
 * Return: 0, or -1 with an error line printed.
 */
int info_set(const struct aggnet_noun *noun, const char *name,
	     const char *text, void *info, const char *where)
{
	const struct aggnet_field *f;
	bool half, good;

	half = !strcmp(name, "job") || !strcmp(name, "receiver");
	f = aggnet_field_find(noun, half ? INCAST_FIELD : name);
	if (!f || f->answer) {
		err("%s: a %s has no '%s' that can be set", where, noun->name, name);
		return -1;
	}
	good = half ? set_half(f, name, text, info) : set_field(f, text, info);
	if (!good) {
		err("%s: %s: '%s' is not a valid value", where, name, text);
		return -1;
	}
	*(uint64_t *)info |= AGGNET_HAS(f->attr);
	return 0;
}

/**
 * info_set_pairs() - set members of an info from a command line
 * @noun: of the info
 * @argc: length of @argv
 * @argv: NAME VALUE NAME VALUE ...
 * @info: the info
 *
 * Return: 0, or -1 with an error line printed.
 */
int info_set_pairs(const struct aggnet_noun *noun, int argc, char **argv,
		   void *info)
{
	int i;

	for (i = 0; i < argc; i += 2) {
		if (i + 1 == argc) {
			err("%s: %s needs a value", noun->name, argv[i]);
			return -1;
		}
		if (info_set(noun, argv[i], argv[i + 1], info, noun->name))
			return -1;
	}
	return 0;
}

static bool is_skipped(const char * const *skip, const char *name)
{
	for (; *skip; skip++)
		if (!strcmp(*skip, name))
			return true;
	return false;
}

/* A JSON value as the text that info_set() takes; the caller frees it. */
static char *value_text(const json_t *value)
{
	char *text = NULL;
	size_t len, i;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return NULL;
	if (json_is_integer(value))
		fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_string(value))
		fputs(json_string_value(value), f);
	for (i = 0; i < json_array_size(value); i++) {
		const char *item;

		item = json_string_value(json_array_get(value, i));
		fprintf(f, "%s%s", i ? "," : "", item ? item : "?");
	}
	fclose(f);
	return text;
}

/**
 * info_parse() - fill an info from a JSON object
 * @noun: of the info
 * @object: the object
 * @skip: members that are not looked at, NULL-terminated
 * @info: the info, cleared or set before
 * @where: begins the error line
 *
 * Return: 0, or -1 with an error line printed; info_clear() is due then too.
 */
int info_parse(const struct aggnet_noun *noun, const json_t *object,
	       const char * const *skip, void *info, const char *where)
{
	const char *name;
	json_t *value;
	char *text;
	int ret;

	if (!json_is_object(object)) {
		err("%s: a %s has to be an object", where, noun->name);
		return -1;
	}
	json_object_foreach((json_t *)object, name, value) {
		if (is_skipped(skip, name))
			continue;
		text = value_text(value);
		ret = text ? info_set(noun, name, text, info, where) : -1;
		free(text);
		if (ret)
			return -1;
	}
	return 0;
}

/**
 * info_clear() - free what a parsed info owns
 * @noun: of the info
 * @info: the info
 */
void info_clear(const struct aggnet_noun *noun, void *info)
{
	size_t i;

	for (i = 0; i < noun->n; i++)
		if (noun->field[i].kind == AGGNET_FIELD_ADDRS)
			free(((struct aggnet_addrs *)
			      ((char *)info + noun->field[i].offset))->addr);
	memset(info, 0, noun->size);
}

/**
 * info_of_job() - does an entry belong to a job?
 * @tree: the entry
 * @job: ID of the job; of a job with several trees that of the first tree, or of the
 *	entry's own
 */
bool info_of_job(const struct aggnet_tree_info *tree, uint64_t job)
{
	uint32_t own = aggnet_incast_job(tree->incast_id);

	return own == job || own - tree->stripe == job;
}

/**
 * info_name() - the name of a number that the kernel has told
 * @names: of the enum, ends with NULL
 * @number: the number: a newer kernel may have values that this program does not know
 */
const char *info_name(const char * const *names, uint8_t number)
{
	const char *name = find_name(names, number);

	return name ? name : "unknown";
}

/**
 * info_find_link() - the link of a list by the same port and to the same neighbour
 * @list: the list
 * @n: how many
 * @link: of which only port and neighbour are read
 *
 * Return: NULL if there is none
 */
const struct aggnet_link_info *
info_find_link(const struct aggnet_link_info *list, size_t n,
	       const struct aggnet_link_info *link)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].ifindex == link->ifindex &&
		    list[i].neighbour.s_addr == link->neighbour.s_addr)
			return &list[i];
	return NULL;
}
