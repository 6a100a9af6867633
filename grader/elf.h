/* elf.h - a bounds-checked view of a 64-bit little-endian ELF file in memory.
 *
 * The bytes are hostile. elf_open() checks the header and the section table once; the other
 * functions check what they touch. Nothing is copied and nothing allocates: the view borrows the
 * bytes, which must outlive it. Layouts: the System V ABI, chapter "Object Files". */
#ifndef SPILLWAY_ELF_H
#define SPILLWAY_ELF_H

#include "errors.h"

enum {
    ELF_SECTION_RELA = 4, /* relocations with an addend */
    ELF_SECTION_NOBITS = 8,
    ELF_SECTION_REL = 9, /* relocations whose addend stands in the patched bytes */
    ELF_SYMBOL_FUNCTION = 2,
};

struct elf {
    const unsigned char *data; /* borrowed */
    size_t length;
    unsigned abi_version; /* e_ident[8] */
    uint32_t flags;       /* e_flags */
    size_t section_count;
    uint64_t section_table; /* offset in data */
    size_t names;           /* index of the section that holds section names */
};

struct elf_section {
    const char *name; /* borrowed, NUL-terminated */
    uint32_t type, link, info;
    uint64_t size;
    const unsigned char *data; /* borrowed, `size` bytes; NULL for ELF_SECTION_NOBITS */
};

/* A table of fixed-size entries: symbols or relocations. */
struct elf_table {
    const unsigned char *data; /* borrowed */
    size_t count;
    size_t entry_bytes;
    size_t names; /* symbols: index of their string section */
};

struct elf_symbol {
    const char *name; /* borrowed */
    unsigned type;    /* low half of st_info */
    unsigned other;   /* st_other */
    size_t section;   /* st_shndx; 0: undefined */
    uint64_t value, size;
};

/* Little-endian loads from any address. */
static inline uint16_t elf_u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t elf_u32(const unsigned char *p)
{
    return (uint32_t)elf_u16(p) | (uint32_t)elf_u16(p + 2) << 16;
}
static inline uint64_t elf_u64(const unsigned char *p)
{
    return (uint64_t)elf_u32(p) | (uint64_t)elf_u32(p + 4) << 32;
}

/* Each returns 0; -1 with *err (what lies where it should not) and *out untouched. */
int elf_open(struct elf *out, const void *data, size_t length, struct error *err);
int elf_section_read(struct elf_section *out, const struct elf *elf, size_t index,
                     struct error *err);
/* The section must be a table of `entry_bytes` sized entries. */
int elf_table_read(struct elf_table *out, const struct elf_section *section, size_t entry_bytes,
                   struct error *err);
int elf_symbol_read(struct elf_symbol *out, const struct elf *elf, const struct elf_table *table,
                    size_t index, struct error *err);

#define ELF_SYMBOL_BYTES 24
#define ELF_REL_BYTES 16
#define ELF_RELA_BYTES 24

#endif
