#include "out_compare.h"

#include "json_build.h"
#include "text.h"
#include "wrap.h"

static const struct {
    unsigned number;
    const char *name;
} cards[] = {{75, "T4"}, {80, "A100"}, {86, "RTX 30"}, {89, "RTX 40"}, {90, "H100"}, {100, "B200"}};

const struct arch card_archs[] = {{.number = 75}, {.number = 80}, {.number = 86},
                                  {.number = 89}, {.number = 90}, {.number = 100}};
const size_t card_count = COUNT_OF(card_archs);

const char *card_name(struct arch arch)
{
    for (size_t i = 0; i < COUNT_OF(cards); ++i)
        if (arch_equal(arch, (struct arch){.number = cards[i].number}))
            return cards[i].name;
    return "";
}

/* ---- As a table ------------------------------------------------------------------------------ */

static bool wanted(const struct grade_kernel *row, const char *name,
                   const struct out_compare_options *options)
{
    return strcmp(row->name, name) == 0 &&
           (options->kernel == NULL || strcmp(options->kernel, name) == 0);
}

static void write_row(struct bytes *out, const struct grade_kernel *row)
{
    char arch[ARCH_NAME_BYTES];
    bytes_printf(out, "  %-8s %-7s", card_name(row->arch), arch_name(row->arch, "sm_", arch));
    if (!row->known) {
        wrap_text(out, 1, "", row->problem);
        return;
    }
    bytes_printf(out, "%6lld%8lld%10lld%7lld", (long long)row->registers,
                 (long long)row->stack_bytes, (long long)row->spill_store_bytes,
                 (long long)row->spill_load_bytes);
    if (row->blocks_per_sm >= 0)
        bytes_printf(out, "%9lld%8.1f\n", (long long)row->blocks_per_sm, row->occupancy_percent);
    else
        bytes_printf(out, "%9s%8s\n", "-", "-");
}

struct span {
    int64_t least, most;
};

static void widen(struct span *span, int64_t value)
{
    span->least = value < span->least ? value : span->least;
    span->most = value > span->most ? value : span->most;
}

/* What differs from card to card, in a sentence. */
static void write_spans(struct bytes *out, const struct grade *grade, const char *name,
                        const struct out_compare_options *options)
{
    struct span spans[] = {{INT64_MAX, -1}, {INT64_MAX, -1}, {INT64_MAX, -1}, {INT64_MAX, -1}};
    static const char *const words[] = {"registers", "bytes of frame", "bytes spilled",
                                        "blocks per SM"};
    size_t count = 0;
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        const struct grade_kernel *row = &grade->kernels[i];
        if (!wanted(row, name, options) || !row->known)
            continue;
        ++count;
        widen(&spans[0], row->registers);
        widen(&spans[1], row->stack_bytes);
        widen(&spans[2], row->spill_store_bytes + row->spill_load_bytes);
        widen(&spans[3], row->blocks_per_sm);
    }
    if (count < 2)
        return;
    struct bytes line = bytes_with_limit(400);
    for (size_t i = 0; i < COUNT_OF(spans); ++i)
        if (spans[i].least != spans[i].most)
            bytes_printf(&line, "%s%lld to %lld %s",
                         line.length > 0 ? ", " : "From card to card: ", (long long)spans[i].least,
                         (long long)spans[i].most, words[i]);
    bytes_append_text(
        &line,
        line.length > 0 ? "." : "Registers, frame, spills and blocks are the same on every card.");
    wrap_text(out, 2, "", bytes_text(&line));
    bytes_release(&line);
}

static void write_kernel(struct bytes *out, const struct grade *grade, const char *name,
                         const struct out_compare_options *options)
{
    bool headed = false;
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        if (!wanted(&grade->kernels[i], name, options))
            continue;
        if (!headed)
            bytes_printf(out, "\n%-18s%6s%8s%10s%7s%9s%8s\n", name, "regs", "frame", "spill st",
                         "ld", "blk/SM", "occ %");
        headed = true;
        write_row(out, &grade->kernels[i]);
    }
    if (headed)
        write_spans(out, grade, name, options);
}

void out_compare_text(struct bytes *out, const struct grade *grade,
                      const struct out_compare_options *options)
{
    const struct lab *lab = grade->lab;
    char arch[ARCH_NAME_BYTES];
    bytes_printf(out, "%s\n", lab->title);
    struct bytes line = bytes_with_limit(1000);
    bytes_printf(&line, "%s, nvcc %s; blocks of %u threads; nothing is run", grade->source_path,
                 grade->nvcc_version, lab->kernels[0].block_threads);
    wrap_text(out, 0, "", bytes_text(&line));
    bytes_release(&line);
    for (size_t k = 0; k < lab->kernel_count; ++k)
        write_kernel(out, grade, lab->kernels[k].name, options);
    for (size_t i = 0; i < options->left_out_count; ++i)
        bytes_printf(out, "%s%s (%s) is left out: nvcc %s does not compile for it\n",
                     i == 0 ? "\n" : "", card_name(options->left_out[i]),
                     arch_name(options->left_out[i], "sm_", arch), grade->nvcc_version);
    if (grade->compiler_words != NULL)
        bytes_append_text(out, "\n`spillway grade` shows what the compiler says.\n");
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static json_t *arch_json(struct json_builder *b, struct arch arch)
{
    char name[ARCH_NAME_BYTES];
    json_t *object = json_object();
    json_put(b, object, "card", json_text_or_null(card_name(arch)));
    json_put(b, object, "arch", json_text(arch_name(arch, "sm_", name)));
    return object;
}

static json_t *row_json(struct json_builder *b, const struct grade_kernel *row)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {{"registers", row->registers},
                   {"stack_bytes", row->stack_bytes},
                   {"spill_store_bytes", row->spill_store_bytes},
                   {"spill_load_bytes", row->spill_load_bytes},
                   {"blocks_per_sm", row->blocks_per_sm}};
    json_t *object = arch_json(b, row->arch);
    json_put(b, object, "kernel", json_text(row->name));
    for (size_t i = 0; i < COUNT_OF(numbers); ++i)
        json_put(b, object, numbers[i].key,
                 row->known ? json_number_or_null(numbers[i].value) : json_null());
    json_put(b, object, "occupancy_percent",
             row->known ? json_real_or_null(row->occupancy_percent) : json_null());
    json_put(b, object, "problem", row->known ? json_null() : json_text(row->problem));
    return object;
}

int out_compare_json(struct bytes *out, const struct grade *grade,
                     const struct out_compare_options *options, struct error *err)
{
    struct json_builder builder = {0}, *b = &builder;
    json_t *root = json_object(), *rows = json_array(), *left_out = json_array();
    json_put(b, root, "schema", json_text("spillway/compare/v1"));
    json_put(b, root, "lab", json_text(grade->lab->id));
    json_put(b, root, "nvcc", json_text(grade->nvcc_version));
    for (size_t i = 0; i < grade->kernel_count; ++i)
        if (wanted(&grade->kernels[i], grade->kernels[i].name, options))
            json_push(b, rows, row_json(b, &grade->kernels[i]));
    for (size_t i = 0; i < options->left_out_count; ++i)
        json_push(b, left_out, arch_json(b, options->left_out[i]));
    json_put(b, root, "rows", rows);
    json_put(b, root, "left_out", left_out);
    return json_finish(b, out, root, err);
}
