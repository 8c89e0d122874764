/* SPDX-License-Identifier: GPL-2.0 */
/* The fixture for tests of one node that sends to itself. */
#ifndef ONE_NODE_H
#define ONE_NODE_H

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#include "member.h"

FIXTURE(node) {
	struct aggnet_ctl *ctl;
	struct message m;
};

FIXTURE_SETUP(node)
{
	self->ctl = make_node(NODE_A);
	ASSERT_NE(NULL, self->ctl);
}

FIXTURE_TEARDOWN(node)
{
	aggnet_ctl_close(self->ctl);
}

#endif /* ONE_NODE_H */
