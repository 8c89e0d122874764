/* SPDX-License-Identifier: GPL-2.0 */
/* Releases of aggnet: the nodes of a tree have one and the same. */
#ifndef AGGCTL_RELEASE_H
#define AGGCTL_RELEASE_H

#include <stdbool.h>

#define RELEASE_LEN	32

/**
 * release_of_module() - the release of the module that is loaded
 * @text: filled; empty: there is none, or it does not say
 */
void release_of_module(char text[RELEASE_LEN]);

/**
 * release_differs() - is the loaded module of another release?
 * @other: the release in question; NULL: unknown
 * @text: the module's, as from release_of_module()
 *
 * Return: false also if one of both is not known.
 */
bool release_differs(const char *other, char text[RELEASE_LEN]);

#endif
