/* inlined.c - where functions of a name were inlined, by DWARF. Runs in the child.
 *
 *     unit -> namespaces, types -> functions -> blocks -> inlined function: its name, and where its copy begins
 *
 * Symbols tell nothing of these copies. A copy may lie in several pieces; the piece with its first instruction is
 * told. */
#include <dwarf.h>
#include "base/name_match.h"
#include "symbol/reader.h"

enum { NESTING_MAX = 512 }; /* a file that nests deeper than any compiler does is damaged */

struct search {
    struct rf_reader *reader;
    const char
        *last; /* the last part of the name; NULL: it is a pattern, whose parts are not compared */
    Dwarf_Addr bias;
    char name[RF_WIRE_TEXT_MAX], linkage[RF_WIRE_TEXT_MAX], parameters[RF_WIRE_TEXT_MAX];
};

/* Most functions have another last name, and that is known without demangling. */
static bool fits(struct search *search, Dwarf_Die *die)
{
    const char *plain = dwarf_diename(die);
    if (plain == NULL ||
        (search->last != NULL && rf_name_match(search->last, plain) == RF_NAME_DIFFERS))
        return false;
    rf_reader_name(die, search->name, search->linkage, search->parameters);
    return rf_name_match_apart(search->reader->job->inlined, search->name, search->parameters) !=
           RF_NAME_DIFFERS;
}

/* The piece of code that holds the first instruction; without one the lowest piece. */
static bool find_piece(Dwarf_Die *die, struct rf_symbol *copy)
{
    Dwarf_Addr entry, base, lo, hi;
    bool has_entry = dwarf_entrypc(die, &entry) == 0, found = false;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
        if (lo >= hi)
            continue;
        bool first = has_entry && entry >= lo && entry < hi;
        if (first || !found || lo < copy->lo) {
            copy->lo = first ? entry : lo;
            copy->hi = hi;
            found = true;
        }
        if (first)
            break;
    }
    return found;
}

static void send_copy(struct search *search, Dwarf_Die *die)
{
    struct rf_symbol copy = {.kind = RF_SYMBOL_INLINED};
    if (!fits(search, die) || !find_piece(die, &copy))
        return;
    copy.lo += search->bias;
    copy.hi += search->bias;
    copy.name = search->name;
    copy.parameters = search->parameters;
    if (copy.lo < copy.hi)
        rf_wire_symbol(search->reader->wire, &copy);
}

static bool holds_code(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_subprogram || rf_scope_holds_functions(tag) || rf_scope_is_block(tag);
}

static void walk(struct search *search, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    if (depth == NESTING_MAX || dwarf_child(die, &child) != 0)
        return;
    do {
        if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
            send_copy(search, &child);
        if (holds_code(&child))
            walk(search, &child, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static const char *last_part(const char *name)
{
    const struct rf_name_piece plain = rf_name_plain(rf_name_piece(name));
    return rf_name_is_pattern(plain) ? NULL : rf_name_behind(plain, ':');
}

void rf_reader_inlined(struct rf_reader *reader)
{
    static struct search search; /* the child's own; too large for a small stack */
    if (reader->job->inlined == NULL)
        return;
    search = (struct search){.reader = reader, .last = last_part(reader->job->inlined)};
    for (Dwarf_Die *unit = NULL;
         (unit = dwfl_module_nextcu(reader->module, unit, &search.bias)) != NULL;)
        walk(&search, unit, 0);
}
