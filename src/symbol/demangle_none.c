/* demangle_none.c - stands in for demangle.c where libiberty is missing: names stay as they are. */
#include "base/error.h"
#include "symbol/symbol.h"

size_t rf_symbols_demangle(const char *mangled, char *text, size_t size)
{
    return rf_format(text, size, "%s", mangled);
}
