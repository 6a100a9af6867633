/* demangle.h - C++ symbol names for people, by the demangler of the C++ runtime.
 *
 * Names come out of compiler logs and students' files, so they are hostile: a mangled name of 300
 * bytes can stand for terabytes of text, because each "S_" repeats what came before it. The work is
 * bounded by the length of the name and of the result (LIMIT_DEMANGLE_BYTES,
 * LIMIT_DEMANGLED_BYTES). libstdc++ itself gives up on names over about 1,000 bytes. */
#ifndef SPILLWAY_DEMANGLE_H
#define SPILLWAY_DEMANGLE_H

/* "_Z9decayWidePKfPfm" → "decayWide(float const*, float*, unsigned long)", owned by the caller.
 * Understands the name that nvcc gives a kernel of internal linkage in relocatable device code
 * ("__nv_static_24_…__Z1kPf") as well. NULL for what is no mangled name, or one too long or too
 * large to be worth its time, or out of memory. Thread-safe. */
char *demangle(const char *symbol);

#endif
