/* name_match.h - does a name that a person wrote mean this function?
 *
 *     written                       means
 *     geo::Shape::area              that function, with any parameters
 *     geo::Shape::area(int) const   that overload alone, where the symbol tells parameters
 *     over(const char*, unsigned)   over(char const*, unsigned int): words of a type in any order, int left out
 *     find_match                    also find_match.constprop.0, which the compiler made of it
 *     find_match.cold               also find_match.constprop.0.cold
 *     memcmp                        also __memcmp_avx2_movbe, which libc takes on this processor
 *     geo::most                     also geo::most<long>
 *     area                          also geo::Shape::area
 *     ::area                        area alone
 *     geo::*, *match*               all that fit; * stands for any text, ? for one character
 *     *(int)                        of these, functions that have such parameters; those of C have none to compare
 *     over(int*), most<int*>        pointers: inside brackets, a * behind a type stands for itself
 *     geo::operator*                that operator; geo::operator?* fits all of them
 *
 * Spaces do not matter. One matcher serves --annotate, the names in selectors and, inside the probe,
 * --function. Hence a header that needs no library, and plain C99. */
#ifndef RF_BASE_NAME_MATCH_H
#define RF_BASE_NAME_MATCH_H

#include <stddef.h>

/* How well it fits: the greater, the better. A pattern with * or ? fits wholly or not at all. */
enum rf_name_fit {
    RF_NAME_DIFFERS,
    RF_NAME_LAST_PART, /* of a qualified name */
    RF_NAME_TEMPLATE,  /* but for its arguments, or for [abi:cxx11] */
    RF_NAME_CLONE,     /* but for what the compiler or libc added to tell copies apart */
    RF_NAME_WHOLE,
};

struct rf_name_piece {
    const char *at, *end;
};

static inline struct rf_name_piece rf_name_piece(const char *text)
{
    struct rf_name_piece piece = {text, text};
    while (*piece.end != '\0')
        piece.end++;
    return piece;
}

static inline int rf_name_begins(const char *at, const char *end, const char *word)
{
    for (; *word != '\0'; at++, word++)
        if (at >= end || *at != *word)
            return 0;
    return 1;
}

static inline const char *rf_name_skip_spaces(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

static inline int rf_name_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Does the keyword stand at `at`? The names operators and binary_operator only contain it. */
static inline int rf_name_is_keyword(struct rf_name_piece name, const char *at)
{
    static const char word[] = "operator";
    const char *behind = at + sizeof word - 1;
    return rf_name_begins(at, name.end, word) && (at == name.at || !rf_name_is_letter(at[-1])) &&
           (behind == name.end || !rf_name_is_letter(*behind));
}

/* Does the * at `at` stand for itself: a pointer, operator* or operator->*? */
static inline int rf_name_is_own_star(struct rf_name_piece pattern, const char *at)
{
    int open = 0;
    if (at == pattern.at || (!rf_name_is_letter(at[-1]) && at[-1] != '>' && at[-1] != '*'))
        return 0;
    if ((at - pattern.at >= 8 && rf_name_is_keyword(pattern, at - 8)) ||
        (at - pattern.at >= 10 && rf_name_is_keyword(pattern, at - 10) && at[-1] == '>'))
        return 1;
    for (const char *p = pattern.at; p < at; p++)
        open += (*p == '(' || *p == '<') - (*p == ')' || (*p == '>' && open > 0));
    return open > 0;
}

/* Does `at` stand for other text? */
static inline int rf_name_is_wild(struct rf_name_piece pattern, const char *at)
{
    return *at == '?' || (*at == '*' && !rf_name_is_own_star(pattern, at));
}

static inline int rf_name_is_pattern(struct rf_name_piece pattern)
{
    for (const char *p = pattern.at; p < pattern.end; p++)
        if (rf_name_is_wild(pattern, p))
            return 1;
    return 0;
}

static inline int rf_name_equal(struct rf_name_piece left, struct rf_name_piece right)
{
    const char *l = rf_name_skip_spaces(left.at, left.end);
    const char *r = rf_name_skip_spaces(right.at, right.end);
    while (l < left.end && r < right.end && *l == *r) {
        l = rf_name_skip_spaces(l + 1, left.end);
        r = rf_name_skip_spaces(r + 1, right.end);
    }
    return l == left.end && r == right.end;
}

/* Match with * and ?. On a mismatch the last * takes one more character. */
static inline int rf_name_fits(struct rf_name_piece pattern, struct rf_name_piece name)
{
    const char *p = pattern.at, *n = name.at, *star = NULL, *from = NULL;
    while (n < name.end) {
        if (p < pattern.end && *p == '*' && rf_name_is_wild(pattern, p)) {
            star = p++;
            from = n;
        } else if (p < pattern.end && (*p == '?' || *p == *n)) {
            p++;
            n++;
        } else if (star != NULL) {
            p = star + 1;
            n = ++from;
        } else {
            return 0;
        }
    }
    while (p < pattern.end && *p == '*' && rf_name_is_wild(pattern, p))
        p++;
    return p == pattern.end;
}

static inline int rf_name_same(struct rf_name_piece pattern, struct rf_name_piece name)
{
    return rf_name_equal(pattern, name) ||
           (rf_name_is_pattern(pattern) && rf_name_fits(pattern, name));
}

/* ---- types ---- */

/* "unsigned int" of "unsigned int const*, long": names and spaces up to the next sign. */
static inline struct rf_name_piece rf_name_words(const char *at, const char *end)
{
    struct rf_name_piece words = {at, at};
    while (words.end < end &&
           (rf_name_is_letter(*words.end) || *words.end == ' ' || *words.end == ':'))
        words.end++;
    return words;
}

/* The first word; empty where there is none. */
static inline struct rf_name_piece rf_name_word(const char *at, const char *end)
{
    struct rf_name_piece word = {rf_name_skip_spaces(at, end), NULL};
    for (word.end = word.at; word.end < end && *word.end != ' ';)
        word.end++;
    return word;
}

static inline int rf_name_count(struct rf_name_piece words, struct rf_name_piece word)
{
    int n = 0;
    for (struct rf_name_piece w = rf_name_word(words.at, words.end); w.at < w.end;
         w = rf_name_word(w.end, words.end))
        n += rf_name_equal(w, word);
    return n;
}

/* Does `int` add nothing, as in "unsigned int"? */
static inline int rf_name_implies_int(struct rf_name_piece words)
{
    return rf_name_count(words, rf_name_piece("unsigned")) > 0 ||
           rf_name_count(words, rf_name_piece("long")) > 0 ||
           rf_name_count(words, rf_name_piece("short")) > 0;
}

/* Has `right` every word of `left`, as often? */
static inline int rf_name_has_words(struct rf_name_piece left, struct rf_name_piece right)
{
    const int implied = rf_name_implies_int(left);
    for (struct rf_name_piece w = rf_name_word(left.at, left.end); w.at < w.end;
         w = rf_name_word(w.end, left.end))
        if (!(implied && rf_name_equal(w, rf_name_piece("int"))) &&
            rf_name_count(left, w) != rf_name_count(right, w))
            return 0;
    return 1;
}

/* "(const char*, unsigned)" and "(char const*, unsigned int)" are the same. */
static inline int rf_name_same_types(struct rf_name_piece left, struct rf_name_piece right)
{
    const char *l = rf_name_skip_spaces(left.at, left.end);
    const char *r = rf_name_skip_spaces(right.at, right.end);
    while (l < left.end && r < right.end) {
        const struct rf_name_piece lw = rf_name_words(l, left.end),
                                   rw = rf_name_words(r, right.end);
        if (lw.at < lw.end ? !rf_name_has_words(lw, rw) || !rf_name_has_words(rw, lw) : *l != *r)
            return 0;
        l = rf_name_skip_spaces(lw.at < lw.end ? lw.end : l + 1, left.end);
        r = rf_name_skip_spaces(lw.at < lw.end ? rw.end : r + 1, right.end);
    }
    return l == left.end && r == right.end;
}

/* ---- parts of a name ---- */

/* Behind the parenthesis that closes the one at `at`; the end, where none does. */
static inline const char *rf_name_close(struct rf_name_piece name, const char *at)
{
    int open = 0;
    for (; at < name.end; at++) {
        open += (*at == '(') - (*at == ')');
        if (open == 0)
            return at + 1;
    }
    return name.end;
}

/* The length of a parenthesis that is not the list of parameters; 0: it is that list. "f(int)::{lambda()#1}" and
 * "X::f() const::y" have the parameters of the function around them. */
static inline size_t rf_name_other_parenthesis(struct rf_name_piece name, const char *at)
{
    static const char nobody[] = "(anonymous namespace)";
    if (rf_name_begins(at, name.end, nobody))
        return sizeof nobody - 1;
    if (rf_name_begins(at, name.end, "()") && at - name.at >= 8 &&
        rf_name_begins(at - 8, name.end, "operator"))
        return 2;
    const char *behind = rf_name_close(name, at);
    if (rf_name_begins(behind, name.end, " const"))
        behind += 6;
    return rf_name_begins(behind, name.end, "::") ? (size_t)(behind - at) : 0;
}

/* Is the angle bracket at `at` part of an operator's name, such as operator<< or operator->? That of operator==<int> is
 * not. */
static inline int rf_name_is_operator(struct rf_name_piece name, const char *at)
{
    static const char *const signs[] = {"operator<",  "operator>",  "operator<<",
                                        "operator>>", "operator->", "operator<=>"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        ptrdiff_t n = 0;
        while (signs[i][n] != '\0')
            n++;
        if (at - name.at >= n - 1 && rf_name_begins(at - (n - 1), name.end, signs[i]))
            return 1;
    }
    return 0;
}

/* Is the angle bracket at `at` an operator inside parentheses, as in enable_if<((2)>(1)), void>? */
static inline int rf_name_is_comparison(struct rf_name_piece name, const char *at)
{
    int open = 0;
    if (at == name.at || at[-1] != ')' || at + 1 == name.end || at[1] != '(')
        return 0;
    for (const char *p = at; p-- > name.at && open >= 0;) {
        open += (*p == ')') - (*p == '(');
        if (open == 0 && (*p == '<' || *p == '>'))
            return 0;
    }
    return open < 0;
}

/* The change of depth at a bracket of template arguments, of {lambda(int)#1} or of [abi:cxx11]. */
static inline int rf_name_depth(struct rf_name_piece name, const char *at)
{
    switch (*at) {
    case '{':
    case '[':
        return 1;
    case '}':
    case ']':
        return -1;
    case '<':
        return !rf_name_is_operator(name, at) && !rf_name_is_comparison(name, at);
    case '>':
        return at > name.at && at[-1] != '-' && !rf_name_is_operator(name, at) &&
                       !rf_name_is_comparison(name, at)
                   ? -1
                   : 0;
    default:
        return 0;
    }
}

/* The name without its parameters and without what follows them. */
static inline struct rf_name_piece rf_name_plain(struct rf_name_piece name)
{
    int depth = 0;
    for (const char *p = name.at; p < name.end; p++) {
        depth += rf_name_depth(name, p);
        if (*p != '(' || depth != 0)
            continue;
        size_t other = rf_name_other_parenthesis(name, p);
        if (other == 0)
            return (struct rf_name_piece){name.at, p};
        p += other - 1;
    }
    return name;
}

/* What follows the last `mark` (":" for "::", or " ") that is not inside template arguments, nor in front of them: Rust
 * writes geo::most::<u64>. */
static inline const char *rf_name_behind(struct rf_name_piece name, char mark)
{
    const char *last = name.at;
    int depth = 0;
    for (const char *p = name.at; p < name.end; p++) {
        depth += rf_name_depth(name, p);
        if (rf_name_is_keyword(name, p))
            break;
        if (*p == '(' && depth == 0)
            p += rf_name_other_parenthesis(name, p);
        if (p < name.end && depth == 0 && *p == mark && !rf_name_begins(p + 1, name.end, ":<") &&
            !rf_name_begins(p + 1, name.end, "<"))
            last = p + 1;
    }
    return last;
}

/* "find_match.constprop.0": the first dot behind a letter begins what the compiler added. */
static inline struct rf_name_piece rf_name_uncloned(struct rf_name_piece name)
{
    int depth = 0;
    for (const char *p = name.at; p < name.end; p++) {
        depth += rf_name_depth(name, p);
        if (*p == '.' && p > name.at && depth == 0)
            return (struct rf_name_piece){name.at, p};
    }
    return name;
}

/* "geo::most(int) [clone .isra.0]" without what Valgrind's demangler makes of ".isra.0". */
static inline struct rf_name_piece rf_name_unmarked(struct rf_name_piece name)
{
    for (const char *p = name.at; p < name.end; p++)
        if (rf_name_begins(p, name.end, " [clone ") && name.end[-1] == ']')
            return (struct rf_name_piece){name.at, p};
    return name;
}

/* "most<long>" and Rust's "most::<u64>" as "most". */
static inline struct rf_name_piece rf_name_untyped(struct rf_name_piece name)
{
    int depth = 0;
    if (name.end == name.at || name.end[-1] != '>' || rf_name_is_operator(name, name.end - 1))
        return name;
    for (const char *p = name.end; p-- > name.at;) {
        depth -= rf_name_depth(name, p);
        if (depth == 0)
            return (struct rf_name_piece){
                name.at, p - name.at > 2 && p[-1] == ':' && p[-2] == ':' ? p - 2 : p};
    }
    return name;
}

/* "str[abi:cxx11]" as "str". */
static inline struct rf_name_piece rf_name_untagged(struct rf_name_piece name)
{
    for (const char *p = name.at; p < name.end; p++)
        if (rf_name_begins(p, name.end, "[abi:") && name.end[-1] == ']')
            return (struct rf_name_piece){name.at, p};
    return name;
}

/* "__memcmp_avx2_movbe" for "memcmp": what libc takes in its place on this processor. */
static inline int rf_name_is_variant(struct rf_name_piece pattern, struct rf_name_piece name)
{
    static const char *const kinds[] = {"sse", "ssse", "avx", "evex", "erms"};
    const char *behind = name.at + 2 + (pattern.end - pattern.at);
    if (!rf_name_begins(name.at, name.end, "__") || behind >= name.end || *behind != '_' ||
        !rf_name_equal(pattern, (struct rf_name_piece){name.at + 2, behind}))
        return 0;
    for (; behind < name.end; behind++)
        for (size_t i = 0; *behind == '_' && i < sizeof kinds / sizeof *kinds; i++)
            if (rf_name_begins(behind + 1, name.end, kinds[i]))
                return 1;
    return 0;
}

static inline struct rf_name_piece rf_name_trimmed(struct rf_name_piece name)
{
    while (name.end > name.at && name.end[-1] == ' ')
        name.end--;
    return name;
}

/* "find_match.cold" for "find_match.constprop.0.cold": a part of a copy. */
static inline int rf_name_is_part(struct rf_name_piece pattern, struct rf_name_piece name)
{
    const struct rf_name_piece of = rf_name_uncloned(pattern), whole = rf_name_uncloned(name);
    const ptrdiff_t n = pattern.end - of.end;
    return n > 0 && name.end - whole.end > n && rf_name_equal(of, whole) &&
           rf_name_equal((struct rf_name_piece){of.end, pattern.end},
                         (struct rf_name_piece){name.end - n, name.end});
}

static inline enum rf_name_fit rf_name_compare(struct rf_name_piece pattern,
                                               struct rf_name_piece plain)
{
    struct rf_name_piece typed = rf_name_uncloned(plain);
    struct rf_name_piece bare = rf_name_untagged(rf_name_untyped(typed));
    if (rf_name_same(pattern, plain))
        return RF_NAME_WHOLE;
    if (rf_name_same(pattern, typed) || rf_name_is_variant(pattern, typed) ||
        rf_name_is_part(pattern, plain))
        return RF_NAME_CLONE;
    return rf_name_same(pattern, bare) ? RF_NAME_TEMPLATE : RF_NAME_DIFFERS;
}

/* Is the last word of a written name somewhere in `name`? Where it is not, and this is so for nearly every symbol, nothing
 * fits. */
static inline int rf_name_may_fit(struct rf_name_piece pattern, struct rf_name_piece name)
{
    struct rf_name_piece word = rf_name_plain(pattern);
    while (word.end > word.at && !rf_name_is_letter(word.end[-1]))
        word.end--;
    const char *from = word.end;
    while (from > word.at && rf_name_is_letter(from[-1]))
        from--;
    for (const char *p = name.at; p < name.end && from < word.end; p++) {
        const char *n = p, *w = from;
        while (w < word.end && n < name.end && *n == *w)
            n++, w++;
        if (w == word.end)
            return 1;
    }
    return from == word.end;
}

/* Do the parameters fit? `given` are those of the written name, `told` those of the symbol; empty: there are none. A symbol
 * that tells none, as those of C, fits a name that is written out, but not every pattern. */
static inline int rf_name_parameters_fit(struct rf_name_piece wanted, struct rf_name_piece given,
                                         struct rf_name_piece told)
{
    if (given.at == given.end)
        return 1;
    if (told.at == told.end)
        return !rf_name_is_pattern(wanted);
    return rf_name_same(given, told) || rf_name_same_types(given, told);
}

/* `name` is demangled. Its parameters are part of it, or stand apart in `told`. */
static inline enum rf_name_fit rf_name_match_pieces(struct rf_name_piece pattern,
                                                    struct rf_name_piece name,
                                                    struct rf_name_piece told)
{
    if (rf_name_same(pattern, name))
        return RF_NAME_WHOLE;
    if (!rf_name_is_pattern(pattern) && !rf_name_may_fit(pattern, name))
        return RF_NAME_DIFFERS;
    const int from_top = rf_name_begins(pattern.at, pattern.end, "::");
    pattern.at += from_top ? 2 : 0;
    const char *end = name.end;
    name = rf_name_unmarked(name);
    if (rf_name_same(pattern, name))
        return name.end == end ? RF_NAME_WHOLE : RF_NAME_CLONE;
    struct rf_name_piece plain = rf_name_plain(name), wanted = rf_name_plain(pattern);
    struct rf_name_piece given = {wanted.end, pattern.end};
    if (plain.end < name.end)
        told = (struct rf_name_piece){plain.end, name.end};
    if (!rf_name_parameters_fit(wanted, given, told))
        return RF_NAME_DIFFERS;            /* another overload */
    plain.at = rf_name_behind(plain, ' '); /* a template's symbol has its type in front */
    if (given.at < given.end)
        wanted.at = rf_name_behind(rf_name_trimmed(wanted), ' ');
    enum rf_name_fit fit = rf_name_compare(wanted, plain);
    if (fit == RF_NAME_DIFFERS && !from_top) {
        struct rf_name_piece last = {rf_name_behind(plain, ':'), plain.end};
        fit = rf_name_compare(wanted, last) != RF_NAME_DIFFERS ? RF_NAME_LAST_PART : fit;
    }
    return fit != RF_NAME_DIFFERS && rf_name_is_pattern(wanted) ? RF_NAME_WHOLE : fit;
}

/* `symbol` is demangled, with or without parameters. */
static inline enum rf_name_fit rf_name_match(const char *written, const char *symbol)
{
    return rf_name_match_pieces(rf_name_piece(written), rf_name_piece(symbol), rf_name_piece(""));
}

/* The same where the parameters stand apart: "area" and "(int) const"; "": they are not known. */
static inline enum rf_name_fit rf_name_match_apart(const char *written, const char *symbol,
                                                   const char *parameters)
{
    return rf_name_match_pieces(rf_name_piece(written), rf_name_piece(symbol),
                                rf_name_piece(parameters));
}

/* rf_name_match for a function whose last part is all that is known: `bare` is "area" for geo::Shape::area. Of a pattern the
 * parts cannot be told, so one for qualified names (geo::*) fits none. */
static inline enum rf_name_fit rf_name_match_bare(const char *written, const char *bare)
{
    struct rf_name_piece pattern = rf_name_plain(rf_name_piece(written));
    const char *last = rf_name_is_pattern(pattern) ? written : rf_name_behind(pattern, ':');
    return rf_name_match(last, bare);
}

#endif
