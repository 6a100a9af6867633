/* replies.h - what must hold of any reply of a repo's child that is accepted: for fuzz targets. */
#ifndef SPILLWAY_FUZZ_REPLIES_H
#define SPILLWAY_FUZZ_REPLIES_H

#include "bytes.h"
#include "repo_task.h"

/* Reads the message; asserts that a reply that is accepted can be used, and that one is refused
 * with a reason. True when it was accepted. */
bool replies_check(const uint8_t *message, size_t length, const struct repo_task *task);

/* The same for a reply of our own, as a child would send it. */
bool replies_check_own(struct repo_reply *reply, struct bytes *payload,
                       const struct repo_task *task);

#endif
