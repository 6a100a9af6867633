/* access.c - loads and stores, lane by lane, with every check. lanes_body.h has the shortcuts
 * for what most instructions do: 32 consecutive words of one buffer, or the same word of local
 * memory. */
#include "emulator/machine.h"

/* ---- Local memory: word w of lane l lies at word w * 32 + l --------------------------------- */

static size_t local_place(uint32_t offset, unsigned lane)
{
    return ((size_t)(offset / 4) * LANES + lane) * 4 + offset % 4;
}

void local_read(const struct warp *warp, unsigned lane, uint32_t offset, void *to, uint32_t bytes)
{
    uint8_t *out = to;
    while (bytes > 0) {
        uint32_t part = 4 - offset % 4 < bytes ? 4 - offset % 4 : bytes;
        memcpy(out, warp->local + local_place(offset, lane), part);
        out += part;
        offset += part;
        bytes -= part;
    }
}

void local_write(struct warp *warp, unsigned lane, uint32_t offset, const void *from,
                 uint32_t bytes)
{
    const uint8_t *in = from;
    while (bytes > 0) {
        uint32_t part = 4 - offset % 4 < bytes ? 4 - offset % 4 : bytes;
        memcpy(warp->local + local_place(offset, lane), in, part);
        in += part;
        offset += part;
        bytes -= part;
    }
}

static bool local_is_known(const struct warp *warp, unsigned lane, uint32_t offset, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t part = 4 - offset % 4 < bytes ? 4 - offset % 4 : bytes;
        if (!known_test(warp->local_known, local_place(offset, lane), part))
            return false;
        offset += part;
        bytes -= part;
    }
    return true;
}

/* With what is known of the bytes. */
void local_copy(struct warp *warp, unsigned lane, uint32_t to, uint32_t from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint8_t word[4];
        uint32_t part = bytes - i < 4 ? bytes - i : 4;
        local_read(warp, lane, from + i, word, part);
        local_write(warp, lane, to + i, word, part);
        for (uint32_t b = 0; b < part; ++b)
            local_set_known(warp, lane, to + i + b, 1, local_is_known(warp, lane, from + i + b, 1));
    }
}

void local_set_known(struct warp *warp, unsigned lane, uint32_t offset, uint32_t bytes, bool known)
{
    while (bytes > 0) {
        uint32_t part = 4 - offset % 4 < bytes ? 4 - offset % 4 : bytes;
        size_t place = local_place(offset, lane);
        uint8_t mask = (uint8_t)(((1u << part) - 1) << place % 8); /* four bits of one byte */
        uint8_t *byte = warp->local_known + place / 8;
        *byte = known ? *byte | mask : *byte & (uint8_t)~mask;
        offset += part;
        bytes -= part;
    }
}

/* ---- Where a lane's access goes ------------------------------------------------------------- */

static uint64_t lane_address(const struct warp *warp, const struct op *op,
                             const struct access *access, unsigned lane)
{
    uint64_t address = 0;
    uint32_t narrow = 0;
    switch (access->address) {
    case ADDRESS_64:
        memcpy(&address, warp->registers + op->a + 8 * lane, sizeof address);
        break;
    case ADDRESS_32:
        memcpy(&narrow, warp->registers + op->a + 4 * lane, sizeof narrow);
        return narrow + (uint32_t)access->offset; /* wraps: [%r+4] with -4 in it is address 0 */
    case ADDRESS_CONSTANT:
        break;
    case ADDRESS_FRAME:
        address = warp->frame->local_base;
        break;
    }
    return address + (uint64_t)access->offset;
}

static enum ptx_space settle_space(enum ptx_space space, uint64_t *address)
{
    if (space == PTX_GENERIC && *address - SHARED_WINDOW < WINDOW_BYTES) {
        *address -= SHARED_WINDOW;
        return PTX_SHARED;
    }
    if (space == PTX_GENERIC && *address - LOCAL_WINDOW < WINDOW_BYTES) {
        *address -= LOCAL_WINDOW;
        return PTX_LOCAL;
    }
    return space == PTX_SHARED || space == PTX_LOCAL ? space : PTX_GLOBAL;
}

/* A region that holds the bytes and may be accessed so; NULL: it is a fault. */
static struct region *settle_region(struct warp *warp, uint64_t address, unsigned bytes,
                                    bool is_store)
{
    struct runner *runner = warp->runner;
    struct region *region = runner->last_region;
    if (region == NULL || address - region->base >= region->bytes ||
        region->bytes - (address - region->base) < bytes) {
        region = memory_find(runner->launch->emulator, address);
        if (region == NULL || address - region->base >= region->bytes ||
            region->bytes - (address - region->base) < bytes)
            return NULL;
        runner->last_region = region;
    }
    if (is_store && region->kind > REGION_VARIABLE && region->kind != REGION_HEAP)
        return NULL;
    if (region->kind == REGION_HEAP &&
        !heap_holds(&runner->launch->emulator->heap, address - region->base, bytes))
        return NULL;
    return region;
}

struct place {
    enum ptx_space space;
    uint64_t address; /* within the space */
    uint8_t *data;    /* NULL: local memory, or a fault */
    uint8_t *known;   /* bits; NULL: all are known */
    uint64_t bit;
    struct region *region; /* global memory */
    bool fault;
};

static struct place settle(struct warp *warp, const struct op *op, const struct access *access,
                           unsigned lane, unsigned bytes, bool is_store)
{
    struct place place = {.address = lane_address(warp, op, access, lane)};
    struct runner *runner = warp->runner;
    place.space = settle_space(access->space, &place.address);
    bool inside = false;
    struct region *region = NULL;
    switch (place.space) {
    case PTX_SHARED:
        inside = place.address <= runner->launch->shared_bytes &&
                 runner->launch->shared_bytes - place.address >= bytes;
        if (inside) {
            place.data = runner->shared + place.address;
        }
        break;
    case PTX_LOCAL:
        inside = place.address <= warp->local_top && warp->local_top - place.address >= bytes;
        break;
    default:
        region = settle_region(warp, place.address, bytes, is_store);
        inside = region != NULL && (access->space != PTX_CONST || region->kind == REGION_CONSTANT ||
                                    region->kind == REGION_PARAMETERS);
        place.region = region;
        if (inside) {
            place.bit = place.address - region->base;
            place.data = region->data + place.bit;
            place.known = region->all_known ? NULL : region->known;
        }
        break;
    }
    struct fault_site site = {.op = op,
                              .lane = lane,
                              .address = place.address,
                              .bytes = bytes,
                              .space = place.space,
                              .is_store = is_store,
                              .is_constant = access->space == PTX_CONST,
                              .is_generic = access->space == PTX_GENERIC};
    if (!inside) {
        fault_access(warp, &site);
        place.fault = true;
    } else if (place.address % bytes != 0 && (bytes & (bytes - 1)) == 0) {
        fault_report(warp, &site, "misaligned", false,
                     "%s %u bytes at an address that is no multiple of %u",
                     is_store ? "writes" : "reads", bytes, bytes);
        place.fault = true;
    }
    return place;
}

/* ---- What is known of the bytes, and who else touches them -------------------------------------
 */

static bool is_known(const struct warp *warp, const struct place *place, unsigned lane,
                     unsigned bytes)
{
    if (place->space == PTX_SHARED)
        return shared_is_known(warp->runner, place->address, bytes);
    if (place->space == PTX_LOCAL)
        return local_is_known(warp, lane, (uint32_t)place->address, bytes);
    return place->known == NULL || known_test(place->known, place->bit, bytes);
}

static void make_known(struct warp *warp, const struct place *place, unsigned lane, unsigned bytes)
{
    if (place->space == PTX_SHARED)
        shared_set_known(warp->runner, place->address, bytes);
    else if (place->space == PTX_LOCAL)
        local_set_known(warp, lane, (uint32_t)place->address, bytes, true);
    else if (place->known != NULL)
        known_set(place->known, place->bit, bytes);
}

/* Local memory through a generic address is how code reads its variables that was compiled without
 * optimisation: it copies structures with their padding, and reads a whole word to change some bits
 * of it, which is no mistake. So there it is a warning. */
static void check_known(struct warp *warp, const struct op *op, const struct access *access,
                        unsigned lane, const struct place *place, unsigned bytes)
{
    if (!warp->runner->launch->checks || is_known(warp, place, lane, bytes))
        return;
    struct fault_site site = {
        .op = op, .lane = lane, .address = place->address, .bytes = bytes, .space = place->space};
    const bool harmless = access->space == PTX_GENERIC && place->space == PTX_LOCAL;
    fault_report(warp, &site, "uninitialised read", harmless,
                 "reads %u bytes that nothing has written%s", bytes,
                 harmless ? "; no mistake if it is padding, or a word of which some bits are set"
                          : "");
}

static void note_race(struct warp *warp, const struct op *op, const struct access *access,
                      unsigned lane, const struct place *place, unsigned bytes,
                      enum access_kind kind, bool same_value)
{
    if (!warp->runner->launch->checks || place->space == PTX_LOCAL ||
        (access->is_strong && (place->space != PTX_SHARED || !access->is_volatile)))
        return;
    const struct shared_touch touch = {.lane = lane,
                                       .address = place->address,
                                       .bytes = bytes,
                                       .kind = kind,
                                       .same_value = same_value,
                                       .is_volatile = access->is_volatile,
                                       .is_async = access->is_async};
    if (place->space == PTX_SHARED)
        shared_race(warp, op, &touch);
    else if (place->region != NULL && place->region->kind <= REGION_VARIABLE)
        global_race(warp, op, lane, place->region, place->address, bytes, kind, same_value);
}

uint8_t *access_lane_bytes(struct warp *warp, const struct op *op, const struct access *access,
                           unsigned lane, enum access_kind kind, unsigned bytes,
                           enum ptx_space *space, uint64_t *address)
{
    struct place place = settle(warp, op, access, lane, bytes, kind != ACCESS_LOAD);
    *space = place.space;
    *address = place.address;
    if (place.fault || place.data == NULL)
        return NULL;
    if (kind != ACCESS_STORE)
        check_known(warp, op, access, lane, &place, bytes);
    if (kind != ACCESS_LOAD)
        make_known(warp, &place, lane, bytes);
    note_race(warp, op, access, lane, &place, bytes, kind, false);
    return place.data;
}

/* ---- Registers ------------------------------------------------------------------------------ */

static void put_element(uint8_t *registers, const struct access *access, unsigned element,
                        unsigned lane, const uint8_t *bytes)
{
    if (access->registers[element] == UINT32_MAX)
        return;
    uint8_t *to = registers + access->registers[element] + access->register_bytes * lane;
    if (access->element_bytes == access->register_bytes) {
        memcpy(to, bytes, access->element_bytes);
        return;
    }
    uint64_t wide[2] = {0, 0};
    memcpy(wide, bytes, access->element_bytes);
    if (access->sign_extend && (bytes[access->element_bytes - 1] & 0x80) != 0) {
        wide[1] = UINT64_MAX;
        if (access->element_bytes < 8)
            wide[0] |= UINT64_MAX << 8 * access->element_bytes;
    }
    memcpy(to, wide, access->register_bytes);
}

enum { TOUCHED_GLOBAL, TOUCHED_LOCAL, TOUCHED_SHARED, TOUCHED_COUNT };

static void count(struct warp *warp, const struct access *access,
                  const struct touched touched[TOUCHED_COUNT], bool is_store)
{
    if (!access->counted)
        return;
    struct traffic *traffic = &warp->runner->traffic;
    const unsigned bytes = (unsigned)access->element_bytes * access->count;
    traffic_count_global(is_store ? &traffic->global.store : &traffic->global.load,
                         &touched[TOUCHED_GLOBAL], bytes);
    traffic_count_local(is_store ? &traffic->local_array.store : &traffic->local_array.load,
                        &touched[TOUCHED_LOCAL], bytes);
    shared_count(warp, &touched[TOUCHED_SHARED], bytes, is_store);
}

static void touch(struct touched touched[TOUCHED_COUNT], const struct place *place, unsigned lane)
{
    struct touched *list = &touched[place->space == PTX_LOCAL    ? TOUCHED_LOCAL
                                    : place->space == PTX_SHARED ? TOUCHED_SHARED
                                                                 : TOUCHED_GLOBAL];
    list->address[list->count] = place->address;
    list->lane[list->count++] = (uint8_t)lane;
}

/* ---- Loads and stores ------------------------------------------------------------------------ */

void access_load(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    const unsigned bytes = (unsigned)access->element_bytes * access->count;
    struct touched touched[TOUCHED_COUNT];
    for (unsigned i = 0; i < TOUCHED_COUNT; ++i)
        touched[i].count = 0;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t value[128] = {0};
        struct place place = settle(warp, op, access, lane, bytes, false);
        if (access->is_strong && left == warp->active)
            warp_look(warp, op, place.address);
        if (!place.fault) {
            touch(touched, &place, lane);
            if (place.space == PTX_LOCAL)
                local_read(warp, lane, (uint32_t)place.address, value, bytes);
            else
                memcpy(value, place.data, bytes);
            check_known(warp, op, access, lane, &place, bytes);
            note_race(warp, op, access, lane, &place, bytes, ACCESS_LOAD, false);
        }
        for (unsigned e = 0; e < access->count; ++e)
            put_element(warp->registers, access, e, lane, value + e * access->element_bytes);
    }
    count(warp, access, touched, false);
}

void access_store(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    const unsigned bytes = (unsigned)access->element_bytes * access->count;
    struct touched touched[TOUCHED_COUNT];
    for (unsigned i = 0; i < TOUCHED_COUNT; ++i)
        touched[i].count = 0;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t value[128];
        struct place place = settle(warp, op, access, lane, bytes, true);
        if (place.fault)
            continue;
        touch(touched, &place, lane);
        for (unsigned e = 0; e < access->count; ++e)
            memcpy(value + e * access->element_bytes,
                   warp->registers + access->registers[e] + access->register_bytes * lane,
                   access->element_bytes);
        if (place.space == PTX_LOCAL) {
            local_write(warp, lane, (uint32_t)place.address, value, bytes);
        } else {
            const bool same = memcmp(place.data, value, bytes) == 0;
            memcpy(place.data, value, bytes);
            note_race(warp, op, access, lane, &place, bytes, ACCESS_STORE, same);
        }
        make_known(warp, &place, lane, bytes);
    }
    count(warp, access, touched, true);
}

/* The parameters of a kernel are the same for all. Bounds were looked at when lowering. */
void access_load_parameter(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    const uint8_t *from = warp->runner->launch->emulator->parameters->data + access->offset;
    for (uint32_t left = warp->active; left != 0; left &= left - 1)
        for (unsigned e = 0; e < access->count; ++e)
            put_element(warp->registers, access, e, (unsigned)__builtin_ctz(left),
                        from + e * access->element_bytes);
}
