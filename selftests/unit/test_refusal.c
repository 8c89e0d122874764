// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's sentences about requests that the kernel refuses. */
#include <errno.h>
#include <string.h>

#include "../../tools/libaggnet/spec_gen.c"
#include "../../tools/libaggnet/field.c"
#include "../../tools/libaggnet/ctl.c"

#include <kselftest_harness.h>

/* The sentence of a refusal with the kernel's own one, or without: NULL */
static const char *sentence(struct aggnet_ctl *ctl, int error, const char *own)
{
	struct exchange x = { .ctl = ctl };
	struct {
		struct nlattr head;
		char text[60];
	} tlv = { { sizeof(tlv), NLMSGERR_ATTR_MSG }, "" };

	if (own)
		strcpy(tlv.text, own);
	keep_refusal(&x, error, &tlv.head, own ? sizeof(tlv) : 0);
	return x.error == error ? aggnet_ctl_error(ctl) : "another error";
}

TEST(refusal__sentence)
{
	struct aggnet_ctl ctl = {};

	EXPECT_STREQ("not permitted: this needs CAP_NET_ADMIN in the network namespace",
		     sentence(&ctl, -EPERM, NULL));
	EXPECT_STREQ("not yours", sentence(&ctl, -EPERM, "not yours"));
	EXPECT_STREQ("No such device", sentence(&ctl, -ENODEV, NULL));
}

TEST_HARNESS_MAIN
