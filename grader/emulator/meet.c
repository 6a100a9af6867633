/* meet.c - how the lanes of a warp part and meet.
 *
 * Lanes that part at a branch meet again at its immediate post-dominator, where the first to arrive
 * wait. Often they can meet earlier: where some return or leave two loops at once, the end of the
 * inner loop post-dominates nothing, yet the hardware brings the others together there. So of the
 * groups that are ready the one that is least far in the program goes first, and takes along those
 * that it comes across (meet_early). As on hardware since Volta, nobody waits for ever: when no
 * group of the warp can go on, or one has run for very long, the waiting lanes are let go on their
 * own (warp_release). */
#include "emulator/machine.h"

static struct group *free_group(struct warp *warp)
{
    for (unsigned i = 0; i < LANES; ++i)
        if (warp->groups[i].state == GROUP_FREE)
            return &warp->groups[i];
    return NULL; /* cannot be: masks are disjoint and not empty */
}

static struct record *free_record(struct warp *warp)
{
    for (unsigned i = 0; i < RECORDS; ++i)
        if (!warp->records[i].used)
            return &warp->records[i];
    return NULL;
}

/* Where a group goes on that has met the others. */
static const struct op *meeting_op(const struct record *record)
{
    const struct program *program = record->frame->program;
    return record->block == NO_BLOCK ? &program->ops[program->op_count - 1]
                                     : &program->ops[program->blocks[record->block].op];
}

/* The lanes that wait at a record become a group of their own. */
static void wake(struct warp *warp, struct record *record)
{
    struct group *group = free_group(warp);
    warp->others = true;
    *group = (struct group){.state = GROUP_READY,
                            .mask = record->arrived,
                            .next = meeting_op(record),
                            .frame = record->frame,
                            .record = record->parent};
    record->expected &= ~record->arrived;
    record->arrived = 0;
}

void meet_settle(struct warp *warp, struct record *record)
{
    if (record->arrived != 0 && record->arrived == record->expected)
        wake(warp, record);
    if (record->expected == 0)
        record->used = false;
}

/* Lanes that will not come any more. */
void meet_forget(struct warp *warp, struct record *record, uint32_t mask)
{
    while (record != NULL) {
        struct record *parent = record->parent;
        record->expected &= ~mask;
        meet_settle(warp, record);
        record = parent;
    }
}

/* The running group has come to where its record wants it. True: all are here, and it goes on as
 * one; false: it waits. */
bool meet_arrive(struct warp *warp)
{
    struct group *group = warp->group;
    struct record *record = group->record;
    record->arrived |= group->mask;
    if (record->arrived != record->expected) {
        group->state = GROUP_FREE;
        return false;
    }
    group->mask = warp->active = record->arrived;
    group->record = record->parent;
    record->used = false;
    return true;
}

/* Lets lanes go that wait for others. False: there are none. */
bool warp_release(struct warp *warp)
{
    bool any = false;
    for (unsigned i = 0; i < RECORDS; ++i) {
        struct record *record = &warp->records[i];
        if (record->used && record->arrived != 0) {
            wake(warp, record);
            if (record->expected == 0)
                record->used = false;
            any = true;
        }
    }
    return any;
}

/* At the beginning of a block: takes along the groups that are to begin it, too. True: another
 * group is less far in this function, and goes first. Not where lanes poll, which may wait for one
 * another, and not in every second slice: a group that never ends must not stop the others. */
bool meet_early(struct warp *warp, const struct op *op)
{
    struct group *group = warp->group;
    const struct block *block = op->detail;
    warp->others = false;
    for (unsigned i = 0; i < LANES; ++i) {
        struct group *other = &warp->groups[i];
        if (other == group || other->state != GROUP_READY)
            continue;
        if (other->next == op && other->frame == group->frame && other->record == group->record &&
            !block->is_way_out) {
            group->mask |= other->mask;
            warp->active = group->mask;
            other->state = GROUP_FREE;
            continue;
        }
        warp->others = true;
        if (other->frame == group->frame && other->next < op && !warp->polls && !warp->in_turn) {
            group->next = op;
            warp->turn = i;
            return true;
        }
    }
    return false;
}

/* The lanes of `away` go on at `target`, the rest of the running group as it is; they meet at block
 * `meets`. */
void meet_part(struct warp *warp, uint32_t away, const struct op *target, uint32_t meets)
{
    struct group *group = warp->group;
    struct record *record = group->record;
    ++warp->runner->counters.divergent_branches;
    if (record == NULL || record->block != meets || record->frame != warp->frame) {
        struct record *fresh = free_record(warp);
        if (fresh != NULL) { /* else they meet where the enclosing paths do */
            *fresh = (struct record){.parent = record,
                                     .frame = warp->frame,
                                     .block = meets,
                                     .expected = group->mask,
                                     .used = true};
            record = fresh;
        }
    }
    struct group *other = free_group(warp);
    warp->others = true;
    *other = (struct group){
        .state = GROUP_READY, .mask = away, .next = target, .frame = warp->frame, .record = record};
    group->record = record;
    group->mask &= ~away;
    warp->active = group->mask;
}
