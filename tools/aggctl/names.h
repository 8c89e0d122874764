/* SPDX-License-Identifier: GPL-2.0 */
/* Names of hosts, from the description of the network that this host has. */
#ifndef AGGCTL_NAMES_H
#define AGGCTL_NAMES_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

/** NAMES_FILE - the description that "aggnet.service" reads, too */
#define NAMES_FILE	"/etc/aggnet/network"

/**
 * names_file() - the description that commands on this host read
 *
 * Return: $AGGNET_NETWORK if it is set (empty: none), else NAMES_FILE
 */
const char *names_file(void);

/**
 * names_of_plan() - read the names from the description that a plan has
 * @plan: the plan; without a description, or with AGGNET_NETWORK set, nothing changes
 *
 * A host that works on a plan may have no description, or one of another network.
 */
void names_of_plan(const json_t *plan);

/**
 * names_add() - write the names of hosts behind their addresses
 * @text: a message to a person
 *
 * The description is that of a plan, else that of names_file(). It is read once. Without
 * one, or with one that is refused, nothing is added: a message must not fail for want of
 * names. An address within single quotes was typed by the user and stays as it is.
 *
 * Return: a copy in which each identity, and each address of a port or of a switch, of the
 * description is followed by the name of its host or switch: "10.0.0.3 (node3)"; to be
 * freed. NULL: out of memory.
 */
char *names_add(const char *text);

/**
 * names_print() - print a message with names
 * @f: the stream
 * @fmt: printf format
 */
void names_print(FILE *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * names_parse() - the address of a node as a person writes it
 * @text: a host's name in the description, or an address, or vN for a node of a testbed
 * @addr: filled: of a host its identity
 *
 * Return: it is one of these
 */
bool names_parse(const char *text, struct in_addr *addr);

/**
 * names_no_host() - what a word is that names_parse() refuses
 *
 * Return: what follows "'WORD' is ": the file that has the names, or why there are none;
 * in a buffer that the next call overwrites.
 */
const char *names_no_host(void);

/**
 * names_json() - names_add() for a table
 * @value: an address as a string, or an array of such
 *
 * Return: a new string or array
 */
json_t *names_json(const json_t *value);

/**
 * names_put() - write names into a member of a table's row
 * @row: an object
 * @member: a string, an array of strings, or what the row does not have
 */
void names_put(json_t *row, const char *member);

/**
 * names_init() - the command that makes this host a server of its network
 * @other: the command if the host has no description in names_file()
 *
 * Return: the command, which may be in a buffer that the next call overwrites.
 */
const char *names_init(const char *other);

/**
 * names_host() - the name by which a person calls a host
 * @addr: an identity, or the address of a port
 *
 * Return: its name in the description, else the address; in a buffer that the next call
 * of this function or of addr_text() overwrites.
 */
const char *names_host(struct in_addr addr);

/* Is this an identity, or the address of a port, in the description? */
bool names_is_host(struct in_addr addr);

/**
 * names_switch() - is an address that of a switch?
 * @addr: of a next hop
 *
 * Return: the name of the switch in the description that routes by this address, or NULL.
 */
const char *names_switch(struct in_addr addr);

/**
 * names_router() - what the description lacks if a switch routes
 * @to: identity of another host, or the address of its port
 * @gateway: of this host's route to it
 *
 * Return: an advice with the name of the first switch on the way in the description, or
 * with "SWITCH"; in a buffer that the next call overwrites.
 */
const char *names_router(struct in_addr to, struct in_addr gateway);

/**
 * names_self() - the name of this host
 * @label: of its node; empty: none
 *
 * Return: the label, else its name in the description, else its host name; in a buffer
 * that the next call overwrites.
 */
const char *names_self(const char *label);

#endif
