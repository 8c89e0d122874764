/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggnet's infos as JSON and as text: objects of the same names, but an
 * incast ID is shown as job and receiver, and a port has its name too.
 */
#ifndef AGGCTL_INFO_H
#define AGGCTL_INFO_H

#include <jansson.h>
#include <netinet/in.h>

#include "aggnet.h"

json_t *info_json(const struct aggnet_noun *noun, const void *info);
void info_rows(json_t *rows, const struct aggnet_noun *noun, const void *list,
	       size_t n, const char *node);
int info_set(const struct aggnet_noun *noun, const char *name,
	     const char *text, void *info, const char *where);
int info_set_pairs(const struct aggnet_noun *noun, int argc, char **argv,
		   void *info);
bool info_is_utf8(const char *text);
json_t *info_text(const char *text);
json_t *info_bytes(const uint8_t *bytes, size_t n);
int info_parse(const struct aggnet_noun *noun, const json_t *object,
	       const char * const *skip, void *info, const char *where);
void info_clear(const struct aggnet_noun *noun, void *info);
const char *info_name(const char * const *names, uint8_t number);
const struct aggnet_link_info *
info_find_link(const struct aggnet_link_info *list, size_t n,
	       const struct aggnet_link_info *link);
bool info_of_job(const struct aggnet_tree_info *tree, uint64_t job);

/* addr.c */
bool addr_parse(const char *text, struct in_addr *addr);
const char *addr_text(struct in_addr addr);
void addrs_text(const struct aggnet_addrs *list, size_t total, char *text,
		size_t size);
json_t *addr_json(struct in_addr addr);
json_t *addrs_json(const struct aggnet_addrs *list);
bool addrs_has(const struct aggnet_addrs *list, struct in_addr addr);

#endif
