#include "libraries.h"

#include "base.h"

#include <git2.h>
#include <jansson.h>
#include <sqlite3.h>

#ifndef SPILLWAY_INIH_VERSION
#define SPILLWAY_INIH_VERSION "of unknown version"
#endif

void libraries_ask(struct libraries *ret)
{
    int major = 0, minor = 0, revision = 0;
    (void)git_libgit2_version(&major, &minor, &revision);
    (void)snprintf(ret->libgit2, sizeof ret->libgit2, "%d.%d.%d", major, minor, revision);
#if JANSSON_VERSION_HEX >= 0x020d00
    (void)snprintf(ret->jansson, sizeof ret->jansson, "%s", jansson_version_str());
#else
    (void)snprintf(ret->jansson, sizeof ret->jansson, "%s", JANSSON_VERSION);
#endif
    (void)snprintf(ret->sqlite, sizeof ret->sqlite, "%s", sqlite3_libversion());
    (void)snprintf(ret->inih, sizeof ret->inih, "%s", SPILLWAY_INIH_VERSION);
}
