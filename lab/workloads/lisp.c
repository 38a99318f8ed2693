/* lisp.c - a Lisp interpreter and programs for it: tak, queens, primes, a sort.
 *
 * Values are tagged words: small integers, symbols, and pairs by their index. Variables are found by
 * walking the environment, a list of pairs, as the first Lisps did. Pairs come from one large block; what a
 * top-level expression left there is forgotten when its value has been printed. */
#include "workload.h"

enum { PAIRS = 1 << 22, SYMBOLS = 128, NAME = 16 };
enum tag { TAG_INTEGER, TAG_SYMBOL, TAG_PAIR, TAG_CLOSURE };

typedef int64_t value; /* the low two bits are the tag */

struct pair {
    value first, rest;
};

static struct pair *pairs;
static uint32_t n_pairs;
static char names[SYMBOLS][NAME];
static value globals[SYMBOLS];
static uint32_t n_symbols;
enum {
    NIL,
    TRUE,
    QUOTE,
    IF,
    LAMBDA,
    DEFINE,
    LET,
    CONS,
    CAR,
    CDR,
    ADD,
    SUB,
    MUL,
    REM,
    LESS,
    EQ,
    NULLP,
    BUILTINS
};
static const char *const builtin_names[BUILTINS] = {
    "nil", "t", "quote", "if", "lambda", "define", "let", "cons", "car",
    "cdr", "+", "-",     "*",  "rem",    "<",      "=",   "null"};

static value make(enum tag tag, int64_t payload)
{
    return (value)((uint64_t)payload << 2 | tag);
}

static enum tag tag_of(value v)
{
    return (enum tag)(v & 3);
}

static int64_t payload(value v)
{
    return v >> 2;
}

static const value nil = (value)NIL << 2 | TAG_SYMBOL, truth = (value)TRUE << 2 | TAG_SYMBOL;

static value cons(value first, value rest)
{
    if (n_pairs == PAIRS) {
        puts("out of pairs");
        exit(1);
    }
    pairs[n_pairs] = (struct pair){first, rest};
    return make(TAG_PAIR, n_pairs++);
}

static value car(value v)
{
    return pairs[payload(v)].first;
}

static value cdr(value v)
{
    return pairs[payload(v)].rest;
}

/* ---- reading ---- */

static value symbol(const char *name, size_t n)
{
    for (uint32_t i = 0; i < n_symbols; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return make(TAG_SYMBOL, i);
    memcpy(names[n_symbols], name, n);
    return make(TAG_SYMBOL, n_symbols++);
}

static value read_value(const char **text);

static value read_list(const char **text)
{
    while (**text == ' ' || **text == '\n')
        (*text)++;
    if (**text == ')') {
        (*text)++;
        return nil;
    }
    value first = read_value(text);
    return cons(first, read_list(text));
}

static value read_value(const char **text)
{
    while (**text == ' ' || **text == '\n')
        (*text)++;
    const char *start = *text;
    if (*start == '(') {
        (*text)++;
        return read_list(text);
    }
    if (*start >= '0' && *start <= '9')
        return make(TAG_INTEGER, strtol(start, (char **)(uintptr_t)text, 10));
    size_t n = strcspn(start, " \n()");
    *text += n;
    return symbol(start, n);
}

/* ---- evaluating ---- */

static value eval(value v, value environment);

static value look_up(value name, value environment)
{
    for (; environment != nil; environment = cdr(environment))
        if (car(car(environment)) == name)
            return cdr(car(environment));
    return globals[payload(name)];
}

static value bind(value parameters, value arguments, value caller, value environment)
{
    for (; parameters != nil; parameters = cdr(parameters), arguments = cdr(arguments))
        environment = cons(cons(car(parameters), eval(car(arguments), caller)), environment);
    return environment;
}

static value builtin(int64_t which, value a, value b)
{
    switch (which) {
    case CONS:
        return cons(a, b);
    case CAR:
        return car(a);
    case CDR:
        return cdr(a);
    case ADD:
        return make(TAG_INTEGER, payload(a) + payload(b));
    case SUB:
        return make(TAG_INTEGER, payload(a) - payload(b));
    case MUL:
        return make(TAG_INTEGER, payload(a) * payload(b));
    case REM:
        return make(TAG_INTEGER, payload(a) % payload(b));
    case LESS:
        return payload(a) < payload(b) ? truth : nil;
    case EQ:
        return a == b ? truth : nil;
    default: /* null */
        return a == nil ? truth : nil;
    }
}

static value call_builtin(int64_t which, value arguments, value environment)
{
    value a = eval(car(arguments), environment);
    value b = cdr(arguments) != nil ? eval(car(cdr(arguments)), environment) : nil;
    return builtin(which, a, b);
}

/* Tail calls loop here instead of going deeper. */
static value eval(value v, value environment)
{
    for (;;) {
        if (tag_of(v) == TAG_SYMBOL)
            return payload(v) < QUOTE ? v : look_up(v, environment);
        if (tag_of(v) != TAG_PAIR)
            return v;
        value head = car(v), rest = cdr(v);
        int64_t form = tag_of(head) == TAG_SYMBOL ? payload(head) : BUILTINS;
        if (form >= CONS && form < BUILTINS)
            return call_builtin(form, rest, environment);
        if (form == QUOTE)
            return car(rest);
        if (form == LAMBDA)
            return make(TAG_CLOSURE, payload(cons(rest, environment)));
        if (form == IF) {
            v = eval(car(rest), environment) != nil ? car(cdr(rest)) : car(cdr(cdr(rest)));
            continue;
        }
        if (form == LET) {
            value bound = cons(car(car(rest)), eval(car(cdr(car(rest))), environment));
            environment = cons(bound, environment);
            v = car(cdr(rest));
            continue;
        }
        value closure = eval(head, environment);
        value code = car(closure);
        environment = bind(car(code), rest, environment, cdr(closure));
        v = car(cdr(code));
    }
}

static void print(value v)
{
    if (tag_of(v) == TAG_INTEGER)
        printf("%lld", (long long)payload(v));
    else if (tag_of(v) == TAG_SYMBOL)
        fputs(names[payload(v)], stdout);
    else
        for (; tag_of(v) == TAG_PAIR; v = cdr(v)) {
            print(car(v));
            putchar(cdr(v) != nil ? ' ' : ';');
        }
}

/* ---- what it runs ---- */

static const char library[] =
    "(define tak (lambda (x y z) (if (< y x)"
    "  (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z)))"
    "(define range (lambda (a b) (if (< a b) (cons a (range (+ a 1) b)) nil)))"
    "(define length (lambda (l n) (if (null l) n (length (cdr l) (+ n 1)))))"
    "(define safe (lambda (q d l) (if (null l) t (if (= (car l) q) nil"
    "  (if (= (car l) (+ q d)) nil (if (= (car l) (- q d)) nil (safe q (+ d 1) (cdr l))))))))"
    "(define try (lambda (n q l k) (if (= q n) 0 (+ (try n (+ q 1) l k)"
    "  (if (safe q 1 l) (place n (+ k 1) (cons q l)) 0)))))"
    "(define place (lambda (n k l) (if (= k n) 1 (try n 0 l k))))"
    "(define sieve (lambda (p l) (if (null l) nil (if (= (rem (car l) p) 0) (sieve p (cdr l))"
    "  (cons (car l) (sieve p (cdr l)))))))"
    "(define primes (lambda (l) (if (null l) nil (cons (car l) (primes (sieve (car l) (cdr l)))))))"
    "(define smaller (lambda (p l) (if (null l) nil (if (< (car l) p)"
    "  (cons (car l) (smaller p (cdr l))) (smaller p (cdr l))))))"
    "(define larger (lambda (p l) (if (null l) nil (if (< (car l) p) (larger p (cdr l))"
    "  (cons (car l) (larger p (cdr l)))))))"
    "(define append (lambda (a b) (if (null a) b (cons (car a) (append (cdr a) b)))))"
    "(define sort (lambda (l) (if (null l) nil (append (sort (smaller (car l) (cdr l)))"
    "  (cons (car l) (sort (larger (car l) (cdr l))))))))"
    "(define noise (lambda (n s) (if (= n 0) nil (cons (rem s 1000)"
    "  (noise (- n 1) (rem (+ (* s 1103) 12345) 65536))))))";
static const char *const programs[] = {"(tak 10 6 2)", "(place 6 0 nil)",
                                       "(length (primes (range 2 400)) 0)",
                                       "(car (sort (noise 150 7)))", "(sort (noise 20 99))"};

static void run(const char *text)
{
    while (*text != '\0') {
        value v = read_value(&text);
        if (tag_of(v) == TAG_PAIR && car(v) == make(TAG_SYMBOL, DEFINE)) {
            globals[payload(car(cdr(v)))] = eval(car(cdr(cdr(v))), nil);
            continue;
        }
        print(eval(v, nil));
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    unsigned size = workload_size(argc, argv);
    pairs = workload_memory(PAIRS, sizeof *pairs);
    for (size_t i = 0; i < BUILTINS; i++)
        symbol(builtin_names[i], strlen(builtin_names[i]));
    run(library);
    uint32_t kept = n_pairs;
    for (unsigned i = 0; i < size; i++)
        for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
            run(programs[k]);
            n_pairs = kept;
        }
    free(pairs);
    return 0;
}
