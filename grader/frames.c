#include "frames.h"

#define SEARCH_STEPS ((size_t)1 << 24)

/* A place in the section; every read checks the end and clears `good` beyond it. */
struct cursor {
    const unsigned char *at, *end;
    bool good;
};

static const unsigned char *take(struct cursor *c, uint64_t bytes)
{
    if (!c->good || bytes > (uint64_t)(c->end - c->at)) {
        c->good = false;
        return NULL;
    }
    const unsigned char *p = c->at;
    c->at += bytes;
    return p;
}

static uint64_t take_fixed(struct cursor *c, unsigned bytes)
{
    const unsigned char *p = take(c, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; p != NULL && i < bytes; ++i)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

/* Signed numbers are skipped, never used, so one reader serves both kinds. */
static uint64_t take_leb128(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char *p = take(c, 1);
        if (p == NULL || shift > 56) {
            c->good = false;
            return 0;
        }
        value |= (uint64_t)(*p & 0x7f) << shift;
        if ((*p & 0x80) == 0)
            return value;
    }
}

struct reader {
    struct frames *out;
    const struct elf *elf;
    const struct elf_table *symbols;
    struct elf_section section;
    struct elf_table relocations;
    bool with_addend;
    size_t next_relocation; /* they come in any order; this is where the last search ended */
    size_t search_steps;    /* left before we give up on a file made to waste our time */
    size_t function_capacity, save_capacity;
    uint64_t code_factor; /* of the last common entry read, at common_at */
    uint64_t common_at;
    struct error *err;
};

/* Grows an array to hold one more element. */
static int reserve_one(void *slot, size_t count, size_t *capacity, size_t element_bytes,
                       struct error *err)
{
    if (count < *capacity)
        return 0;
    size_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *array;
    memcpy(&array, slot, sizeof array);
    array = realloc(array, wanted * element_bytes);
    if (array == NULL)
        return error_no_memory(err);
    memcpy(slot, &array, sizeof array);
    *capacity = wanted;
    return 0;
}

/* Finds the relocation of the eight bytes at `offset` and turns it into a place in the code. */
static bool locate(struct reader *r, uint64_t offset, uint64_t in_place, size_t *section,
                   uint64_t *begin)
{
    for (size_t tried = 0; tried < r->relocations.count && r->search_steps > 0; ++tried) {
        --r->search_steps;
        size_t i = r->next_relocation;
        r->next_relocation = (i + 1) % r->relocations.count;
        const unsigned char *p = r->relocations.data + i * r->relocations.entry_bytes;
        if (elf_u64(p) != offset)
            continue;
        struct elf_symbol symbol;
        struct error ignored = {0};
        if (elf_symbol_read(&symbol, r->elf, r->symbols, (size_t)(elf_u64(p + 8) >> 32),
                            &ignored) != 0)
            return false;
        *section = symbol.section;
        *begin = symbol.value + (r->with_addend ? elf_u64(p + 16) : in_place);
        return true;
    }
    return false;
}

/* Reads the code alignment factor of the common entry at `offset`. */
static bool read_common(struct reader *r, uint64_t offset)
{
    if (r->common_at == offset && r->code_factor != 0)
        return true;
    if (offset >= r->section.size)
        return false;
    struct cursor c = {r->section.data + offset, r->section.data + r->section.size, true};
    if (take_fixed(&c, 4) != 0xffffffff)
        return false;
    uint64_t length = take_fixed(&c, 8), id = take_fixed(&c, 8);
    uint64_t version = take_fixed(&c, 1), augmentation = take_fixed(&c, 1);
    uint64_t factor = take_leb128(&c);
    if (!c.good || length < 12 || id != UINT64_MAX || version != 3 || augmentation != 0 ||
        factor == 0 || factor > 64)
        return false;
    r->code_factor = factor;
    r->common_at = offset;
    return true;
}

static int add_save(struct reader *r, struct frame_function *function, uint64_t distance,
                    uint64_t reg)
{
    struct frames *out = r->out;
    if (reserve_one(&out->saves, out->save_count, &r->save_capacity, sizeof *out->saves, r->err) !=
        0)
        return -1;
    /* A register's number is its class times 2^24 plus its index. */
    out->saves[out->save_count++] =
        (struct frame_save){.after = function->begin + distance, .reg = (unsigned)(reg & 0xff)};
    ++function->save_count;
    return 0;
}

/* Call frame instructions: their operands, for those that only need to be skipped.
 * u: unsigned or signed LEB128, b: a block with its length in front, 8: an address. */
/* clang-format off */
static const char *const operands[0x40] = {
    [0x00] = "",   /* nop */
    [0x01] = "8",  /* set_loc: not used by ptxas; its place would have to be followed */
    [0x06] = "u",  /* restore_extended */
    [0x07] = "u",  /* undefined */
    [0x08] = "u",  /* same_value */
    [0x09] = "uu", /* register */
    [0x0a] = "",   /* remember_state */
    [0x0b] = "",   /* restore_state */
    [0x0c] = "uu", /* def_cfa */
    [0x0d] = "u",  /* def_cfa_register */
    [0x0e] = "u",  /* def_cfa_offset */
    [0x0f] = "b",  /* def_cfa_expression */
    [0x10] = "ub", /* expression */
    [0x12] = "uu", /* def_cfa_sf */
    [0x13] = "u",  /* def_cfa_offset_sf */
    [0x14] = "uu", /* val_offset */
    [0x15] = "uu", /* val_offset_sf */
    [0x16] = "ub", /* val_expression */
};
/* clang-format on */

static void skip_operands(struct cursor *c, const char *kinds)
{
    for (; *kinds != '\0'; ++kinds)
        if (*kinds == 'u')
            (void)take_leb128(c);
        else if (*kinds == 'b')
            (void)take(c, take_leb128(c));
        else
            c->good = false;
}

/* Follows one function's instructions. -1 only when out of memory. */
static int read_program(struct reader *r, struct cursor *c, struct frame_function *function)
{
    uint64_t distance = 0;
    while (c->good && c->at < c->end) {
        unsigned op = (unsigned)take_fixed(c, 1);
        if (op >= 0xc0) /* restore */
            continue;
        if (op >= 0x80 || op == 0x05 || op == 0x11) { /* offset, offset_extended[_sf] */
            uint64_t reg = op >= 0x80 ? op & 0x3f : take_leb128(c);
            (void)take_leb128(c);
            if (c->good && add_save(r, function, distance, reg) != 0)
                return -1;
        } else if (op >= 0x40) { /* advance_loc */
            distance += (op & 0x3f) * r->code_factor;
        } else if (op >= 0x02 && op <= 0x04) { /* advance_loc1, 2, 4 */
            distance += take_fixed(c, 1u << (op - 2)) * r->code_factor;
        } else if (operands[op] != NULL) {
            skip_operands(c, operands[op]);
        } else {
            c->good = false;
        }
    }
    if (!c->good)
        r->out->understood = false;
    return 0;
}

/* One entry of a function: id (where its common entry is), first address, length, program. */
static int read_function(struct reader *r, struct cursor *c, uint64_t common)
{
    uint64_t place = (uint64_t)(c->at - r->section.data);
    uint64_t in_place = take_fixed(c, 8), length = take_fixed(c, 8);
    struct frame_function function = {.first_save = r->out->save_count};
    if (!c->good || !read_common(r, common) ||
        !locate(r, place, in_place, &function.section, &function.begin) ||
        length > UINT64_MAX - function.begin) {
        r->out->understood = false;
        return 0;
    }
    function.end = function.begin + length;
    if (read_program(r, c, &function) != 0)
        return -1;
    struct frames *out = r->out;
    if (reserve_one(&out->functions, out->function_count, &r->function_capacity,
                    sizeof *out->functions, r->err) != 0)
        return -1;
    out->functions[out->function_count++] = function;
    return 0;
}

static int read_entries(struct reader *r)
{
    struct cursor all = {r->section.data, r->section.data + r->section.size, true};
    while (all.at < all.end) {
        uint64_t mark = take_fixed(&all, 4), length = take_fixed(&all, 8);
        const unsigned char *body = mark == 0xffffffff ? take(&all, length) : NULL;
        if (body == NULL || length < 8) {
            r->out->understood = false;
            return 0;
        }
        struct cursor c = {body, body + length, true};
        uint64_t id = take_fixed(&c, 8);
        if (id != UINT64_MAX && read_function(r, &c, id) != 0)
            return -1;
        if (!r->out->understood)
            return 0;
    }
    return 0;
}

int frames_read(struct frames *out, const struct elf *elf, size_t index, size_t relocations,
                const struct elf_table *symbols, struct error *err)
{
    *out = (struct frames){.understood = true};
    struct reader r = {
        .out = out, .elf = elf, .symbols = symbols, .search_steps = SEARCH_STEPS, .err = err};
    struct elf_section section;
    struct error ignored = {0}; /* what is malformed is not understood, and no more than that */
    if (elf_section_read(&r.section, elf, index, &ignored) != 0 || r.section.data == NULL) {
        out->understood = false;
        return 0;
    }
    if (relocations != 0) {
        bool readable = elf_section_read(&section, elf, relocations, &ignored) == 0;
        r.with_addend = readable && section.type == ELF_SECTION_RELA;
        if (!readable ||
            elf_table_read(&r.relocations, &section, r.with_addend ? ELF_RELA_BYTES : ELF_REL_BYTES,
                           &ignored) != 0) {
            out->understood = false;
            return 0;
        }
    }
    if (read_entries(&r) != 0) {
        frames_release(out);
        return -1;
    }
    return 0;
}

void frames_release(struct frames *frames)
{
    if (frames == NULL)
        return;
    free(frames->functions);
    free(frames->saves);
    *frames = (struct frames){0};
}
