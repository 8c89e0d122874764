// SPDX-License-Identifier: GPL-2.0
/* Members reboot: a transfer that they had begun fails everywhere, one that
 * they had ended is not affected. Needs root and the module.
 */
#include "harness.h"

#include "../lib/stall.h"
#include "line_transfer.h"

FIXTURE(line) {
	struct line_transfer t;
};

FIXTURE_SETUP(line)
{
	stall_watch();
	ASSERT_EQ(0, transfer_up(&self->t));
}

FIXTURE_TEARDOWN(line)
{
	TH_LOG("%u tries repeated because the host was slow, %u of them without a stall",
	       self->t.repeated, self->t.unexplained);
	line_down(&self->t.line);
}

/* The node comes up again with a new nonce and begins its transfer again. */
static int reboot(struct line_transfer *t, int app)
{
	int node = app_node[app];

	app_kill(t, app);
	line_destroy(&t->line, node);
	return line_mend_node(&t->line, node) || transfer_add(t, node) ||
	       app_join(t, app) ? -1 : 0;
}

TEST_F_TIMEOUT(line, reboot__of_each_member_in_the_middle, LONG)
{
	int app, i;

	for (app = 0; app < APPS; app++) {
		self->t.give_up = GIVE_UP;
		ASSERT_EQ(NULL, transfer_bring(&self->t, &transfer_states[RELAYING]));
		ASSERT_EQ(0, reboot(&self->t, app));
		transfer_reach(&self->t, &transfer_rest, transfer_over);
		for (i = 0; i < APPS; i++)
			EXPECT_TRUE(self->t.app[i].over && self->t.app[i].error)
				TH_LOG("%s reboots: %s has no error",
				       app_name[app], app_name[i]);
		transfer_end(&self->t);
	}
}

/*
 * The reboot changes nothing for the other members: they have what it had sent.
 */
TEST_F_TIMEOUT(line, reboot__of_a_source_after_its_end, LONG)
{
	int i;

	self->t.give_up = PATIENT;
	ASSERT_EQ(NULL, transfer_bring(&self->t, &transfer_states[FINISHED]));
	self->t.give_up = GIVE_UP;
	ASSERT_EQ(0, reboot(&self->t, APP_C));
	ASSERT_TRUE(transfer_reach(&self->t, &transfer_rest, transfer_over));
	for (i = 0; i < APPS; i++)
		EXPECT_TRUE(self->t.app[i].over)
			TH_LOG("%s has no outcome", app_name[i]);
	EXPECT_TRUE(self->t.taken);
	EXPECT_EQ(0, self->t.app[APP_R].error);
	EXPECT_EQ(0, self->t.app[APP_AGG].error);
	EXPECT_TRUE(transfer_exact(&self->t));
	EXPECT_NE(0, self->t.app[APP_C].error);
	EXPECT_LT(0, transfer_counter(&self->t, NODE_AGG, "drop_nonce"));
	transfer_end(&self->t);
}

TEST_HARNESS_MAIN
