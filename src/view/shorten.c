/* shorten.c - C++ and Rust names without what hardly ever tells two of them apart.
 *
 *     std::vector<int, std::allocator<int> >::push_back      std::vector<..>::push_back
 *     std::__cxx11::basic_string<...>::append                std::basic_string<..>::append
 *     core::fmt::write::h0123456789abcdef                    core::fmt::write
 *     <alloc::vec::Vec<T> as core::clone::Clone>::clone      <alloc::vec::Vec<..> as core::clone::Clone>::clone
 *
 * The arguments of templates go, except in operators' names and where they open a Rust name, where one level
 * of them is kept. Whoever shows several names looks whether two became alike. */
#include "view/view.h"
#include "base/name_match.h"
#include <string.h>

/* Inline namespaces that a library adds for its own purposes. */
static void drop(char *name, const char *part)
{
    const size_t n = strlen(part);
    for (char *at = name; (at = strstr(at, part)) != NULL;)
        memmove(at, at + n, strlen(at + n) + 1);
}

/* "::h" and sixteen digits of a hash at the end. */
static void drop_hash(char *name)
{
    const size_t n = strlen(name), hash = 19;
    if (n > hash && memcmp(name + n - hash, "::h", 3) == 0 &&
        strspn(name + n - hash + 3, "0123456789abcdef") == hash - 3)
        name[n - hash] = '\0';
}

/* Arguments deeper than `kept` levels become "..". */
static void drop_arguments(char *name, int kept)
{
    const struct rf_name_piece piece = {name, name + strlen(name)};
    int depth = 0;
    char *out = name;
    for (const char *p = name; *p != '\0'; p++) {
        int change = rf_name_depth(piece, p);
        depth += change;
        if (change < 0 && depth == kept) {
            memcpy(out, "..>", 3);
            out += 3;
        } else if (depth <= kept || (change > 0 && depth == kept + 1)) {
            *out++ = *p;
        }
        if (depth < 0)
            return; /* no template: leave the rest as it is */
    }
    *out = '\0';
}

/* Are the brackets closed again, and long enough to be worth it? */
static bool has_arguments(const char *name)
{
    const struct rf_name_piece piece = {name, name + strlen(name)};
    int depth = 0, deepest = 0;
    for (const char *p = name; *p != '\0'; p++) {
        depth += rf_name_depth(piece, p);
        deepest = depth > deepest ? depth : deepest;
        if (depth < 0)
            return false;
    }
    return depth == 0 && deepest > 0;
}

void rf_view_shorten(char *name)
{
    static const char *const inner[] = {"__cxx11::", "__gnu_cxx::", "__detail::"};
    enum { SHORT = 16 }; /* arguments of names this long stay */
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        drop(name, inner[i]);
    drop_hash(name);
    if (strlen(name) > SHORT && has_arguments(name))
        drop_arguments(name, name[0] == '<' ? 1 : 0);
}
