/* fit.c - does what a program declares fit its handler and its profile?
 *
 * The handler reads numbers of the program as words of 32 bits, and adds up some of them. The profile says what the
 * words of a tuple are. A field that no .field is cut from cannot be in a tuple; some fields no program can write, since
 * reports make them from others. What does not fit is refused by its line. */
#include "coproc/coproc.h"
#include <riffle/selector.h>
#include "base/error.h"
#include <string.h>

enum { ONE_OF_MOST = 1 << 16 };

/* --- numbers -------------------------------------------------------------------------------------- */

struct limits {
    const char *name;
    uint64_t least, most;
};

static rf_status check_let(const struct rf_coproc *coproc, const char *path,
                           const struct limits *limits, struct rf_error *error)
{
    const struct rf_program_symbol *let =
        rf_program_find(&coproc->program, RF_PROGRAM_LET, limits->name);
    if (let == NULL || (let->number >= limits->least && let->number <= limits->most))
        return RF_OK;
    return rf_fail(error, RF_EINVAL,
                   "%s: line %u, column %u: %s is a number between %llu and %llu, not %llu", path,
                   let->line, let->column, limits->name, (unsigned long long)limits->least,
                   (unsigned long long)limits->most, (unsigned long long)let->number);
}

static rf_status check_lets(const struct rf_coproc *coproc, const char *path,
                            struct rf_error *error)
{
    static const struct limits common[] = {
        {"quiet", 0, RF_WAIT_MOST}, {"glance", 0, RF_WAIT_MOST}, {"one_of", 1, ONE_OF_MOST}};
    const struct rf_host_kind *kind = coproc->kind;
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof common / sizeof *common && status == RF_OK; i++)
        status = check_let(coproc, path, &common[i], error);
    for (unsigned i = 0; i < RF_HOST_LETS && kind->lets[i].name != NULL && status == RF_OK; i++) {
        uint32_t most = kind->lets[i].most;
        const struct limits own = {kind->lets[i].name, 0, most != 0 ? most : UINT32_MAX};
        status = check_let(coproc, path, &own, error);
    }
    return status;
}

/* --- slots ---------------------------------------------------------------------------------------- */

static bool is_known(const struct rf_host_kind *kind, const char *role)
{
    for (unsigned i = 0; i < RF_WINDOW_ROLES && kind->roles[i] != NULL; i++)
        if (strcmp(kind->roles[i], role) == 0)
            return true;
    return false;
}

/* A part that the handler does not know would be lost without a word. */
static rf_status check_roles(const struct rf_coproc *coproc, const char *path,
                             struct rf_error *error)
{
    char known[200];
    size_t n = 0;
    const struct rf_host_kind *kind = coproc->kind;
    for (unsigned i = 0; i < RF_WINDOW_ROLES && kind->roles[i] != NULL && n < sizeof known; i++)
        n += rf_format(known + n, sizeof known - n, "%s%s", i > 0 ? ", " : "", kind->roles[i]);
    for (unsigned i = 0; i < coproc->program.n_roles; i++) {
        const struct rf_program_role *role = &coproc->program.roles[i];
        if (!is_known(kind, role->name))
            return rf_fail(
                error, RF_EINVAL,
                "%s: line %u, column %u: handler '%s' knows no '%s' of a slot; it knows %s", path,
                role->line, role->column, kind->name, role->name, known);
    }
    for (unsigned i = 0; i < kind->roles_needed; i++)
        if (rf_program_role(&coproc->program, kind->roles[i]) < 0)
            return rf_fail(error, RF_EINVAL, "%s: handler '%s' needs to know '.slot %s = BASE'",
                           path, kind->name, kind->roles[i]);
    return RF_OK;
}

/* --- an end ---------------------------------------------------------------------------------------- */

/* Where a branch of instruction `at` goes; program->n: to an end. */
static unsigned branch_to(const struct rf_program *program, unsigned at)
{
    unsigned to = program->code[at].to, target = program->n;
    if (to < RF_TO_REGISTER)
        target = at + to - RF_TO_HERE;
    else if (to < RF_TO_DONE)
        target = program->targets[to - RF_TO_REGISTER];
    return target < program->n ? target : program->n;
}

/* Behind the last instruction is an end, too. */
static bool leads_on(const struct rf_program *program, unsigned at, const bool *ends)
{
    unsigned when = program->code[at].when;
    return (when != RF_WHEN_ALWAYS && ends[at + 1]) ||
           (when != RF_WHEN_NEVER && ends[branch_to(program, at)]);
}

/* Every instruction has a way to an end, whether it is ever taken or not. */
static rf_status check_ends(const struct rf_coproc *coproc, const char *path,
                            struct rf_error *error)
{
    const struct rf_program *program = &coproc->program;
    bool ends[RF_MICRO_WORDS + 1] = {false}, more = true;
    ends[program->n] = true;
    while (more) {
        more = false;
        for (unsigned at = program->n; at-- > 0;)
            if (!ends[at] && leads_on(program, at, ends))
                more = ends[at] = true;
    }
    for (unsigned at = program->n; at-- > 0;) /* the last of them leads back */
        if (!ends[at])
            return rf_fail(error, RF_EINVAL,
                           "%s: line %u: from here no way leads to 'done' or 'interrupt'", path,
                           program->lines[at]);
    return RF_OK;
}

/* --- the profile ---------------------------------------------------------------------------------- */

static rf_status refuse(const struct rf_coproc *coproc, const char *path, struct rf_error *error,
                        const char *what)
{
    return rf_fail(error, RF_EINVAL, "%s: line %u: %s", path, coproc->program.profile_line, what);
}

static bool is_cut_from(const struct rf_program *program, unsigned word)
{
    for (unsigned i = 0; i < program->n_fields; i++) {
        const struct rf_program_field *field = &program->fields[i];
        if (field->word == word ||
            (field->word == RF_SAMPLE_HASH && (field->hash_a == word || field->hash_b == word)))
            return true;
    }
    return false;
}

/* What a tuple must be made from to have the field; 0: no program can. */
static uint32_t words_of(unsigned field)
{
    static const uint32_t words[RF_FIELD_COUNT] = {
        [RF_FIELD_PC] = 1u << RF_SAMPLE_PC,
        [RF_FIELD_ADDR] = 1u << RF_SAMPLE_ADDR,
        [RF_FIELD_VALUE] = 1u << RF_SAMPLE_VALUE,
        [RF_FIELD_TARGET] = 1u << RF_SAMPLE_TARGET,
        [RF_FIELD_WIDTH] = 1u << RF_SAMPLE_WIDTH,
        [RF_FIELD_SIZE] = 1u << RF_SAMPLE_WIDTH,
        [RF_FIELD_THREAD] = 1u << RF_SAMPLE_THREAD,
        [RF_FIELD_MISS] = 1u << RF_SAMPLE_MISS,
        [RF_FIELD_TAKEN] = 1u << RF_SAMPLE_TAKEN,
        [RF_FIELD_CONTEXT] = 1u << RF_SAMPLE_PC,
        [RF_FIELD_WRITER] = 1u << RF_SAMPLE_PC | 1u << RF_SAMPLE_ADDR,
        [RF_FIELD_INDIRECT] = UINT32_MAX, /* an entry of its own tells it as well */
    };
    return words[field];
}

static rf_status check_field(const struct rf_coproc *coproc, const char *path, unsigned field,
                             struct rf_error *error)
{
    const struct rf_field_info *info = rf_field_info(field);
    uint32_t words = info != NULL ? words_of(field) : UINT32_MAX;
    if (words == 0)
        return rf_fail(error, RF_EINVAL, "%s: line %u: no program can write '%s'%s", path,
                       coproc->program.profile_line, info->name,
                       field == RF_FIELD_DISTANCE ? "; reports make it from 'pc,writer'"
                       : field == RF_FIELD_SET    ? "; reports make it from 'pc,addr' and .let sets"
                                                  : "");
    for (unsigned word = 0; word < RF_SAMPLE_COUNT && words != UINT32_MAX; word++)
        if ((words >> word & 1) != 0 && !is_cut_from(&coproc->program, word))
            return rf_fail(error, RF_EINVAL,
                           "%s: line %u: a tuple has '%s', and no .field is cut from '%s'", path,
                           coproc->program.profile_line, info->name, rf_sample_names[word]);
    return RF_OK;
}

static rf_status check_words(const struct rf_coproc *coproc, const char *path,
                             const struct rf_selector *selector, struct rf_error *error)
{
    bool two = rf_program_role(&coproc->program, coproc->kind->second) >= 0;
    if (two != (selector->project_b != RF_FIELD_NONE))
        return refuse(coproc, path, error,
                      two ? "a slot has two words of a tuple, and the profile has one"
                          : "the profile has two words of a tuple, and a slot has no 'b'");
    rf_status status = check_field(coproc, path, selector->project_a, error);
    if (status == RF_OK)
        status = check_field(coproc, path, selector->project_b, error);
    if (status == RF_OK && selector->project_b == RF_FIELD_WRITER &&
        rf_program_role(&coproc->program, "b_high") < 0)
        return refuse(coproc, path, error, "with 'writer' a slot has the distance in 'b_high'");
    return status;
}

/* What its tuples are, checked; by default the pcs of its classes. */
static rf_status find_selector(struct rf_coproc *coproc, const char *path, struct rf_error *error)
{
    struct rf_selector selector;
    struct rf_error why;
    bool two = rf_program_role(&coproc->program, coproc->kind->second) >= 0;
    bool declared = coproc->program.profile[0] != '\0';
    const char *text = declared ? coproc->program.profile : two ? "any -> pc,value" : "any -> pc";
    if (rf_selector_parse(&selector, text, &why) != RF_OK)
        return refuse(coproc, path, error, why.message);
    if (selector.unbound)
        return refuse(coproc, path, error, "microcode cannot look up names of symbols");
    uint32_t sampled = rf_program_classes(&coproc->program) | 1u << RF_CLASS_FRAME;
    if ((selector.classes & sampled) == 0)
        return refuse(coproc, path, error,
                      "the profile is of classes that no .on takes samples of");
    rf_selector_print(&selector, coproc->selector, sizeof coproc->selector);
    return declared ? check_words(coproc, path, &selector, error) : RF_OK;
}

rf_status rf_coproc_check(struct rf_coproc *coproc, const char *path, struct rf_error *error)
{
    rf_status status = check_lets(coproc, path, error);
    if (status == RF_OK)
        status = check_roles(coproc, path, error);
    if (status == RF_OK)
        status = check_ends(coproc, path, error);
    return status == RF_OK ? find_selector(coproc, path, error) : status;
}
