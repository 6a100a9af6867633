/* recall_internal.h - keys, claims and contents, shared by recall*.c alone. */
#ifndef SPILLWAY_RECALL_INTERNAL_H
#define SPILLWAY_RECALL_INTERNAL_H

#include "pack.h"
#include "recall.h"

/* The first number of a content. */
enum recall_content {
    CONTENT_RESULT = 1,
    CONTENT_NOT_SHARED, /* look under the exact key */
};

int recall_key(struct digest *ret, const struct recall *recall, const char *kind,
               const struct digest *context, const void *text, size_t length);

/* A digest of what a text is compiled with, besides the compilers. */
bool recall_context(struct digest *ret, const char *text, struct arch arch);

/* Takes the claim on the canonical text, and where that says so (or there is none) on the exact
 * bytes. True: *content holds a result, behind its first number. */
bool recall_claim_text(struct recall_claim *claim, const struct recall *recall, const char *kind,
                       const struct digest *context, struct slice exact,
                       const struct bytes *canonical, struct bytes *content);

/* *content is empty where there is nothing to keep. */
void recall_settle(struct recall_claim *claim, enum recall_outcome outcome,
                   const struct bytes *content);

bool recall_take_bytes(struct bytes *out, struct slice from, size_t limit);

#endif
