/* demangle.h - C++ symbol names for people, by the C++ runtime's __cxa_demangle. */
#ifndef SPILLWAY_DEMANGLE_H
#define SPILLWAY_DEMANGLE_H

/* "_Z9decayWidePKfPfm" → "decayWide(float const*, float*, unsigned long)", owned by the caller.
 * NULL for what is no mangled name, or one too long to be worth the demangler's time and stack. */
char *demangle(const char *symbol);

#endif
