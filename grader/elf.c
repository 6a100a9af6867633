#include "elf.h"

#define HEADER_BYTES 64
#define SECTION_BYTES 64

/* True when [offset, offset + size) lies within `length` bytes. */
static bool within(uint64_t offset, uint64_t size, uint64_t length)
{
    return offset <= length && size <= length - offset;
}

int elf_open(struct elf *out, const void *data, size_t length, struct error *err)
{
    const unsigned char *bytes = data;
    if (length < HEADER_BYTES || memcmp(bytes, "\177ELF", 4) != 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "this is no ELF file (%zu bytes)", length);
    if (bytes[4] != 2 || bytes[5] != 1)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file is not a 64-bit little-endian one");
    struct elf elf = {.data = bytes,
                      .length = length,
                      .abi_version = bytes[8],
                      .flags = elf_u32(bytes + 48),
                      .section_count = elf_u16(bytes + 60),
                      .section_table = elf_u64(bytes + 40),
                      .names = elf_u16(bytes + 62)};
    if (elf_u16(bytes + 58) != SECTION_BYTES || elf.section_count == 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "the ELF file has no section table");
    if (!within(elf.section_table, (uint64_t)elf.section_count * SECTION_BYTES, length))
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file is cut: its %zu section headers at offset %llu do not fit "
                         "into %zu bytes",
                         elf.section_count, (unsigned long long)elf.section_table, length);
    if (elf.names >= elf.section_count)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file says that section %zu holds names, but it has only %zu",
                         elf.names, elf.section_count);
    *out = elf;
    return 0;
}

/* The header fields of one section, without its name. */
static int section_header_read(struct elf_section *out, uint32_t *name, const struct elf *elf,
                               size_t index, struct error *err)
{
    if (index >= elf->section_count)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file refers to section %zu, but it has only %zu", index,
                         elf->section_count);
    const unsigned char *p = elf->data + elf->section_table + index * SECTION_BYTES;
    uint64_t offset = elf_u64(p + 24);
    *name = elf_u32(p);
    *out = (struct elf_section){.type = elf_u32(p + 4),
                                .size = elf_u64(p + 32),
                                .link = elf_u32(p + 40),
                                .info = elf_u32(p + 44)};
    if (out->type == ELF_SECTION_NOBITS)
        return 0;
    if (!within(offset, out->size, elf->length))
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file is cut: section %zu (offset %llu, %llu bytes) lies outside "
                         "of its %zu bytes",
                         index, (unsigned long long)offset, (unsigned long long)out->size,
                         elf->length);
    out->data = elf->data + offset;
    return 0;
}

/* The string at `offset` of string section `index`; NULL with *err. */
static const char *string_read(const struct elf *elf, size_t index, uint32_t offset,
                               struct error *err)
{
    struct elf_section strings = {0};
    uint32_t unused = 0;
    if (section_header_read(&strings, &unused, elf, index, err) != 0)
        return NULL;
    /* The last byte of a string section is NUL, so each name in it ends inside of it. */
    if (strings.data == NULL || offset >= strings.size || strings.data[strings.size - 1] != 0) {
        (void)error_set(err, ERROR_INFRASTRUCTURE,
                        "the ELF file has a name at offset %u of section %zu that does not end "
                        "inside of it",
                        offset, index);
        return NULL;
    }
    return (const char *)strings.data + offset;
}

int elf_section_read(struct elf_section *out, const struct elf *elf, size_t index,
                     struct error *err)
{
    struct elf_section section = {0};
    uint32_t name = 0;
    if (section_header_read(&section, &name, elf, index, err) != 0)
        return -1;
    section.name = string_read(elf, elf->names, name, err);
    if (section.name == NULL)
        return -1;
    *out = section;
    return 0;
}

int elf_table_read(struct elf_table *out, const struct elf_section *section, size_t entry_bytes,
                   struct error *err)
{
    if ((section->data == NULL && section->size > 0) || section->size % entry_bytes != 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "section %s (%llu bytes) is no table of %zu-byte entries", section->name,
                         (unsigned long long)section->size, entry_bytes);
    *out = (struct elf_table){.data = section->data,
                              .count = (size_t)(section->size / entry_bytes),
                              .entry_bytes = entry_bytes,
                              .names = section->link};
    return 0;
}

int elf_symbol_read(struct elf_symbol *out, const struct elf *elf, const struct elf_table *table,
                    size_t index, struct error *err)
{
    if (index >= table->count)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the ELF file refers to symbol %zu, but it has only %zu", index,
                         table->count);
    const unsigned char *p = table->data + index * table->entry_bytes;
    const char *name = string_read(elf, table->names, elf_u32(p), err);
    if (name == NULL)
        return -1;
    *out = (struct elf_symbol){.name = name,
                               .type = p[4] & 15u,
                               .other = p[5],
                               .section = elf_u16(p + 6),
                               .value = elf_u64(p + 8),
                               .size = elf_u64(p + 16)};
    return 0;
}
