/* demangle.c - C++ and Rust names as people write them, by libiberty.
 *
 * Without parameter lists: `Shape::area`, not `Shape::area() const`. File and line tell overloads apart, and
 * a report needs the width for other columns. */
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "base/error.h"
#include "symbol/symbol.h"

size_t rf_symbols_demangle(const char *mangled, char *text, size_t size)
{
    char *readable = NULL;
    if (mangled[0] == '_' && strlen(mangled) < RF_WIRE_TEXT_MAX)
        readable = cplus_demangle(mangled, DMGL_AUTO | DMGL_ANSI);
    size_t n = rf_format(text, size, "%s", readable != NULL ? readable : mangled);
    free(readable);
    return n;
}
