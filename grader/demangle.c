#include "demangle.h"

#include "base.h"
#include "caps.h"

/* From <cxxabi.h>, which is a C++ header. */
char *__cxa_demangle(const char *mangled_name, char *output_buffer, size_t *length, int *status);

char *demangle(const char *symbol)
{
    int status = 0;
    if (strncmp(symbol, "_Z", 2) != 0 || strlen(symbol) > LIMIT_DEMANGLE_BYTES)
        return NULL;
    return __cxa_demangle(symbol, NULL, NULL, &status);
}
