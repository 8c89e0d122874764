// SPDX-License-Identifier: GPL-2.0
/* The release of the loaded module. */
#include <stdio.h>
#include <string.h>

#include "release.h"

#define MODULE_FILE	"/sys/module/aggnet/version"

void release_of_module(char text[RELEASE_LEN])
{
	FILE *f = fopen(MODULE_FILE, "re");

	if (!f || !fgets(text, RELEASE_LEN, f))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool release_differs(const char *other, char text[RELEASE_LEN])
{
	release_of_module(text);
	return other && text[0] && strcmp(other, text);
}
