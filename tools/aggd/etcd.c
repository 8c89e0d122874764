// SPDX-License-Identifier: GPL-2.0
/* The gateway of etcd: a question is a POST request, and keys and values are base64. */
#define CURL_DISABLE_TYPECHECK	/* sparse does not know the builtins that it uses */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etcd.h"

#define TRY_MIN_MS	50
#define PAUSE_MIN_MS	200	/* after a question that no endpoint has answered */
#define URL_MAX		256	/* bytes of an endpoint */

#define HTTP_OK		200
#define HTTP_BAD	400	/* what is asked for cannot be done */

/**
 * struct answer - what an endpoint sends
 * @data: the bytes
 * @len: of them
 * @too_long: there were more than ETCD_ANSWER_MAX
 */
struct answer {
	char *data;
	size_t len;
	bool too_long;
};

/* How a question to an endpoint has ended */
enum outcome { ANSWERED, REFUSED, SILENT };

static char *endpoints[ETCD_ENDPOINTS];
static unsigned int n_endpoints, current;
static int64_t budget, pause_until;
static uint64_t cluster;
static struct text fault;
static char curl_fault[CURL_ERROR_SIZE];
static bool silent;
static CURL *curl;
static struct curl_slist *headers;

/* --- values ------------------------------------------------------------------------- */

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

json_t *etcd_encode(const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	char *text = malloc((len + 2) / 3 * 4 + 1), *to = text;
	uint32_t v;
	size_t i, n;
	json_t *s;

	if (!text)
		return NULL;
	for (i = 0; i < len; i += 3, to += 4) {
		n = len - i;
		v = (uint32_t)from[i] << 16 | (n > 1 ? from[i + 1] << 8 : 0) |
		    (n > 2 ? from[i + 2] : 0);
		to[0] = digits[v >> 18];
		to[1] = digits[v >> 12 & 63];
		to[2] = n > 1 ? digits[v >> 6 & 63] : '=';
		to[3] = n > 2 ? digits[v & 63] : '=';
	}
	s = json_stringn(text, (size_t)(to - text));
	free(text);
	return s;
}

/* Return: value of a digit, or -1 */
static int digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decode four digits. Return: how many bytes they are, or -1 */
static int decode_four(const char *from, char *to, bool last)
{
	int pad = from[3] != '=' || !last ? 0 : from[2] != '=' ? 1 : 2;
	int i, d, v = 0;

	for (i = 0; i < 4; i++) {
		d = i >= 4 - pad ? 0 : digit(from[i]);
		if (d < 0)
			return -1;
		v = v << 6 | d;
	}
	to[0] = (char)(v >> 16);
	if (pad < 2)
		to[1] = (char)(v >> 8);
	if (!pad)
		to[2] = (char)v;
	return 3 - pad;
}

char *etcd_decode(const json_t *value, size_t *len)
{
	const char *from = json_string_value(value);
	size_t i, n = json_string_length(value);
	char *to;
	int got;

	*len = 0;
	if ((value && !from) || n % 4)
		return NULL;
	to = malloc(n / 4 * 3 + 1);
	for (i = 0; to && i < n; i += 4) {
		got = decode_four(from + i, to + *len, i + 4 == n);
		if (got < 0) {
			free(to);
			return NULL;
		}
		*len += (size_t)got;
	}
	if (to)
		to[*len] = 0;
	return to;
}

uint64_t etcd_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : 0;
}

/* --- requests ------------------------------------------------------------------------- */

/* Children must not have the socket. */
static curl_socket_t open_socket(void *arg, curlsocktype type,
				 struct curl_sockaddr *addr)
{
	(void)arg;
	(void)type;
	return socket(addr->family, addr->socktype | SOCK_CLOEXEC, addr->protocol);
}

static size_t take(char *data, size_t size, size_t n, void *arg)
{
	struct answer *a = arg;
	size_t more = size * n;
	char *longer;

	a->too_long = more > ETCD_ANSWER_MAX - a->len;
	longer = a->too_long ? NULL : realloc(a->data, a->len + more);
	if (!longer)
		return 0;
	memcpy(longer + a->len, data, more);
	a->data = longer;
	a->len += more;
	return more;
}

/*
 * Users see the URL in sentences: it must not have a password. A path or a query would
 * stand before that of the gateway. Return: what is wrong with it, or NULL
 */
static const char *find_fault(const char *url)
{
	CURLU *parts = curl_url();
	char *path = NULL;
	const char *fault = NULL;

	if (!parts)
		return "out of memory";
	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		fault = "does not begin with http:// or https://";
	else if (curl_url_set(parts, CURLUPART_URL, url, CURLU_DISALLOW_USER))
		fault = "is not a URL without a user";
	else if (curl_url_get(parts, CURLUPART_PATH, &path, 0) ||
		 path[strspn(path, "/")] || strpbrk(url, "?#"))
		fault = "must have nothing after the host and the port";
	else if (strlen(url) > URL_MAX)
		fault = "is too long";
	curl_free(path);
	curl_url_cleanup(parts);
	return fault;
}

static int check_endpoint(const char *from, size_t len, struct text *why)
{
	char *url = strndup(from, len);
	const char *fault = url ? find_fault(url) : "out of memory";

	free(url);
	return fault ? text_set(why, "store: '%.*s' %s", (int)(len < 200 ? len : 200),
				from, fault) : 0;
}

int etcd_check(const char *list, struct text *why)
{
	unsigned int n;
	size_t len;

	for (n = 1; ; n++, list += len + 1) {
		len = strcspn(list, ",");
		if (check_endpoint(list, len, why))
			return -1;
		if (n > ETCD_ENDPOINTS)
			return text_set(why, "store: more than %d URLs", ETCD_ENDPOINTS);
		if (!list[len])
			return 0;
	}
}

static int add_endpoint(const char *url, size_t len)
{
	while (url[len - 1] == '/')
		len--;
	endpoints[n_endpoints] = strndup(url, len);
	return endpoints[n_endpoints++] ? 0 : -1;
}

/* May other users than root and that of this process have access? */
static bool is_open(const struct stat *st)
{
	return st->st_mode & 0077 || (st->st_uid && st->st_uid != geteuid());
}

/* A key that other users can read is not a secret. Return: 0, or -1 with @why */
static int check_file(const char *word, const char *path, bool secret, struct text *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err = -1;

	if (fd < 0 || fstat(fd, &st))
		text_set(why, "%s: %s: %s", word, path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		text_set(why, "%s: %s: not a file", word, path);
	else if (secret && is_open(&st))
		text_set(why, "%s: %s: other users have access to it: make it a file of root with mode 600",
			 word, path);
	else
		err = 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static int set_files(const struct etcd_access *access, struct text *why)
{
	if ((access->ca && check_file("etcd-ca", access->ca, false, why)) ||
	    (access->cert && check_file("etcd-cert", access->cert, false, why)) ||
	    (access->key && check_file("etcd-key", access->key, true, why)))
		return -1;
	if (access->ca) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, access->ca);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(curl, CURLOPT_SSLCERT, access->cert);
	curl_easy_setopt(curl, CURLOPT_SSLKEY, access->key);
	return 0;
}

static void set_options(void)
{
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, curl_fault);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	/* A name that is still being resolved when the time is over is not waited for. */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
}

static int add_endpoints(const char *list)
{
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (add_endpoint(list, len))
			return -1;
		if (!list[len])
			return 0;
	}
}

int etcd_open(const struct etcd_access *access, struct text *why)
{
	budget = access->ms;
	cluster = access->cluster;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return text_set(why, "libcurl cannot be initialised");
	curl = curl_easy_init();
	/* A server need not be asked whether it takes a long question. */
	headers = curl_slist_append(headers, "Expect:");
	headers = curl_slist_append(headers, "Content-Type: application/json");
	if (!curl || !headers || add_endpoints(access->endpoints))
		return text_set(why, "out of memory");
	set_options();
	return set_files(access, why);
}

uint64_t etcd_cluster(void)
{
	return cluster;
}

/* Send a question to an endpoint. Return: of libcurl */
static CURLcode post(const char *endpoint, const char *path, const char *question,
		     int64_t ms, struct answer *a)
{
	char url[URL_MAX + 64];

	snprintf(url, sizeof(url), "%s/v3/%s", endpoint, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ms);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(question));
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question);
	curl_fault[0] = 0;
	return curl_easy_perform(curl);
}

/* Return: the sentence of an answer that is an error, or NULL; streams have an object */
static const char *error_of(const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");

	if (json_is_object(error))
		error = json_object_get(error, "message");
	return json_string_value(error);
}

/*
 * A proxy may answer for etcd, and a URL may be that of another cluster, which has other
 * jobs. Return: true; false with @why
 */
static bool check_cluster(const char *endpoint, const json_t *answer, struct text *why)
{
	const json_t *header = json_object_get(answer, "header");
	uint64_t id;

	/* That of a stream is an object below. */
	if (!header)
		header = json_object_get(json_object_get(answer, "result"), "header");
	id = etcd_number(header, "cluster_id");
	if (!id) {
		text_set(why, "etcd: %s: not an answer of etcd: it does not name a cluster",
			 endpoint);
		return false;
	}
	if (!cluster)
		cluster = id;
	if (id == cluster)
		return true;
	text_set(why, "etcd: %s: a member of cluster %016llx: jobs are in cluster %016llx",
		 endpoint, (unsigned long long)id, (unsigned long long)cluster);
	return false;
}

/* What has an endpoint sent? @answer is set, if it is one; else @why */
static enum outcome judge(const char *endpoint, const struct answer *a,
			  json_t **answer, struct text *why)
{
	json_t *found = a->len ? json_loadb(a->data, a->len, 0, NULL) : NULL;
	const char *error = error_of(found);
	enum outcome outcome = SILENT;
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (error)
		text_set(why, "etcd: %.200s", error);
	else if (status != HTTP_OK || !json_is_object(found) ||
		 json_object_get(found, "error"))
		text_set(why, "etcd: %s: not an answer of etcd (HTTP status %ld)",
			 endpoint, status);
	else if (check_cluster(endpoint, found, why))
		outcome = ANSWERED;
	/* With another status etcd may do later, or elsewhere, what it is asked for. */
	if (error && status == HTTP_BAD)
		outcome = REFUSED;
	if (outcome == ANSWERED)
		*answer = found;
	else
		json_decref(found);
	return outcome;
}

static enum outcome ask_one(const char *endpoint, const char *path,
			    const char *question, int64_t ms, json_t **answer,
			    struct text *why)
{
	struct answer a = {};
	enum outcome outcome = SILENT;
	CURLcode st = post(endpoint, path, question, ms, &a);

	if (a.too_long) {
		text_set(why, "etcd: an answer has more than %u bytes", ETCD_ANSWER_MAX);
		outcome = REFUSED;
	} else if (st) {
		text_set(why, "etcd does not answer: %s: %s", endpoint,
			 *curl_fault ? curl_fault : curl_easy_strerror(st));
	} else {
		outcome = judge(endpoint, &a, answer, why);
	}
	free(a.data);
	return outcome;
}

/* Ask the endpoint that has answered last, then the others, each for its share of time. */
static enum outcome ask_all(const char *path, const char *question, json_t **answer,
			    struct text *why)
{
	int64_t end = now_ms() + budget, ms;
	enum outcome outcome = SILENT;
	unsigned int i;

	for (i = 0; i < n_endpoints && outcome == SILENT; i++) {
		ms = (end - now_ms()) / (n_endpoints - i);
		outcome = ask_one(endpoints[current], path, question,
				  ms < TRY_MIN_MS ? TRY_MIN_MS : ms, answer, why);
		if (outcome == SILENT)
			current = (current + 1) % n_endpoints;
	}
	return outcome;
}

json_t *etcd_ask(const char *path, json_t *question, struct text *why)
{
	char *text = question ? json_dumps(question, JSON_COMPACT) : NULL;
	int64_t begin = now_ms(), took;
	json_t *answer = NULL;

	json_decref(question);
	if (!text) {
		text_set(why, "out of memory");
		return NULL;
	}
	if (begin < pause_until) {
		*why = fault;
		free(text);
		return NULL;
	}
	silent = ask_all(path, text, &answer, why) == SILENT;
	free(text);
	if (silent) {
		/* Half of the time is left for connections of programs. */
		took = now_ms() - begin;
		pause_until = now_ms() + (took > PAUSE_MIN_MS ? took : PAUSE_MIN_MS);
		fault = *why;
	}
	return answer;
}

void etcd_hurry(void)
{
	pause_until = 0;
}

const char *etcd_silence(void)
{
	return silent ? fault.s : NULL;
}
