/* starts.c - where the functions of a program begin.
 *
 * A line that was added at the top of a file moves all lines below it, and a diff by line number would find them all changed.
 * So a line is matched by its distance from the beginning of its function. It is found again as long as nothing changes
 * between the two. In a file where no function has moved, lines are matched by their numbers: builds differ in which
 * functions have code of their own, so the function that begins above a line may be another one. */
#include "view/starts.h"
#include "view/code.h"
#include "base/alloc.h"
#include "base/text.h"
#include "base/order.h"
#include <stdlib.h>

static int by_place(const void *left, const void *right)
{
    const struct rf_start *l = left, *r = right;
    int order = l->file != r->file ? strcmp(l->file, r->file) : 0;
    return order != 0 ? order : (l->line > r->line) - (l->line < r->line);
}

/* Put the list in order and drop repeats. */
static void settle(struct rf_starts *starts)
{
    if (starts->n > 0)
        qsort(starts->at, starts->n, sizeof *starts->at, by_place);
    starts->n = rf_unique(starts->at, starts->n, sizeof *starts->at, by_place);
}

/* Most starts come many times, so repeats are dropped before the list grows. */
static bool make_room(struct rf_starts *starts)
{
    if (starts->n < starts->room)
        return true;
    settle(starts);
    size_t more = starts->room == 0 ? 1024 : 2 * starts->room;
    void *at = starts->at;
    if (2 * starts->n < starts->room)
        return true;
    if (!rf_alloc_array(starts->alloc, &at, starts->room, more, sizeof *starts->at))
        return false;
    starts->at = at;
    starts->room = more;
    return true;
}

static bool add(struct rf_starts *starts, const struct rf_frame *frame)
{
    if (frame->start == 0 || frame->file[0] == '\0' || frame->function[0] == '\0')
        return true;
    if (!make_room(starts))
        return false;
    starts->at[starts->n++] =
        (struct rf_start){rf_text_last_part(frame->file), frame->function, frame->start, false};
    return true;
}

static bool add_instruction(void *starts, const struct rf_item *item,
                            const struct rf_place_name *name)
{
    (void)item;
    const struct rf_frame own = rf_place_frame(name);
    bool good = add(starts, &own);
    for (size_t i = 0; i < name->n_inlined && good; i++)
        good = add(starts, &name->inlined[i]);
    return good;
}

rf_status rf_starts_open(struct rf_starts *starts, const struct rf_diff_side *side,
                         const struct rf_alloc *alloc)
{
    *starts = (struct rf_starts){.alloc = alloc};
    rf_status status = rf_code_visit(side, add_instruction, starts);
    settle(starts);
    return status;
}

/* The number of starts before a line of a file; lines are counted from 1. */
static size_t count_before(const struct rf_starts *starts, const char *file, uint32_t line)
{
    const struct rf_start wanted = {.file = file, .line = line};
    return rf_first_not_below(starts->at, starts->n, sizeof wanted, &wanted, by_place);
}

/* The index behind the last start of the file that has the i-th. */
static size_t end_of(const struct rf_starts *starts, size_t i)
{
    const char *file = starts->at[i].file;
    while (i < starts->n && strcmp(starts->at[i].file, file) == 0)
        i++;
    return i;
}

/* Do the others have the function, but not in the same line? */
static bool has_moved(const struct rf_start *start, const struct rf_start *others, size_t n)
{
    bool known = false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(others[i].function, start->function) == 0) {
            if (others[i].line == start->line)
                return false;
            known = true;
        }
    return known;
}

static void mark(struct rf_starts *starts, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        starts->at[i].moved = true;
}

void rf_starts_compare(struct rf_starts *before, struct rf_starts *after)
{
    for (size_t i = 0, end; i < before->n; i = end) {
        size_t other = count_before(after, before->at[i].file, 0);
        end = end_of(before, i);
        if (other == after->n || strcmp(after->at[other].file, before->at[i].file) != 0)
            continue;
        size_t other_end = end_of(after, other);
        bool moved = false;
        for (size_t k = i; k < end && !moved; k++)
            moved = has_moved(&before->at[k], &after->at[other], other_end - other);
        if (moved) {
            mark(before, i, end);
            mark(after, other, other_end);
        }
    }
}

const struct rf_start *rf_starts_find(const struct rf_starts *starts, const char *file,
                                      uint32_t line)
{
    size_t n = count_before(starts, file, line + 1); /* with those in the line itself */
    return n > 0 && strcmp(starts->at[n - 1].file, file) == 0 ? &starts->at[n - 1] : NULL;
}
