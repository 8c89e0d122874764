// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of repairs under supervision, and of the file that tells the plan
 * in force: what is killed, refused or overtaken at any step ends in one plan.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/aggctl/supervise/supervise.c"
#include "../../tools/aggctl/testbed/testbed_route.c"
#include "../../tools/aggctl/cmd/apply_hosts.h"
#include "../../tools/aggctl/cmd/cmd.h"
#include "../../tools/aggctl/files.h"
#include "../../tools/aggctl/plan/plan_apply.h"
#include "../uapi/harness.h"
#include "fake_ctl.h"
#include "open_fds.h"
#include "plan_json.h"

#define STEPS_MAX	1000
#define REFUSALS	6	/* of a repair, and supervision ends */
#define RECEIVER	"10.0.0.1"

/* The senders and the receiver of most plans */
static const aggt_node v1_v4[] = { 1, 4 }, to_v0;

/* A supervisor of the plan in @path. */
struct supervisor {
	char *path;
	struct plan_store store;
	struct supervise s;
	bool unsaved;	/* as the last repair was told of */
	unsigned int told;
	unsigned int stalled;
	int ret;	/* of a repair that was made meanwhile */
};

FIXTURE(repair) {
	int fds;
	char dir[32];
	char path[64];
	struct supervisor one;
};

static void repaired(void *arg, const struct repair *r)
{
	struct supervisor *v = arg;

	v->unsaved = r->unsaved;
	v->told++;
}

static json_t *make_plan_by(uint8_t scheme, const aggt_node *senders,
			    const aggt_node *receivers, size_t n_receivers)
{
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = receivers,
		.n_receivers = n_receivers, .method = "irs",
	};
	struct plan plan = { .conf = {
		.job = 1, .instance = 1, .scheme = scheme,
		.aggnet_switches = scheme == AGGNET_SCHEME_EXACT,
		.keyed = true, .writers = 1,
	} };

	plan_topology(&plan, "plan", "bcube:3,1");
	return plan_json_of(&plan, &job);
}

static json_t *make_plan_of(const aggt_node *senders,
			    const aggt_node *receivers, size_t n_receivers)
{
	return make_plan_by(AGGNET_SCHEME_EXACT, senders, receivers,
			    n_receivers);
}

/* v4 has other paths than that by v1. */
static json_t *make_plan(void)
{
	return make_plan_of(v1_v4, &to_v0, 1);
}

/* A plan, taken over, in the file and in force at the nodes that there are. */
static int put(const char *path, json_t *json)
{
	struct plan_install how = { .in_testbed = true, .unchecked = true };
	struct plan_file file;
	int ret;

	ret = json_dump_file(json, path, 0) | plan_file_take(&file, json);
	chmod(path, 0600);
	if (!ret)
		ret = plan_install(&file, &how);
	plan_file_free(&file);
	json_decref(json);
	world->steps = 0;
	world->commits = 0;
	return ret;
}

static int begin_with(const char *path, json_t *json)
{
	fake_world_new();
	return put(path, json);
}

static int begin(const char *path)
{
	return begin_with(path, make_plan());
}

/*
 * Begins to supervise; stop() is due in any case. @only: this node. @in_testbed: it
 * has a namespace of its own.
 */
static int start_in(struct supervisor *v, char *path, const char *only,
		    bool in_testbed)
{
	struct plan_file file = {};
	int ret;

	*v = (struct supervisor){
		.path = path, .store = { .dir = -1, .file = -1 },
		.s = { .path = path, .store = &v->store, .names = -1,
		       .only = only, .in_testbed = in_testbed,
		       .told = repaired, .arg = v },
	};
	if (plan_store_open(&v->store, v->path))
		return -1;
	ret = plan_file_load_fd(&file, v->store.file, v->path);
	v->s.json = json_incref(file.json);
	plan_file_free(&file);
	return ret || prepare(&v->s) || supervise_listen(&v->s) ||
	       supervise_resume(&v->s) ? -1 : 0;
}

static int start_at(struct supervisor *v, char *path, const char *only)
{
	return start_in(v, path, only, !only);
}

static int start(struct supervisor *v, char *path)
{
	return start_at(v, path, NULL);
}

/* It may be called again. */
static void stop(struct supervisor *v)
{
	supervise_close(&v->s);
	aggnet_watch_free(v->s.watch);
	json_decref(v->s.changes);
	json_decref(v->s.renew);
	json_decref(v->s.over);
	json_decref(v->s.json);
	free(v->s.tree);
	plan_store_close(&v->store);
	*v = (struct supervisor){
		.path = v->path, .store = { .dir = -1, .file = -1 },
		.s.names = -1,
	};
}

/* The next supervisor of the same plan */
static int restart(struct supervisor *v)
{
	stop(v);
	return start(v, v->path);
}

/* The first plan once more, in a new world */
static int start_anew(struct supervisor *v)
{
	stop(v);
	return begin(v->path) || start(v, v->path);
}

/* Supervises a plan with two receivers instead, that of v0 being the first. */
static int start_two(struct supervisor *v, const aggt_node *senders,
		     aggt_node second, const char *only)
{
	const aggt_node receivers[] = { 0, second };

	stop(v);
	if (begin_with(v->path, make_plan_of(senders, receivers, 2)))
		return -1;
	if (only)
		world->at = fake_number(only);
	return start_at(v, v->path, only);
}

FIXTURE_SETUP(repair)
{
	self->fds = open_fds();
	strcpy(self->dir, "/tmp/aggnet-test-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/plan.json", self->dir);
	ASSERT_EQ(0, begin(self->path));
	ASSERT_EQ(0, start(&self->one, self->path));
}

FIXTURE_TEARDOWN(repair)
{
	unlink(self->path);
	rmdir(self->dir);
	stop(&self->one);
	EXPECT_EQ(self->fds, open_fds());
}

static void mend(struct supervisor *v, const char *server, const char *port)
{
	aggnet_watch_port(v->s.watch, server, port, true, supervise_now());
}

/* The link of @server at @port goes down, and is gone around. */
static int cut(struct supervisor *v, const char *server, const char *port)
{
	struct aggnet_finding f;
	int64_t now = supervise_now();

	aggnet_watch_port(v->s.watch, server, port, false, now);
	if (aggnet_watch_judge(v->s.watch, now + AGGNET_WATCH_SETTLE_MS,
			       &f) != AGGNET_WATCH_REPAIR)
		return -1;
	return supervise_repair(&v->s, &f);
}

/* All events that the nodes have told, and what they mean. */
static enum aggnet_verdict hear(struct supervisor *v, struct aggnet_finding *f)
{
	enum aggnet_verdict verdict;
	unsigned int i;

	for (i = 0; i < FAKE_EVENTS; i++)
		if (supervise_hear(&v->s, 0))
			return AGGNET_WATCH_FAILED;
	verdict = aggnet_watch_judge(v->s.watch, supervise_now() +
				     AGGNET_WATCH_SETTLE_MS, f);
	if (verdict != AGGNET_WATCH_WAIT)
		fprintf(stderr, "# judged: %s\n", f->text);
	return verdict;
}

/* What was put off is due, as long as something is. */
static int settle(struct supervisor *v)
{
	int ret = 0;

	while (!ret && v->s.retry_ms)
		ret = supervise_retry(&v->s);
	return ret;
}

static bool tells(const char *path, const json_t *json)
{
	json_t *found = json_load_file(path, 0, NULL);
	bool same = json_equal(found, (json_t *)json);

	json_decref(found);
	return same;
}

static json_t *updated(const char *path, const char *change)
{
	json_t *old = json_load_file(path, 0, NULL), *new = NULL;
	char *text = (char *)change;
	struct plan plan = {};

	if (!plan_restore(&plan, old, path))
		new = plan_update(&plan, old, &text, 1);
	plan_clear(&plan);
	json_decref(old);
	return new;
}

/* There is nothing beside the plan in its directory. */
static bool is_alone(FIXTURE_DATA(repair) *self)
{
	struct dirent **entry = NULL;
	int i, n = scandir(self->dir, &entry, NULL, NULL);

	for (i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
	/* The directory and its parent have names in it, too. */
	return n == 3;
}

/* Supervises until there is nothing to do. */
static enum aggnet_verdict run(struct supervisor *v)
{
	enum aggnet_verdict verdict;
	struct aggnet_finding f;
	int ret = 0;

	do {
		verdict = hear(v, &f);
		if (verdict == AGGNET_WATCH_REPAIR)
			ret = supervise_repair(&v->s, &f);
		else if (v->s.retry_ms)
			ret = supervise_retry(&v->s);
		else
			return verdict;
	} while (!ret);
	return AGGNET_WATCH_FAILED;
}

/* --- what is in force ------------------------------------------------------ */

static const json_t *entry_of(const json_t *json, const char *name)
{
	json_t *node = json_object_get(json_object_get(json, "nodes"), name);

	return json_array_get(json_object_get(node, "trees"), 0);
}

static bool is_entry_of(const struct fake_entry *entry, const json_t *json)
{
	const char *plan = json_string_value(json_object_get(json, "plan"));
	char text[2 * AGGNET_PLAN_LEN + 1] = "";
	json_t *instance, *attempt;
	size_t i;

	for (i = 0; i < AGGNET_PLAN_LEN; i++)
		sprintf(text + 2 * i, "%02x", entry->plan[i]);
	instance = json_object_get(json, "instance");
	attempt = json_object_get(json, "attempt");
	return entry->instance == json_integer_value(instance) &&
	       entry->attempt == json_integer_value(attempt) &&
	       plan && !strcmp(plan, text);
}

/* Every node has what the plan says, and nothing else. */
static bool in_force(const json_t *json)
{
	const struct fake_node *node;
	const json_t *entry;
	unsigned int i;

	for (i = 0; i < FAKE_NODES; i++) {
		node = &world->node[i];
		entry = entry_of(json, node->name);
		if (node->n != !!entry ||
		    (entry && !is_entry_of(&node->entry[0], entry))) {
			fprintf(stderr, "# %s: %u entries, attempt %u\n",
				node->name, node->n, node->entry[0].attempt);
			return false;
		}
	}
	return true;
}

/* Every node of the plan has its entry, whatever other nodes have. */
static bool has_plan(const json_t *json)
{
	const struct fake_node *node;
	const json_t *entry;
	unsigned int i;
	bool all = true;

	for (i = 0; i < FAKE_NODES; i++) {
		node = &world->node[i];
		entry = entry_of(json, node->name);
		all &= !entry || (node->n == 1 &&
				  is_entry_of(&node->entry[0], entry));
	}
	return all;
}

static bool nothing_in_force(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < FAKE_NODES; i++)
		n += world->node[i].n;
	return !n;
}

static json_int_t attempt(const json_t *json)
{
	json_t *tree = json_array_get(json_object_get(json, "trees"), 0);

	return json_integer_value(json_object_get(tree, "attempt"));
}

static int withdraw(char *path)
{
	const struct aggctl ctl = { .json = true };
	int out = dup(STDOUT_FILENO), ret;

	dup2(STDERR_FILENO, STDOUT_FILENO);
	ret = cmd_withdraw.verbs[0].run(&ctl, 1, &path);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	return ret;
}

/* --- the file -------------------------------------------------------------- */

TEST_F(repair, saved__each_one)
{
	struct supervisor *v = &self->one;
	json_t *old = json_incref(v->s.json);

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_FALSE(json_equal(old, v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_TRUE(tells(v->path, v->s.json));
	EXPECT_EQ(2, v->told);
	EXPECT_FALSE(v->unsaved);
	EXPECT_TRUE(is_alone(self));
	json_decref(old);
}

/* Two ways from one host to another, in a network that has names. */
#define NAMED	"topology graph\nhost store\nhost relay-1\nhost relay-2\n" \
		"host cam\nhost idle\nswitch s1\nlink cam relay-1\n"	     \
		"link cam s1\nlink relay-2 s1\nlink relay-1 store\n"	     \
		"link relay-2 store\nlink idle s1\naddress store 10.0.0.1\n" \
		"address store-relay-1 10.1.0.1\n"			     \
		"address store-relay-2 10.2.0.1\n"			     \
		"address relay-1 10.0.0.2\naddress relay-1-cam 10.1.0.2\n"   \
		"address relay-1-store 10.1.0.3\n"			     \
		"address cam 10.0.0.4\naddress cam-relay-1 10.1.0.5\n"	     \
		"address cam-s1 10.2.0.5\n"
#define RELAY	"address relay-2 10.0.0.3\naddress relay-2-s1 10.2.0.2\n"    \
		"address relay-2-store 10.2.0.3\n"

static json_t *make_named(const char *text)
{
	static const aggt_node senders[] = { 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 1, .receivers = &receiver,
		.n_receivers = 1, .method = "unicast",
	};
	const struct plan_conf conf = {
		.job = 1, .instance = 1, .scheme = AGGNET_SCHEME_EXACT,
		.keyed = true, .writers = 1,
	};

	return described_plan(text, &job, conf);
}

/* Supervise that plan instead, at nodes that are called as its hosts are. */
static int start_named(struct supervisor *v, const char *text)
{
	static const char *const names[] = {
		"store", "relay-1", "relay-2", "cam", "idle",
	};
	unsigned int i;

	stop(v);
	fake_world_new();
	for (i = 0; i < 5; i++)
		strcpy(world->node[i].name, names[i]);
	return put(v->path, make_named(text)) || start(v, v->path);
}

/* The host dies, and is gone around. */
static int kill_relay(struct supervisor *v)
{
	struct aggnet_finding f;

	world->gone = 1 << 1;
	supervise_gone(&v->s, "relay-1");
	if (aggnet_watch_judge(v->s.watch, supervise_now() +
			       AGGNET_WATCH_SETTLE_MS, &f) !=
	    AGGNET_WATCH_REPAIR)
		return 1;
	return supervise_repair(&v->s, &f);
}

TEST_F(repair, named__another_way)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, start_named(v, NAMED RELAY));
	EXPECT_EQ(4, v->s.n_posts);
	EXPECT_EQ(1, world->node[1].n);
	EXPECT_EQ(0, world->node[2].n);
	ASSERT_EQ(0, kill_relay(v));
	EXPECT_EQ(1, v->told);
	EXPECT_EQ(1, world->node[2].n);
	EXPECT_EQ(1, world->node[3].n);
	EXPECT_EQ(world->node[0].entry[0].attempt,
		  world->node[3].entry[0].attempt);
	EXPECT_EQ(NULL, entry_of(v->s.json, "relay-1"));
	EXPECT_TRUE(tells(v->path, v->s.json));
	EXPECT_TRUE(is_alone(self));
}

/* A way that entries cannot name is none: the plan of before stays. */
TEST_F(repair, named__way_without_addresses)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, start_named(v, NAMED));
	EXPECT_EQ(3, v->s.n_posts);
	EXPECT_EQ(-1, kill_relay(v));
	EXPECT_EQ(1, world->node[0].n);
	EXPECT_TRUE(tells(v->path, v->s.json));
}

TEST_F(repair, named__too_long)
{
	struct supervisor *v = &self->one;

	EXPECT_NE(0, start_named(v, NAMED RELAY
		  "host a123456789b123456789c123456789d1\n"
		  "link a123456789b123456789c123456789d1 s1\n"
		  "address a123456789b123456789c123456789d1 10.0.0.9\n"));
}

/* There is no room: the repair counts, and the next one has a file again. */
TEST_F(repair, unsaved__goes_on)
{
	const struct rlimit little = { 100, RLIM_INFINITY };
	const struct rlimit much = { RLIM_INFINITY, RLIM_INFINITY };
	struct supervisor *v = &self->one;
	json_t *old = json_incref(v->s.json);

	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &little));
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(1, v->told);
	EXPECT_TRUE(v->unsaved);
	EXPECT_TRUE(v->s.unsaved);
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, old));
	EXPECT_TRUE(is_alone(self));
	EXPECT_EQ(0, json_array_size(v->s.changes));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &much));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(2, v->told);
	EXPECT_FALSE(v->unsaved);
	EXPECT_FALSE(v->s.unsaved);
	EXPECT_TRUE(tells(v->path, v->s.json));
	json_decref(old);
}

/* The disk fills at some byte of the plan: the file is the plan of before. */
TEST_F(repair, unsaved__no_room_at_any_byte)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct supervisor *v = &self->one;
	json_t *other = json_deep_copy(v->s.json);
	struct stat st;
	rlim_t room;

	json_object_set_new(other, "more", json_string("room"));
	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, plan_store_save(&v->store, other));
	ASSERT_EQ(0, stat(v->path, &st));
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	for (room = 0; room <= (rlim_t)st.st_size; room++) {
		limit.rlim_cur = room;
		ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
		if (!plan_store_save(&v->store, other))
			break;
		ASSERT_TRUE(tells(v->path, v->s.json));
	}
	EXPECT_EQ(st.st_size, room);
	EXPECT_TRUE(tells(v->path, other));
	EXPECT_TRUE(is_alone(self));
	json_decref(other);
}

/* System calls that write, of this process; -1: the kernel does not count them. */
static long count_writes(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	char line[64];
	long n = -1;

	while (io && n < 0 && fgets(line, sizeof(line), io))
		sscanf(line, "syscw: %ld", &n);
	if (io)
		fclose(io);
	return n;
}

/* The library alone would make one for each word. */
TEST_F(repair, saved__by_one_write)
{
	struct supervisor *v = &self->one;
	long before = count_writes();

	if (before < 0)
		SKIP(return, "this kernel does not count writes");
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	EXPECT_EQ(before + 1, count_writes());
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/* What came by standard input has no file. */
TEST_F(repair, unsaved__no_file)
{
	self->one.s.store = NULL;
	ASSERT_EQ(0, cut(&self->one, "v4", "eth1"));
	EXPECT_EQ(1, self->one.told);
	EXPECT_FALSE(self->one.unsaved);
}

/* Keys are for the owner only. */
TEST_F(repair, file__for_its_owner_only)
{
	struct supervisor *v = &self->one;
	struct stat st;

	chmod(v->path, 0644);
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	ASSERT_EQ(0, stat(v->path, &st));
	EXPECT_EQ(0600, st.st_mode & 0777);
	EXPECT_TRUE(is_alone(self));
}

/* It is still its owner's. */
TEST_F(repair, file__keeps_its_owner)
{
	struct supervisor *v = &self->one;
	struct stat st;

	if (geteuid())
		SKIP(return, "only root can give a file away");
	stop(v);
	ASSERT_EQ(0, chown(v->path, 1234, 4321));
	ASSERT_EQ(0, start(v, v->path));
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	ASSERT_EQ(0, stat(v->path, &st));
	EXPECT_EQ(1234, st.st_uid);
	EXPECT_EQ(4321, st.st_gid);
}

/* A name that leads to the file goes on to do so. */
TEST_F(repair, file__symbolic_link)
{
	struct supervisor *v = &self->one;
	json_t *other = json_array();
	struct stat st;
	char link[80];

	snprintf(link, sizeof(link), "%s/link", self->dir);
	ASSERT_EQ(0, symlink("plan.json", link));
	plan_store_close(&v->store);
	ASSERT_EQ(0, plan_store_open(&v->store, link));
	EXPECT_EQ(0, plan_store_save(&v->store, other));
	EXPECT_TRUE(tells(v->path, other));
	ASSERT_EQ(0, lstat(link, &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	unlink(link);
	json_decref(other);
}

/* A link to another file that has come since is not followed, or replaced. */
TEST_F(repair, file__link_in_its_place)
{
	struct supervisor *v = &self->one;
	json_t *victim = json_array();
	struct stat st;
	char path[80];

	snprintf(path, sizeof(path), "%s/victim", self->dir);
	ASSERT_EQ(0, json_dump_file(victim, path, 0));
	ASSERT_EQ(0, unlink(v->path));
	ASSERT_EQ(0, symlink("victim", v->path));
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_TRUE(v->unsaved);
	EXPECT_TRUE(tells(path, victim));
	ASSERT_EQ(0, lstat(v->path, &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	unlink(path);
	EXPECT_TRUE(is_alone(self));
	json_decref(victim);
}

/* Files of similar names are the user's, also what a symbolic link leads to. */
TEST_F(repair, file__neighbours_stay)
{
	static const char * const name[] = { "new", "old", "tmp", "bak" };
	struct supervisor *v = &self->one;
	json_t *other = json_array();
	char path[80], link[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(name); i++) {
		snprintf(path, sizeof(path), "%s.%s", v->path, name[i]);
		ASSERT_EQ(0, json_dump_file(other, path, 0));
	}
	snprintf(link, sizeof(link), "%s.lnk", v->path);
	ASSERT_EQ(0, symlink("plan.json.new", link));
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_TRUE(tells(v->path, v->s.json));
	EXPECT_TRUE(tells(link, other));
	for (i = 0; i < ARRAY_SIZE(name); i++) {
		snprintf(path, sizeof(path), "%s.%s", v->path, name[i]);
		EXPECT_TRUE(tells(path, other));
		unlink(path);
	}
	unlink(link);
	EXPECT_TRUE(is_alone(self));
	json_decref(other);
}

TEST_F(repair, file__another_plan_in_its_place)
{
	struct supervisor *v = &self->one;
	json_t *other = json_array();

	ASSERT_EQ(0, unlink(v->path));
	ASSERT_EQ(0, json_dump_file(other, v->path, 0));
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_TRUE(v->unsaved);
	EXPECT_TRUE(tells(v->path, other));
	json_decref(other);
}

struct newcomer {
	const char *from;
	const char *to;
	bool came;
};

static void take_place(void *arg)
{
	struct newcomer *n = arg;

	n->came = !rename(n->from, n->to);
}

/* It takes the place at any time of a repair, and keeps it. */
TEST_F(repair, file__another_plan_at_any_step)
{
	struct supervisor *v = &self->one;
	json_t *other = json_array();
	char copy[64];
	struct newcomer n = { copy, v->path };
	unsigned int i;

	snprintf(copy, sizeof(copy), "%s/copy.json", self->dir);
	for (i = 1, n.came = true; n.came && i < STEPS_MAX; i++) {
		ASSERT_EQ(0, start_anew(v));
		ASSERT_EQ(0, json_dump_file(other, copy, 0));
		world->steps = 0;
		world->call = take_place;
		world->arg = &n;
		world->call_at = i;
		n.came = false;
		ASSERT_EQ(0, cut(v, "v4", "eth1"));
		EXPECT_EQ(n.came, tells(v->path, other)) {
			TH_LOG("it came at call %u", i);
		}
		EXPECT_EQ(n.came, is_alone(self));
	}
	EXPECT_LT(20, i);
	unlink(copy);
	json_decref(other);
}

TEST_F(repair, file__one_supervisor_at_a_time)
{
	struct supervisor two;

	/* NFS locks as a whole only what is open for writing. */
	EXPECT_EQ(O_RDWR, fcntl(self->one.store.file, F_GETFL) & O_ACCMODE);

	EXPECT_EQ(-1, start(&two, self->one.path));
	stop(&two);
	/* The lock moves to each file that takes the place of the last. */
	ASSERT_EQ(0, cut(&self->one, "v4", "eth1"));
	EXPECT_EQ(-1, start(&two, self->one.path));
	stop(&two);
	stop(&self->one);
	EXPECT_EQ(0, start(&self->one, two.path));
}

/* --- heard ------------------------------------------------------------------- */

/* The event of it was lost. */
TEST_F(repair, lost__an_entry_was_deleted)
{
	struct supervisor *v = &self->one;
	struct aggnet_finding f = {};

	world->node[4].overflow = true;
	EXPECT_EQ(AGGNET_WATCH_WAIT, hear(v, &f));
	world->node[4].n = 0;
	world->node[4].overflow = true;
	/* It had none before. */
	world->node[2].overflow = true;
	EXPECT_EQ(AGGNET_WATCH_FAILED, hear(v, &f));
	EXPECT_STREQ("source v4 withdrew its entry", f.text);
}

/* So was that of a later attempt, and of a later plan: another supervisor's. */
TEST_F(repair, lost__a_later_epoch)
{
	struct supervisor *v = &self->one;
	struct fake_entry *entry = &world->node[4].entry[0];

	entry->attempt++;
	world->node[4].overflow = true;
	EXPECT_EQ(-1, supervise_hear(&v->s, 0));
	ASSERT_EQ(0, start_anew(v));
	entry->instance++;
	entry->attempt = 0;
	world->node[4].overflow = true;
	EXPECT_EQ(-1, supervise_hear(&v->s, 0));
}

static void has_stalled(void *arg, const char *node, uint32_t missing)
{
	struct supervisor *v = arg;

	v->stalled++;
}

/* Not those of other jobs, or of other plans of this job. */
TEST_F(repair, stalled__its_own_trees_only)
{
	const struct fake_event event[] = {
		{ AGGNET_EVENT_TREE_STALLED, 2ull << 32 | 0x0a000001, 1, 0 },
		{ AGGNET_EVENT_TREE_STALLED, 1ull << 32 | 0x0a000001, 2, 0 },
		{ AGGNET_EVENT_TREE_STALLED, 1ull << 32 | 0x0a000001, 1, 0 },
	};
	struct fake_node *v1 = &world->node[1];
	struct supervisor *v = &self->one;
	struct aggnet_finding f;
	size_t i;

	v->s.stalled = has_stalled;
	for (i = 0; i < ARRAY_SIZE(event); i++)
		v1->event[v1->events++] = event[i];
	EXPECT_EQ(AGGNET_WATCH_WAIT, hear(v, &f));
	EXPECT_EQ(1, v->stalled);
}

/* --- failed before ---------------------------------------------------------- */

/* The next supervisor finds the links down that the plan goes around. */
TEST_F(repair, again__in_the_next_supervisor)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, restart(v));
	EXPECT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(1, v->told);
	EXPECT_EQ(0, v->s.repairs);
	EXPECT_EQ(1, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/* The plan does not come back to a link that has come up. */
TEST_F(repair, again__a_link_that_was_up)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	mend(v, "v4", "eth1");
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

static json_int_t attempt_of(const json_t *json, size_t i)
{
	json_t *tree = json_array_get(json_object_get(json, "trees"), i);

	return json_integer_value(json_object_get(tree, "attempt"));
}

/* The receiver has its result. */
static enum aggnet_verdict finish(struct supervisor *v, unsigned int at,
				  struct aggnet_finding *f)
{
	struct fake_node *node = &world->node[at];

	node->event[node->events++] = (struct fake_event){
		AGGNET_EVENT_TREE_DONE, 1ull << 32 | (0x0a000001 + at), 1, 0
	};
	return hear(v, f);
}

static void forget(struct fake_node *node, uint64_t incast_id)
{
	struct fake_entry *entry = fake_find(node, incast_id);

	if (entry)
		*entry = node->entry[--node->n];
}

/* The receiver has its result, and its host dies. */
static enum aggnet_verdict lose_finished(struct supervisor *v, unsigned int at,
					 struct aggnet_finding *f)
{
	struct fake_node *node = &world->node[at];

	if (finish(v, at, f) != AGGNET_WATCH_WAIT)
		return AGGNET_WATCH_FAILED;
	world->gone = 1u << at;
	supervise_gone(&v->s, node->name);
	return hear(v, f);
}

/* What a node's list says of a tree. */
static const json_t *entry_to(const json_t *list, uint64_t incast_id)
{
	const struct in_addr to = { htonl((uint32_t)incast_id) };
	json_t *entry, *receiver, *job;
	size_t i;

	json_array_foreach((json_t *)list, i, entry) {
		receiver = json_object_get(entry, "receiver");
		job = json_object_get(entry, "job");
		if (!strcmp(json_string_value(receiver), addr_text(to)) &&
		    json_integer_value(job) == (json_int_t)(incast_id >> 32))
			return entry;
	}
	return NULL;
}

/* Every node has the entries that the plan says, of all trees. */
static bool all_in_force(const json_t *json)
{
	const struct fake_node *node;
	const json_t *part, *list;
	unsigned int i, k;

	for (i = 0; i < FAKE_NODES; i++) {
		node = &world->node[i];
		part = json_object_get(json_object_get(json, "nodes"),
				       node->name);
		list = json_object_get(part, "trees");
		if (node->n != json_array_size(list))
			return false;
		for (k = 0; k < node->n; k++)
			if (!is_entry_of(&node->entry[k],
					 entry_to(list,
						  node->entry[k].incast_id)))
				return false;
	}
	return true;
}

/* It has its result: no tree needs it, and the other receiver gets its own. */
TEST_F(repair, over__a_receiver_that_is_done_goes)
{
	const uint64_t finished = 1ull << 32 | 0x0a000009;
	struct supervisor *v = &self->one;
	struct aggnet_finding f;
	json_t *again;

	ASSERT_EQ(0, start_two(v, v1_v4, 8, NULL));
	ASSERT_EQ(AGGNET_WATCH_REPAIR, lose_finished(v, 8, &f));
	EXPECT_EQ(0, supervise_repair(&v->s, &f));
	EXPECT_EQ(0, v->s.repairs);
	EXPECT_EQ(0, attempt(v->s.json));
	/* Two more repairs, and what was in force of its tree stays. */
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(1, attempt(v->s.json));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_EQ(2, v->s.repairs);
	EXPECT_EQ(0, fake_find(&world->node[4], finished)->attempt);
	EXPECT_TRUE(all_in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	/* The file has both trees, and its plan goes on. */
	EXPECT_EQ(2, json_array_size(json_object_get(v->s.json, "trees")));
	again = updated(v->path, "failed:v6");
	EXPECT_NE(NULL, again);
	json_decref(again);
}

/*
 * v8 -> v5 -> v2 -> v1 -> v0 <- v1 <- v4 is one tree, and
 * v8 -> v7 -> v6 -> v3 -> v0 <- v3 <- v4 the other one.
 */
static int start_striped(struct supervisor *v)
{
	static const aggt_node senders[] = { 4, 8 };
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &to_v0,
		.n_receivers = 1, .method = "stripes:2",
	};
	struct plan plan = { .conf = {
		.job = 1, .instance = 1, .scheme = AGGNET_SCHEME_EXACT,
		.keyed = true, .writers = 1,
	} };

	stop(v);
	plan_topology(&plan, "plan", "bcube:3,1");
	if (begin_with(v->path, plan_json_of(&plan, &job)))
		return -1;
	return start(v, v->path);
}

static int kill_node(struct supervisor *v, unsigned int at)
{
	struct aggnet_finding f;

	world->gone |= 1u << at;
	world->node[at].n = 0;
	supervise_gone(&v->s, world->node[at].name);
	if (hear(v, &f) != AGGNET_WATCH_REPAIR)
		return -1;
	return supervise_repair(&v->s, &f);
}

/* Only the tree through the server that has failed begins anew. */
TEST_F(repair, striped__one_tree)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, start_striped(v));
	ASSERT_NE(NULL, fake_find(&world->node[3], 2ull << 32 | 0x0a000001));
	ASSERT_EQ(NULL, fake_find(&world->node[3], 1ull << 32 | 0x0a000001));
	ASSERT_EQ(0, kill_node(v, 3));
	EXPECT_EQ(0, attempt_of(v->s.json, 0));
	EXPECT_EQ(1, attempt_of(v->s.json, 1));
	EXPECT_EQ(0, fake_find(&world->node[8],
			       1ull << 32 | 0x0a000001)->attempt);
	EXPECT_EQ(1, fake_find(&world->node[8],
			       2ull << 32 | 0x0a000001)->attempt);
	EXPECT_TRUE(all_in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	EXPECT_EQ(1, v->s.repairs);
}

/* A tree that is done stays, although the server was in it. */
TEST_F(repair, striped__not_the_finished_one)
{
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(0, start_striped(v));
	ASSERT_NE(NULL, fake_find(&world->node[1], 1ull << 32 | 0x0a000001));
	ASSERT_EQ(AGGNET_WATCH_WAIT, finish(v, 0, &f));
	ASSERT_EQ(0, kill_node(v, 1));
	EXPECT_EQ(0, v->s.repairs);
	EXPECT_EQ(0, attempt_of(v->s.json, 0));
	ASSERT_EQ(0, cut(v, "v3", "eth1"));
	EXPECT_EQ(1, v->s.repairs);
	EXPECT_EQ(0, attempt_of(v->s.json, 0));
	EXPECT_EQ(1, attempt_of(v->s.json, 1));
	EXPECT_EQ(0, fake_find(&world->node[8],
			       1ull << 32 | 0x0a000001)->attempt);
	EXPECT_EQ(2, json_array_size(json_object_get(v->s.json, "trees")));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/* The tree of the other receiver leads by it, and goes around it at once. */
TEST_F(repair, over__a_receiver_on_the_way)
{
	static const aggt_node senders[] = { 5, 8 };
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(0, start_two(v, senders, 2, NULL));
	ASSERT_NE(NULL, fake_find(&world->node[2], 1ull << 32 | 0x0a000001));
	ASSERT_EQ(AGGNET_WATCH_REPAIR, lose_finished(v, 2, &f));
	world->node[2].n = 0;
	ASSERT_EQ(0, supervise_repair(&v->s, &f));
	EXPECT_EQ(1, v->s.repairs);
	EXPECT_EQ(1, attempt(v->s.json));
	EXPECT_EQ(1, fake_find(&world->node[5],
			       1ull << 32 | 0x0a000001)->attempt);
	EXPECT_EQ(0, fake_find(&world->node[5],
			       1ull << 32 | 0x0a000003)->attempt);
	EXPECT_EQ(AGGNET_WATCH_WAIT, run(v));
}

/* The device of an entry that nothing needs any more goes. */
TEST_F(repair, over__a_device_of_its_entry_goes)
{
	const uint64_t finished = 1ull << 32 | 0x0a000009;
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(0, start_two(v, v1_v4, 8, NULL));
	ASSERT_EQ(AGGNET_WATCH_WAIT, finish(v, 8, &f));
	ASSERT_NE(NULL, fake_find(&world->node[7], finished));
	world->node[7].lost = 1 << 1;
	/* The way around does not lead through v7. */
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(1, v->s.repairs);
	EXPECT_EQ(1, attempt_of(v->s.json, 0));
	EXPECT_EQ(0, attempt_of(v->s.json, 1));
}

/* Its entries were withdrawn by hand, and stay so. */
TEST_F(repair, over__withdrawn_entries_stay_so)
{
	const uint64_t finished = 1ull << 32 | 0x0a000009;
	struct supervisor *v = &self->one;
	struct aggnet_finding f;
	unsigned int i;

	ASSERT_EQ(0, start_two(v, v1_v4, 8, NULL));
	ASSERT_EQ(AGGNET_WATCH_WAIT, finish(v, 8, &f));
	for (i = 0; i < FAKE_NODES; i++)
		forget(&world->node[i], finished);
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(1, attempt_of(v->s.json, 0));
	for (i = 0; i < FAKE_NODES; i++)
		EXPECT_EQ(NULL, fake_find(&world->node[i], finished));
}

/* --- refused --------------------------------------------------------------- */

/* Each commit of the repair in turn; all of them when it is tried again, too. */
TEST_F(repair, refused__each_commit)
{
	struct supervisor *v = &self->one;
	unsigned int i, refused = 0;
	struct aggnet_finding f;

	for (i = 0; i < 16; i++) {
		ASSERT_EQ(0, start_anew(v));
		world->refuse = 1ull << i;
		ASSERT_EQ(0, cut(v, "v4", "eth1"));
		if (!v->s.retry_ms)
			break;
		refused++;
		/* What was committed is as it was before. */
		EXPECT_TRUE(in_force(v->s.json));
		EXPECT_TRUE(tells(v->path, v->s.json));
		EXPECT_EQ(0, attempt(v->s.json));
		/* Entries that were added and deleted for it mean nothing. */
		EXPECT_EQ(AGGNET_WATCH_WAIT, hear(v, &f));
		ASSERT_EQ(0, settle(v));
		EXPECT_EQ(AGGNET_WATCH_WAIT, hear(v, &f));
		EXPECT_TRUE(in_force(v->s.json));
		/* Nodes have seen attempt 1. */
		EXPECT_EQ(2, attempt(v->s.json));
		EXPECT_EQ(1, v->told);
	}
	EXPECT_LE(3, refused);
}

/* A commit is in force, and its answer is lost. */
TEST_F(repair, unanswered__each_commit)
{
	struct supervisor *v = &self->one;
	unsigned int i, failed = 0;
	char path[64];

	strcpy(path, v->path);
	for (i = 0; i < 16; i++) {
		stop(v);
		ASSERT_EQ(0, begin(path));
		ASSERT_EQ(0, start(v, path));
		world->deaf = 1ull << i;
		ASSERT_EQ(0, cut(v, "v4", "eth1"));
		world->deaf = 0;
		if (!v->s.retry_ms)
			break;
		failed++;
		EXPECT_TRUE(in_force(v->s.json));
		EXPECT_EQ(0, attempt(v->s.json));
		ASSERT_EQ(0, settle(v));
		EXPECT_TRUE(in_force(v->s.json));
	}
	EXPECT_LE(3, failed);
}

TEST_F(repair, unanswered__apply)
{
	struct plan_install how = { .in_testbed = true, .unchecked = true };
	struct supervisor *v = &self->one;
	struct plan_file file;
	unsigned int i;
	char path[64];

	strcpy(path, v->path);
	for (i = 0; i < 3; i++) {
		fake_world_new();
		world->deaf = 1ull << i;
		ASSERT_EQ(0, plan_file_take(&file, v->s.json));
		EXPECT_EQ(-1, plan_install(&file, &how));
		EXPECT_EQ(i, how.at);
		EXPECT_TRUE(nothing_in_force());
		plan_file_free(&file);
	}
	stop(v);
	ASSERT_EQ(0, begin(path));
	ASSERT_EQ(0, start(v, path));
}

/* v4 has no way but through the source v1, which was not heard: no error is printed. */
TEST_F(repair, source__leaves_and_forwards)
{
	static const char change[][AGGNET_WATCH_CHANGE] = {
		"failed:v4-w1", "failed:v7", "failed:v1",
	};
	struct aggnet_finding f = { .change = change,
				    .n_changes = ARRAY_SIZE(change) };
	struct supervisor *v = &self->one;
	int out = dup(STDERR_FILENO);
	FILE *said = tmpfile();
	char text[256] = "";

	dup2(fileno(said), STDERR_FILENO);
	EXPECT_EQ(0, supervise_repair(&v->s, &f));
	dup2(out, STDERR_FILENO);
	close(out);
	rewind(said);
	EXPECT_EQ(NULL, fgets(text, sizeof(text), said));
	EXPECT_STREQ("", text);
	fclose(said);
	EXPECT_EQ(1, v->told);
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_EQ(NULL, entry_of(v->s.json, "v7"));
	EXPECT_NE(NULL, entry_of(v->s.json, "v1"));
}

static bool keep_nothing(const struct plan_install *how)
{
	(void)how;
	return false;
}

/* Each node commits, and then takes the plan back: the last one, the second, the first. */
TEST_F(repair, apply__undone_or_in_doubt)
{
	struct plan_install how = { .in_testbed = true, .unchecked = true,
				    .may_keep = keep_nothing };
	struct supervisor *v = &self->one;
	struct plan_file file;
	unsigned int i;
	char path[64];

	strcpy(path, v->path);
	for (i = 0; i < 4; i++) {
		fake_world_new();
		ASSERT_EQ(0, plan_file_take(&file, v->s.json));
		ASSERT_EQ(3, file.n);
		world->refuse = 1ull << (2 + i);
		EXPECT_EQ(-1, plan_install(&file, &how));
		EXPECT_EQ(i > 0, how.in_doubt);
		EXPECT_EQ(i == 0, nothing_in_force());
		plan_file_free(&file);
	}
	stop(v);
	ASSERT_EQ(0, begin(path));
	ASSERT_EQ(0, start(v, path));
}

TEST_F(repair, refused__for_good)
{
	struct supervisor *v = &self->one;

	/* The second commit of each repair; the third brings back the old. */
	world->refuse = 0x9249249249249249ull << 1;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(-1, settle(v));
	EXPECT_EQ(0, v->told);
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_EQ(0, attempt(v->s.json));
	world->refuse = 0;
	EXPECT_TRUE(tells(v->path, v->s.json));
	stop(v);
	EXPECT_EQ(0, withdraw(v->path));
	EXPECT_TRUE(nothing_in_force());
}

/* Links go down again while a repair waits: one is known, one found for it. */
TEST_F(repair, refused__reports_of_the_same)
{
	static const char links[][AGGNET_WATCH_CHANGE] = {
		"failed:v4-w4", "failed:v1-w0",
	};
	const struct aggnet_finding f = { .change = links, .n_changes = 2 };
	struct supervisor *v = &self->one;
	unsigned int i;
	int64_t wait;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	world->commits = 0;
	world->refuse = UINT64_MAX;
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	ASSERT_EQ(1, v->s.refusals);
	wait = v->s.retry_ms;
	for (i = 0; i < REFUSALS; i++)
		ASSERT_EQ(0, supervise_repair(&v->s, &f));
	EXPECT_EQ(1, v->s.refusals);
	EXPECT_EQ(wait, v->s.retry_ms);
	world->refuse = 0;
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, v->s.repairs);
	EXPECT_TRUE(in_force(v->s.json));
}

/* Plain IP does not go around the failure yet. */
TEST_F(repair, refused__routes_for_a_time)
{
	struct supervisor *v = &self->one;

	world->unrouted = 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_NE(0, v->s.retry_ms);
	EXPECT_EQ(0, attempt(v->s.json));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(1, attempt(v->s.json));
	EXPECT_EQ(1, v->told);
	EXPECT_TRUE(in_force(v->s.json));
}

static void lose_v2(void *arg)
{
	world->gone = 1 << 2;
}

/* The queue of names that go was full: no event names the node. */
TEST_F(repair, gone__without_its_name)
{
	const struct inotify_event lost = { .wd = -1, .mask = IN_Q_OVERFLOW };
	struct supervisor *v = &self->one;
	struct aggnet_finding f = {};
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	close(v->s.names);
	v->s.names = pipes[0];
	world->gone = 1 << 0;
	ASSERT_EQ(sizeof(lost), write(pipes[1], &lost, sizeof(lost)));
	close(pipes[1]);
	EXPECT_EQ(AGGNET_WATCH_FAILED, hear(v, &f));
	EXPECT_STREQ("receiver v0 is gone", f.text);
}

/* The device of a link with a Bloom table goes: so does the link. */
TEST_F(repair, gone__a_device_of_a_link)
{
	struct supervisor *v = &self->one;

	stop(v);
	ASSERT_EQ(0, begin_with(v->path, make_plan_by(AGGNET_SCHEME_BLOOM, v1_v4,
						      &to_v0, 1)));
	ASSERT_EQ(0, start(v, v->path));
	world->node[4].lost = 1 << 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(1, v->told);
	EXPECT_EQ(1, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	stop(v);
	EXPECT_EQ(0, withdraw(v->path));
	EXPECT_TRUE(nothing_in_force());
}

/* A node on the new way goes at each step, and its commit is refused. */
TEST_F(repair, refused__by_a_node_that_is_gone)
{
	struct supervisor *v = &self->one;
	unsigned int i;
	bool gone;

	for (i = 1, gone = true; gone && i < STEPS_MAX; i++) {
		ASSERT_EQ(0, start_anew(v));
		world->steps = 0;
		world->refuse = 1 << 2;
		world->call = lose_v2;
		world->call_at = i;
		ASSERT_EQ(0, cut(v, "v4", "eth1"));
		EXPECT_EQ(AGGNET_WATCH_WAIT, run(v)) {
			TH_LOG("v2 is gone at call %u", i);
		}
		EXPECT_TRUE(in_force(v->s.json));
		gone = !world->call_at;
	}
	EXPECT_LT(20, i);
	EXPECT_GT(STEPS_MAX, i);
}

/* The undo ends entries of both attempts with STALE: no other one did that. */
TEST_F(repair, refused__ends_of_its_own_entries)
{
	struct aggnet_event_info event = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .instance = 1,
		.reason = AGGNET_R_STALE, .incast_id = 1ull << 32 | 0x0a000001,
	};
	struct supervisor *v = &self->one;

	world->refuse = 1 << 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	for (event.attempt = 0; event.attempt < 2; event.attempt++)
		EXPECT_EQ(0, supervise_heard(&v->s, &event));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(0, supervise_heard(&v->s, &event) + 1);
}

/* Nodes have seen attempt 1: the next supervisor does not use it, either. */
TEST_F(repair, refused__attempt_stays_used)
{
	struct supervisor *v = &self->one;
	json_t *other;

	world->refuse = 1 << 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(0, attempt(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	ASSERT_EQ(0, restart(v));
	world->refuse = 1ull << (world->commits + 2);
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(0, attempt(v->s.json));
	/* Nor does an update of the file. */
	other = updated(v->path, "failed:v4-w4");
	EXPECT_EQ(3, attempt(other));
	json_decref(other);
	ASSERT_EQ(0, restart(v));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	EXPECT_EQ(3, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/*
 * A node that met attempt 1 has ended its entry of attempt 0: the tree begins anew,
 * also if the link is up again.
 */
TEST_F(repair, refused__begins_anew_in_the_next_supervisor)
{
	struct supervisor *v = &self->one;

	world->refuse = 1 << 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, attempt(v->s.json));
	ASSERT_EQ(0, restart(v));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/* The receiver has its result: there is nothing to begin anew. */
TEST_F(repair, refused__but_done)
{
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	world->refuse = 1 << 2;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	world->node[0].entry[0].state = AGGNET_TREE_DONE;
	ASSERT_EQ(0, restart(v));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(0, attempt(v->s.json));
	EXPECT_EQ(AGGNET_WATCH_DONE, hear(v, &f));
}

/* What was being installed when a supervisor was killed is refused. */
TEST_F(repair, refused__what_was_being_installed)
{
	const struct fake_world before = *world;
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	json_object_set_new(v->s.json, "installing", json_true());
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	stop(v);
	*world = before;
	world->refuse = 1 << 2;
	ASSERT_EQ(0, start(v, v->path));
	EXPECT_NE(0, v->s.retry_ms);
	EXPECT_EQ(AGGNET_WATCH_WAIT, hear(v, &f));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
}

/* The repair had changed one tree of two: the other one goes on. */
TEST_F(repair, refused__of_one_tree)
{
	struct supervisor *v = &self->one;
	struct fake_world before;

	ASSERT_EQ(0, start_two(v, v1_v4, 5, NULL));
	before = *world;
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	ASSERT_EQ(1, attempt_of(v->s.json, 0));
	ASSERT_EQ(0, attempt_of(v->s.json, 1));
	json_object_set_new(v->s.json, "installing", json_true());
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	stop(v);
	*world = before;
	world->refuse = 1 << 2;
	ASSERT_EQ(0, start(v, v->path));
	EXPECT_NE(0, v->s.retry_ms);
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, attempt_of(v->s.json, 0));
	EXPECT_EQ(0, attempt_of(v->s.json, 1));
	EXPECT_TRUE(all_in_force(v->s.json));
}

/* What v0 has of the trees to two receivers, one for each of its devices. */
static json_t *two_trees(int attempt)
{
	return json_pack("{s:s, s:s, s:[{s:s, s:i}, {s:s, s:i}], s:[],"
			 " s:[{s:i, s:s, s:i, s:i, s:s}, {s:i, s:s, s:i, s:i, s:s}]}",
			 "role", "server", "address", "10.0.0.1", "ports",
			 "name", "eth0", "level", 0, "name", "eth1", "level", 1,
			 "links", "trees",
			 "job", 1, "receiver", "10.0.0.2", "instance", 1,
			 "attempt", attempt, "link_port", "eth0",
			 "job", 1, "receiver", "10.0.0.3", "instance", 1,
			 "attempt", attempt, "link_port", "eth1");
}

/* A device that an entry of before needs goes before the repair, or in it. */
TEST(undo__without_the_entries_of_a_lost_device)
{
	json_t *old = two_trees(0), *new = two_trees(1), *entry;
	const struct fake_node *v0;
	struct node node;
	int late;

	entry = json_array_get(json_object_get(new, "trees"), 1);
	json_object_set_new(entry, "link_port", json_string("eth0"));
	for (late = 0; late < 2; late++) {
		fake_world_new();
		v0 = &world->node[0];
		ASSERT_EQ(0, node_open(&node, "v0", "v0"));
		ASSERT_EQ(0, plan_part_stage(&node, old, false));
		ASSERT_EQ(0, aggnet_plan_commit(node.ctl));
		node_close(&node);
		world->node[0].lost = late ? 0 : 1 << 2;
		ASSERT_EQ(0, node_open(&node, "v0", "v0"));
		ASSERT_EQ(0, plan_part_stage(&node, new, true));
		ASSERT_EQ(0, aggnet_plan_commit(node.ctl));
		EXPECT_EQ(2, v0->n);
		world->node[0].lost = 1 << 2;
		EXPECT_EQ(0, plan_part_undo(&node, old));
		ASSERT_EQ(1, v0->n);
		EXPECT_EQ(1ull << 32 | 0x0a000002, v0->entry[0].incast_id);
		EXPECT_EQ(0, v0->entry[0].attempt);
		node_close(&node);
	}
	json_decref(old);
	json_decref(new);
}

/* What it took the place of is not what the plan of before tells. */
TEST(undo__only_what_was_there)
{
	json_t *old = two_trees(0), *was = two_trees(1), *new = two_trees(2);
	struct node node;

	fake_world_new();
	ASSERT_EQ(0, node_open(&node, "v0", "v0"));
	ASSERT_EQ(0, plan_part_stage(&node, was, false));
	ASSERT_EQ(0, aggnet_plan_commit(node.ctl));
	node_close(&node);
	ASSERT_EQ(0, node_open(&node, "v0", "v0"));
	ASSERT_EQ(0, plan_part_stage(&node, new, true));
	ASSERT_EQ(0, aggnet_plan_commit(node.ctl));
	EXPECT_EQ(2, world->node[0].n);
	EXPECT_EQ(0, plan_part_undo(&node, old));
	EXPECT_EQ(0, world->node[0].n);
	node_close(&node);
	json_decref(old);
	json_decref(was);
	json_decref(new);
}

/*
 * A value that the library, which has no sanitizer, reads after that is an object
 * without a table: it faults. ASan would fill the memory with something else.
 */
static void *zeroed[16384];
static size_t n_zeroed;

static void zero(void *memory)
{
	if (!memory)
		return;
	memset(memory, 0, malloc_usable_size(memory));
	if (n_zeroed == ARRAY_SIZE(zeroed))
		abort();
	zeroed[n_zeroed++] = memory;
}

/* There is no memory for the changed plan, or for it with its attempts. */
TEST(update__without_memory)
{
	char *change = "failed:v4-w4";
	json_t *old, *new;
	unsigned int i;

	fake_world_new();
	json_set_alloc_funcs(malloc, zero);
	old = make_plan();
	for (i = 1; i <= 3; i++) {
		struct plan plan = {};

		ASSERT_EQ(0, plan_restore(&plan, old, "plan"));
		world->unplanned = i;
		new = plan_update(&plan, old, &change, 1);
		EXPECT_EQ(i < 3, !new);
		json_decref(new);
		plan_clear(&plan);
	}
	json_decref(old);
	while (n_zeroed)
		free(zeroed[--n_zeroed]);
}

/* --- killed ---------------------------------------------------------------- */

/*
 * A supervisor repairs, nodes refuse the commits that @refuse has a bit for, and it
 * dies at call @at; true: it was not so long.
 */
static bool dies_refused(char *path, unsigned int at, uint64_t refuse)
{
	struct supervisor v;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (start(&v, path))
			_exit(1);
		world->steps = 0;
		world->kill_at = at;
		world->refuse = refuse << world->commits;
		_exit(cut(&v, "v4", "eth1") ? 1 : 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return true;
	world->kill_at = 0;
	world->refuse = 0;
	return WEXITSTATUS(status) != FAKE_KILLED;
}

static bool dies(char *path, unsigned int at)
{
	return dies_refused(path, at, 0);
}

TEST_F(repair, killed__another_one_goes_on)
{
	struct supervisor *v = &self->one;
	unsigned int i;

	for (i = 1; i < STEPS_MAX; i++) {
		stop(v);
		ASSERT_EQ(0, begin(v->path));
		if (dies(v->path, i))
			break;
		ASSERT_EQ(0, start(v, v->path));
		ASSERT_EQ(0, settle(v));
		EXPECT_TRUE(in_force(v->s.json));
		EXPECT_TRUE(tells(v->path, v->s.json));
		EXPECT_GE(1, attempt(v->s.json));
		/* It goes on to repair. */
		ASSERT_EQ(0, cut(v, "v1", "eth0"));
		ASSERT_EQ(0, settle(v));
		EXPECT_TRUE(in_force(v->s.json)) {
			TH_LOG("killed at call %u", i);
		}
	}
	EXPECT_LT(20, i);
	EXPECT_GT(STEPS_MAX, i);
}

/* Where nodes have attempts 0 and 1, attempt 1 has ended for @reason. */
static bool end_mixture(enum aggnet_reason reason)
{
	struct fake_entry *entry;
	unsigned int i, have[2] = { 0 };

	for (i = 0; i < FAKE_NODES; i++)
		if (world->node[i].n)
			have[world->node[i].entry[0].attempt == 1]++;
	for (i = 0; have[0] && i < FAKE_NODES; i++) {
		entry = world->node[i].entry;
		if (!world->node[i].n || entry->attempt != 1)
			continue;
		entry->state = AGGNET_TREE_ABORTED;
		entry->reason = reason;
	}
	return have[0] && have[1];
}

static bool has_ended_entries(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_NODES; i++)
		if (world->node[i].n && world->node[i].entry[0].state)
			return true;
	return false;
}

/* A node ends what it takes back, and that ends the attempt at its neighbours. */
TEST_F(repair, killed__while_it_took_back_a_refused_repair)
{
	static const enum aggnet_reason reason[] = {
		AGGNET_R_STALE, AGGNET_R_WITHDRAWN
	};
	struct supervisor *v = &self->one;
	unsigned int i, mixtures = 0;

	for (i = 1; i < STEPS_MAX; i++) {
		stop(v);
		ASSERT_EQ(0, begin(v->path));
		if (dies_refused(v->path, i, 1 << 2))
			break;
		mixtures += end_mixture(reason[i % 2]);
		ASSERT_EQ(0, start(v, v->path));
		ASSERT_EQ(0, settle(v));
		EXPECT_TRUE(in_force(v->s.json));
		EXPECT_FALSE(has_ended_entries());
		/* No node is blamed: only the link has failed. */
		EXPECT_GE(1, json_array_size(json_object_get(v->s.json,
							     "failed"))) {
			TH_LOG("killed at call %u", i);
		}
	}
	EXPECT_LT(3, mixtures);
	EXPECT_GT(STEPS_MAX, i);
}

TEST_F(repair, killed__withdrawn)
{
	struct supervisor *v = &self->one;
	unsigned int i;

	stop(v);
	for (i = 1; i < STEPS_MAX; i++) {
		ASSERT_EQ(0, begin(v->path));
		if (dies(v->path, i))
			break;
		/* It says that entries lack, where it was half done. */
		withdraw(v->path);
		EXPECT_TRUE(nothing_in_force());
		/* The next one does not install what was being installed. */
		ASSERT_EQ(0, start(v, v->path));
		EXPECT_TRUE(nothing_in_force()) {
			TH_LOG("killed at call %u", i);
		}
		stop(v);
	}
	EXPECT_LT(20, i);
	EXPECT_GT(STEPS_MAX, i);
}

/* A copy of the file is withdrawn, as each host may have one. */
TEST_F(repair, killed__withdrawn_by_a_copy)
{
	struct supervisor *v = &self->one;
	char copy[64];
	unsigned int i;

	snprintf(copy, sizeof(copy), "%s/copy.json", self->dir);
	stop(v);
	for (i = 1; i < STEPS_MAX; i++) {
		ASSERT_EQ(0, begin(v->path));
		ASSERT_EQ(0, link(v->path, copy));
		if (dies(v->path, i))
			break;
		withdraw(copy);
		EXPECT_TRUE(nothing_in_force());
		ASSERT_EQ(0, start(v, v->path));
		EXPECT_TRUE(nothing_in_force()) {
			TH_LOG("killed at call %u", i);
		}
		stop(v);
		/* Nor does the one after it. */
		ASSERT_EQ(0, start(v, v->path));
		EXPECT_TRUE(nothing_in_force());
		stop(v);
		unlink(copy);
	}
	unlink(copy);
	EXPECT_LT(20, i);
	EXPECT_GT(STEPS_MAX, i);
}

/* One host has a file of its own: nothing is installed there any more. */
TEST_F(repair, killed__withdrawn_at_one_host)
{
	const struct aggctl host = { .json = true, .netns = "v1" };
	const char **only = cmd_withdraw.verbs[0].opts[0].dest;
	struct supervisor *v = &self->one;
	char *arg = v->path;
	json_t *found;

	json_object_set_new(v->s.json, "installing", json_true());
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	stop(v);
	world->at = 1;
	*only = "v1";
	EXPECT_EQ(0, cmd_withdraw.verbs[0].run(&host, 1, &arg));
	*only = NULL;
	EXPECT_EQ(0, world->node[1].n);
	found = json_load_file(v->path, 0, NULL);
	EXPECT_EQ(NULL, json_object_get(found, "installing"));
	json_decref(found);
	ASSERT_EQ(0, start_at(v, v->path, "v1"));
	EXPECT_EQ(0, world->node[1].n);
}

/* A repair went around the host, and did not come so far as to delete its entry. */
TEST_F(repair, killed__withdrawn_at_a_host_that_it_left)
{
	const struct aggctl host = { .json = true, .netns = "v1" };
	const char **only = cmd_withdraw.verbs[0].opts[0].dest;
	struct supervisor *v = &self->one;
	struct fake_entry entry = world->node[1].entry[0];
	json_t *node, *was;
	char *arg = v->path;

	node = json_object_get(json_object_get(v->s.json, "nodes"), "v1");
	was = json_object_get(node, "trees");
	json_object_set(node, "remove", was);
	json_object_set_new(node, "trees", json_array());
	ASSERT_EQ(0, plan_store_save(&v->store, v->s.json));
	stop(v);
	world->at = 1;
	*only = "v1";
	EXPECT_EQ(0, cmd_withdraw.verbs[0].run(&host, 1, &arg));
	EXPECT_EQ(0, world->node[1].n);
	/* Another plan's stays. */
	entry.plan[0] ^= 1;
	world->node[1].entry[world->node[1].n++] = entry;
	EXPECT_NE(0, cmd_withdraw.verbs[0].run(&host, 1, &arg));
	EXPECT_EQ(1, world->node[1].n);
	*only = NULL;
}

/* --- withdrawn -------------------------------------------------------------- */

static void is_ready(void *arg, size_t nodes)
{
	const int *pipe = arg;

	if (write(*pipe, "", 1) != 1)
		abort();
}

static void is_repaired(void *arg, const struct repair *r)
{
	fprintf(stderr, "# repaired: %s\n", r->text);
	_exit(3);
}

/* Supervises in a process of its own; its sources may leave. Return: its pid */
static pid_t supervise_alone(char *path)
{
	struct plan_store store;
	struct supervise s = {
		.path = path, .store = &store, .in_testbed = true,
		.ready = is_ready, .told = is_repaired,
	};
	char why[AGGNET_WATCH_TEXT] = "", ready;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (pid) {
		close(pipes[1]);
		if (read(pipes[0], &ready, 1) != 1)
			pid = -1;
		close(pipes[0]);
		return pid;
	}
	alarm(60);
	s.arg = &pipes[1];
	s.json = json_load_file(path, 0, NULL);
	json_object_set_new(json_object_get(s.json, "entries"),
			    "allow_missing", json_true());
	if (plan_store_open(&store, path) ||
	    supervise_run(&s, why, sizeof(why)) != 1)
		_exit(2);
	fprintf(stderr, "# supervise: %s\n", why);
	_exit(!strstr(why, "the entry was withdrawn at " RECEIVER));
}

/* It ends, or has put entries back. */
static void wait_for_it(void *arg)
{
	const pid_t *pid = arg;
	siginfo_t info;

	waitid(P_PID, (id_t)*pid, &info, WEXITED | WNOWAIT);
}

/* It hears of the first entry before the others are withdrawn. */
TEST_F(repair, withdrawn__ends_its_supervisor)
{
	struct supervisor *v = &self->one;
	int status;
	pid_t pid;

	stop(v);
	pid = supervise_alone(v->path);
	ASSERT_LT(0, pid);
	world->steps = 0;
	world->call = wait_for_it;
	world->arg = &pid;
	world->call_at = 4;
	EXPECT_EQ(0, withdraw(v->path));
	EXPECT_EQ(0, world->call_at);
	EXPECT_TRUE(nothing_in_force());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(nothing_in_force());
}

/* Another plan takes the place of all that is in force. */
static void plan_anew(void *arg)
{
	unsigned int i, k, *n = arg;

	for (i = 0; i < FAKE_NODES; i++)
		for (k = 0; k < world->node[i].n; k++, (*n)++) {
			world->node[i].entry[k].instance++;
			world->node[i].entry[k].plan[0]++;
		}
}

/* It comes at each step of a withdrawal, which leaves it alone. */
TEST_F(repair, withdrawn__leaves_a_newer_plan)
{
	struct supervisor *v = &self->one;
	unsigned int i, k, anew, left;

	stop(v);
	for (i = 1; ; i++) {
		ASSERT_EQ(0, begin(v->path));
		anew = 0;
		world->steps = 0;
		world->call = plan_anew;
		world->arg = &anew;
		world->call_at = i;
		withdraw(v->path);
		if (world->call_at)
			break;
		for (k = left = 0; k < FAKE_NODES; k++)
			left += world->node[k].n;
		EXPECT_EQ(anew, left) {
			TH_LOG("another plan came at call %u", i);
		}
	}
	EXPECT_LT(10, i);
}

static int withdraw_node(char *path, const char *node)
{
	const char **only = cmd_withdraw.verbs[0].opts[0].dest;
	int ret;

	*only = node;
	ret = withdraw(path);
	*only = NULL;
	return ret;
}

/* The supervisor would put back what is withdrawn at v1: nothing is. */
TEST_F(repair, withdrawn__of_one_node_under_supervision)
{
	EXPECT_NE(0, withdraw_node(self->one.path, "v1"));
	EXPECT_TRUE(in_force(self->one.s.json));
}

/* Not so at the receiver: the supervisor ends. */
TEST_F(repair, withdrawn__of_the_receiver_ends_its_supervisor)
{
	struct supervisor *v = &self->one;
	int status;
	pid_t pid;

	stop(v);
	pid = supervise_alone(v->path);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, withdraw_node(v->path, "v0"));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_FALSE(nothing_in_force());
	EXPECT_EQ(0, withdraw_node(v->path, "v1"));
	EXPECT_EQ(0, withdraw_node(v->path, "v4"));
	EXPECT_TRUE(nothing_in_force());
}

/* --- printed ---------------------------------------------------------------- */

/* Supervises in a process of its own that prints to @out. Return: its status */
static int supervise_to(char *path, int out)
{
	const struct aggctl ctl = {};
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		status = cmd_supervise.verbs[0].run(&ctl, 1, &path);
		_exit(status || fflush(stdout) || ferror(stdout));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The reader stays, and reads nothing: not for want of it is there no result. */
TEST_F(repair, printed__to_a_full_pipe)
{
	struct supervisor *v = &self->one;
	char bytes[4096] = "";
	int pipes[2];

	stop(v);
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, fcntl(pipes[1], F_SETFL, O_NONBLOCK));
	while (write(pipes[1], bytes, sizeof(bytes)) > 0)
		;
	ASSERT_EQ(0, fcntl(pipes[1], F_SETFL, 0));
	world->node[0].entry[0].state = AGGNET_TREE_DONE;
	/* There is a warning of it. */
	world->node[4].n = 0;
	EXPECT_EQ(0, supervise_to(v->path, pipes[1]));
	close(pipes[0]);
	close(pipes[1]);
}

/* The reader has gone. */
TEST_F(repair, printed__to_a_closed_pipe)
{
	struct supervisor *v = &self->one;
	int pipes[2];

	stop(v);
	ASSERT_EQ(0, pipe(pipes));
	close(pipes[0]);
	world->node[0].entry[0].state = AGGNET_TREE_DONE;
	EXPECT_EQ(0, supervise_to(v->path, pipes[1]));
	close(pipes[1]);
}

/* There is no room where the lines go. */
TEST_F(repair, printed__to_a_full_disk)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct supervisor *v = &self->one;

	stop(v);
	ASSERT_LE(0, full);
	world->node[0].entry[0].state = AGGNET_TREE_DONE;
	EXPECT_EQ(0, supervise_to(v->path, full));
	close(full);
}

/* --- two supervisors -------------------------------------------------------- */

/* The other one, with a copy of the plan, has heard of other failures. */
static void repair_too(void *arg)
{
	struct supervisor *two = arg;
	unsigned int at = world->at;

	two->ret = cut(two, "v1", "eth0");
	world->at = at;
}

/* While one repairs, the other one does, at each step. */
TEST_F(repair, two__one_plan_is_left)
{
	struct supervisor *v = &self->one, two;
	char copy[64];
	unsigned int i, winners = 0;
	bool won, again;

	snprintf(copy, sizeof(copy), "%s/copy.json", self->dir);
	for (i = 1; i < STEPS_MAX; i++) {
		ASSERT_EQ(0, start_anew(v));
		ASSERT_EQ(0, json_dump_file(v->s.json, copy, 0));
		ASSERT_EQ(0, chmod(copy, 0600));
		ASSERT_EQ(0, start(&two, copy));
		world->steps = 0;
		world->call = repair_too;
		world->arg = &two;
		world->call_at = i;
		won = !cut(v, "v4", "eth1") && !settle(v);
		again = !world->call_at;
		world->call_at = 0;
		winners += won;
		winners += again && !two.ret && !settle(&two);
		EXPECT_TRUE(in_force(won ? v->s.json : two.s.json)) {
			TH_LOG("the other one at call %u, won %d", i, won);
		}
		stop(&two);
		unlink(copy);
		if (!again)
			break;
	}
	EXPECT_LT(20, i);
	EXPECT_GT(STEPS_MAX, i);
	/* One each time, never both. */
	EXPECT_EQ(i, winners);
}

/* It is told of the other one's attempt by any node. */
TEST_F(repair, two__heard_of_the_other)
{
	struct aggnet_event_info event = {
		.kind = AGGNET_EVENT_TREE_ADDED, .instance = 1, .attempt = 1,
		.incast_id = 1ull << 32 | 0x0a000001,
	};

	EXPECT_EQ(-1, supervise_heard(&self->one.s, &event));
	/* Not by what comes of its own. */
	ASSERT_EQ(0, cut(&self->one, "v4", "eth1"));
	EXPECT_EQ(0, supervise_heard(&self->one.s, &event));
	event.instance = 2;
	event.attempt = 0;
	EXPECT_EQ(-1, supervise_heard(&self->one.s, &event));
	event.instance = 0;
	event.attempt = 9;
	EXPECT_EQ(0, supervise_heard(&self->one.s, &event));
}

/* Another host has heard of more, and its attempt is the later one. */
TEST_F(repair, two__answered_by_the_other)
{
	struct aggnet_event_info event = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .instance = 1,
		.reason = AGGNET_R_STALE, .incast_id = 1ull << 32 | 0x0a000001,
		.origin = { htonl(0x0a000002) },
	};
	struct aggnet_tree_info info = {
		.state = AGGNET_TREE_ABORTED, .instance = 1, .attempt = 1,
		.reason = AGGNET_R_STALE, .incast_id = event.incast_id,
		.origin = event.origin,
	};
	struct supervise *s = &self->one.s;

	EXPECT_EQ(-1, supervise_heard(s, &event));
	/* Its own repair ends the entry of before in the same way. */
	ASSERT_EQ(0, cut(&self->one, "v4", "eth1"));
	EXPECT_EQ(0, supervise_heard(s, &event));
	event.attempt = 1;
	event.reason = AGGNET_R_TIMEOUT;
	EXPECT_EQ(0, supervise_heard(s, &event));
	EXPECT_EQ(-1, supervise_stands(s, &info));
	/* A source asks once more after the receiver has its result. */
	event.kind = AGGNET_EVENT_TREE_DONE;
	event.reason = 0;
	aggnet_watch_event(s->watch, "v0", &event, 0);
	EXPECT_EQ(0, supervise_stands(s, &info));
}

/* The file was not saved, or is an old copy. */
TEST_F(repair, adopted__a_later_attempt)
{
	struct supervisor *v = &self->one;
	json_t *old = json_deep_copy(v->s.json);

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	stop(v);
	ASSERT_EQ(0, json_dump_file(old, v->path, 0));
	ASSERT_EQ(0, start(v, v->path));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_EQ(0, v->s.retry_ms);
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	EXPECT_EQ(3, attempt(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	stop(v);
	/* An older copy of the file will do to withdraw all of it. */
	ASSERT_EQ(0, json_dump_file(old, v->path, 0));
	withdraw(v->path);
	EXPECT_TRUE(nothing_in_force());
	json_decref(old);
}

/* What another tree has at the nodes is not what the file tells, and stays. */
TEST_F(repair, adopted__of_one_tree)
{
	struct supervisor *v = &self->one;
	json_t *old;

	ASSERT_EQ(0, start_two(v, v1_v4, 5, NULL));
	old = json_deep_copy(v->s.json);
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	stop(v);
	ASSERT_EQ(0, json_dump_file(old, v->path, 0));
	json_decref(old);
	ASSERT_EQ(0, start(v, v->path));
	ASSERT_EQ(1, attempt_of(v->s.json, 0));
	ASSERT_EQ(0, v->s.retry_ms);
	ASSERT_EQ(0, cut(v, "v4", "eth0"));
	EXPECT_EQ(1, attempt_of(v->s.json, 0));
	EXPECT_EQ(1, attempt_of(v->s.json, 1));
	EXPECT_EQ(1, v->s.repairs);
}

/* The next supervisor finds @before at v1, and the receiver in @state. */
static int start_behind(struct supervisor *v, const struct fake_entry *before,
			uint8_t state)
{
	stop(v);
	world->node[1].entry[0] = *before;
	world->node[0].entry[0].state = state;
	return start(v, v->path);
}

TEST_F(repair, torn__nodes_in_two_attempts)
{
	const struct fake_entry before = world->node[1].entry[0];
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, start_behind(v, &before, 0));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_TRUE(in_force(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
}

/* The receiver has its result: there is nothing to begin anew. */
TEST_F(repair, torn__nodes_in_two_attempts_but_done)
{
	const struct fake_entry before = world->node[1].entry[0];
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, start_behind(v, &before, AGGNET_TREE_DONE));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(1, attempt(v->s.json));
	EXPECT_EQ(AGGNET_WATCH_DONE, hear(v, &f));
}

/* The file is an old copy, and the later attempt is not one tree. */
TEST_F(repair, torn__a_later_attempt)
{
	struct supervisor *v = &self->one;
	json_t *old = json_deep_copy(v->s.json);
	struct fake_entry other;

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	other = world->node[1].entry[0];
	other.plan[AGGNET_PLAN_LEN - 1] ^= 1;
	ASSERT_EQ(0, json_dump_file(old, v->path, 0));
	ASSERT_EQ(0, start_behind(v, &other, 0));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(2, attempt(v->s.json));
	EXPECT_TRUE(has_plan(v->s.json));
	json_decref(old);
}

/* What an attempt has left at a node that the plan does not use changes nothing. */
TEST_F(repair, torn__not_by_what_is_left_elsewhere)
{
	struct supervisor *v = &self->one;
	struct fake_node *v2 = &world->node[2], *v7 = &world->node[7];

	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(NULL, entry_of(v->s.json, "v7"));
	v7->entry[v7->n++] = v2->entry[0];
	v7->entry[0].attempt = 0;
	ASSERT_EQ(0, restart(v));
	EXPECT_EQ(0, v->s.retry_ms);
	EXPECT_EQ(1, attempt(v->s.json));
}

/* The file tells that attempt 1 of @other is being installed. */
static int start_installing(struct supervisor *v, json_t *other)
{
	json_object_set_new(other, "installing", json_true());
	if (plan_store_save(&v->store, other))
		return -1;
	return restart(v);
}

/* Is there what there was? */
static bool is_untouched(const struct fake_world *before)
{
	const struct fake_node *a, *b;
	unsigned int i;

	for (i = 0; i < FAKE_NODES; i++) {
		a = &before->node[i];
		b = &world->node[i];
		if (a->n != b->n ||
		    memcmp(a->entry, b->entry, a->n * sizeof(*a->entry)))
			return false;
	}
	return true;
}

/* Attempt 2 is in force, and its file could not be saved: it is another tree. */
TEST_F(repair, adopted__not_what_was_being_installed)
{
	struct supervisor *v = &self->one;
	json_t *other = updated(v->path, "failed:v4-w4");
	struct fake_world before;

	world->refuse = 1;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	ASSERT_EQ(0, cut(v, "v1", "eth0"));
	ASSERT_EQ(2, attempt(v->s.json));
	before = *world;
	ASSERT_EQ(0, start_installing(v, other));
	EXPECT_TRUE(is_untouched(&before));
	ASSERT_EQ(0, settle(v));
	EXPECT_EQ(3, attempt(v->s.json));
	EXPECT_TRUE(has_plan(v->s.json));
	EXPECT_TRUE(tells(v->path, v->s.json));
	json_decref(other);
}

/* The receiver had its result in attempt 0: its entries are left alone. */
TEST_F(repair, adopted__done_before_the_installation)
{
	struct supervisor *v = &self->one;
	json_t *other = updated(v->path, "failed:v4-w4");
	struct fake_world before;
	struct aggnet_finding f;

	world->node[0].entry[0].state = AGGNET_TREE_DONE;
	before = *world;
	ASSERT_EQ(0, start_installing(v, other));
	EXPECT_TRUE(is_untouched(&before));
	EXPECT_EQ(0, v->s.retry_ms);
	EXPECT_EQ(AGGNET_WATCH_DONE, hear(v, &f));
	json_decref(other);
}

/* Each host for itself: what differs has another epoch. */
TEST_F(repair, hosts__other_trees_are_other_epochs)
{
	struct supervisor *v = &self->one, two;
	char copy[64];
	json_t *a, *b, *c;

	snprintf(copy, sizeof(copy), "%s/copy.json", self->dir);
	ASSERT_EQ(0, json_dump_file(v->s.json, copy, 0));
	ASSERT_EQ(0, start(&two, copy));
	v->s.only = "v1";
	two.s.only = "v2";
	v->s.in_testbed = false;
	two.s.in_testbed = false;
	world->at = 1;
	ASSERT_EQ(0, cut(v, "v4", "eth1"));
	a = json_incref(v->s.json);
	world->at = 2;
	ASSERT_EQ(0, cut(&two, "v4", "eth1"));
	b = json_incref(two.s.json);
	/* The same failure: the same trees, and so the same epoch. */
	EXPECT_EQ(attempt(a), attempt(b));
	EXPECT_EQ(1, attempt(a) >> 16);
	ASSERT_EQ(0, cut(&two, "v1", "eth0"));
	c = two.s.json;
	EXPECT_EQ(2, attempt(c) >> 16);
	EXPECT_NE(attempt(a) & 0xffff, attempt(c) & 0xffff);
	json_decref(a);
	json_decref(b);
	stop(&two);
	unlink(copy);
}

/* One host waits for the trees only that it has a part in. */
TEST_F(repair, hosts__end_of_its_own_tree)
{
	struct supervisor *v = &self->one;
	struct fake_node *v0 = &world->node[0];
	struct aggnet_finding f;

	ASSERT_EQ(0, start_two(v, v1_v4, 8, "v0"));
	ASSERT_EQ(1, v0->n);
	v0->event[v0->events++] = (struct fake_event){
		AGGNET_EVENT_TREE_DONE, 1ull << 32 | 0x0a000001, 1, 0
	};
	EXPECT_EQ(AGGNET_WATCH_DONE, hear(v, &f));
}

/* Other hosts have repaired the plan before it was supervised here. */
TEST_F(repair, hosts__ended_at_the_beginning)
{
	struct supervisor *v = &self->one;

	ASSERT_EQ(0, start_two(v, v1_v4, 8, "v0"));
	stop(v);
	world->node[0].entry[0].state = AGGNET_TREE_ABORTED;
	world->node[0].entry[0].reason = AGGNET_R_STALE;
	EXPECT_EQ(-1, start_at(v, v->path, "v0"));
	stop(v);
	world->node[0].entry[0].reason = AGGNET_R_TIMEOUT;
	EXPECT_EQ(0, start_at(v, v->path, "v0"));
}

/* Supervises at v1, by which v4 and v7 send, and hears that v1 timed out. */
static enum aggnet_verdict lose_aggregator(struct supervisor *v,
					   bool in_testbed,
					   struct aggnet_finding *f)
{
	struct aggnet_event_info event = {
		.kind = AGGNET_EVENT_TREE_ABORTED, .instance = 1,
		.incast_id = 1ull << 32 | 0x0a000001,
		.reason = AGGNET_R_TIMEOUT, .about = { htonl(0x0a000002) },
	};
	static const aggt_node senders[] = { 4, 7 }, receiver;

	stop(v);
	if (begin_with(v->path, make_plan_of(senders, &receiver, 1)) ||
	    world->node[1].n != 1)
		return AGGNET_WATCH_FAILED;
	world->at = 1;
	if (start_in(v, v->path, "v1", in_testbed))
		return AGGNET_WATCH_FAILED;
	aggnet_watch_event(v->s.watch, "v1", &event, supervise_now());
	return hear(v, f);
}

/* A repair goes around the host: it has nothing to wait for. */
TEST_F(repair, hosts__not_on_the_way_any_more)
{
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(AGGNET_WATCH_REPAIR, lose_aggregator(v, false, &f));
	ASSERT_EQ(0, supervise_repair(&v->s, &f));
	EXPECT_EQ(0, world->node[1].n);
	EXPECT_EQ(AGGNET_WATCH_DONE, hear(v, &f));
}

/* Its namespace is gone: it would hear of nothing, and wait for ever. */
TEST_F(repair, hosts__gone_at_the_beginning)
{
	struct supervisor *v = &self->one;

	stop(v);
	world->gone = 1 << 1;
	EXPECT_EQ(-1, start_in(v, v->path, "v1", true));
}

/* Or try its repair for ever. */
TEST_F(repair, hosts__gone_before_a_repair)
{
	struct supervisor *v = &self->one;
	struct aggnet_finding f;

	ASSERT_EQ(AGGNET_WATCH_REPAIR, lose_aggregator(v, true, &f));
	world->gone = 1 << 1;
	EXPECT_EQ(-1, supervise_repair(&v->s, &f));
	EXPECT_EQ(0, v->told);
}

/* --- apply ------------------------------------------------------------------ */

static int apply(const json_t *json, bool replace)
{
	struct plan_install how = {
		.in_testbed = true, .replace = replace, .unchecked = true,
	};
	struct plan_file file;
	int ret = plan_file_take(&file, (json_t *)json);

	if (!ret)
		ret = plan_install(&file, &how);
	plan_file_free(&file);
	return ret;
}

/* What "apply --held" says at the node v4 when it hears these words after the plan. */
static int apply_held_of(const json_t *json, const char *words, char *said,
			 size_t room)
{
	char *text = json_dumps(json, JSON_COMPACT);
	struct plan_install how = { .unchecked = true };
	int in[2], out = dup(STDOUT_FILENO), ret;
	FILE *f = tmpfile();
	size_t n;

	if (pipe(in))
		return -1;
	dprintf(in[1], "%s\n%s", text, words);
	close(in[1]);
	free(text);
	dup2(in[0], STDIN_FILENO);
	close(in[0]);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	ret = apply_held(NULL, "v4", &how);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(f);
	n = fread(said, 1, room - 1, f);
	said[n] = 0;
	fclose(f);
	return ret;
}

/* Words that come at once are heard one by one; the end of the input undoes the plan. */
TEST_F(repair, held__hears_words)
{
	const struct {
		const char *words;
		const char *said;
		int ret;
	} row[] = {
		{ "@wait\n@wait\n@commit\n@wait\n@keep\n",
		  "@staged\n@in force\n", 0 },
		{ "@wait\n", "@staged\n@undone\n", -1 },
		{ "@keep\n", "@staged\n@undone\n", -1 },
		{ "@commit\n@wait\n", "@staged\n@in force\n@undone\n", -1 },
		{ "@commit\n@kee", "@staged\n@in force\n@undone\n", -1 },
	};
	struct supervisor *v = &self->one;
	char said[256], path[64];
	size_t i;

	strcpy(path, v->path);
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		fake_world_new();
		EXPECT_EQ(row[i].ret, apply_held_of(v->s.json, row[i].words,
						    said, sizeof(said)));
		EXPECT_STREQ(row[i].said, said);
		EXPECT_EQ(row[i].ret != 0, nothing_in_force());
	}
	/* The undo is refused. */
	fake_world_new();
	world->refuse = 1ull << 1;
	EXPECT_EQ(-1, apply_held_of(v->s.json, "@commit\n", said, sizeof(said)));
	EXPECT_STREQ("@staged\n@in force\n", said);
	stop(v);
	ASSERT_EQ(0, begin(path));
	ASSERT_EQ(0, start(v, path));
}

/* The same trees in the same epoch, but it is not the same plan. */
TEST_F(repair, apply__two_plans_of_one_epoch)
{
	json_t *other = make_plan();

	EXPECT_EQ(-1, apply(other, true));
	EXPECT_TRUE(in_force(self->one.s.json));
	EXPECT_EQ(0, apply(self->one.s.json, true));
	json_decref(other);
}

/* After 208 days the clock counts as older: what to do is said. */
TEST_F(repair, apply__an_older_plan)
{
	json_t *json = make_plan(), *node, *entry;
	FILE *said = tmpfile();
	int out = dup(STDERR_FILENO);
	char text[256] = "";
	const char *name;
	size_t i;

	json_object_foreach(json_object_get(json, "nodes"), name, node)
		json_array_foreach(json_object_get(node, "trees"), i, entry)
			json_object_set_new(entry, "instance",
					    json_integer(0x80000002));
	dup2(fileno(said), STDERR_FILENO);
	EXPECT_EQ(-1, apply(json, true));
	dup2(out, STDERR_FILENO);
	close(out);
	rewind(said);
	EXPECT_NE(NULL, fgets(text, sizeof(text), said));
	EXPECT_STREQ("aggctl: v0: tree of job 1 to 10.0.0.1: epoch 1.0 is in force, and this plan's 2147483650.0 is not newer: to apply this plan, withdraw that one first\n",
		     text);
	EXPECT_TRUE(in_force(self->one.s.json));
	fclose(said);
	json_decref(json);
}

/* A plan that is made later, and how it is applied. */
struct later {
	json_t *json;
	int ret;
};

static void apply_later(void *arg)
{
	struct later *later = arg;
	unsigned int at = world->at;

	later->ret = apply(later->json, true);
	world->at = at;
}

static json_t *make_later_plan(void)
{
	json_t *json = make_plan(), *node, *entry;
	const char *name;
	size_t i;

	json_object_foreach(json_object_get(json, "nodes"), name, node)
		json_array_foreach(json_object_get(node, "trees"), i, entry)
			json_object_set_new(entry, "instance",
					    json_integer(2));
	return json;
}

/* Return: was there such a step? */
static bool apply_at(struct supervisor *v, struct later *later, unsigned int i)
{
	world->steps = 0;
	world->call = apply_later;
	world->arg = later;
	world->call_at = i;
	later->ret = -1;
	cut(v, "v4", "eth1");
	if (!world->call_at)
		return true;
	world->call_at = 0;
	return false;
}

/*
 * It is applied at each step of a repair, also of one that the third node
 * refuses: the nodes have all of it.
 */
TEST_F(repair, apply__a_later_plan_during_a_repair)
{
	struct later later = { .json = make_later_plan() };
	struct supervisor *v = &self->one;
	unsigned int i, refused, applied = 0;
	bool during;

	for (refused = 0; refused < 2; refused++) {
		for (i = 1, during = true; during && i < STEPS_MAX; i++) {
			ASSERT_EQ(0, start_anew(v));
			world->refuse = refused << 2;
			during = apply_at(v, &later, i);
			if (later.ret)
				continue;
			applied++;
			/* The supervisor hears of it, and ends. */
			EXPECT_EQ(AGGNET_WATCH_FAILED, run(v));
			EXPECT_TRUE(has_plan(later.json)) {
				TH_LOG("applied at call %u, refused %u", i,
				       refused);
			}
		}
		EXPECT_GT(STEPS_MAX, i);
	}
	EXPECT_LT(30, applied);
	json_decref(later.json);
}

/* Its file withdraws what is its own, and nothing of the plan in force. */
TEST_F(repair, withdraw__another_plan_of_the_epoch)
{
	json_t *other = make_plan();
	char path[64];

	snprintf(path, sizeof(path), "%s/other.json", self->dir);
	ASSERT_EQ(0, json_dump_file(other, path, 0));
	EXPECT_NE(0, withdraw(path));
	EXPECT_TRUE(in_force(self->one.s.json));
	unlink(path);
	json_decref(other);
}

/* An entry whose link's device is gone is withdrawn as the others are. */
TEST_F(repair, withdraw__without_a_device)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/copy.json", self->dir);
	ASSERT_EQ(0, json_dump_file(self->one.s.json, path, 0));
	world->node[4].lost = 1 << 1 | 1 << 2;
	EXPECT_EQ(0, withdraw(path));
	unlink(path);
	EXPECT_TRUE(nothing_in_force());
}

/* A node that the file does not name is swept, too: of this plan only. */
TEST_F(repair, withdraw__leaves_other_plans)
{
	const struct fake_entry other = {
		.incast_id = 7, .instance = 1, .has_plan = true, .plan = "other",
	};
	struct fake_node *v1 = &world->node[1], *v5 = &world->node[5];
	char path[64];

	/* A copy, which no supervisor has locked. */
	snprintf(path, sizeof(path), "%s/copy.json", self->dir);
	ASSERT_EQ(0, json_dump_file(self->one.s.json, path, 0));
	v1->entry[v1->n++] = other;
	v5->entry[v5->n++] = other;
	EXPECT_EQ(0, withdraw(path));
	unlink(path);
	ASSERT_EQ(1, v1->n);
	ASSERT_EQ(1, v5->n);
	EXPECT_EQ(other.incast_id, v1->entry[0].incast_id);
	v1->n = 0;
	v5->n = 0;
	EXPECT_TRUE(nothing_in_force());
}

/* Nodes are as they were before, whichever of them refuses. */
TEST_F(repair, apply__fails_without_a_trace)
{
	json_t *json = make_plan();
	struct fake_world before;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		fake_world_new();
		world->refuse = 1ull << i;
		before = *world;
		ASSERT_EQ(-1, apply(json, false));
		EXPECT_TRUE(nothing_in_force());
		for (int k = 0; k < FAKE_NODES; k++) {
			EXPECT_EQ(before.node[k].info.role,
				  world->node[k].info.role);
			EXPECT_EQ(before.node[k].info.address.s_addr,
				  world->node[k].info.address.s_addr);
			EXPECT_STREQ(before.node[k].info.label,
				     world->node[k].info.label);
		}
	}
	json_decref(json);
}

static void interrupt(void *arg)
{
	const int *signals = arg;

	raise(*signals);
}

/* A user stops it between two commits: it has come to all nodes before it ends. */
TEST_F(repair, apply__interrupted)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	unsigned int i, k, whole = 0;
	json_t *json = make_plan();
	int status;
	pid_t pid;

	for (i = 1; i < STEPS_MAX; i++) {
		fake_world_new();
		pid = fork();
		if (!pid) {
			world->call = interrupt;
			world->arg = (void *)&signals[i % ARRAY_SIZE(signals)];
			world->call_at = i;
			_exit(apply(json, false) ? 1 : 0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (WIFEXITED(status))
			break;
		for (k = 0; k < FAKE_NODES && !world->node[k].n; k++)
			;
		if (k == FAKE_NODES)
			continue;
		EXPECT_TRUE(in_force(json));
		whole++;
	}
	EXPECT_EQ(0, status);
	EXPECT_LT(2, whole);
	json_decref(json);
}

/* Its errors go to a pipe without a reader: what a node refuses is taken back. */
TEST_F(repair, apply__refused_without_a_reader)
{
	json_t *json = make_plan();
	int pipes[2], status;
	pid_t pid;

	fake_world_new();
	ASSERT_EQ(0, pipe(pipes));
	close(pipes[0]);
	world->refuse = 1 << 2;
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		_exit(apply(json, false) ? 1 : 0);
	}
	close(pipes[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_TRUE(nothing_in_force());
	json_decref(json);
}

/* All ports of a switch have one level: a lost one is not another one. */
TEST(ports__a_lost_one_of_a_switch)
{
	json_t *ports = json_pack("[{s:s, s:i}, {s:s, s:i}]", "name", "p0",
				  "level", 0, "name", "p1", "level", 0);
	struct node node;

	fake_world_new();
	world->node[FAKE_SERVERS].lost = 1 << 4;
	ASSERT_EQ(0, node_open(&node, "w0", "w0"));
	ASSERT_EQ(0, node_ports(&node, ports, NODE_ATTACH_NONE));
	EXPECT_NE(NULL, node_port(&node, "p0"));
	EXPECT_EQ(NULL, node_port(&node, "p1"));
	node_close(&node);
	json_decref(ports);
}

/* Devices of hosts have names of their own: the level decides. */
TEST(ports__by_level)
{
	json_t *ports = json_pack("[{s:s, s:i}, {s:s, s:i}]", "name", "eth1",
				  "level", 0, "name", "p1", "level", 1);
	struct node node;

	fake_world_new();
	ASSERT_EQ(0, node_open(&node, "v0", "v0"));
	ASSERT_EQ(0, node_ports(&node, ports, NODE_ATTACH_NONE));
	ASSERT_NE(NULL, node_port(&node, "eth1"));
	EXPECT_EQ(1, node_port(&node, "eth1")->ifindex);
	ASSERT_NE(NULL, node_port(&node, "p1"));
	EXPECT_EQ(2, node_port(&node, "p1")->ifindex);
	node_close(&node);
	/* The device of level 1 is not taken for that of level 0, by its name. */
	world->node[0].lost = 1 << 1;
	ASSERT_EQ(0, node_open(&node, "v0", "v0"));
	ASSERT_EQ(0, node_ports(&node, ports, NODE_ATTACH_NONE));
	EXPECT_EQ(NULL, node_port(&node, "eth1"));
	EXPECT_NE(NULL, node_port(&node, "p1"));
	node_close(&node);
	json_decref(ports);
}

/* --- routes ------------------------------------------------------------------ */

#define ROUTED	8	/* servers of bcube:2,2 */

/* What the servers have: next hops to each other server. */
struct routed {
	struct aggt_topo *topo;
	aggt_node hop[ROUTED][ROUTED];
};

static void route(struct routed *routed)
{
	struct aggt_err why;
	aggt_node at, to;

	routed->topo = aggt_topo_parse("bcube:2,2", &why);
	for (at = 0; at < ROUTED; at++)
		for (to = 0; to < ROUTED; to++)
			routed->hop[at][to] = at == to ? to :
				aggt_topo_next_hop(routed->topo, at, to);
}

/* Does a packet that is under way to @to get there? */
static bool arrives(const struct routed *routed, aggt_node at, aggt_node to)
{
	unsigned int hops, dim;
	aggt_node next;

	for (hops = 0; at != to && hops < ROUTED; hops++, at = next) {
		next = routed->hop[at][to];
		dim = aggt_topo_link_dim(routed->topo, at, next);
		if (!aggt_topo_server_ok(routed->topo, next) ||
		    !aggt_topo_link_ok(routed->topo, at, dim) ||
		    !aggt_topo_link_ok(routed->topo, next, dim))
			return false;
	}
	return at == to;
}

/* Take the detours to @to. Return: how many servers that have a way lack a route */
static unsigned int take_detours(struct routed *routed, aggt_node to)
{
	uint32_t dist[ROUTED];
	aggt_node queue[ROUTED], at;
	struct reroute r = {
		.topo = routed->topo, .dist = dist, .queue = queue,
	};
	unsigned int lost = 0;
	size_t i;

	if (ways_to(&r, to))
		return ROUTED;
	for (i = 0; i < r.n; i++)
		routed->hop[r.route[i].at][r.route[i].to] = r.route[i].hop;
	for (at = 0; at < ROUTED; at++)
		lost += dist[at] != AGGT_NONE && !arrives(routed, at, to);
	free(r.route);
	return lost;
}

static unsigned int fail_part(struct routed *routed, const char *part)
{
	unsigned int lost = 0;
	struct aggt_err why;
	aggt_node to;

	if (aggt_topo_fail(routed->topo, part, &why))
		return ROUTED;
	for (to = 0; to < ROUTED; to++)
		lost += aggt_topo_server_ok(routed->topo, to) ?
			take_detours(routed, to) : 0;
	return lost;
}

/* A server, or the link of a server at one of its levels. */
static const char *part_name(const struct aggt_topo *topo, unsigned int i,
			     char *text)
{
	const unsigned int dims = 3;
	aggt_node server = i / (dims + 1);
	unsigned int dim = i % (dims + 1);

	if (dim == dims)
		sprintf(text, "v%u", server);
	else
		sprintf(text, "v%u-w%u", server,
			aggt_topo_switch(topo, server, dim));
	return text;
}

/* Any part fails, then any other one: detours of the first may lead by it. */
TEST(routes__around_two_failures)
{
	const unsigned int parts = 4 * ROUTED;
	struct routed routed;
	char a[32], b[32];
	unsigned int i, k;

	for (i = 0; i < parts; i++) {
		for (k = 0; k < parts; k++) {
			route(&routed);
			ASSERT_NE(NULL, routed.topo);
			part_name(routed.topo, i, a);
			part_name(routed.topo, k, b);
			EXPECT_EQ(0, fail_part(&routed, a)) {
				TH_LOG("%s failed", a);
			}
			EXPECT_EQ(0, i == k ? 0 : fail_part(&routed, b)) {
				TH_LOG("%s failed, then %s", a, b);
			}
			aggt_topo_free(routed.topo);
		}
	}
}

/* All of them, as far as the process may have them. */
TEST(files__as_many_as_may_be)
{
	struct rlimit limit;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 64;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	raise_files();
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(limit.rlim_max, limit.rlim_cur);
	EXPECT_NE(NULL, strstr(files_error(EMFILE), "ulimit"));
}

TEST_HARNESS_MAIN
