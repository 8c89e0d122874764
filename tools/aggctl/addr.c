// SPDX-License-Identifier: GPL-2.0
/* Addresses as people write them: dotted, or by a server's name, v3. */
#include <arpa/inet.h>
#include <stdio.h>

#include "addressing.h"
#include "aggctl.h"
#include "info.h"

/**
 * addr_parse() - parse an address
 * @text: the address, or a server's name which stands for its identity
 * @addr: the result
 *
 * Return: whether @text is one.
 */
bool addr_parse(const char *text, struct in_addr *addr)
{
	uint32_t server;

	if (text[0] != 'v')
		return inet_pton(AF_INET, text, addr) == 1;
	if (!value_parse(OPT_U32, text + 1, &server) || server >= ADDRESSING_IDENTITIES)
		return false;
	*addr = addressing_identity(server);
	return true;
}

/**
 * addr_text() - an address in dots
 * @addr: the address
 *
 * Return: a buffer that the next call overwrites.
 */
const char *addr_text(struct in_addr addr)
{
	static char text[INET_ADDRSTRLEN];

	return inet_ntop(AF_INET, &addr, text, sizeof(text));
}

/**
 * addrs_has() - is an address in a list?
 * @list: the list
 * @addr: the address
 */
bool addrs_has(const struct aggnet_addrs *list, struct in_addr addr)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->addr[i].s_addr == addr.s_addr)
			return true;
	return false;
}

/* Of "and N others", which follows the addresses that there is room for. */
#define OTHERS_MAX	sizeof(" and 18446744073709551615 others")

/**
 * addrs_text() - addresses in dots, with commas between them
 * @list: the addresses
 * @total: how many there are, of which @list may have only the first
 * @text: filled, with as many as there is room for, and the number of the others; empty
 *	if there are none
 * @size: of @text
 */
void addrs_text(const struct aggnet_addrs *list, size_t total, char *text,
		size_t size)
{
	const size_t room = INET_ADDRSTRLEN + 2 + OTHERS_MAX;
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < list->n && n + room <= size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "",
				      addr_text(list->addr[i]));
	if (i < total)
		snprintf(text + n, size - n, " and %zu others", total - i);
}

/**
 * addr_json() - an address as a JSON string
 * @addr: the address
 */
json_t *addr_json(struct in_addr addr)
{
	return json_string(addr_text(addr));
}

/**
 * addrs_json() - addresses as a JSON array of strings
 * @list: the addresses
 */
json_t *addrs_json(const struct aggnet_addrs *list)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < list->n; i++)
		json_array_append_new(array, addr_json(list->addr[i]));
	return array;
}
