/* support_disk.h - disks that are full or can only be read, for tests of what is said then. */
#ifndef SPILLWAY_SUPPORT_DISK_H
#define SPILLWAY_SUPPORT_DISK_H

#include "testing.h"

/* Mounts a new disk of so many bytes over `folder`, seen by this test's process and its children
 * alone, until it ends. False where that is not allowed: tests call TEST_SKIP(). */
bool support_mount_disk(const char *folder, size_t bytes);
/* From now on that disk can only be read. */
bool support_close_disk(const char *folder);

#endif
