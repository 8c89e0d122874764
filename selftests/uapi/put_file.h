/* SPDX-License-Identifier: GPL-2.0 */
/* Write text to a file of the kernel. */
#ifndef PUT_FILE_H
#define PUT_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Return: 0, or -errno */
static inline int put_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

#endif /* PUT_FILE_H */
