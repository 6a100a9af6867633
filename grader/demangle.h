/* demangle.h - C++ symbol names for people, by the demangler of the C++ runtime.
 *
 * Names come out of compiler logs and students' files, so they are hostile: a mangled name of 300
 * bytes can stand for terabytes of text, because each "S_" repeats what came before it. The work is
 * bounded by the length of the name and of the result (LIMIT_DEMANGLE_BYTES,
 * LIMIT_DEMANGLED_BYTES). libstdc++ itself gives up on names over about 1,000 bytes. */
#ifndef SPILLWAY_DEMANGLE_H
#define SPILLWAY_DEMANGLE_H

#include "base.h"

#include "caps.h"

/* Room for any name that is understood: for the stack, so that short memory cannot change what a
 * kernel is called. */
struct demangled {
    char text[LIMIT_DEMANGLED_BYTES + 1];
};

/* "_Z9decayWidePKfPfm" → "decayWide(float const*, float*, unsigned long)", in *storage. Understands
 * the name that nvcc gives a kernel of internal linkage in relocatable device code
 * ("__nv_static_24_…__Z1kPf") as well. NULL for what is no mangled name, or one too long or too
 * large to be worth its time. Thread-safe. */
const char *demangle(const char *symbol, struct demangled *storage);

/* The last component of "void ns::decayWide<int>(float const*)": where it begins and how long it
 * is. Parentheses and angle brackets nest ("(anonymous namespace)::k", "k<&f(int)>"); a variable of
 * a function has the function before it ("decayWide(float const*)::levels"). */
struct name_parts {
    const char *begin; /* borrowed from the demangled name */
    size_t length;
    const char *whole; /* "ns::decayWide<int>": without the type before it and parameters behind */
    size_t whole_length;
    bool in_namespace, is_template; /* in_namespace: or in a class or a function */
};

/* Never fails: what is no function's name is one component. */
struct name_parts demangle_split(const char *demangled);
/* For messages: "ns::decayWide<int>", or the symbol as it is where it is no mangled name; cut off
 * at the end of *text. Returns `text`. */
#define DEMANGLED_NAME_BYTES 121
const char *demangle_name(const char *symbol, char text[DEMANGLED_NAME_BYTES]);

bool name_parts_equal(const struct name_parts *parts, const char *name);

#endif
