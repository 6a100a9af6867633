/* cmd_hint.c - `spillway hint`: the next hint of one item, rung by rung; those for what the last
 * grading measured come first.
 *
 * How far somebody has climbed is remembered in the cache folder, never in the student's tree, so
 * that it cannot be committed by accident. Losing that file costs nothing: the ladder starts anew.
 */
#include "commands.h"

#include <stdarg.h>

#include "files.h"
#include "hints.h"
#include "labs/lab.h"
#include "memory.h"
#include "options.h"

#define PROGRESS_BYTES_MAX ((size_t)64 << 10)

static const char usage_text[] =
    "usage: spillway hint [LAB] [ITEM] [--reveal] [--reset]\n"
    "\n"
    "Shows the next hint of one item of a lab. Without ITEM: the list of items.\n"
    "ITEM is a group of marks, as in `question2`; a mark's own id will do as well.\n"
    "`next` is the item to go on with, by the marks that your last grading lost. LAB\n"
    "may be left out: then it is the lab that the current folder is named after,\n"
    "else the first one.\n"
    "\n"
    "  --reveal   show the solution of ITEM\n"
    "  --reset    forget which hints of ITEM (or of the whole lab) were seen\n"
    "  --help     this text\n"
    "\n"
    "Which hints you have seen, and what was measured, is kept in the cache folder\n"
    "(SPILLWAY_CACHE, else XDG_CACHE_HOME/spillway), never beside your files.\n"
    "\n"
    "Examples:\n"
    "  spillway hint next\n"
    "  spillway hint day17-registers question2\n";

struct climb {
    const struct lab *lab;
    struct hints hints;
    struct hint_progress progress;
    struct memory memory; /* of the last grading */
    char *path;           /* owned; of the progress file; NULL: nowhere to remember */
};

/* ---- Progress, in a file of the cache folder ---- */

/* A file that is missing or makes no sense means: nothing seen yet. */
static void load_progress(struct climb *climb)
{
    struct error err = {0};
    AUTO_FREE char *folder = cache_folder(&err);
    char name[128];
    (void)snprintf(name, sizeof name, "hints-%s", climb->lab->id);
    climb->path = folder != NULL ? path_join(folder, name) : NULL;
    struct bytes content;
    if (climb->path == NULL ||
        file_read(&content, climb->path, PROGRESS_BYTES_MAX, false) != FILE_READ)
        return;
    hints_read_progress(&climb->hints, &climb->progress, bytes_text(&content), content.length);
    bytes_release(&content);
}

static void save_progress(const struct climb *climb)
{
    struct bytes text = bytes_with_limit(PROGRESS_BYTES_MAX);
    struct error err = {0};
    for (size_t i = 0; i < climb->hints.count; ++i) {
        const char *id = climb->hints.items[i].id;
        if (climb->progress.seen[i] > 0)
            bytes_printf(&text, "%s %zu\n", id, climb->progress.seen[i]);
        if (climb->progress.told[i] > 0)
            bytes_printf(&text, "%s if %u\n", id, climb->progress.told[i]);
    }
    if (climb->path == NULL)
        (void)error_set(&err, ERROR_INFRASTRUCTURE, "there is no cache folder");
    else if (!text.failed)
        (void)file_write(climb->path, bytes_text(&text), text.length, &err);
    if (err.kind != ERROR_NONE)
        (void)fprintf(stderr, "spillway: cannot remember which hints you have seen: %s\n",
                      err.text);
    bytes_release(&text);
}

/* ---- Showing ---- */

static size_t item_index(const struct climb *climb, const struct hint_item *item)
{
    return (size_t)(item - climb->hints.items);
}

static size_t seen_of(const struct climb *climb, const struct hint_item *item)
{
    return climb->progress.seen[item_index(climb, item)];
}

/* "done", "3 lost", … by the marks of the last grading; "" when it had none of this item. */
static const char *standing_of(const struct climb *climb, const struct hint_item *item,
                               char room[32])
{
    size_t marks = 0, lost = 0;
    for (size_t i = 0; i < climb->lab->criterion_count && i < MEMORY_MARKS_MAX; ++i)
        if (climb->memory.has_mark[i] &&
            hints_find(&climb->hints, climb->lab->criteria[i].id) == item) {
            ++marks;
            lost += climb->memory.marks[i] != MARK_PASSED;
        }
    (void)snprintf(room, 32, "%zu lost", lost);
    return marks == 0 ? "" : lost == 0 ? "done" : room;
}

static void show_list(const struct climb *climb)
{
    char room[32];
    bool graded = climb->memory.graded;
    (void)printf("Hints for %s\n\n  %-12s seen%s\n", climb->lab->title, "item",
                 graded ? "  marks" : "");
    for (size_t i = 0; i < climb->hints.count; ++i) {
        const struct hint_item *item = &climb->hints.items[i];
        (void)printf("  %-12s %zu/%zu   %-*s%s\n", item->id, seen_of(climb, item), item->count,
                     graded ? 9 : 0, graded ? standing_of(climb, item, room) : "", item->title);
    }
    if (graded)
        (void)printf("\nThe last grading gave %d of %d points; the best so far gave %d.\n",
                     climb->memory.score, lab_max_score(climb->lab), climb->memory.best);
    (void)printf("\n`spillway hint %s ITEM` shows the next hint of one.\n", climb->lab->id);
    if (graded && memory_first_lost(&climb->memory) != SIZE_MAX)
        (void)printf("`next` as ITEM is the one to go on with.\n");
}

/* ---- What was measured ---- */

static bool numbers_lost(const struct climb *climb, size_t kernel)
{
    for (size_t i = 0; i < climb->lab->criterion_count && i < MEMORY_MARKS_MAX; ++i)
        if (climb->lab->criteria[i].kind == CRITERION_NUMBERS &&
            climb->lab->criteria[i].kernel == kernel && climb->memory.has_mark[i] &&
            climb->memory.marks[i] == MARK_FAILED)
            return true;
    return false;
}

static bool builds_another(const struct climb *climb)
{
    for (size_t k = 0; k < climb->lab->kernel_count && k < MEMORY_KERNELS_MAX; ++k)
        if (climb->memory.kernels[k].known)
            return true;
    return false;
}

static bool fact_holds(const struct climb *climb, size_t k, enum hint_fact fact)
{
    const struct memory_kernel *kernel = &climb->memory.kernels[k];
    int64_t spilled = kernel->spill_store_bytes + kernel->spill_load_bytes;
    switch (fact) {
    case HINT_SPILLS:
        return kernel->known && spilled > 0;
    case HINT_FRAME:
        return kernel->known && kernel->stack_bytes > 0 && spilled == 0;
    case HINT_NO_FRAME:
        return kernel->known && kernel->stack_bytes == 0;
    case HINT_FAULT:
        return kernel->known && kernel->fault;
    case HINT_WRONG:
        return kernel->known && numbers_lost(climb, k);
    case HINT_MISSING:
        return !kernel->known && builds_another(climb);
    case HINT_FACT_COUNT:
        break;
    }
    return false;
}

/* The first kernel from `k` on of which the fact holds; the lab's kernel_count: none. */
static size_t find_kernel(const struct climb *climb, const struct hint_measured *measured, size_t k)
{
    const struct lab *lab = climb->lab;
    bool any = strcmp(measured->kernel, "any") == 0;
    for (; k < lab->kernel_count && k < MEMORY_KERNELS_MAX; ++k)
        if ((any || strcmp(lab->kernels[k].name, measured->kernel) == 0) &&
            fact_holds(climb, k, measured->fact))
            return k;
    return lab->kernel_count;
}

static bool hold(const struct climb *climb, const struct hint_facts *facts)
{
    for (size_t i = 0; i < facts->count; ++i)
        if (find_kernel(climb, &facts->items[i], 0) == climb->lab->kernel_count)
            return false;
    return true;
}

static void tell_kernel(const struct climb *climb, size_t k)
{
    const struct memory_kernel *kernel = &climb->memory.kernels[k];
    const char *name = climb->lab->kernels[k].name;
    if (!kernel->known)
        (void)printf("Your last grading found no kernel %s in the build.\n", name);
    else
        (void)printf("Your last grading measured of %s: %lld registers, a frame of\n"
                     "%lld bytes, %lld bytes of spill stores, %lld of spill loads%s.\n",
                     name, (long long)kernel->registers, (long long)kernel->stack_bytes,
                     (long long)kernel->spill_store_bytes, (long long)kernel->spill_load_bytes,
                     kernel->fault            ? ";\na launch went wrong"
                     : numbers_lost(climb, k) ? ";\nits results are not those of the reference"
                                              : "");
}

static void tell_measured(const struct climb *climb, const struct hint_facts *facts)
{
    bool told[MEMORY_KERNELS_MAX] = {false};
    for (size_t i = 0; i < facts->count; ++i)
        for (size_t k = 0; (k = find_kernel(climb, &facts->items[i], k)) < climb->lab->kernel_count;
             ++k) {
            if (!told[k])
                tell_kernel(climb, k);
            told[k] = true;
        }
}

/* Shows the first rung for what was measured that was not seen yet. */
static bool show_measured(struct climb *climb, const struct hint_item *item)
{
    uint32_t *told = &climb->progress.told[item_index(climb, item)];
    for (size_t t = 0; t < item->trigger_count; ++t) {
        const struct hint_trigger *trigger = &item->triggers[t];
        if ((*told >> t & 1) != 0 || !hold(climb, &trigger->facts))
            continue;
        *told |= (uint32_t)1 << t;
        (void)printf("%s: %s\n\n", item->id, item->title);
        tell_measured(climb, &trigger->facts);
        (void)printf("\n%s\nThe same command shows the next hint.\n", trigger->text);
        save_progress(climb);
        return true;
    }
    return false;
}

static void show_all(const struct hint_item *item)
{
    for (size_t i = 0; i < item->count; ++i)
        (void)printf("\n%s", item->rungs[i]);
}

static void show_next(struct climb *climb, const struct hint_item *item)
{
    if (show_measured(climb, item))
        return;
    size_t *seen = &climb->progress.seen[item_index(climb, item)];
    if (*seen == item->count) {
        (void)printf("You have seen all %zu hints of %s. Here they are once more.\n", item->count,
                     item->id);
        show_all(item);
    } else {
        const char *text = item->rungs[(*seen)++];
        (void)printf("%s: %s, hint %zu of %zu\n\n%s", item->id, item->title, *seen, item->count,
                     text);
        save_progress(climb);
    }
    if (*seen < item->count)
        (void)printf("\nThe same command shows the next one.\n");
    else if (item->solution != NULL)
        (void)printf("\n`spillway hint %s %s --reveal` shows the solution.\n", climb->lab->id,
                     item->id);
}

static int refuse(const char *format, ...) PRINTF_LIKE(1, 2);

static int refuse(const char *format, ...)
{
    char sentence[sizeof((struct error *)NULL)->text];
    struct error err = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    error_set(&err, ERROR_USAGE, "%s", sentence);
    return error_report(&err);
}

static int reveal(const struct climb *climb, const struct hint_item *item)
{
    if (item == NULL)
        return refuse("--reveal needs an item; `spillway hint %s` lists them", climb->lab->id);
    if (item->solution == NULL)
        (void)printf("%s has hints only, and no solution.\n", item->id);
    else
        (void)printf("%s: %s, solution\n\n%s", item->id, item->title, item->solution);
    return EXIT_STATUS_DONE;
}

static void reset(struct climb *climb, const struct hint_item *item)
{
    for (size_t i = 0; i < climb->hints.count; ++i)
        if (item == NULL || item == &climb->hints.items[i]) {
            climb->progress.seen[i] = 0;
            climb->progress.told[i] = 0;
        }
    save_progress(climb);
    (void)printf("Forgotten: the hints seen of %s.\n", item != NULL ? item->id : climb->lab->id);
}

/* ---- The command line ---- */

/* The lab that the current folder is named after, else the first one there is. */
static const struct lab *default_lab(void)
{
    AUTO_FREE char *here = getcwd(NULL, 0);
    const char *slash = here != NULL ? strrchr(here, '/') : NULL;
    const struct lab *lab = slash != NULL ? lab_find(slash + 1) : NULL;
    return lab != NULL ? lab : lab_registry[0];
}

/* Another item's edit is what mends this mark. */
static bool is_deferred(const struct climb *climb, const struct hint_item *item, const char *mark)
{
    for (size_t i = 0; item != NULL && i < item->deferral_count; ++i)
        if (strcmp(item->deferrals[i].mark, mark) == 0 && hold(climb, &item->deferrals[i].facts))
            return true;
    return false;
}

/* The item of the first mark that was lost, or of the first that is not deferred. */
static const struct hint_item *first_item(const struct climb *climb, size_t first_lost)
{
    const struct lab *lab = climb->lab;
    for (size_t i = first_lost; i < lab->criterion_count && i < MEMORY_MARKS_MAX; ++i) {
        const char *mark = lab->criteria[i].id;
        const struct hint_item *item = hints_find(&climb->hints, mark);
        if (climb->memory.has_mark[i] && climb->memory.marks[i] == MARK_FAILED &&
            !is_deferred(climb, item, mark))
            return item;
    }
    return hints_find(&climb->hints, lab->criteria[first_lost].id);
}

/* The item to go on with; NULL with a sentence when there is none. */
static const struct hint_item *next_item(const struct climb *climb)
{
    size_t lost = memory_first_lost(&climb->memory);
    if (!climb->memory.graded)
        (void)printf(
            "Nothing was graded yet, so nothing is missing: `spillway grade` comes first.\n"
            "Or name one of the items that `spillway hint %s` lists.\n",
            climb->lab->id);
    else if (lost == SIZE_MAX && climb->memory.pending > 0)
        (void)printf("Your last grading lost nothing; %d points are pending until another\n"
                     "machine has judged them.\n",
                     climb->memory.pending);
    else if (lost == SIZE_MAX)
        (void)printf("All %d points: there is nothing left to hint at.\n",
                     lab_max_score(climb->lab));
    else
        return first_item(climb, lost);
    return NULL;
}

static int run(struct climb *climb, const char *item_id, bool want_reveal, bool want_reset)
{
    const struct hint_item *item = NULL;
    memory_load(&climb->memory, climb->lab);
    if (item_id != NULL && strcmp(item_id, "next") == 0) {
        item = next_item(climb);
        if (item == NULL)
            return EXIT_STATUS_DONE;
    } else if (item_id != NULL) {
        item = hints_find(&climb->hints, item_id);
        if (item == NULL)
            return refuse("%s has no item \"%s\"; `spillway hint %s` lists them", climb->lab->id,
                          item_id, climb->lab->id);
    }
    if (want_reveal)
        return reveal(climb, item);
    load_progress(climb);
    if (want_reset)
        reset(climb, item);
    else if (item == NULL)
        show_list(climb);
    else
        show_next(climb, item);
    return EXIT_STATUS_DONE;
}

int cmd_hint(int argc, char **argv)
{
    enum { REVEAL = OPTIONS_HELP + 1, RESET };
    static const struct option options[] = {
        {"reveal", no_argument, NULL, REVEAL},
        {"reset", no_argument, NULL, RESET},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
    };
    bool want_reveal = false, want_reset = false;
    struct error err = {0};
    optind = 0;
    for (int option; (option = options_next(argc, argv, options, "hint", &err)) != OPTIONS_END;) {
        if (option == OPTIONS_WRONG)
            return error_report(&err);
        if (option == OPTIONS_HELP) {
            (void)fputs(usage_text, stdout);
            return EXIT_STATUS_DONE;
        }
        want_reveal = want_reveal || option == REVEAL;
        want_reset = want_reset || option == RESET;
    }
    if (argc - optind > 2 || (want_reveal && want_reset))
        return refuse("hint takes a lab and an item, and one of --reveal and --reset");
    struct climb climb = {.lab = default_lab()};
    if (optind < argc && lab_find(argv[optind]) != NULL)
        climb.lab = lab_find(argv[optind++]);
    else if (argc - optind == 2)
        return refuse("there is no lab \"%s\"; `spillway labs` lists them", argv[optind]);
    if (hints_load(&climb.hints, climb.lab->id, &err) != 0)
        return error_report(&err);
    int status = run(&climb, optind < argc ? argv[optind] : NULL, want_reveal, want_reset);
    hints_release(&climb.hints);
    free(climb.path);
    return status;
}
