// SPDX-License-Identifier: GPL-2.0
/* Error sentences in the caller's buffer. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

void aggt_err_set(struct aggt_err *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
}

void aggt_err_nomem(struct aggt_err *err)
{
	aggt_err_set(err, "out of memory");
}
