#include "demangle.h"

#include <setjmp.h>

#include "number.h"

/* The demangler behind __cxa_demangle(), in the form that hands out its text piece by piece
 * (libiberty's cp-demangle.c, in libstdc++.a only; the shared library keeps it private). With
 * __cxa_demangle() itself nothing could stop a name from filling the memory; here the receiver of
 * the pieces leaves by longjmp(), which is sound because this demangler is C and keeps all its
 * state on the stack. Returns 0 when the name was understood. */
int __gcclibcxx_demangle_callback(const char *mangled,
                                  void (*receive)(const char *text, size_t length, void *payload),
                                  void *payload);

struct receiver {
    struct demangled *into;
    size_t length;
    jmp_buf leave;
};

static void receive_piece(const char *text, size_t length, void *payload)
{
    struct receiver *receiver = payload;
    if (length > LIMIT_DEMANGLED_BYTES - receiver->length)
        longjmp(receiver->leave, 1);
    memcpy(receiver->into->text + receiver->length, text, length);
    receiver->length += length;
}

/* nvcc writes "__nv_static_LENGTH_UNIQUE_NAME": LENGTH bytes that make the file unique, then the
 * name. Returns where the name begins, or `symbol`. */
static const char *skip_static_prefix(const char *symbol)
{
    static const char prefix[] = "__nv_static_";
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return symbol;
    const char *digits = symbol + sizeof prefix - 1;
    size_t count = strspn(digits, "0123456789"), length = strlen(digits);
    uint64_t unique = 0;
    if (!number_parse_u64_bytes(digits, count, LIMIT_DEMANGLE_BYTES, &unique) ||
        length < count + 1 + unique + 1 || digits[count] != '_' ||
        digits[count + 1 + unique] != '_')
        return symbol;
    return digits + count + 1 + unique + 1;
}

/* A function of its own, not to be inlined: a variable that changes between setjmp() and longjmp()
 * would have no certain value afterwards, so this one changes none. */
static __attribute__((noinline)) bool run_demangler(const char *mangled, struct receiver *receiver)
{
    return setjmp(receiver->leave) == 0 &&
           __gcclibcxx_demangle_callback(mangled, receive_piece, receiver) == 0;
}

const char *demangle(const char *symbol, struct demangled *storage)
{
    const char *mangled = skip_static_prefix(symbol);
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) > LIMIT_DEMANGLE_BYTES)
        return NULL;
    struct receiver receiver = {.into = storage};
    if (!run_demangler(mangled, &receiver) || receiver.length == 0)
        return NULL;
    storage->text[receiver.length] = '\0';
    return strlen(storage->text) == receiver.length ? storage->text : NULL;
}

/* Past the parentheses at `p`: "(int*)" and what may follow it, " const" or a second pair, as in
 * "operator()(int)". Returns where a name goes on with "::", as in "scale(int*)::tile", whose
 * `tile` is a variable of a function; NULL when nothing of the name comes after them. */
static const char *skip_parameters(const char *p)
{
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &"};
    while (*p == '(') {
        int depth = 0;
        for (; *p != '\0'; ++p) {
            depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
            if (depth == 0)
                break;
        }
        if (*p == '\0')
            return NULL;
        ++p;
    }
    for (size_t i = 0; i < COUNT_OF(qualifiers); ++i)
        if (strncmp(p, qualifiers[i], strlen(qualifiers[i])) == 0)
            p += strlen(qualifiers[i]);
    return p[0] == ':' && p[1] == ':' ? p : NULL;
}

struct name_parts demangle_split(const char *demangled)
{
    struct name_parts parts = {.begin = demangled, .whole = demangled};
    int depth = 0;
    const char *end = NULL, *p = demangled;
    for (; *p != '\0'; ++p) {
        bool anonymous = strncmp(p, "(anonymous namespace)", 21) == 0;
        if (anonymous && depth == 0) {
            p += 20;
            continue;
        }
        if (*p == '<' && depth == 0 && end == NULL) {
            end = p;
            parts.is_template = true;
        }
        if (*p == '(' && depth == 0) {
            const char *inner = skip_parameters(p);
            if (inner == NULL) {
                if (end == NULL)
                    end = p;
                break;
            }
            p = inner;
        }
        if (*p == '<' || *p == '{') /* "{lambda(int)#1}" */
            ++depth;
        else if ((*p == '>' || *p == '}') && depth > 0)
            --depth;
        else if (depth == 0 && p[0] == ':' && p[1] == ':') {
            parts.begin = p + 2;
            parts.in_namespace = true;
            parts.is_template = false;
            end = NULL;
            ++p;
        } else if (depth == 0 && *p == ' ') {
            /* A template's demangled name begins with its return type. */
            parts.begin = parts.whole = p + 1;
            parts.in_namespace = parts.is_template = false;
            end = NULL;
        }
    }
    parts.length = (size_t)((end != NULL ? end : p) - parts.begin);
    parts.whole_length = (size_t)(p - parts.whole);
    return parts;
}

const char *demangle_name(const char *symbol, char text[DEMANGLED_NAME_BYTES])
{
    struct demangled storage;
    const char *demangled = demangle(symbol, &storage);
    const struct name_parts parts = demangle_split(demangled != NULL ? demangled : "");
    const char *begin = demangled != NULL ? parts.whole : symbol;
    const size_t length =
        demangled != NULL ? parts.whole_length : strnlen(symbol, DEMANGLED_NAME_BYTES);
    (void)snprintf(text, DEMANGLED_NAME_BYTES, "%.*s",
                   (int)(length < DEMANGLED_NAME_BYTES ? length : DEMANGLED_NAME_BYTES), begin);
    return text;
}

bool name_parts_equal(const struct name_parts *parts, const char *name)
{
    return parts->length == strlen(name) && memcmp(parts->begin, name, parts->length) == 0;
}
