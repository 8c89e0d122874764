// SPDX-License-Identifier: GPL-2.0
/* Unit tests of repairs under supervision, and of the file that is to tell the
 * plan in force. No node is there to take its part: nothing goes to the kernel.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/aggctl/supervise.c"
#include "../../tools/aggctl/plan_apply.h"
#include "../uapi/harness.h"

FIXTURE(repair) {
	char dir[32];
	char path[64];
	struct supervise s;
	bool unsaved;	/* as the last repair was told of */
	unsigned int told;
};

static void repaired(void *arg, const struct repair *r)
{
	FIXTURE_DATA(repair) *self = arg;

	self->unsaved = r->unsaved;
	self->told++;
}

/* v1 and v3 send to v0; v3 has two ways. */
static json_t *make_plan(void)
{
	static const aggt_node senders[] = { 1, 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "irs",
	};
	struct plan plan = { .conf = {
		.job = 1, .instance = 1, .scheme = AGGNET_SCHEME_EXACT,
		.aggnet_switches = true, .keyed = true, .writers = 1,
	} };
	struct aggt_err why;
	json_t *json = NULL;

	if (!plan_topology(&plan, "bcube:2,1"))
		plan.trees = aggt_plan_build(plan.topo, &job, &why);
	if (plan.trees && !plan_prepare(&plan))
		json = plan_json(&plan);
	plan_clear(&plan);
	return json;
}

FIXTURE_SETUP(repair)
{
	strcpy(self->dir, "/tmp/aggnet-test-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/plan.json", self->dir);
	self->s = (struct supervise){
		.path = self->path, .json = make_plan(), .names = -1,
		.told = repaired, .arg = self,
	};
	ASSERT_NE(NULL, self->s.json);
	ASSERT_EQ(0, plan_file_save(self->s.json, self->path));
	ASSERT_EQ(0, prepare(&self->s));
}

FIXTURE_TEARDOWN(repair)
{
	unlink(self->path);
	rmdir(self->dir);
	supervise_close(&self->s);
	aggnet_watch_free(self->s.watch);
	json_decref(self->s.changes);
	json_decref(self->s.renew);
	json_decref(self->s.json);
}

/* The link of @server at @port goes down, and is gone around. */
static int cut(FIXTURE_DATA(repair) *self, const char *server, const char *port)
{
	struct aggnet_finding f;
	int64_t now = supervise_now();

	aggnet_watch_port(self->s.watch, server, port, false, now);
	if (aggnet_watch_judge(self->s.watch, now + AGGNET_WATCH_SETTLE_MS,
			       &f) != AGGNET_WATCH_REPAIR)
		return -1;
	return supervise_repair(&self->s, &f);
}

static bool tells(const char *path, const json_t *json)
{
	json_t *found = json_load_file(path, 0, NULL);
	bool same = json_equal(found, (json_t *)json);

	json_decref(found);
	return same;
}

static bool is_there(FIXTURE_DATA(repair) *self, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", self->dir, name);
	return !access(path, F_OK);
}

TEST_F(repair, saved__each_one)
{
	json_t *old = json_incref(self->s.json);

	ASSERT_EQ(0, cut(self, "v3", "eth0"));
	EXPECT_FALSE(json_equal(old, self->s.json));
	EXPECT_TRUE(tells(self->path, self->s.json));
	ASSERT_EQ(0, cut(self, "v2", "eth1"));
	EXPECT_TRUE(tells(self->path, self->s.json));
	EXPECT_EQ(2, self->told);
	EXPECT_FALSE(self->unsaved);
	EXPECT_FALSE(is_there(self, "plan.json.new"));
	json_decref(old);
}

/* Its directory is gone: the repair counts, and the next one has a file again. */
TEST_F(repair, unsaved__goes_on)
{
	unlink(self->path);
	rmdir(self->dir);
	ASSERT_EQ(0, cut(self, "v3", "eth0"));
	EXPECT_EQ(1, self->told);
	EXPECT_TRUE(self->unsaved);
	EXPECT_TRUE(self->s.unsaved);
	EXPECT_EQ(0, json_array_size(self->s.changes));
	ASSERT_EQ(0, mkdir(self->dir, 0700));
	ASSERT_EQ(0, cut(self, "v2", "eth1"));
	EXPECT_EQ(2, self->told);
	EXPECT_FALSE(self->unsaved);
	EXPECT_FALSE(self->s.unsaved);
	EXPECT_TRUE(tells(self->path, self->s.json));
}

/* What came by standard input has no file. */
TEST_F(repair, unsaved__no_file)
{
	self->s.path = NULL;
	ASSERT_EQ(0, cut(self, "v3", "eth0"));
	EXPECT_EQ(1, self->told);
	EXPECT_FALSE(self->unsaved);
}

/* There is no room: the file is as it was, and half a file is not left behind. */
TEST_F(repair, file__no_room)
{
	const struct rlimit little = { 100, RLIM_INFINITY };
	const struct rlimit much = { RLIM_INFINITY, RLIM_INFINITY };
	json_t *other = json_array();
	int i;

	for (i = 0; i < 100; i++)
		json_array_append_new(other, json_integer(i));
	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &little));
	EXPECT_EQ(-1, plan_file_save(other, self->path));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &much));
	EXPECT_TRUE(tells(self->path, self->s.json));
	EXPECT_FALSE(is_there(self, "plan.json.new"));
	EXPECT_EQ(0, plan_file_save(other, self->path));
	EXPECT_TRUE(tells(self->path, other));
	json_decref(other);
}

/* Keys are for the owner only, whatever was there under the other name. */
TEST_F(repair, file__for_its_owner_only)
{
	struct stat st;
	char new[80];

	snprintf(new, sizeof(new), "%s.new", self->path);
	close(open(new, O_CREAT | O_WRONLY, 0644));
	chmod(new, 0644);
	chmod(self->path, 0644);
	ASSERT_EQ(0, plan_file_save(self->s.json, self->path));
	ASSERT_EQ(0, stat(self->path, &st));
	EXPECT_EQ(0600, st.st_mode & 0777);
	EXPECT_FALSE(is_there(self, "plan.json.new"));
}

/* A name that leads to the file goes on to do so. */
TEST_F(repair, file__symbolic_link)
{
	json_t *other = json_array();
	struct stat st;
	char link[80];

	snprintf(link, sizeof(link), "%s/link", self->dir);
	ASSERT_EQ(0, symlink("plan.json", link));
	EXPECT_EQ(0, plan_file_save(other, link));
	EXPECT_TRUE(tells(self->path, other));
	ASSERT_EQ(0, lstat(link, &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	unlink(link);
	json_decref(other);
}

TEST_HARNESS_MAIN
