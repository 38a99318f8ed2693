/* parse.h - what the parts of the parser share. */
#ifndef RF_DISE_PARSE_H
#define RF_DISE_PARSE_H

#include "dise/box.h"
#include "dise/lex.h"

/* A control that has a name: CC1: inc_1; */
struct rf_dise_control {
    char name[RF_DISE_NAME];
    struct rf_dise_place place;
    unsigned first_op, n_ops;
};

/* A name that a production uses and that may be defined further down. */
struct rf_dise_use {
    char name[RF_DISE_NAME];
    struct rf_dise_place place;
    unsigned production;
    bool is_control;
};

enum { RF_DISE_CONTROLS = 128, RF_DISE_USES = 512 };

/* The reading of one profile. */
struct rf_dise_parser {
    struct rf_dise_lexer lexer;
    struct rf_dise_program *program;
    unsigned profile;
    bool may_include;
    unsigned depth; /* of includes */
    unsigned n_controls, n_uses;
    struct rf_dise_control controls[RF_DISE_CONTROLS];
    struct rf_dise_use uses[RF_DISE_USES];
};

/* The pattern that comes next. */
rf_status rf_dise_parse_pattern(struct rf_dise_parser *parser, struct rf_dise_set *pattern);
bool rf_dise_starts_pattern(const struct rf_dise_parser *parser);

/* The sequence that comes next, into the program's items. */
rf_status rf_dise_parse_sequence(struct rf_dise_parser *parser, struct rf_dise_sequence *sequence);
bool rf_dise_starts_sequence(const struct rf_dise_parser *parser);

/* `word` is PREFIX_N: N, and a place among the program's counters for it. */
bool rf_dise_is_numbered(const struct rf_dise_token *token, const char *prefix);
rf_status rf_dise_parse_counter(struct rf_dise_parser *parser, const struct rf_dise_token *token,
                                const char *prefix, uint8_t *counter);
/* The private register of that name. */
rf_status rf_dise_find_register(const struct rf_dise_parser *parser,
                                const struct rf_dise_token *token, uint8_t *index);
/* A number with or without a sign. */
rf_status rf_dise_parse_number(struct rf_dise_parser *parser, int64_t *number);
/* The opcode of that name; RF_OP_COUNT: none. */
unsigned rf_dise_find_op(const struct rf_dise_token *token);

/* When all of a profile is read: no ties, nothing that cannot be carried out. */
rf_status rf_dise_check(const struct rf_dise_parser *parser);

#endif
