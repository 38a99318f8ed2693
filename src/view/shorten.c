/* shorten.c - C++ and Rust names without what hardly ever tells two of them apart.
 *
 *     std::vector<int, std::allocator<int> >::push_back      std::vector<..>::push_back
 *     std::__cxx11::basic_string<...>::append                std::basic_string<..>::append
 *     std::operator< <char, std::char_traits<char> >         std::operator< <..>
 *     core::fmt::write::h0123456789abcdef                    core::fmt::write
 *     <alloc::vec::Vec<T> as core::clone::Clone>::clone      <alloc::vec::Vec<..> as core::clone::Clone>::clone
 *     <core::hash::sip::Hasher<S> as core::hash::Hasher>::write
 *                                                            <core::hash::sip::Hasher<..> as core::hash::Hasher>::write
 *
 * Arguments stand in angle brackets behind a name. Brackets that begin a name, as Rust's <T as Trait> and <impl T>,
 * are part of it: they stay, and inside them the rule is the same. Signs of operators, arrows and C++'s
 * {lambda(int)#1} are no brackets. A name whose brackets do not close in order is left as it is.
 *
 * Never longer than before; shortening twice changes nothing more. Where rows became alike, arguments that
 * tell them apart stay (cells.c). */
#include "view/view.h"
#include <string.h>

enum { DEEPEST = 64 };

/* Inline namespaces that a library adds for its own purposes. */
static void drop(char *name, const char *part)
{
    const size_t n = strlen(part);
    for (char *at = name; (at = strstr(at, part)) != NULL;) {
        bool begins = at == name || strchr(":<(, &*", at[-1]) != NULL;
        if (begins)
            memmove(at, at + n, strlen(at + n) + 1);
        else
            at += n;
    }
}

/* "::h" and sixteen digits of a hash at the end. */
static void drop_hash(char *name)
{
    const size_t n = strlen(name), hash = 19;
    if (n > hash && memcmp(name + n - hash, "::h", 3) == 0 &&
        strspn(name + n - hash + 3, "0123456789abcdef") == hash - 3)
        name[n - hash] = '\0';
}

/* ".llvm." and a number at the end: the compiler made a private name public. */
static void drop_llvm(char *name)
{
    static const char mark[] = ".llvm.";
    char *at = strstr(name, mark);
    size_t n = at != NULL ? strspn(at + sizeof mark - 1, "0123456789") : 0;
    if (n > 0 && at != name && at[sizeof mark - 1 + n] == '\0')
        *at = '\0';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* How many characters an operator's sign takes: "operator<<" 2, "operator-> " 2; 0: there is none at `p`. */
static size_t sign_at(const char *name, const char *p)
{
    static const char *const signs[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">", NULL};
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    if ((size_t)(p - name) < n || memcmp(p - n, word, n) != 0)
        return 0;
    if ((size_t)(p - name) > n && is_letter(p[-(ptrdiff_t)n - 1]))
        return 0;
    for (size_t i = 0; signs[i] != NULL; i++)
        if (strncmp(p, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

/* Brackets that begin a name: at the start, behind "::", "(", "&", ...; arguments follow a name, or Rust's "::". */
static bool begins_name(const char *name, const char *p)
{
    static const char before[] = " <(,&*[{";
    if (p == name)
        return true;
    if (strncmp(p, "<impl ", 6) == 0 || strncmp(p, "<dyn ", 5) == 0)
        return true;
    bool behind_sign = false; /* "operator< <char>" */
    for (size_t n = 1; n <= 3 && p[-1] == ' ' && (size_t)(p - name) > n; n++)
        behind_sign |= sign_at(name, p - 1 - n) == n;
    return strchr(before, p[-1]) != NULL && !behind_sign;
}

/* The bracket that closes the one at `p`; NULL: none does. */
static const char *find_close(const char *name, const char *p)
{
    char open[DEEPEST];
    size_t depth = 0;
    for (; *p != '\0'; p++) {
        size_t sign = sign_at(name, p);
        if (sign > 0)
            p += sign - 1;
        else if (*p == '<' || *p == '(' || *p == '[' || *p == '{') {
            if (depth == DEEPEST)
                return NULL;
            open[depth++] = *p == '(' ? ')' : (char)(*p + 2);
        } else if (*p == '>' && p > name && (p[-1] == '-' || p[-1] == '='))
            continue; /* an arrow */
        else if (*p == '>' || *p == ')' || *p == ']' || *p == '}') {
            if (depth == 0 || open[--depth] != *p)
                return NULL;
            if (depth == 0)
                return p;
        }
    }
    return NULL;
}

/* Do all brackets close in order? */
static bool is_balanced(const char *name)
{
    for (const char *p = name; *p != '\0'; p++) {
        size_t sign = sign_at(name, p);
        if (sign > 0)
            p += sign - 1;
        else if (strchr("<([{", *p) != NULL) {
            p = find_close(name, p);
            if (p == NULL)
                return false;
        } else if (strchr(">)]}", *p) != NULL && !(p > name && (p[-1] == '-' || p[-1] == '=')))
            return false;
    }
    return true;
}

/* Arguments in more than `kept` brackets become "..", where that is shorter. Returns where the text ends. */
static char *drop_arguments(char *to, const char *original, const char *p, const char *end,
                            unsigned kept)
{
    for (; p < end; p++) {
        size_t sign = sign_at(original, p);
        const char *close =
            *p == '<' && sign == 0 && !begins_name(original, p) ? find_close(original, p) : NULL;
        if (sign > 0) {
            memcpy(to, p, sign);
            to += sign;
            p += sign - 1;
        } else if (close != NULL && kept > 0) {
            *to++ = '<';
            to = drop_arguments(to, original, p + 1, close, kept - 1);
            *to++ = '>';
            p = close;
        } else if (close != NULL && close - p > 3) {
            memcpy(to, "<..>", 4);
            to += 4;
            p = close;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
    return to;
}

/* Until nothing is left to drop: what goes may join what was apart. */
static size_t drop_parts(char *name)
{
    static const char *const inner[] = {"__cxx11::", "__gnu_cxx::", "__detail::", "__cxxabiv1::"};
    size_t before, n = strlen(name);
    do {
        before = n;
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            drop(name, inner[i]);
        drop_hash(name);
        drop_llvm(name);
        n = strlen(name);
    } while (n < before);
    return n;
}

void rf_view_shorten(char *name)
{
    rf_view_shorten_to(name, 0);
}

void rf_view_shorten_to(char *name, unsigned kept)
{
    enum { SHORT = 16 }; /* arguments of names this long stay */
    char original[RF_VIEW_TEXT_MAX];
    const size_t n = drop_parts(name);
    if (n <= SHORT || n >= sizeof original || strchr(name, '<') == NULL || !is_balanced(name))
        return;
    memcpy(original, name, n + 1);
    drop_arguments(name, original, original, original + n, kept);
}
