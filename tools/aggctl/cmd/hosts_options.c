// SPDX-License-Identifier: GPL-2.0
/* The options of commands that run on other hosts. */
#include "cmd/hosts_options.h"

int hosts_options(const struct aggctl *ctl, const struct verb *verb,
		  const struct hosts *hosts)
{
	static const char *const remote[] = { "ssh", "sudo", "timeout" };
	size_t i;

	for (i = 0; !hosts->file && i < ARRAY_SIZE(remote); i++)
		if (options_has(ctl, verb, remote[i]))
			return usage("--%s needs --hosts", remote[i]);
	if (!hosts_ssh_is_command(hosts->ssh))
		return usage("--ssh: '%s' is not a command of 1 to %d words",
			     hosts->ssh, HOSTS_WORDS);
	return ST_DONE;
}
