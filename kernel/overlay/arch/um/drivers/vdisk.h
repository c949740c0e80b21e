/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contents of a mapped vdisk: what the driver asks of the host.
 */
#ifndef __UM_VDISK_H
#define __UM_VDISK_H

/*
 * Maps so many bytes of SOCKET.base, for this process alone, in the place of *map where that is a
 * mapping; 0 or a negative error number.
 */
int vdisk_map(const char *socket, unsigned long long bytes, void **map);

/* Makes whole pages of a mapping what the file has; 0 or a negative error number. */
int vdisk_forget(void *at, unsigned long long bytes);

/* Makes bytes of a mapping zeros; 0 or a negative error number. */
int vdisk_zero(void *at, unsigned long long bytes);

#endif
