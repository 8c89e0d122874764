// SPDX-License-Identifier: GPL-2.0
/*
 * The state in etcd, for several processes: /aggnet/counter, /aggnet/jobs/ID and
 * /aggnet/plans/ID.TREE, where IDs have ten digits. The process that has made
 * /aggnet/leader, which has a lease, leads. Each change is a transaction that fails if
 * the key was made by another process since. /aggnet/cluster is a random number, which is
 * made once: directories know the jobs by it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "conf.h"
#include "etcd.h"
#include "store_ops.h"
#include "watchdog.h"

#define LEADER		"/aggnet/leader"
#define COUNTER		"/aggnet/counter"
#define CLUSTER		"/aggnet/cluster"
#define JOBS		"/aggnet/jobs/"
#define PLANS		"/aggnet/plans/"
#define KEY_MAX		64	/* of a key of the store, with its 0 */
#define VALUE_MAX	(1u << 20)	/* etcd takes 1.5 MiB, with all that is around it */
#define PAGE		500	/* keys in an answer */
#define KEYS_MORE	10000	/* besides the jobs that there may be */
#define TRIES		16	/* to change a key that changes */

#define ASK_MAX_MS	5000	/* connections of programs wait as long */

/*
 * Shares of the lease: it is renewed after a quarter, with two questions; a question may
 * take an eighth; and when three eighths are left, children are killed, which may be seen
 * two questions late.
 */
#define RENEW_MS	(conf.lease / 4)
#define ASK_MS		(conf.lease / 8 < ASK_MAX_MS ? conf.lease / 8 : ASK_MAX_MS)
#define FENCE_MS	(conf.lease / 8 * 3)
#define AGAIN_MS	200	/* after a question that was not answered */

/**
 * struct lead - what this process is
 * @lease: of the leader's key; 0: none
 * @term: revision at which the key was made; 0: this process does not lead
 * @until: the lease may be over then, of now_ms()
 * @next: when to ask for it again, or to be the leader
 * @lost: the process has led, and does not any more
 * @number: of the jobs, that the directory has; 0: none
 * @why: the sentence for standbys and those that have lost
 * @id: job whose record was read last
 * @revision: that the record had
 * @changed: revision of the last change
 * @counted: that of the counter, when it was changed last
 * @doubtful: job that was refused, as etcd has not answered, but may have its record;
 *            0: none
 */
static struct lead {
	uint64_t lease;
	uint64_t term;
	int64_t until;
	int64_t next;
	bool lost;
	uint64_t number;
	struct text why;
	uint32_t id;
	uint64_t revision;
	uint64_t changed;
	uint64_t counted;
	uint32_t doubtful;
} lead;

/* --- questions ---------------------------------------------------------------------- */

static json_t *text(const char *s)
{
	return etcd_encode(s, strlen(s));
}

static json_t *decimal(uint64_t n)
{
	return json_sprintf("%llu", (unsigned long long)n);
}

static void job_key(uint32_t id, char key[KEY_MAX])
{
	snprintf(key, KEY_MAX, JOBS "%010u", id);
}

static void plan_key(uint32_t id, uint32_t tree, char key[KEY_MAX])
{
	snprintf(key, KEY_MAX, PLANS "%010u.%u", id, tree);
}

static json_t *range(const char *key)
{
	return json_pack("{s:o}", "key", text(key));
}

/* All keys that begin with this; it ends with the separator @last. */
static json_t *range_below(const char *prefix)
{
	size_t len = strlen(prefix);
	char end[KEY_MAX];

	snprintf(end, sizeof(end), "%s", prefix);
	end[len - 1]++;
	return json_pack("{s:o, s:o}", "key", text(prefix), "range_end", text(end));
}

/* Condition: target @what of a key, called @member, is equal or greater. */
static json_t *compare(const char *key, const char *what, const char *member,
		       const char *result, uint64_t value)
{
	return json_pack("{s:o, s:s, s:s, s:o}", "key", text(key), "target", what,
			 "result", result, member, decimal(value));
}

/* Condition: the key has not been changed since this revision; 0: it does not exist. */
static json_t *same(const char *key, uint64_t revision)
{
	return compare(key, "MOD", "mod_revision", "EQUAL", revision);
}

static json_t *put_op(const char *key, const void *value, size_t len)
{
	return json_pack("{s:{s:o, s:o}}", "request_put", "key", text(key),
			 "value", etcd_encode(value, len));
}

/* Return: element @i of the ranges of a transaction's answer, or NULL */
static json_t *first_of(const json_t *range_answer)
{
	return json_array_get(json_object_get(range_answer, "kvs"), 0);
}

static json_t *response(const json_t *answer, size_t i)
{
	return json_object_get(json_array_get(json_object_get(answer, "responses"), i),
			       "response_range");
}

/* --- the lease ------------------------------------------------------------------------ */

static void lose(const char *sentence)
{
	if (!lead.lost)
		text_set(&lead.why, "%s", sentence);
	lead.lost = true;
}

/* The lease is in force until then; children of a process that is stopped end before. */
static void set_until(int64_t until)
{
	lead.until = until;
	watchdog_feed(until - FENCE_MS);
}

/* Is it the key that this process has made? Else it must end. */
static bool is_own(const json_t *leader)
{
	if (etcd_number(leader, "create_revision") == lead.term)
		return true;
	lose("another aggd leads, or has led: the lease of this one was over");
	return false;
}

/*
 * The lease may go on without the key, which was deleted, or at a member of etcd that does
 * not have what the others have. Return: is the key there?
 */
static bool has_key(void)
{
	struct text why;
	json_t *answer = etcd_ask("kv/range", range(LEADER), &why);
	bool own = answer && is_own(first_of(answer));

	json_decref(answer);
	return own;
}

/* Keep the lease. Without an answer it is tried again soon. */
static void renew(void)
{
	int64_t begin = now_ms();
	struct text why;
	json_t *answer;

	lead.next = begin + RENEW_MS;
	answer = etcd_ask("lease/keepalive", json_pack("{s:o}", "ID",
						       decimal(lead.lease)), &why);
	if (answer && !etcd_number(json_object_get(answer, "result"), "TTL"))
		lose("the lease of this aggd was over: another one may lead");
	else if (answer && has_key())
		set_until(begin + conf.lease);
	else
		lead.next = now_ms() + AGAIN_MS;
	json_decref(answer);
}

/* Ask, and keep the lease between many questions. */
static json_t *ask(const char *path, json_t *question, struct text *why)
{
	if (lead.term && !lead.lost && now_ms() >= lead.next)
		renew();
	if (!lead.lost)
		return etcd_ask(path, question, why);
	json_decref(question);
	*why = lead.why;
	return NULL;
}

/* Name the leader, from the value of its key. */
static void name_leader(const json_t *kv)
{
	size_t len;
	char *value = etcd_decode(json_object_get(kv, "value"), &len);
	json_t *leader = value ? json_loadb(value, len, 0, NULL) : NULL;
	const char *host = json_string_value(json_object_get(leader, "host"));
	const char *path = json_string_value(json_object_get(leader, "socket"));

	if (host && path)
		text_set(&lead.why, "this aggd is a standby: the leader is the aggd of host %.64s, socket %.108s: run the command there",
			 host, path);
	else
		text_set(&lead.why, "this aggd is a standby, and the value of the key " LEADER " in etcd does not name the leader");
	json_decref(leader);
	free(value);
}

/* Return: an ID of a lease, or 0 with lead.why */
static uint64_t grant(void)
{
	json_t *answer = etcd_ask("lease/grant", json_pack("{s:o}", "TTL",
				  decimal((conf.lease + 999) / 1000)), &lead.why);
	uint64_t id = etcd_number(answer, "ID");

	if (answer && !id)
		text_set(&lead.why, "etcd: the answer of lease/grant has no ID");
	json_decref(answer);
	return id;
}

static void give_up(void)
{
	struct text why;

	/* It may be in force though the last question had no answer. */
	etcd_hurry();
	json_decref(etcd_ask("lease/revoke", json_pack("{s:o}", "ID",
						       decimal(lead.lease)), &why));
	lead.lease = 0;
}

/* Make the leader's key, unless it exists. Return: the answer, or NULL with lead.why */
static json_t *claim(void)
{
	char host[65] = "";
	json_t *leader, *put = NULL;
	char *value;

	gethostname(host, sizeof(host) - 1);
	text_clean(host);
	leader = json_pack("{s:s, s:s}", "host", host, "socket", conf.socket);
	value = json_dumps(leader, JSON_COMPACT);
	if (value)
		put = put_op(LEADER, value, strlen(value));
	json_object_set_new(json_object_get(put, "request_put"), "lease",
			    decimal(lead.lease));
	json_decref(leader);
	free(value);
	return etcd_ask("kv/txn", json_pack("{s:[o], s:[o], s:[{s:o}]}",
			"compare", compare(LEADER, "CREATE", "create_revision", "EQUAL", 0),
			"success", put,
			"failure", "request_range", range(LEADER)), &lead.why);
}

/* No process leads: try to be the one. */
static void run_for_leader(void)
{
	int64_t begin = now_ms();
	json_t *answer;

	lead.lease = grant();
	if (!lead.lease)
		return;
	answer = claim();
	if (json_is_true(json_object_get(answer, "succeeded"))) {
		lead.term = etcd_number(json_object_get(answer, "header"), "revision");
		set_until(begin + conf.lease);
		lead.next = begin + RENEW_MS;
		store_file_del_all_plans();
	} else {
		if (answer)
			name_leader(first_of(response(answer, 0)));
		give_up();
	}
	json_decref(answer);
}

/* Give the jobs a number, unless they have one. Return: 0, or -1 with lead.why */
static int make_number(void)
{
	uint64_t number;
	char text[17];
	json_t *answer;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return text_set(&lead.why, "getrandom: no random number");
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)number);
	answer = etcd_ask("kv/txn", json_pack("{s:[o], s:[o]}",
			  "compare", compare(CLUSTER, "CREATE", "create_revision",
					     "EQUAL", 0),
			  "success", put_op(CLUSTER, text, strlen(text))), &lead.why);
	json_decref(answer);
	return answer ? 0 : -1;
}

/* Return: the number that is the value, or 0 */
static uint64_t number_of(const json_t *kv)
{
	size_t len;
	char *value = etcd_decode(json_object_get(kv, "value"), &len), *end;
	uint64_t number = value ? strtoull(value, &end, 16) : 0;

	if (number && (*end || len != 16))
		number = 0;
	free(value);
	return number;
}

/* Return: 1: etcd has the jobs of this directory; 0: it has none yet; -1 with lead.why */
static int know_jobs(void)
{
	json_t *answer = etcd_ask("kv/range", range(CLUSTER), &lead.why);
	bool there = first_of(answer);
	uint64_t number = number_of(first_of(answer));
	struct text why;

	json_decref(answer);
	if (!answer)
		return -1;
	if (number != lead.number && lead.number)
		return text_set(&lead.why, "etcd: the key " CLUSTER " is not the number in %s/cluster: etcd has lost its data, or is another one: withdraw its jobs from nodes, remove this file, and give 'first' above all job IDs",
				conf.state);
	if (there && !number)
		return text_set(&lead.why, "etcd: " CLUSTER ": not a number of 16 digits: remove the key");
	if (number != lead.number &&
	    store_file_write_cluster(etcd_cluster(), number, &why)) {
		lose(why.s);
		return -1;
	}
	lead.number = number;
	if (!there)
		text_set(&lead.why, "etcd: there is no key " CLUSTER);
	return there;
}

/*
 * An etcd whose data was removed may have the same URLs, and the ID that its cluster had
 * before: whether it has the jobs is asked each time before this process may lead.
 */
static void stand_by(void)
{
	json_t *answer = etcd_ask("kv/range", range(LEADER), &lead.why);
	json_t *leader = first_of(answer);
	int known = answer ? know_jobs() : -1;

	if (!known && !leader && !make_number())
		known = know_jobs();
	if (known >= 0 && leader)
		name_leader(leader);
	else if (known > 0)
		run_for_leader();
	json_decref(answer);
	if (!lead.term)
		lead.next = now_ms() + (conf.lease < 4000 ? RENEW_MS : 1000);
}

/* Return: ms until the lease is to be renewed, or the children are to be killed */
static int64_t left(int64_t now)
{
	int64_t next = lead.next, fence = lead.until - FENCE_MS;

	if (lead.term && fence > now && fence < next)
		next = fence;
	return next > now ? next - now : 0;
}

static void forget_doubtful(void);

static int64_t tick(int64_t now)
{
	if (lead.lost)
		return 0;
	if (now >= lead.next && lead.term)
		renew();
	else if (now >= lead.next)
		stand_by();
	if (lead.doubtful && !etcd_silence())
		forget_doubtful();
	now = now_ms();
	/* Users wait for its next answer. */
	if (lead.term && etcd_silence() && lead.next > now + AGAIN_MS)
		lead.next = now + AGAIN_MS;
	return left(now);
}

static enum store_state state(struct text *why)
{
	*why = lead.why;
	if (lead.lost)
		return STORE_LOST;
	if (!lead.term)
		return STORE_STANDBY;
	text_set(why, "the lease of this aggd is nearly over: nothing can be changed until etcd renews it");
	if (etcd_silence())
		text_set(why, "%s: jobs in force stay, and nothing can be changed until it answers",
			 etcd_silence());
	if (now_ms() >= lead.until - FENCE_MS)
		return STORE_FENCED;
	return etcd_silence() ? STORE_SILENT : STORE_READY;
}

static int open_etcd(struct text *why)
{
	struct etcd_access access = {
		.endpoints = conf.etcd, .ms = ASK_MS, .ca = conf.etcd_ca,
		.cert = conf.etcd_cert, .key = conf.etcd_key,
	};

	if (store_file_is_left(why) || store_file_read_cluster(&access.cluster, &lead.number,
							     why))
		return -1;
	if (!conf.hosts)
		note("store etcd without hosts: a job is applied to and withdrawn from the host of the leader only, or its testbed; give 'hosts' if other hosts have aggd");
	if (!conf.etcd_cert)
		note("store etcd without etcd-cert: each user that reaches etcd can read the keys of plans, and submit jobs as root; see aggd(8)");
	text_set(&lead.why, "this aggd has not asked etcd yet");
	return etcd_open(&access, why);
}

static void close_etcd(void)
{
	if (lead.term && !lead.lost)
		give_up();
}

/* --- transactions ----------------------------------------------------------------------- */

/* Does the answer of a transaction that failed show that this process leads? */
static bool check_leader(const json_t *answer, struct text *why)
{
	if (is_own(first_of(response(answer, 0))))
		return true;
	*why = lead.why;
	return false;
}

/**
 * change() - a transaction of the leader
 * @besides: an array of conditions; NULL: none
 * @ops: an array
 * @see: key to read if it fails
 * @seen: set to its value with revisions if it fails and this process leads; NULL if the
 *        key does not exist
 * @why: set on failure
 *
 * Return: 1; 0: the condition is not true; -1
 */
static int change(json_t *besides, json_t *ops, const char *see, json_t **seen,
		  struct text *why)
{
	json_t *conditions = json_pack("[o]", compare(LEADER, "CREATE",
						      "create_revision", "EQUAL",
						      lead.term));
	json_t *answer;
	int done = -1;

	json_array_extend(conditions, besides);
	json_decref(besides);
	answer = ask("kv/txn", json_pack("{s:o, s:o, s:[{s:o}, {s:o}]}",
					 "compare", conditions, "success", ops,
					 "failure", "request_range", range(LEADER),
					 "request_range", range(see)), why);
	if (json_is_true(json_object_get(answer, "succeeded"))) {
		lead.changed = etcd_number(json_object_get(answer, "header"), "revision");
		done = 1;
	} else if (answer && check_leader(answer, why)) {
		done = 0;
	}
	*seen = done ? NULL : json_incref(first_of(response(answer, 1)));
	json_decref(answer);
	return done;
}

/* Return: a key's value and revisions, NULL with @why; @why is empty: not there */
static json_t *read_key(const char *key, struct text *why)
{
	json_t *answer = ask("kv/range", range(key), why), *kv;

	if (!answer)
		return NULL;
	why->s[0] = 0;
	kv = json_incref(first_of(answer));
	json_decref(answer);
	return kv;
}

/* Return: the bytes of a value, to be freed; NULL with @why */
static char *value_of(const json_t *kv, const char *key, size_t *len, struct text *why)
{
	char *value = etcd_decode(json_object_get(kv, "value"), len);

	if (value && *len <= VALUE_MAX)
		return value;
	text_set(why, "etcd: %s: the value %s", key,
		 value ? "has more than 1 MiB" : "cannot be decoded");
	free(value);
	return NULL;
}

static void del_ops(json_t *ops, json_t *what)
{
	json_array_append_new(ops, json_pack("{s:o}", "request_delete_range", what));
}

/* Operations that remove the plans of a job, and @record: its record */
static json_t *del_job(uint32_t id, bool record)
{
	json_t *ops = json_array();
	char key[KEY_MAX];

	snprintf(key, sizeof(key), PLANS "%010u.", id);
	del_ops(ops, range_below(key));
	job_key(id, key);
	if (record)
		del_ops(ops, range(key));
	return ops;
}

/* What is not removed now is removed when a leader begins. Return: 0, or -1 */
static int del_keys(uint32_t id, bool record)
{
	struct text why;
	json_t *seen;
	int done = change(NULL, del_job(id, record), COUNTER, &seen, &why);

	json_decref(seen);
	return done > 0 ? 0 : -1;
}

static void del(uint32_t id, uint32_t trees)
{
	store_file_del_plans(id, trees);
	del_keys(id, true);
}

static void del_plans(uint32_t id, uint32_t trees)
{
	store_file_del_plans(id, trees);
	del_keys(id, false);
}

/* --- the counter --------------------------------------------------------------------- */

/* IDs of jobs that the directory had are not given again. Return: 0, or -1 with @why */
static int first_id(uint32_t *next, struct text *why)
{
	if (store_file_counter(next, why))
		return -1;
	if (*next < conf.first)
		*next = conf.first;
	return 0;
}

/* It is not below the IDs of this directory. Return: 0, or -1 with @why */
static int read_counter(const json_t *kv, uint32_t *next, struct text *why)
{
	uint32_t own;
	size_t len = 0;
	char *value;
	bool valid;

	if (first_id(&own, why))
		return -1;
	*next = own;
	if (!kv)
		return 0;
	value = etcd_decode(json_object_get(kv, "value"), &len);
	valid = value && strlen(value) == len && value_parse(OPT_U32, value, next) &&
		*next;
	free(value);
	if (!valid)
		return text_set(why, "etcd: " COUNTER ": not a number: write one that exceeds all job IDs");
	if (*next < own)
		*next = own;
	return 0;
}

static int take_ids(uint32_t n, uint32_t *first, struct text *why)
{
	char next[16];
	json_t *kv, *seen, *ops;
	int i, done = 0;

	kv = read_key(COUNTER, why);
	if (!kv && why->s[0])
		return -1;
	/* The own question may have had its effect without an answer: then it is redone. */
	for (i = 0; i < TRIES && !done; i++) {
		done = read_counter(kv, first, why);
		if (!done && *first > UINT32_MAX - n)
			done = text_set(why, "all job IDs have been used");
		if (done)
			break;
		snprintf(next, sizeof(next), "%u", *first + n);
		ops = json_pack("[o]", put_op(COUNTER, next, strlen(next)));
		done = change(json_pack("[o]", same(COUNTER,
						    etcd_number(kv, "mod_revision"))),
			      ops, COUNTER, &seen, why);
		json_decref(kv);
		kv = seen;
	}
	json_decref(kv);
	if (!done)
		text_set(why, "etcd: " COUNTER " changes too often");
	lead.counted = lead.changed;
	return done > 0 ? 0 : -1;
}

/*
 * The user was told that the job is refused. Its record, if it comes late, needs a counter
 * that is not written after its ID was taken.
 */
static void forget_doubtful(void)
{
	uint32_t id = lead.doubtful, n;
	struct text why;

	lead.doubtful = 0;
	if (take_ids(0, &n, &why) || del_keys(id, true))
		lead.doubtful = id;
}

/* --- records ---------------------------------------------------------------------------- */

/* Does the record have this text already, by a question that was not answered? */
static bool has_value(const json_t *kv, const char *data)
{
	size_t len;
	char *value = etcd_decode(json_object_get(kv, "value"), &len);
	bool equal = value && len == strlen(data) && !memcmp(value, data, len);

	free(value);
	return equal;
}

/*
 * A question that is late must not replace a newer record: it names the revision that it
 * was read at, which is 0 for a new one; that one needs the counter as its ID was taken.
 */
static int put(uint32_t id, const json_t *record, struct text *why)
{
	uint64_t revision = lead.id == id ? lead.revision : 0;
	char *data = json_dumps(record, JSON_COMPACT), key[KEY_MAX];
	json_t *seen, *conditions;
	int done;

	lead.id = 0;
	if (!data)
		return text_set(why, "out of memory");
	job_key(id, key);
	conditions = json_pack("[o]", same(key, revision));
	if (!revision)
		json_array_append_new(conditions, same(COUNTER, lead.counted));
	done = change(conditions, json_pack("[o]", put_op(key, data, strlen(data))), key,
		      &seen, why);
	if (done < 0 && etcd_silence() && !revision) {
		lead.doubtful = id;
		text_set(why, "%.300s: job %u may have been submitted: when etcd answers, see 'aggctl job list' before you submit it again",
			 etcd_silence(), id);
	}
	if (!done && has_value(seen, data))
		done = 1;
	else if (!done)
		text_set(why, "etcd: %s: the record was changed by another program",
			 key);
	json_decref(seen);
	free(data);
	return done > 0 ? 0 : -1;
}

static json_t *get(uint32_t id, struct text *why)
{
	json_t *kv, *record = NULL;
	json_error_t fault;
	char key[KEY_MAX], *data = NULL;
	size_t len;

	lead.id = 0;
	job_key(id, key);
	kv = read_key(key, why);
	if (kv)
		data = value_of(kv, key, &len, why);
	else if (!why->s[0])
		text_set(why, "etcd: %s: there is no such key", key);
	if (data)
		record = json_loadb(data, len, JSON_REJECT_DUPLICATES, &fault);
	if (data && !record)
		text_set(why, "etcd: %s: not JSON: %s", key, fault.text);
	if (record) {
		lead.id = id;
		lead.revision = etcd_number(kv, "mod_revision");
	}
	json_decref(kv);
	free(data);
	return record;
}

/* Return: the ID of a key of a job, 0: it is not one */
static uint32_t id_of(const char *key, size_t len)
{
	char again[KEY_MAX];
	uint32_t id = 0;

	if (!strncmp(key, JOBS, strlen(JOBS)) && isdigit((unsigned char)key[strlen(JOBS)]))
		id = (uint32_t)strtoul(key + strlen(JOBS), NULL, 10);
	job_key(id, again);
	return len == strlen(again) && !strcmp(key, again) ? id : 0;
}

/* Return: 0; -1 with @why: no job can be read now */
static int each_key(const char *key, size_t len, uint32_t end,
		    int (*one)(uint32_t id, json_t *record, struct text *why),
		    struct text *why)
{
	uint32_t id = id_of(key, len);
	json_t *record = NULL;
	int err = -1;

	if (!id)
		text_set(why, "etcd: key '%.64s' is not the name of a job", key);
	else if (id >= end)
		text_set(why, "etcd: %s: the ID is not below " COUNTER, key);
	else
		record = get(id, why);
	if (record)
		err = one(id, record, why);
	json_decref(record);
	if (err && (etcd_silence() || lead.lost))
		return -1;
	/* It must not keep the other jobs from their end. */
	if (err)
		note("a job is left as it is: %s", why->s);
	return 0;
}

/* Return: the keys of jobs from this one on; NULL with @why */
static json_t *page_of(const char *from, size_t len, struct text *why)
{
	json_t *question = range_below(JOBS);

	json_object_set_new(question, "key", etcd_encode(from, len));
	json_object_set_new(question, "keys_only", json_true());
	json_object_set_new(question, "limit", decimal(PAGE));
	return ask("kv/range", question, why);
}

/* Is this key the other one, or after it? Else the walk might not end. */
static bool is_after(const char *key, size_t len, const char *other, size_t other_len)
{
	int order = memcmp(key, other, len < other_len ? len : other_len);

	return order > 0 || (!order && len >= other_len);
}

/* Jobs of earlier bounds, and keys that are not jobs, are read too, but not without end. */
static uint64_t keys_max(void)
{
	return (uint64_t)conf.jobs + conf.queue + conf.history + KEYS_MORE;
}

/* @from: set to what follows the last key */
static int each_of_page(const json_t *page, uint32_t end, char **from, size_t *len,
			int (*one)(uint32_t id, json_t *record, struct text *why),
			struct text *why)
{
	char *key;
	json_t *kv;
	size_t i, n;

	json_array_foreach(json_object_get(page, "kvs"), i, kv) {
		key = etcd_decode(json_object_get(kv, "key"), &n);
		if (!key || !is_after(key, n, *from, *len)) {
			free(key);
			return text_set(why, "etcd: the keys below " JOBS " are not in their order");
		}
		free(*from);
		*from = key;
		if (each_key(key, n, end, one, why))
			return -1;
		/* The next key is this one and a byte 0, which is there. */
		*len = n + 1;
	}
	return 0;
}

static int each(int (*one)(uint32_t id, json_t *record, struct text *why),
		struct text *why)
{
	char *from = strdup(JOBS);
	size_t len = strlen(JOBS);
	json_t *page;
	bool more = true;
	uint64_t keys = 0;
	uint32_t end;
	int err = 0;

	/* The next leader does not know the counter that this directory may have. */
	if (take_ids(0, &end, why)) {
		/* A wrong one keeps jobs from being submitted, but not from ending. */
		end = UINT32_MAX;
		err = etcd_silence() || lead.lost ? -1 : 0;
	}
	while (!err && more && from) {
		page = page_of(from, len, why);
		err = page ? each_of_page(page, end, &from, &len, one, why) : -1;
		keys += json_array_size(json_object_get(page, "kvs"));
		more = json_is_true(json_object_get(page, "more")) &&
		       json_array_size(json_object_get(page, "kvs"));
		json_decref(page);
		if (!err && keys > keys_max())
			err = text_set(why, "etcd: there are more than %llu keys below " JOBS ": remove those that are not jobs",
				       (unsigned long long)keys_max());
	}
	free(from);
	return err;
}

/* --- plans -------------------------------------------------------------------------------- */

/*
 * A question that is late must not replace a newer plan, which names the revision that it
 * replaces, nor leave the plan of a job that is forgotten. Return: as change()
 */
static int put_plan(const char *key, const char *job, const char *plan, json_t **kv,
		    struct text *why)
{
	json_t *seen;
	int done;

	done = change(json_pack("[o, o]", compare(job, "VERSION", "version", "GREATER", 0),
				same(key, etcd_number(*kv, "mod_revision"))),
		      json_pack("[o]", put_op(key, plan, strlen(plan))), key, &seen, why);
	json_decref(*kv);
	*kv = seen;
	return done;
}

static int sync_plan(uint32_t id, uint32_t tree, struct text *why)
{
	char key[KEY_MAX], job[KEY_MAX], *plan;
	json_t *kv = NULL;
	size_t len;
	int i, done = 0;

	plan = store_file_read_plan(id, tree, &len, why);
	if (!plan)
		return -1;
	plan_key(id, tree, key);
	job_key(id, job);
	if (len > VALUE_MAX)
		done = text_set(why, "the plan of tree %u has %zu bytes, and etcd has at most 1 MiB of it",
				tree, len);
	if (!done)
		kv = read_key(key, why);
	if (!done && !kv && why->s[0])
		done = -1;
	/* A question without an answer may have its effect between. */
	for (i = 0; i < TRIES && !done; i++)
		done = put_plan(key, job, plan, &kv, why);
	if (!done)
		text_set(why, "etcd: %s: it changes, or %s does not exist", key, job);
	json_decref(kv);
	free(plan);
	return done > 0 ? 0 : -1;
}

static int fetch_plan(uint32_t id, uint32_t tree, struct text *why)
{
	char key[KEY_MAX], *plan;
	json_t *kv;
	size_t len;
	int err;

	if (store_file.fetch_plan(id, tree, why))
		return 1;
	plan_key(id, tree, key);
	kv = read_key(key, why);
	if (!kv)
		return why->s[0] ? -1 : 0;
	plan = value_of(kv, key, &len, why);
	err = plan ? store_file_write_plan(id, tree, plan, why) : -1;
	json_decref(kv);
	free(plan);
	return err ? -1 : 1;
}

const struct store_ops store_etcd = {
	.open = open_etcd,
	.state = state,
	.tick = tick,
	.close = close_etcd,
	.take_ids = take_ids,
	.put = put,
	.get = get,
	.del = del,
	.del_plans = del_plans,
	.each = each,
	.sync_plan = sync_plan,
	.fetch_plan = fetch_plan,
};
