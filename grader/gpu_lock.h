/* gpu_lock.h - one run at a time on a device, over all users and processes of the machine.
 *
 * Two runs beside each other disturb each other's times, and a device that a hung kernel holds
 * disturbs everybody. So each GPU has a lock file, named by the UUID that the driver gives it, in a
 * folder that everybody may write. flock() needs no write access, and the kernel releases it when
 * its holder dies. */
#ifndef SPILLWAY_GPU_LOCK_H
#define SPILLWAY_GPU_LOCK_H

#include "errors.h"

#define GPU_UUID_BYTES 16

/* Waits until the device is ours, at most `wall_ns`. Returns a descriptor that holds it until it is
 * closed; -1 without an error when there is nowhere to put a lock, and then the run goes on
 * without; -1 with *err when the wait was too long, or the user interrupted. `folder` NULL: the
 * usual one. */
int gpu_lock_take(const unsigned char uuid[GPU_UUID_BYTES], const char *folder, int64_t wall_ns,
                  struct error *err);

#endif
