#include "audit.h"

#include <stdarg.h>

#include "demangle.h"
#include "diagnostics.h"
#include "entries.h"
#include "remedies.h"
#include "text.h"

static void object(struct audit *audit, const char *word, const char *remedy, const char *format,
                   ...) PRINTF_LIKE(4, 5);

static void object(struct audit *audit, const char *word, const char *remedy, const char *format,
                   ...)
{
    if (audit->finding_count >= AUDIT_FINDINGS_MAX)
        return;
    size_t at = audit->finding_count++;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(audit->findings[at], sizeof audit->findings[0], format, arguments);
    va_end(arguments);
    audit->remedies[at] = remedy;
    (void)text_copy(audit->words[at], sizeof audit->words[0], word);
}

/* Names and pragma strings are the submission's: shortened and printable before they are quoted. */
#define QUOTE_BYTES 80

/* "decayWide" of "_Z9decayWidePKfPfm", as the source has it. */
static const char *plain_name(char into[QUOTE_BYTES], const struct ptx_function *function)
{
    struct demangled storage;
    const char *demangled = demangle(function->name, &storage);
    struct name_parts parts = demangle_split(demangled != NULL ? demangled : function->name);
    struct bytes name = bytes_in(into, QUOTE_BYTES);
    text_sanitize(&name, parts.begin, parts.length, QUOTE_BYTES - 1);
    return into;
}

/* "used_bytes_mask" allows "used_bytes_mask 0xf" as well. */
static bool pragma_allowed(const struct lab *lab, const char *text)
{
    for (size_t i = 0; i < lab->allowed_pragma_count; ++i) {
        size_t length = strlen(lab->allowed_pragmas[i]);
        if (strncmp(text, lab->allowed_pragmas[i], length) == 0 &&
            (text[length] == '\0' || text[length] == ' '))
            return true;
    }
    return false;
}

static void judge_entries(struct audit *out, const struct lab *lab, const struct ptx_module *module)
{
    for (size_t i = 0; i < lab->kernel_count; ++i) {
        struct entry_match match = entries_find(module, &lab->kernels[i]);
        if (match.function == NULL)
            object(out, lab->kernels[i].name,
                   "Put the line with the kernel's name and parameters back as the starter has it; "
                   "only what the handout names is yours to change.",
                   "%s", match.problem);
    }
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        char name[QUOTE_BYTES];
        if (function->is_entry && !entries_belongs(function, lab)) {
            out->foreign = true;
            object(out, plain_name(name, function),
                   "Take out every __global__ function but the lab's own, or make it __device__ if "
                   "a kernel of the lab calls it.",
                   "there is a kernel that is not the lab's, %s: remove it", name);
        }
        if (function->is_extern)
            continue;
        if (function->calls_vprintf)
            object(
                out, "printf",
                "Print from kernels while you try things with `make run`; take it out, or put it "
                "between #ifdef and #endif, for what you hand in.",
                "%s prints from the device (printf): remove that before you submit",
                plain_name(name, function));
        if (function->calls_malloc || function->calls_free)
            object(out, function->calls_malloc ? "malloc" : "free",
                   "Keep a thread's values in an array of a fixed size inside the kernel.",
                   "%s allocates on the device (malloc or free): this lab needs no heap",
                   plain_name(name, function));
    }
}

static void judge_pragmas(struct audit *out, const struct lab *lab, const struct ptx_module *module)
{
    static const char remedy[] =
        "Take out the asm(\".pragma …\") statement; `#pragma unroll` is another thing, and fine.";
    for (size_t i = 0; i < ptx_pragma_count(module); ++i) {
        const struct ptx_pragma *pragma = ptx_pragma_at(module, i);
        char text[QUOTE_BYTES];
        if (pragma_allowed(lab, pragma->text))
            continue;
        out->foreign = true;
        if (strcmp(pragma->text, "enable_smem_spilling") == 0)
            object(out, "asm", remedy,
                   "the pragma \"enable_smem_spilling\" moves spills into shared memory, where "
                   "the report no longer shows them: remove it");
        else
            object(out, "asm", remedy, "the pragma \"%s\" is none that this lab needs: remove it",
                   text_copy(text, sizeof text, pragma->text));
    }
}

/* Strings of assert() and tables of sinf() are module variables too; only what a kernel can use to
 * carry something from one launch to the next is refused. */
static void judge_variables(struct audit *out, const struct ptx_module *module)
{
    for (size_t i = 0; i < ptx_variable_count(module); ++i) {
        const struct ptx_variable *variable = ptx_variable_at(module, i);
        char name[QUOTE_BYTES], bytes[TEXT_NUMBER_BYTES];
        if (variable->space != PTX_GLOBAL || variable->is_extern ||
            (variable->has_initialiser && !variable->is_written))
            continue;
        object(out, variable->name,
               "Declare it inside the kernel, or make it __constant__ or constexpr if it never "
               "changes.",
               "the variable %s (%s bytes) outlives a launch and can be written: keep a "
               "kernel's values inside the kernel",
               text_copy(name, sizeof name, variable->name), text_number(variable->bytes, bytes));
    }
}

/* What to try when the source does not become PTX; NULL: what the lab says. */
static const char *remedy_for_source(const struct build_target *target)
{
    char first[400];
    if (strncmp(target->problem, "the file ", strlen("the file ")) == 0)
        return "Begin again with the starter's file, and make your edits in that.";
    if (target->error_line == 0)
        return NULL;
    diagnostics_first_error(first, sizeof first, "", bytes_text(&target->words));
    const char *remedy = remedy_for_compiler(first);
    return remedy != NULL ? remedy
                          : "Mend that line, or the one above it, and grade again: later messages "
                            "often follow from the first.";
}

void audit_judge(struct audit *out, const struct lab *lab, const struct build_target *target)
{
    *out = (struct audit){0};
    if (!target->compiled) {
        object(out, "", remedy_for_source(target), "%s: %s", lab->source_name, target->problem);
        return;
    }
    judge_entries(out, lab, target->module);
    judge_pragmas(out, lab, target->module);
    judge_variables(out, target->module);
    if (!target->image.assembled)
        object(out, "", remedy_for_compiler(target->image.problem), "%s", target->image.problem);
}

bool audit_blames(const struct audit *audit, const struct ptx_function *function)
{
    return audit->foreign || audit->finding_count > 0 ||
           (function != NULL && function->inline_asm_line != 0);
}

/* ptxas may pad each variable up to the alignment of the next; no vector type needs more than this.
 */
#define SHARED_ALIGNMENT 16

uint64_t audit_declared_shared_bytes(const struct build_target *target)
{
    uint64_t total = 0;
    /* nvcc declares a kernel's own arrays in its body, and those of several kernels outside. */
    for (size_t i = 0; target->compiled && i < ptx_function_count(target->module); ++i)
        total += ptx_function_at(target->module, i)->shared_bytes;
    for (size_t i = 0; target->compiled && i < ptx_variable_count(target->module); ++i) {
        const struct ptx_variable *variable = ptx_variable_at(target->module, i);
        if (variable->space == PTX_SHARED && !variable->is_extern)
            total += (variable->bytes + SHARED_ALIGNMENT - 1) / SHARED_ALIGNMENT * SHARED_ALIGNMENT;
    }
    return total;
}
