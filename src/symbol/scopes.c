/* scopes.c - which function an address is in, and which functions were inlined there. In the child.
 *
 *     unit -> namespaces, types -> functions with code          listed once per unit, by address
 *     function -> blocks, inlined functions -> ... -> address   walked for each address
 *
 * dwarf_getscopes of libdw would do, but it does not look for functions inside namespaces and types.
 * Rust and clang put them there. */
#include <dwarf.h>
#include <stdlib.h>
#include "base/order.h"
#include "symbol/reader.h"

enum { NESTING_MAX = 64 };

static void add_ranges(struct rf_functions *functions, Dwarf_Die *die)
{
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
        const struct rf_function function = {lo, hi, *die};
        if (lo < hi && !rf_list_add(&rf_alloc_standard, functions, function))
            return;
    }
}

bool rf_scope_holds_functions(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return true;
    default:
        return false;
    }
}

/* Functions below `die`; a file that nests deeper than any compiler does is damaged. */
static void list_functions(struct rf_functions *functions, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    if (depth == NESTING_MAX || dwarf_child(die, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_entry_point)
            add_ranges(functions, &child);
        else if (rf_scope_holds_functions(tag))
            list_functions(functions, &child, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static int by_lo(const void *left, const void *right)
{
    const struct rf_function *l = left, *r = right;
    return rf_order(l->lo, r->lo);
}

static void read_unit(struct rf_functions *functions, Dwarf_Die *unit)
{
    functions->unit = unit->addr;
    functions->n = 0;
    list_functions(functions, unit, 0);
    if (functions->n > 0)
        qsort(functions->at, functions->n, sizeof *functions->at, by_lo);
}

static bool begins_up_to(const void *list, size_t i, uint64_t key)
{
    return ((const struct rf_function *)list)[i].lo <= key;
}

static const struct rf_function *find_function(const struct rf_functions *functions,
                                               Dwarf_Addr address)
{
    size_t lo = rf_search(functions->at, functions->n, address, begins_up_to);
    return lo > 0 && address < functions->at[lo - 1].hi ? &functions->at[lo - 1] : NULL;
}

bool rf_scope_is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* The block of `die` that holds the address. */
static bool step_in(Dwarf_Die *die, Dwarf_Addr address, Dwarf_Die *inner)
{
    if (dwarf_child(die, inner) != 0)
        return false;
    do
        if (rf_scope_is_block(dwarf_tag(inner)) && dwarf_haspc(inner, address) == 1)
            return true;
    while (dwarf_siblingof(inner, inner) == 0);
    return false;
}

size_t rf_scopes_find(struct rf_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                      Dwarf_Die scopes[RF_SCOPES_MAX])
{
    Dwarf_Die inner;
    size_t n = 0;
    if (functions->unit != unit->addr)
        read_unit(functions, unit);
    const struct rf_function *function = find_function(functions, address);
    if (function == NULL)
        return 0;
    scopes[n++] = function->die;
    Dwarf_Die at = function->die;
    for (unsigned depth = 0; depth < 8 * NESTING_MAX && step_in(&at, address, &inner); depth++) {
        at = inner;
        if (dwarf_tag(&at) != DW_TAG_inlined_subroutine)
            continue;
        if (n == RF_SCOPES_MAX) /* the innermost one is replaced by the next inner one */
            n--;
        scopes[n++] = at;
    }
    return n;
}
