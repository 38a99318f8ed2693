/* check.c - errors that show only when a profile is complete: ties, names given twice, a T.INSN that leaves too early. */
#include "dise/parse.h"
#include "base/text.h"
#include <string.h>

static const uint32_t LEAVING = 1u << RF_DISE_CALL | 1u << RF_DISE_RETURN | 1u << RF_DISE_JUMP |
                                1u << RF_DISE_BRANCH | 1u << RF_DISE_FENCE | 1u << RF_DISE_SYSTEM;

/* Which table a production has an entry in. */
enum table { PATTERNS, CONDITIONALS };

static bool is_in(const struct rf_dise_production *production, enum table table)
{
    return table == PATTERNS ? production->sequence >= 0 : production->n_ops > 0;
}

static bool meet(const struct rf_dise_program *program, const struct rf_dise_production *a,
                 const struct rf_dise_production *b)
{
    for (unsigned i = 0; i < a->n_boxes; i++)
        for (unsigned j = 0; j < b->n_boxes; j++)
            if (rf_dise_box_meets(&program->boxes[a->first_box + i],
                                  &program->boxes[b->first_box + j]))
                return true;
    return false;
}

static const char *name_of(const struct rf_dise_production *production)
{
    return production->name[0] != '\0' ? production->name : "the production";
}

/* Two that match the same instruction: one must be more specific than the other. */
static rf_status check_pair(const struct rf_dise_parser *parser,
                            const struct rf_dise_production *first,
                            const struct rf_dise_production *second, enum table table)
{
    const struct rf_dise_program *program = parser->program;
    bool inner = rf_dise_is_within(program, first, second);
    bool outer = rf_dise_is_within(program, second, first);
    if (inner != outer || !meet(program, first, second))
        return RF_OK;
    return rf_dise_fail(
        &parser->lexer, &second->place,
        "%s and %s at %s:%u:%u both have a %s for the same instruction, and neither is more "
        "specific",
        name_of(second), name_of(first), program->file[first->place.file], first->place.line,
        first->place.column, table == PATTERNS ? "replacement" : "control");
}

static rf_status check_ties(const struct rf_dise_parser *parser, unsigned of, enum table table)
{
    const struct rf_dise_program *program = parser->program;
    const struct rf_dise_production *second = &program->productions[of];
    rf_status status = RF_OK;
    for (unsigned i = 0; status == RF_OK && i < of; i++) {
        const struct rf_dise_production *first = &program->productions[i];
        if (first->profile == second->profile && is_in(first, table) && is_in(second, table))
            status = check_pair(parser, first, second, table);
    }
    return status;
}

/* A sequence ends with an instruction that leaves it. */
static rf_status check_leaving(const struct rf_dise_parser *parser,
                               const struct rf_dise_production *production)
{
    const struct rf_dise_program *program = parser->program;
    if (production->sequence < 0)
        return RF_OK;
    const struct rf_dise_sequence *sequence = &program->sequences[production->sequence];
    if (sequence->original < 0 || sequence->original + 1 == (int)sequence->n)
        return RF_OK;
    for (unsigned i = 0; i < production->n_boxes; i++)
        if ((program->boxes[production->first_box + i].classes & LEAVING) != 0)
            return rf_dise_fail(&parser->lexer, &production->place,
                                "%s can match a jump or a branch, and its replacement goes on "
                                "behind T.INSN",
                                name_of(production));
    return RF_OK;
}

/* Of two profiles at once, none may replace an instruction that the other one drops. */
static rf_status check_dropping(const struct rf_dise_parser *parser, unsigned of)
{
    const struct rf_dise_program *program = parser->program;
    const struct rf_dise_production *second = &program->productions[of];
    for (unsigned i = 0; i < of && second->sequence >= 0; i++) {
        const struct rf_dise_production *first = &program->productions[i];
        if (first->profile == second->profile || first->sequence < 0 ||
            (program->sequences[first->sequence].original >= 0 &&
             program->sequences[second->sequence].original >= 0) ||
            !meet(program, first, second))
            continue;
        return rf_dise_fail(&parser->lexer, &second->place,
                            "%s and %s at %s:%u:%u replace the same instruction, and one of them "
                            "drops it",
                            name_of(second), name_of(first), program->file[first->place.file],
                            first->place.line, first->place.column);
    }
    return RF_OK;
}

static rf_status twice(const struct rf_dise_parser *parser, const struct rf_dise_place *place,
                       const char *name)
{
    return rf_dise_fail(&parser->lexer, place, "'%s' is defined twice", name);
}

static rf_status check_names(const struct rf_dise_parser *parser)
{
    const struct rf_dise_program *program = parser->program;
    for (unsigned i = 0; i < parser->n_controls; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(parser->controls[i].name, parser->controls[j].name) == 0)
                return twice(parser, &parser->controls[i].place, parser->controls[i].name);
    for (unsigned i = 0; i < program->n_sequences; i++)
        for (unsigned j = 0; j < i; j++)
            if (program->sequences[i].name[0] != '\0' &&
                program->sequences[i].profile == program->sequences[j].profile &&
                strcmp(program->sequences[i].name, program->sequences[j].name) == 0)
                return twice(parser, &program->sequences[i].place, program->sequences[i].name);
    return RF_OK;
}

rf_status rf_dise_check(const struct rf_dise_parser *parser)
{
    const struct rf_dise_program *program = parser->program;
    rf_status status = check_names(parser);
    for (unsigned i = 0; status == RF_OK && i < program->n_productions; i++) {
        if (program->productions[i].profile != parser->profile)
            continue;
        if (program->productions[i].n_ops > RF_DISE_OPS_EACH)
            return rf_dise_fail(&parser->lexer, &program->productions[i].place,
                                "more than %u micro-instructions in a control", RF_DISE_OPS_EACH);
        status = check_ties(parser, i, PATTERNS);
        if (status == RF_OK)
            status = check_ties(parser, i, CONDITIONALS);
        if (status == RF_OK)
            status = check_leaving(parser, &program->productions[i]);
        if (status == RF_OK)
            status = check_dropping(parser, i);
    }
    return status;
}
