/* names.c - what the words of a row are called: functions, lines, objects.
 *
 *     rank.c:44 spread                    where debug information tells the line
 *     rank.c:54 make_lists in main        code that was inlined: its own line, and where it went
 *     libc.so.6 free+0x1c                 where there are symbols only
 *     gzip+0x1234, [vdso]+0x10, 0x1234    where there are none
 *
 * Names come from files that may hold anything; the forms make them fit for a terminal. */
#include "view/view.h"
#include "base/error.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rf_view_lookup(const struct rf_view_work *work, uint64_t address, struct rf_place_name *name)
{
    rf_symbols_lookup(work->setup->symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                      name);
}

rf_status rf_view_prepare(const struct rf_view_work *work, const uint64_t *words, size_t n)
{
    return work->setup->symbols != NULL ? rf_symbols_prepare(work->setup->symbols, words, n)
                                        : RF_OK;
}

struct rf_frame rf_view_innermost(const struct rf_place_name *name)
{
    if (name->n_inlined > 0 && name->inlined[0].line != 0)
        return name->inlined[0];
    return rf_place_frame(name);
}

static void add_function(struct rf_text_out *text, const struct rf_view_work *work,
                         const char *function)
{
    char name[RF_VIEW_TEXT_MAX];
    snprintf(name, sizeof name, "%s", function);
    if (!work->setup->full_names && work->kept != RF_VIEW_WHOLE)
        rf_view_shorten_to(name, work->kept);
    rf_text_add(text, "%s", name);
}

static void add_line(struct rf_text_out *text, const struct rf_view_work *work,
                     const struct rf_place_name *name)
{
    const struct rf_frame frame = rf_view_innermost(name);
    rf_text_add(text, "%s:%" PRIu32 " ", rf_text_last_part(frame.file), frame.line);
    add_function(text, work, frame.function);
    if (frame.function != name->function && name->function[0] != '\0') {
        rf_text_add(text, " in ");
        add_function(text, work, name->function);
    }
}

static void add_symbol(struct rf_text_out *text, const struct rf_view_work *work,
                       const struct rf_place_name *name)
{
    rf_text_add(text, "%s ", name->module);
    add_function(text, work, name->function);
    if (name->offset != 0)
        rf_text_add(text, "+0x%" PRIx64, name->offset);
}

/* Without a function: "gzip+0x1234", or the address alone. */
static void add_address(struct rf_text_out *text, const struct rf_place_name *name,
                        uint64_t address)
{
    if (name->module[0] != '\0')
        rf_text_add(text, "%s+0x%" PRIx64, name->module, name->offset);
    else
        rf_text_add(text, "0x%" PRIx64, rf_view_address(address));
}

/* What is known of an address, and an empty text that tells it. */
static struct rf_text_out begin_text(const struct rf_view_work *work, uint64_t address,
                                     struct rf_place_name *name, char *text, size_t size)
{
    text[0] = '\0';
    rf_view_lookup(work, address, name);
    return (struct rf_text_out){text, size, 0};
}

void rf_view_print_place(const struct rf_view_work *work, uint64_t address, char *place,
                         size_t size)
{
    struct rf_place_name name;
    struct rf_text_out text = begin_text(work, address, &name, place, size);
    if (rf_view_innermost(&name).line != 0)
        add_line(&text, work, &name);
    else if (name.function[0] != '\0')
        add_symbol(&text, work, &name);
    else
        add_address(&text, &name, address);
    if (name.other[0] != '\0')
        rf_text_add(&text, ", or in %s", name.other);
}

void rf_view_print_stretch(const struct rf_view_work *work, uint64_t first, uint64_t last,
                           char *stretch, size_t size)
{
    struct rf_place_name name;
    rf_view_print_place(work, first, stretch, size);
    rf_view_lookup(work, last, &name);
    if (first == last || rf_view_innermost(&name).line != 0 || name.other[0] != '\0')
        return;
    struct rf_text_out text = {stretch, size, strlen(stretch)};
    bool known = name.module[0] != '\0', is_start = known && name.offset == last - first;
    rf_text_add(&text, "%s..0x%" PRIx64, is_start ? "+0x0" : "",
                known ? name.offset : rf_view_address(last));
}

void rf_view_print_line(const struct rf_view_work *work, uint64_t address, char *line, size_t size)
{
    struct rf_place_name name;
    struct rf_text_out text = begin_text(work, address, &name, line, size);
    const struct rf_frame frame = rf_view_innermost(&name);
    if (frame.line != 0) {
        rf_text_add(&text, "%s:%" PRIu32, rf_text_last_part(frame.file), frame.line);
    } else {
        rf_text_add(&text, "%s ", name.module[0] != '\0' ? name.module : "nowhere");
        add_function(&text, work, name.function);
    }
}

void rf_view_print_inner(const struct rf_view_work *work, uint64_t address, char *inner,
                         size_t size)
{
    struct rf_place_name name;
    struct rf_text_out text = begin_text(work, address, &name, inner, size);
    rf_text_add(&text, "(");
    add_function(&text, work, rf_view_innermost(&name).function);
    rf_text_add(&text, ")");
}

void rf_view_print_function(const struct rf_view_work *work, uint64_t address, char *function,
                            size_t size)
{
    struct rf_place_name name;
    struct rf_text_out text = begin_text(work, address, &name, function, size);
    if (name.function[0] == '\0') {
        add_address(&text, &name, address);
        return;
    }
    add_function(&text, work, name.function);
    if (work->kept == RF_VIEW_WHOLE)
        rf_text_add(&text, "%s", name.parameters);
}

void rf_view_print_region(const struct rf_view_work *work, uint64_t address, char *region,
                          size_t size)
{
    struct rf_place_name name;
    struct rf_text_out text = begin_text(work, address, &name, region, size);
    if (name.function[0] != '\0') {
        add_function(&text, work, name.function);
        rf_text_add(&text, " (%s of %s)", name.section, name.module);
    } else if (name.section[0] != '\0') {
        rf_text_add(&text, "%s of %s", name.section, name.module);
    } else {
        add_function(&text, work, name.module[0] != '\0' ? name.module : "elsewhere");
    }
}
