// SPDX-License-Identifier: GPL-2.0
/*
 * vdisk, the part that is a process of the host: see vdisk_kern.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vdisk.h"

#define NAME_BYTES	256
/* So many zeros are not written, but mapped. */
#define MAPPED_BYTES	(64 * 1024)

int vdisk_map(const char *socket, unsigned long long bytes, void **map)
{
	int written, file, error = 0;
	char name[NAME_BYTES];
	void *at;

	written = snprintf(name, sizeof(name), "%s.base", socket);
	if (written < 0 || written >= (int)sizeof(name))
		return -ENAMETOOLONG;
	file = open(name, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	/* In the place of what was mapped before, and of what was written to that. */
	at = mmap(*map, bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_NORESERVE | (*map ? MAP_FIXED : 0), file, 0);
	if (at == MAP_FAILED)
		error = -errno;
	/* Processes of the guest have no use for it. */
	else if (madvise(at, bytes, MADV_DONTFORK))
		error = -errno;
	close(file);
	*map = error ? NULL : at;
	return error;
}

int vdisk_forget(void *at, unsigned long long bytes)
{
	return madvise(at, bytes, MADV_DONTNEED) ? -errno : 0;
}

int vdisk_zero(void *at, unsigned long long bytes)
{
	uintptr_t page = getpagesize();
	uintptr_t from = (uintptr_t)at, to = from + bytes;
	uintptr_t first = (from + page - 1) / page * page, end = to / page * page;
	void *zeros;

	if (bytes < MAPPED_BYTES || first >= end) {
		memset(at, 0, bytes);
		return 0;
	}
	memset(at, 0, first - from);
	memset((void *)end, 0, to - end);
	zeros = mmap((void *)first, end - first, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (zeros == MAP_FAILED || madvise(zeros, end - first, MADV_DONTFORK))
		return -errno;
	return 0;
}
