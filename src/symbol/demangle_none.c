/* demangle_none.c - stands in for demangle.c where libiberty is missing: names stay as they are. */
#include "base/error.h"
#include "symbol/symbol.h"

size_t rf_symbols_demangle(const char *mangled, char *text, size_t size)
{
    return rf_format(text, size, "%s", mangled);
}

size_t rf_symbols_full_name(const char *mangled, char *text, size_t size)
{
    return rf_format(text, size, "%s", mangled);
}

void rf_symbol_split(const char *mangled, char name[RF_WIRE_TEXT_MAX],
                     char parameters[RF_WIRE_TEXT_MAX])
{
    rf_format(name, RF_WIRE_TEXT_MAX, "%s", mangled);
    parameters[0] = '\0';
}
