#include "arch.h"

#include <ctype.h>
#include <strings.h>

#include "number.h"

bool arch_parse(const char *text, struct arch *ret)
{
    static const char *const prefixes[] = {"sm_", "compute_"};
    for (size_t i = 0; i < COUNT_OF(prefixes); ++i)
        if (strncasecmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
            text += strlen(prefixes[i]);
            break;
        }
    char digits[8] = "";
    size_t count = 0, dots = 0;
    for (; isdigit((unsigned char)*text) || *text == '.'; ++text) {
        if (*text == '.') {
            /* "7.5": exactly one digit follows the only dot. */
            if (count == 0 || dots++ > 0 || !isdigit((unsigned char)text[1]) ||
                isdigit((unsigned char)text[2]))
                return false;
            continue;
        }
        if (count + 1 >= sizeof digits)
            return false;
        digits[count++] = *text;
    }
    uint64_t number = 0;
    if (!number_parse_u64(digits, 999, &number) || number < 10)
        return false;
    char suffix = (char)tolower((unsigned char)*text);
    if (suffix != '\0' && ((suffix != 'a' && suffix != 'f') || text[1] != '\0'))
        return false;
    *ret = (struct arch){.number = (unsigned)number, .suffix = suffix};
    return true;
}

const char *arch_name(struct arch arch, const char *prefix, char buffer[ARCH_NAME_BYTES])
{
    const char suffix[2] = {arch.suffix, '\0'};
    (void)snprintf(buffer, ARCH_NAME_BYTES, "%s%u%s", prefix, arch.number, suffix);
    return buffer;
}
