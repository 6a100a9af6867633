/* builtin.c - what the CUDA runtime gives to device code: printf, assert, malloc and free. */
#include "emulator/machine.h"

/* ---- Device memory as the host sees it ------------------------------------------------------ */

/* Up to `bytes` bytes at a generic address; false: it is not readable there (nothing reported). */
static bool read_generic(struct warp *warp, unsigned lane, uint64_t address, void *to,
                         unsigned bytes)
{
    if (address - LOCAL_WINDOW < WINDOW_BYTES) {
        address -= LOCAL_WINDOW;
        if (address + bytes > warp->local_top)
            return false;
        local_read(warp, lane, (uint32_t)address, to, bytes);
        return true;
    }
    const uint8_t *from = NULL;
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        address -= SHARED_WINDOW;
        if (address + bytes > warp->runner->launch->shared_bytes)
            return false;
        from = warp->runner->shared + address;
    } else {
        const struct region *region = memory_find(warp->runner->launch->emulator, address);
        if (region == NULL || address - region->base >= region->bytes ||
            region->bytes - (address - region->base) < bytes)
            return false;
        from = region->data + (address - region->base);
    }
    memcpy(to, from, bytes);
    return true;
}

/* A NUL-terminated string, at most room - 1 characters. */
static void read_string(struct warp *warp, unsigned lane, uint64_t address, char *to, size_t room)
{
    size_t n = 0;
    while (n + 1 < room && read_generic(warp, lane, address + n, to + n, 1) && to[n] != '\0')
        ++n;
    to[n] = '\0';
}

/* ---- printf --------------------------------------------------------------------------------- */

static void print_bytes(struct launch *launch, const char *text, size_t length)
{
    if (bytes_append(&launch->printed, text, length) != 0 && !launch->printed_cut) {
        static const char note[] = "\n[more was printed]\n";
        launch->printed.failed = false;
        launch->printed.limit += sizeof note;
        (void)bytes_append(&launch->printed, note, sizeof note - 1);
        launch->printed_cut = true;
    }
}

struct conversion { /* %-08.3f: flags, width and precision as written, checked */
    char text[32];
    size_t length;
    char letter;
    bool is_wide;
};

static bool parse_conversion(const char **at, struct conversion *ret)
{
    const char *p = *at;
    *ret = (struct conversion){.text = "%", .length = 1};
    unsigned digits = 0;
    for (; *p != '\0' && strchr("-+ #0123456789.", *p) != NULL; ++p) {
        digits = *p >= '0' && *p <= '9' ? digits + 1 : 0;
        if (digits > 3 || ret->length > 16)
            return false; /* a width of thousands would only flood */
        ret->text[ret->length++] = *p;
    }
    for (; *p == 'l' || *p == 'h' || *p == 'z' || *p == 'j' || *p == 't'; ++p)
        ret->is_wide = ret->is_wide || *p != 'h';
    ret->letter = *p;
    *at = *p == '\0' ? p : p + 1;
    return true;
}

/* Arguments lie in the buffer at their natural alignment: 4 bytes, or 8 for wide and floating. */
static void print_conversion(struct warp *warp, unsigned lane, struct conversion *conversion,
                             uint64_t *next)
{
    char text[1100], string[512];
    const char letter = conversion->letter;
    const bool narrow_pointer = warp->runner->launch->emulator->module->address_bytes == 4;
    const bool eight = conversion->is_wide || strchr("fFeEgGaA", letter) != NULL ||
                       (!narrow_pointer && strchr("sp", letter) != NULL);
    uint64_t bits = 0;
    double real = 0;
    int used = 0;
    *next = eight ? (*next + 7) & ~UINT64_C(7) : (*next + 3) & ~UINT64_C(3);
    (void)read_generic(warp, lane, *next, &bits, eight ? 8 : 4);
    *next += eight ? 8 : 4;
    char *format = conversion->text;
    size_t length = conversion->length;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* made by parse_conversion() of known parts  \
                                                      */
    switch (letter) {
    case 'd':
    case 'i':
        memcpy(format + length, "lld", 4);
        used =
            snprintf(text, sizeof text, format, eight ? (long long)bits : (long long)(int32_t)bits);
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        format[length] = format[length + 1] = 'l';
        format[length + 2] = letter;
        format[length + 3] = '\0';
        used = snprintf(text, sizeof text, format, (unsigned long long)bits);
        break;
    case 'c':
        format[length] = 'c';
        format[length + 1] = '\0';
        used = snprintf(text, sizeof text, format, (int)(bits & 0xFF));
        break;
    case 's':
        read_string(warp, lane, bits, string, sizeof string);
        format[length] = 's';
        format[length + 1] = '\0';
        used = snprintf(text, sizeof text, format, string);
        break;
    case 'p':
        used = snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
        break;
    default: /* f F e E g G a A */
        memcpy(&real, &bits, sizeof real);
        format[length] = letter;
        format[length + 1] = '\0';
        used = snprintf(text, sizeof text, format, real);
        break;
    }
#pragma GCC diagnostic pop
    if (used > 0)
        print_bytes(warp->runner->launch, text,
                    (size_t)used < sizeof text ? (size_t)used : sizeof text - 1);
}

/* Returns what printf of the device does: how many arguments there were. */
static unsigned print_lane(struct warp *warp, unsigned lane, uint64_t format_address,
                           uint64_t arguments)
{
    unsigned count = 0;
    char format[4096];
    struct launch *launch = warp->runner->launch;
    read_string(warp, lane, format_address, format, sizeof format);
    uint64_t next = arguments;
    for (const char *p = format; *p != '\0';) {
        const char *percent = strchr(p, '%');
        if (percent == NULL) {
            print_bytes(launch, p, strlen(p));
            break;
        }
        print_bytes(launch, p, (size_t)(percent - p));
        p = percent + 1;
        if (*p == '%') {
            print_bytes(launch, p++, 1);
            continue;
        }
        struct conversion conversion;
        if (!parse_conversion(&p, &conversion) || conversion.letter == '\0' ||
            strchr("diuxXocspfFeEgGaA", conversion.letter) == NULL) {
            print_bytes(launch, percent, (size_t)(p - percent));
            continue;
        }
        print_conversion(warp, lane, &conversion, &next);
        ++count;
    }
    return count;
}

/* ---- malloc and free ------------------------------------------------------------------------ */

#define GRANULE 16

/* Every allocation has a granule of nobody's before and behind it. */
static uint64_t heap_take(struct heap *heap, uint64_t bytes, const struct op *site)
{
    const uint64_t room = (bytes + 2 * GRANULE - 1) / GRANULE * GRANULE;
    if (bytes == 0 || bytes > CAP_HEAP_BYTES || heap->region == NULL ||
        heap->used + GRANULE + room > heap->region->bytes)
        return 0;
    if (heap->chunk_count == heap->chunk_capacity) {
        size_t capacity = heap->chunk_capacity == 0 ? 64 : heap->chunk_capacity * 2;
        struct heap_chunk *chunks = realloc(heap->chunks, capacity * sizeof *chunks);
        if (chunks == NULL) {
            heap->no_memory = true;
            return 0;
        }
        heap->chunks = chunks;
        heap->chunk_capacity = capacity;
    }
    const uint64_t offset = heap->used + GRANULE;
    heap->chunks[heap->chunk_count++] =
        (struct heap_chunk){.offset = offset, .bytes = bytes, .site = site};
    for (uint64_t at = offset; at < offset + bytes; at += GRANULE)
        heap->owner[at / GRANULE] = (uint32_t)heap->chunk_count;
    known_clear(heap->region->known, offset, bytes);
    heap->used = offset + room - GRANULE;
    return heap->region->base + offset;
}

bool heap_holds(struct heap *heap, uint64_t offset, unsigned bytes)
{
    (void)pthread_mutex_lock(&heap->lock);
    const uint32_t owner = heap->owner[offset / GRANULE];
    bool holds = false;
    if (owner != 0) {
        const struct heap_chunk *chunk = &heap->chunks[owner - 1];
        holds = !chunk->freed && offset >= chunk->offset && bytes <= chunk->bytes &&
                offset - chunk->offset <= chunk->bytes - bytes;
    }
    (void)pthread_mutex_unlock(&heap->lock);
    return holds;
}

bool heap_was_freed(struct heap *heap, uint64_t address)
{
    if (heap->region == NULL || address - heap->region->base >= heap->region->bytes)
        return false;
    (void)pthread_mutex_lock(&heap->lock);
    const uint32_t owner = heap->owner[(address - heap->region->base) / GRANULE];
    const bool freed = owner != 0 && heap->chunks[owner - 1].freed;
    (void)pthread_mutex_unlock(&heap->lock);
    return freed;
}

/* Why free() cannot have it; NULL: it can. */
static const char *free_trouble(const struct heap *heap, uint64_t offset)
{
    const uint32_t owner = offset < CAP_HEAP_BYTES ? heap->owner[offset / GRANULE] : 0;
    if (owner == 0 || heap->chunks[owner - 1].offset != offset)
        return "frees an address that malloc did not give";
    return heap->chunks[owner - 1].freed ? "frees the same memory twice" : NULL;
}

static void free_lane(struct warp *warp, const struct op *op, unsigned lane, uint64_t address)
{
    struct heap *heap = &warp->runner->launch->emulator->heap;
    if (address == 0)
        return;
    (void)pthread_mutex_lock(&heap->lock);
    const uint64_t offset = heap->region == NULL ? UINT64_MAX : address - heap->region->base;
    const char *trouble = free_trouble(heap, offset);
    if (trouble == NULL)
        heap->chunks[heap->owner[offset / GRANULE] - 1].freed = true;
    (void)pthread_mutex_unlock(&heap->lock);
    if (trouble != NULL) {
        struct fault_site site = {.op = op, .lane = lane, .address = address};
        fault_report(warp, &site, strstr(trouble, "twice") != NULL ? "double free" : "bad free",
                     false, "%s (0x%llx)", trouble, (unsigned long long)address);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static uint64_t argument(const struct warp *warp, const struct call *call, unsigned lane,
                         unsigned i)
{
    uint64_t value = 0;
    local_read(warp, lane, warp->frame->local_base + call->arguments[i], &value,
               call->argument_bytes[i] < 8 ? call->argument_bytes[i] : 8);
    return value;
}

static void give_result(struct warp *warp, const struct call *call, unsigned lane, uint64_t value)
{
    const uint32_t bytes = call->result_bytes[0] < 8 ? call->result_bytes[0] : 8;
    const uint32_t place = warp->frame->local_base + call->results[0];
    local_write(warp, lane, place, &value, bytes);
    local_set_known(warp, lane, place, bytes, true);
}

static void fail_assertion(struct warp *warp, const struct op *op, const struct call *call)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->active);
    char condition[200], file[200], function[120];
    read_string(warp, lane, argument(warp, call, lane, 0), condition, sizeof condition);
    read_string(warp, lane, argument(warp, call, lane, 1), file, sizeof file);
    read_string(warp, lane, argument(warp, call, lane, 3), function, sizeof function);
    for (char *p = condition; *p != '\0'; ++p)
        *p = (unsigned char)*p < ' ' || *p == 0x7F ? ' ' : *p;
    struct fault_site site = {.op = op, .lane = lane};
    fault_report(warp, &site, "assert", false, "fails the assertion `%s`", condition);
    launch_stop(warp);
}

const struct op *builtin_call(struct warp *warp, const struct op *op)
{
    const struct call *call = op->detail;
    struct launch *launch = warp->runner->launch;
    if (call->kind == CALL_ASSERT) {
        fail_assertion(warp, op, call);
        return NULL;
    }
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t address = 0;
        unsigned result = 0;
        switch (call->kind) {
        case CALL_PRINTF:
            (void)pthread_mutex_lock(&launch->lock);
            if (!launch->printed_cut)
                result = print_lane(warp, lane, argument(warp, call, lane, 0),
                                    argument(warp, call, lane, 1));
            (void)pthread_mutex_unlock(&launch->lock);
            give_result(warp, call, lane, result);
            break;
        case CALL_MALLOC:
            (void)pthread_mutex_lock(&launch->emulator->heap.lock);
            address = heap_take(&launch->emulator->heap, argument(warp, call, lane, 0), op);
            (void)pthread_mutex_unlock(&launch->emulator->heap.lock);
            give_result(warp, call, lane, address);
            break;
        default:
            free_lane(warp, op, lane, argument(warp, call, lane, 0));
            break;
        }
    }
    return op + 1;
}
