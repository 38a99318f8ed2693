/* demangle.c - C++ and Rust names as people write them, by libiberty.
 *
 *     _ZNK3geo5Shape4areaEi  ->  name geo::Shape::area, parameters (int) const
 *
 * Reports write the name alone: a report needs the width for other columns, and file and line tell overloads apart.
 * Whoever writes parameters means one overload. */
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "base/error.h"
#include "base/name_match.h"
#include "symbol/symbol.h"

/* NULL: it is not mangled. To be freed. */
static char *demangle(const char *mangled, int options)
{
    if (mangled[0] != '_' || strlen(mangled) >= RF_WIRE_TEXT_MAX)
        return NULL;
    return cplus_demangle(mangled, DMGL_AUTO | DMGL_ANSI | options);
}

static size_t print(const char *mangled, int options, char *text, size_t size)
{
    char *readable = demangle(mangled, options);
    size_t n = rf_format(text, size, "%s", readable != NULL ? readable : mangled);
    free(readable);
    return n;
}

size_t rf_symbols_demangle(const char *mangled, char *text, size_t size)
{
    return print(mangled, DMGL_NO_OPTS, text, size);
}

size_t rf_symbols_full_name(const char *mangled, char *text, size_t size)
{
    return print(mangled, DMGL_PARAMS | DMGL_RET_DROP, text, size);
}

void rf_symbol_split(const char *mangled, char name[RF_WIRE_TEXT_MAX],
                     char parameters[RF_WIRE_TEXT_MAX])
{
    char *readable = demangle(mangled, DMGL_PARAMS | DMGL_RET_DROP);
    size_t n = rf_symbols_demangle(mangled, name, RF_WIRE_TEXT_MAX);
    parameters[0] = '\0';
    if (readable != NULL && strncmp(readable, name, n) == 0) {
        const struct rf_name_piece full = rf_name_unmarked(rf_name_piece(readable));
        if (full.end > full.at + n)
            rf_format(parameters, RF_WIRE_TEXT_MAX, "%.*s",
                      (int)(full.end - full.at - (ptrdiff_t)n), full.at + n);
    }
    free(readable);
}
