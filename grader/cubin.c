/* cubin.c - see cubin.h.
 *
 * Where the format is known from: names and numbers of the EIATTR records stand in nvdisasm's and
 * ptxas's strings and in public reverse-engineering notes (CuAssembler, the "ei_attrs" lists of
 * denvdis); payloads were compared with `ptxas -v` on 12 architectures. `.nv.info` is a sequence of
 * records: format byte (1 no value, 2 one byte, 3 two bytes, 4 sized), attribute byte, 16-bit value
 * or size, payload. `.nv.info` describes all functions, `.nv.info.<kernel>` one.
 *
 * ptxas copies a called function into the section of each kernel that calls it, as a local symbol
 * `$kernel$function`; so the section of a kernel is all the code it can reach, unless functions
 * were compiled separately (-rdc). */
#include "cubin.h"

#include "caps.h"
#include "cubin_code.h"
#include "elf.h"
#include "frames.h"
#include "sass.h"

#define MACHINE_CUDA 190
#define SYMBOL_IS_ENTRY 0x10 /* in st_other */
#define SHARED_RESERVED_BYTES 1024
#define TOOLKIT_MARKS_SPILLS 130 /* the first one seen to write annotations and barriers */

enum {
    EIATTR_MAX_THREADS = 0x05,
    EIATTR_FRAME_SIZE = 0x11,
    EIATTR_CBANK_PARAM_SIZE = 0x19,
    EIATTR_REGCOUNT = 0x2f,
    EIATTR_CUDA_API_VERSION = 0x37,
    EIATTR_NUM_BARRIERS = 0x4c,
    EIATTR_ANNOTATIONS = 0x55,
};
#define ANNOTATION_SPILL 1 /* pairs of 32-bit words: type, section offset of the instruction */

enum { FORMAT_NONE = 1, FORMAT_BYTE = 2, FORMAT_HALF = 3, FORMAT_SIZED = 4 };

/* Working data of one kernel; works[i] belongs to kernels[i] of the result. */
struct work {
    size_t symbol;       /* index in the symbol table */
    size_t info, shared; /* section indices; 0: none */
    struct cubin_code code;
};

struct parser {
    struct cubin *out;
    struct elf elf;
    struct elf_table symbols;
    size_t info, frames, frame_relocations; /* section indices; 0: none */
    size_t *kernel_of_section;              /* owned; index + 1, 0: none */
    size_t *info_of_section;                /* owned; section with .nv.info of this code section */
    size_t *shared_of_section;              /* owned */
    struct work *works;                     /* owned; out->kernel_count of them */
    bool separate_functions;                /* functions outside of any kernel's section */
    bool annotations;                       /* at least one was seen */
    struct error *err;
};

struct record {
    unsigned format, attribute, value; /* value: of the byte and half formats */
    const unsigned char *data;         /* of the sized format, `bytes` long */
    size_t bytes;
};

/* Reads the record at *offset and moves behind it. 1: read, 0: end, -1: malformed. */
static int record_next(struct record *out, const struct elf_section *section, uint64_t *offset,
                       struct error *err)
{
    if (*offset == section->size)
        return 0;
    uint64_t left = section->size - *offset;
    if (left >= 4) {
        const unsigned char *p = section->data + *offset;
        *out = (struct record){.format = p[0], .attribute = p[1], .value = elf_u16(p + 2)};
        if (out->format == FORMAT_SIZED && out->value <= left - 4) {
            out->data = p + 4;
            out->bytes = out->value;
            *offset += 4 + out->bytes;
            return 1;
        }
        if (out->format >= FORMAT_NONE && out->format <= FORMAT_HALF) {
            *offset += 4;
            return 1;
        }
    }
    return error_set(err, ERROR_INFRASTRUCTURE,
                     "the cubin is damaged: section %s has no record where one should be, at "
                     "offset %llu",
                     section->name, (unsigned long long)*offset);
}

/* The content of a section that must be in the file. */
static int content_read(struct elf_section *out, struct parser *p, size_t index)
{
    if (elf_section_read(out, &p->elf, index, p->err) != 0)
        return -1;
    if (out->data == NULL && out->size > 0)
        return error_set(p->err, ERROR_INFRASTRUCTURE,
                         "the cubin is damaged: section %s has no content", out->name);
    return 0;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Finds the sections we read. Names are compared whole or by prefix: since sm_100 there are twins
 * such as .nv.merc.nv.info that mean something else. */
static int sections_find(struct parser *p)
{
    size_t symbols = 0;
    for (size_t i = 1; i < p->elf.section_count; ++i) {
        struct elf_section section = {0};
        if (elf_section_read(&section, &p->elf, i, p->err) != 0)
            return -1;
        if (strcmp(section.name, ".symtab") == 0)
            symbols = i;
        else if (strcmp(section.name, ".nv.info") == 0)
            p->info = i;
        else if (strcmp(section.name, ".debug_frame") == 0)
            p->frames = i;
        else if (strcmp(section.name, ".rel.debug_frame") == 0 ||
                 strcmp(section.name, ".rela.debug_frame") == 0)
            p->frame_relocations = i;
        else if (section.info < p->elf.section_count && starts_with(section.name, ".nv.info."))
            p->info_of_section[section.info] = i;
        else if (section.info < p->elf.section_count && starts_with(section.name, ".nv.shared."))
            p->shared_of_section[section.info] = i;
    }
    struct elf_section table = {0};
    if (symbols == 0 || p->info == 0)
        return error_set(p->err, ERROR_INFRASTRUCTURE, "this ELF file is no cubin: it has no %s",
                         symbols == 0 ? "symbol table" : ".nv.info section");
    if (elf_section_read(&table, &p->elf, symbols, p->err) != 0)
        return -1;
    return elf_table_read(&p->symbols, &table, ELF_SYMBOL_BYTES, p->err);
}

static int kernel_add(struct parser *p, size_t index, const struct elf_symbol *symbol,
                      size_t *name_bytes)
{
    struct cubin *out = p->out;
    struct work *work = &p->works[out->kernel_count];
    if (symbol->section == 0 || symbol->section >= p->elf.section_count)
        return error_set(p->err, ERROR_INFRASTRUCTURE,
                         "the cubin is damaged: an entry stands in section %zu", symbol->section);
    *work = (struct work){.symbol = index,
                          .info = p->info_of_section[symbol->section],
                          .shared = p->shared_of_section[symbol->section]};
    struct elf_section section = {0};
    if (content_read(&section, p, symbol->section) != 0)
        return -1;
    work->code = (struct cubin_code){.sm = out->sm,
                                     .data = section.data,
                                     .size = section.size,
                                     .count = section.size / SASS_INSTRUCTION_BYTES};
    size_t length = strlen(symbol->name);
    *name_bytes += length;
    if (!starts_with(section.name, ".text.") ||
        strcmp(section.name + strlen(".text."), symbol->name) != 0 ||
        p->kernel_of_section[symbol->section] != 0)
        return error_set(p->err, ERROR_INFRASTRUCTURE,
                         "the cubin is damaged: the code of entry number %zu does not stand in a "
                         "section of its own name",
                         out->kernel_count + 1);
    if (length > LIMIT_REPORT_NAME_BYTES || *name_bytes > p->elf.length)
        return error_set(p->err, ERROR_INFRASTRUCTURE,
                         "the cubin has an entry whose name is %zu bytes long", length);
    struct cubin_kernel *kernel = &out->kernels[out->kernel_count];
    *kernel = (struct cubin_kernel){.registers = CUBIN_ABSENT,
                                    .frame_bytes = CUBIN_ABSENT,
                                    .max_frame_bytes = CUBIN_ABSENT,
                                    .barriers = CUBIN_ABSENT,
                                    .max_threads = {CUBIN_ABSENT, CUBIN_ABSENT, CUBIN_ABSENT},
                                    .param_bytes = CUBIN_ABSENT};
    kernel->symbol = strdup(symbol->name);
    if (kernel->symbol == NULL)
        return error_no_memory(p->err);
    p->kernel_of_section[symbol->section] = ++out->kernel_count;
    return 0;
}

/* Entries first, then the functions in their sections: their symbols come in any order. */
static int kernels_find(struct parser *p)
{
    size_t name_bytes = 0;
    for (size_t i = 0; i < p->symbols.count; ++i) {
        struct elf_symbol symbol = {0};
        if (elf_symbol_read(&symbol, &p->elf, &p->symbols, i, p->err) != 0)
            return -1;
        if (symbol.type == ELF_SYMBOL_FUNCTION && (symbol.other & SYMBOL_IS_ENTRY) != 0 &&
            kernel_add(p, i, &symbol, &name_bytes) != 0)
            return -1;
    }
    for (size_t i = 0; i < p->symbols.count; ++i) {
        struct elf_symbol symbol = {0};
        if (elf_symbol_read(&symbol, &p->elf, &p->symbols, i, p->err) != 0)
            return -1;
        if (symbol.type != ELF_SYMBOL_FUNCTION || (symbol.other & SYMBOL_IS_ENTRY) != 0 ||
            symbol.section == 0)
            continue;
        size_t owner =
            symbol.section < p->elf.section_count ? p->kernel_of_section[symbol.section] : 0;
        if (owner != 0)
            ++p->out->kernels[owner - 1].callee_count;
        else
            p->separate_functions = true;
    }
    return 0;
}

/* Sets a number that the file may state only once. */
static int number_set(struct parser *p, int64_t *slot, uint32_t value, const char *what)
{
    if (*slot != CUBIN_ABSENT && *slot != (int64_t)value)
        return error_set(p->err, ERROR_INFRASTRUCTURE,
                         "the cubin is damaged: it states %s of one kernel twice, as %lld and %u",
                         what, (long long)*slot, value);
    *slot = value;
    return 0;
}

/* .nv.info: register counts and frames, each with the symbol it is about. */
static int common_info_read(struct parser *p)
{
    struct elf_section section = {0};
    if (content_read(&section, p, p->info) != 0)
        return -1;
    struct record record = {0};
    uint64_t offset = 0;
    int status;
    while ((status = record_next(&record, &section, &offset, p->err)) == 1) {
        bool registers = record.attribute == EIATTR_REGCOUNT;
        if ((!registers && record.attribute != EIATTR_FRAME_SIZE) || record.bytes != 8)
            continue;
        size_t index = elf_u32(record.data);
        uint32_t value = elf_u32(record.data + 4);
        struct elf_symbol symbol = {0};
        if (elf_symbol_read(&symbol, &p->elf, &p->symbols, index, p->err) != 0)
            return -1;
        size_t owner =
            symbol.section < p->elf.section_count ? p->kernel_of_section[symbol.section] : 0;
        if (owner == 0)
            continue; /* a function compiled separately */
        struct cubin_kernel *kernel = &p->out->kernels[owner - 1];
        bool entry = p->works[owner - 1].symbol == index;
        if (registers && entry && number_set(p, &kernel->registers, value, "the registers") != 0)
            return -1;
        if (!registers && entry && number_set(p, &kernel->frame_bytes, value, "the frame") != 0)
            return -1;
        if (!registers && (int64_t)value > kernel->max_frame_bytes)
            kernel->max_frame_bytes = value;
    }
    return status;
}

static void annotations_read(struct parser *p, struct work *work, const struct record *record)
{
    for (size_t i = 0; i + 8 <= record->bytes; i += 8) {
        uint32_t type = elf_u32(record->data + i), offset = elf_u32(record->data + i + 4);
        p->annotations = true;
        if (type != ANNOTATION_SPILL)
            continue;
        if (offset % SASS_INSTRUCTION_BYTES != 0 ||
            offset / SASS_INSTRUCTION_BYTES >= work->code.count)
            work->code.marked_wrong = true;
        else
            work->code.marks[offset / SASS_INSTRUCTION_BYTES] |= CODE_MARK_SPILL;
    }
}

static int kernel_info_read(struct parser *p, struct cubin_kernel *kernel, struct work *work)
{
    if (work->info == 0)
        return 0;
    struct elf_section section = {0};
    if (content_read(&section, p, work->info) != 0)
        return -1;
    struct record record = {0};
    uint64_t offset = 0;
    int status;
    while ((status = record_next(&record, &section, &offset, p->err)) == 1) {
        switch (record.attribute) {
        case EIATTR_MAX_THREADS:
            for (size_t i = 0; record.bytes == 12 && i < 3; ++i)
                kernel->max_threads[i] = elf_u32(record.data + 4 * i);
            break;
        case EIATTR_CBANK_PARAM_SIZE:
            kernel->param_bytes = record.value;
            break;
        case EIATTR_CUDA_API_VERSION:
            if (record.bytes == 4 && elf_u32(record.data) > p->out->toolkit)
                p->out->toolkit = elf_u32(record.data);
            break;
        case EIATTR_NUM_BARRIERS:
            kernel->barriers = record.value & 0xff;
            break;
        case EIATTR_ANNOTATIONS:
            annotations_read(p, work, &record);
            break;
        default: /* the many others do not concern us */
            break;
        }
    }
    return status;
}

/* Static shared memory is the size of .nv.shared.<kernel>, which has no content in the file. */
static int shared_read(struct parser *p, struct cubin_kernel *kernel, const struct work *work)
{
    if (work->shared == 0)
        return 0;
    struct elf_section section = {0};
    if (elf_section_read(&section, &p->elf, work->shared, p->err) != 0)
        return -1;
    uint64_t reserved = p->out->sm >= 90 ? SHARED_RESERVED_BYTES : 0;
    if (p->out->sm == 0 || section.size > INT64_MAX || section.size < reserved)
        kernel->shared_bytes = CUBIN_ABSENT;
    else
        kernel->shared_bytes = (int64_t)(section.size - reserved);
    return 0;
}

/* Callees: which of their local accesses save registers. */
static int saves_read(struct parser *p)
{
    size_t callees = 0;
    for (size_t i = 0; i < p->out->kernel_count; ++i)
        callees += p->out->kernels[i].callee_count;
    if (callees == 0 || !sass_understands(p->out->sm))
        return 0;
    struct frames frames = {.understood = false};
    if (p->frames != 0 &&
        frames_read(&frames, &p->elf, p->frames, p->frame_relocations, &p->symbols, p->err) != 0)
        return -1;
    /* Functions that overlap would make us read the same code again and again. */
    uint64_t budget = 2 * p->elf.length;
    for (size_t i = 0; i < frames.function_count && frames.understood; ++i) {
        const struct frame_function *function = &frames.functions[i];
        size_t owner =
            function->section < p->elf.section_count ? p->kernel_of_section[function->section] : 0;
        if (function->end - function->begin > budget)
            frames.understood = false;
        else
            budget -= function->end - function->begin;
        if (owner != 0 && frames.understood)
            cubin_code_mark_saves(&p->works[owner - 1].code, function, &frames);
    }
    for (size_t i = 0; i < p->out->kernel_count && !frames.understood; ++i)
        p->works[i].code.saves_unclear = p->out->kernels[i].callee_count > 0;
    frames_release(&frames);
    return 0;
}

/* With e_ident[8] = 8 (toolkit 13) the architecture is in bits 8-15 of e_flags, with 7 in 0-7. */
static unsigned architecture(const struct elf *elf)
{
    unsigned sm = 0;
    if (elf->abi_version == 8)
        sm = elf->flags >> 8 & 0xff;
    else if (elf->abi_version == 7)
        sm = elf->flags & 0xff;
    return sm >= 50 && sm < 200 ? sm : 0;
}

static int parse(struct parser *p)
{
    struct cubin *out = p->out;
    if (sections_find(p) != 0 || kernels_find(p) != 0 || common_info_read(p) != 0)
        return -1;
    uint64_t code_bytes = 0, info_bytes = 0;
    for (size_t i = 0; i < out->kernel_count; ++i) {
        struct work *work = &p->works[i];
        struct elf_section info = {.size = 0};
        if (work->info != 0 && content_read(&info, p, work->info) != 0)
            return -1;
        /* Sections that overlap would multiply the work. */
        code_bytes += work->code.size;
        info_bytes += info.size;
        if (code_bytes > p->elf.length || info_bytes > p->elf.length)
            return error_set(p->err, ERROR_INFRASTRUCTURE,
                             "the cubin is damaged: its sections overlap");
        work->code.marks = calloc(work->code.count + 1, 1);
        if (work->code.marks == NULL)
            return error_no_memory(p->err);
        if (kernel_info_read(p, &out->kernels[i], work) != 0 ||
            shared_read(p, &out->kernels[i], work) != 0)
            return -1;
    }
    if (saves_read(p) != 0)
        return -1;
    for (size_t i = 0; i < out->kernel_count; ++i) {
        struct cubin_kernel *kernel = &out->kernels[i];
        struct cubin_code *code = &p->works[i].code;
        code->incomplete = p->separate_functions;
        code->annotated = p->annotations || out->toolkit >= TOOLKIT_MARKS_SPILLS;
        cubin_code_count(kernel, code);
        if (kernel->barriers == CUBIN_ABSENT && out->toolkit >= TOOLKIT_MARKS_SPILLS)
            kernel->barriers = 0; /* written only when there are any */
    }
    return 0;
}

int cubin_parse(struct cubin *out, const void *data, size_t length, struct error *err)
{
    *out = (struct cubin){0};
    struct parser p = {.out = out, .err = err};
    if (elf_open(&p.elf, data, length, err) != 0)
        return -1;
    if (elf_u16(p.elf.data + 18) != MACHINE_CUDA)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "this ELF file is for another machine than a GPU");
    out->sm = architecture(&p.elf);
    size_t count = p.elf.section_count;
    p.kernel_of_section = calloc(count, sizeof *p.kernel_of_section);
    p.info_of_section = calloc(count, sizeof *p.info_of_section);
    p.shared_of_section = calloc(count, sizeof *p.shared_of_section);
    p.works = calloc(count, sizeof *p.works); /* a kernel has a section of its own */
    out->kernels = calloc(count, sizeof *out->kernels);
    int status = p.kernel_of_section == NULL || p.info_of_section == NULL ||
                         p.shared_of_section == NULL || p.works == NULL || out->kernels == NULL
                     ? error_no_memory(err)
                     : parse(&p);
    for (size_t i = 0; p.works != NULL && i < out->kernel_count; ++i)
        free(p.works[i].code.marks);
    free(p.works);
    free(p.kernel_of_section);
    free(p.info_of_section);
    free(p.shared_of_section);
    if (status != 0)
        cubin_release(out);
    return status;
}

void cubin_release(struct cubin *cubin)
{
    if (cubin == NULL)
        return;
    for (size_t i = 0; i < cubin->kernel_count; ++i)
        free(cubin->kernels[i].symbol);
    free(cubin->kernels);
    *cubin = (struct cubin){0};
}

const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *symbol)
{
    for (size_t i = 0; i < cubin->kernel_count; ++i)
        if (strcmp(cubin->kernels[i].symbol, symbol) == 0)
            return &cubin->kernels[i];
    return NULL;
}
