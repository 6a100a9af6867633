/* lower_video.c - video instructions: from what is written to a struct video_form and a row. */
#include "emulator/lower.h"

#include "emulator/scalar_video.h"

struct video {
    const struct ptx_instruction *instruction;
    struct video_form form;
    unsigned parts; /* SIMD: 2 or 4; 1: scalar */
    bool is_set, is_shift, is_mad;
    unsigned types_seen;
    bool failed;
};

static bool is_modifier(const char *modifier, const char *const *names, size_t count, unsigned *ret)
{
    for (unsigned i = 0; i < count; ++i)
        if (strcmp(modifier, names[i]) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

/* The first type is the result's (vset has none for it), then a's, then b's. */
static void read_type(struct video *video, const char *modifier)
{
    const bool is_signed = modifier[0] == 's';
    const unsigned place = video->types_seen++ + (video->is_set ? 1 : 0);
    if (place == 0)
        video->form.d_signed = is_signed;
    else if (place == 1)
        video->form.a_signed = is_signed;
    else if (place == 2 && !(video->is_shift && is_signed))
        video->form.b_signed = is_signed;
    else
        video->failed = true;
}

static void read_modifier(struct video *video, const char *modifier)
{
    static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const seconds[] = {"", "add", "min", "max"};
    static const char *const modes[] = {"clamp", "wrap"};
    unsigned index = 0;
    if (strcmp(modifier, "u32") == 0 || strcmp(modifier, "s32") == 0)
        read_type(video, modifier);
    else if (strcmp(modifier, "sat") == 0 && !video->is_set)
        video->form.saturates = 1;
    else if (video->is_set && is_modifier(modifier, comparisons, COUNT_OF(comparisons), &index))
        video->form.compare = index & 7;
    else if (video->is_shift && is_modifier(modifier, modes, COUNT_OF(modes), &index))
        video->form.wraps = index & 1;
    else if (!video->is_mad && is_modifier(modifier, seconds, COUNT_OF(seconds), &index) &&
             (video->parts == 1 || index == VIDEO_THEN_ADD))
        video->form.second = index & 3;
    else if (video->is_mad && strcmp(modifier, "po") == 0)
        video->form.adds_one = 1;
    else if (video->is_mad && strcmp(modifier, "shr7") == 0)
        video->form.shift = 7;
    else if (video->is_mad && strcmp(modifier, "shr15") == 0)
        video->form.shift = 15;
    else
        video->failed = true;
}

/* .b2, .h1 of a scalar instruction; nothing: the whole register. */
static unsigned read_part(struct video *video, const struct ptx_operand *operand)
{
    static const char *const names[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
    unsigned index = VIDEO_WHOLE;
    if (operand->part != NULL && !is_modifier(operand->part, names, COUNT_OF(names), &index))
        video->failed = true;
    return index;
}

/* .h32, .b7654: from the highest part of the result down, which part of b:a. */
static unsigned read_picks(struct video *video, const struct ptx_operand *operand, unsigned first)
{
    const unsigned parts = video->parts;
    const char *text = operand->part;
    unsigned picks = 0;
    if (text != NULL && (text[0] != (parts == 2 ? 'h' : 'b') || strlen(text) != parts + 1))
        video->failed = true;
    for (unsigned i = 0; i < parts && !video->failed; ++i) {
        const unsigned pick = text == NULL ? first + i : (unsigned)(text[parts - i] - '0');
        picks |= pick << 3 * i;
        video->failed = pick >= 2 * parts;
    }
    return picks;
}

/* .h0, .b310: which parts of the result are new, in falling order. */
static unsigned read_mask(struct video *video, const struct ptx_operand *operand)
{
    const unsigned parts = video->parts;
    const char *text = operand->part;
    unsigned mask = 0, last = parts;
    if (text == NULL)
        return (1u << parts) - 1;
    video->failed = video->failed || text[0] != (parts == 2 ? 'h' : 'b');
    for (const char *digit = text + 1; *digit != '\0' && !video->failed; ++digit) {
        const unsigned part = (unsigned)(*digit - '0');
        video->failed = part >= last;
        mask |= 1u << part;
        last = part;
    }
    return mask;
}

static void read_operands(struct video *video)
{
    const struct ptx_operand *operands = video->instruction->operands;
    const size_t count = video->instruction->operand_count;
    struct video_form *form = &video->form;
    if (video->parts == 1) {
        form->d_part = read_part(video, &operands[0]) & 7;
        form->a_part = read_part(video, &operands[1]) & 7;
        form->b_part = read_part(video, &operands[2]) & 7;
    } else {
        form->mask = read_mask(video, &operands[0]) & 15;
        form->a_picks = read_picks(video, &operands[1], 0) & 0xFFF;
        form->b_picks = read_picks(video, &operands[2], video->parts) & 0xFFF;
    }
    const bool has_third = video->parts > 1 || video->is_mad || form->second != VIDEO_PLAIN ||
                           form->d_part != VIDEO_WHOLE;
    const bool negates_c = count > 3 && operands[3].negated;
    video->failed = video->failed || count != (has_third ? 4 : 3) || operands[0].negated ||
                    (has_third && operands[3].part != NULL) ||
                    (form->second != VIDEO_PLAIN && form->d_part != VIDEO_WHOLE);
    if (video->failed)
        return;
    if (video->is_mad) {
        form->negates_product = operands[1].negated != operands[2].negated;
        form->negates_c = negates_c;
        video->failed = form->d_part != VIDEO_WHOLE || (form->negates_product && negates_c) ||
                        (form->adds_one && (form->negates_product || negates_c));
    } else {
        video->failed = operands[1].negated || operands[2].negated || negates_c;
    }
}

/* The register itself: which part of it and which sign, the form says. */
static uint32_t whole_value(struct lowering *lowering, const struct ptx_operand *operand)
{
    struct ptx_operand whole = *operand;
    whole.part = NULL;
    whole.negated = false;
    return lower_value(lowering, &whole, WIDTH_32, PTX_U32);
}

void lower_video(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const char *opcode = instruction->opcode;
    const char last = opcode[strlen(opcode) - 1];
    struct video video = {.instruction = instruction,
                          .parts = last == '2' || last == '4' ? (unsigned)(last - '0') : 1,
                          .is_set = strncmp(opcode, "vset", 4) == 0,
                          .is_shift = strncmp(opcode, "vsh", 3) == 0,
                          .is_mad = strcmp(opcode, "vmad") == 0};
    for (unsigned i = 0; i < instruction->modifier_count; ++i)
        read_modifier(&video, instruction->modifiers[i]);
    if (instruction->operand_count == 3 || instruction->operand_count == 4)
        read_operands(&video);
    else
        video.failed = true;
    if (video.failed || video.types_seen != (video.is_set ? 2u : 3u) ||
        (video.parts > 1 && video.form.second != VIDEO_PLAIN && video.form.saturates)) {
        lower_refuse(lowering, "its types, parts or operands do not go together");
        return;
    }
    const struct ptx_operand *operands = instruction->operands;
    const uint32_t a = whole_value(lowering, &operands[1]);
    const uint32_t b = whole_value(lowering, &operands[2]);
    const uint32_t c = instruction->operand_count == 4 ? whole_value(lowering, &operands[3])
                                                       : lower_constant(lowering, WIDTH_32, 0);
    struct ptx_operand result = operands[0];
    result.part = NULL;
    uint64_t immediate;
    memcpy(&immediate, &video.form, sizeof immediate);
    char row[24];
    (void)snprintf(row, sizeof row, "video.%.12s", opcode);
    lower_row(lowering, row, lower_result(lowering, &result, WIDTH_32), a, b, c, immediate);
}
