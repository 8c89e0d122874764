// SPDX-License-Identifier: GPL-2.0
/* Finds addresses in messages, and the hosts that have them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggtree.h"
#include "names.h"

static const struct aggt_topo *description(void)
{
	static struct aggt_topo *topo;
	static bool read;
	const char *path = getenv("AGGNET_NETWORK");
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (read)
		return topo;
	read = true;
	f = fopen(path ? path : NAMES_FILE, "re");
	if (f && getdelim(&text, &size, 0, f) > 0)
		topo = aggt_topo_describe(text, NULL);
	if (f)
		fclose(f);
	free(text);
	return topo;
}

static bool has_addr(const struct aggt_topo *topo, aggt_node server,
		     const char *addr)
{
	const char *own = aggt_topo_address(topo, server);
	unsigned int port;

	if (own && !strcmp(own, addr))
		return true;
	for (port = 0; port < aggt_topo_ports(topo, server); port++) {
		own = aggt_topo_port_address(topo, server, port);
		if (own && !strcmp(own, addr))
			return true;
	}
	return false;
}

static bool is_of_name(char c)
{
	return c && (isalnum((unsigned char)c) || strchr("._-", c));
}

/* As a word: "node10" does not say "node1". A full stop may end a sentence. */
static bool says_name(const char *text, const char *name)
{
	const size_t len = strlen(name);
	const char *at = text, *end;

	for (; (at = strstr(at, name)); at++) {
		end = at + len;
		end += *end == '.' && !is_of_name(end[1]);
		if ((at == text || !is_of_name(at[-1])) && !is_of_name(*end))
			return true;
	}
	return false;
}

/* Not if @text, the message, says the name anyway. */
static void put_name(FILE *f, const struct aggt_topo *topo, const char *addr,
		     const char *text)
{
	char number[16];
	const char *name;
	aggt_node v;

	for (v = 0; v < aggt_topo_servers(topo); v++) {
		if (!has_addr(topo, v, addr))
			continue;
		name = aggt_topo_server_name(topo, v);
		snprintf(number, sizeof(number), "v%u", v);
		if (!says_name(text, name ? name : number))
			fprintf(f, " (%s)", name ? name : number);
		return;
	}
}

/* As much of @text as an address may be made of; *@addr is empty if it is none. */
static size_t take_word(const char *text, char *addr)
{
	size_t len = strspn(text, "0123456789.");
	struct in_addr parsed;

	/* The full stop of a sentence. */
	while (len && text[len - 1] == '.')
		len--;
	addr[0] = '\0';
	if (len >= INET_ADDRSTRLEN)
		return len;
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, &parsed) != 1)
		addr[0] = '\0';
	return len;
}

static bool may_begin(char before)
{
	return !before || strchr(" (,=", before);
}

static void put_text(FILE *f, const struct aggt_topo *topo, const char *whole)
{
	const char *text = whole;
	char addr[INET_ADDRSTRLEN], before = '\0';
	bool quoted = false;
	size_t len;

	for (; *text; text += len, before = text[-1]) {
		len = may_begin(before) ? take_word(text, addr) : 0;
		/* An apostrophe begins no quotation. */
		if (*text == '\'')
			quoted = !quoted && may_begin(before);
		if (!len) {
			fputc(*text, f);
			len = 1;
			continue;
		}
		fprintf(f, "%.*s", (int)len, text);
		/* A subnet is no host. */
		if (addr[0] && !quoted && text[len] != '/')
			put_name(f, topo, addr, whole);
	}
}

char *names_add(const char *text)
{
	const struct aggt_topo *topo = description();
	char *copy = NULL;
	size_t size;
	FILE *f;

	if (!topo)
		return strdup(text);
	f = open_memstream(&copy, &size);
	if (!f)
		return NULL;
	put_text(f, topo, text);
	fclose(f);
	return copy;
}

void names_print(FILE *f, const char *fmt, ...)
{
	char *text = NULL, *named = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		named = names_add(text);
	put_safe(f, named ? named : "out of memory");
	free(named);
	free(text);
}

const char *names_init(const char *other)
{
	return access(NAMES_FILE, R_OK) ? other :
	       "aggctl host init --topology @" NAMES_FILE " --run";
}
