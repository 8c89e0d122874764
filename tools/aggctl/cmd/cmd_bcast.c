// SPDX-License-Identifier: GPL-2.0
/* aggctl bcast: send a file or a pipe from the root to all members of a broadcast. */
#include "cmd/bcast.h"
#include "cmd/cmd.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static uint32_t timeout;

static int run_bcast(const struct aggctl *ctl, int argc, char **argv)
{
	(void)ctl;
	if (job > UINT32_MAX)
		return usage("bcast: needs --job");
	return bcast_send("bcast", (uint32_t)job, argc ? argv[0] : NULL,
			  timeout);
}

static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "job ID" },
	{ "timeout", OPT_WAIT, &timeout, "S",
	  "give up after so many seconds, even if the transfer progresses (no limit)" },
};

static const struct verb verbs[] = {
	{
		.args = "[FILE]",
		.help = "send a file, or standard input, to all members; done when each has it",
		.max_args = 1,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_bcast,
	},
};

const struct command cmd_bcast = {
	.name = "bcast",
	.help = "send a file to all members of a broadcast",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
