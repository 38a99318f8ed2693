/* history.c - one run of a program on the functional core, written down.
 *
 * Every call, branch, jump and reference is watched at decode, as productions do it (src/dise), so what is an event
 * here is one there: `lab/hps/run check` holds both against each other. */
#include "history.h"
#include "dise/production.h"
#include "machine/hooks.h"
#include "machine/records.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { CALL, BACKWARD, OTHER_BRANCH, REFERENCE };

enum { LOAD_AND_STORE = 1 << RF_CLASS_LOAD | 1 << RF_CLASS_STORE };

struct site {
    uint64_t pc, target;
    uint8_t kind; /* enum kind */
    bool is_branch;
    bool is_both; /* a load and a store: an atomic, two references */
    uint8_t from; /* the register that an address or an indirect target is in */
    int32_t offset;
    uint32_t member; /* 1 + its number, where that is always the same one; else 0 */
};

void die(const char *what)
{
    fprintf(stderr, "measure: %s\n", what);
    exit(1);
}

void *grown(void *array, size_t *room, size_t n, size_t size)
{
    if (n <= *room)
        return array;
    *room = *room * 2 > n ? *room * 2 : n + 1024;
    array = realloc(array, *room * size);
    if (array == NULL)
        die("no memory");
    return array;
}

/* --- members ------------------------------------------------------------------------------------- */

static size_t slot_of(const struct history *history, uint64_t pc, uint64_t target)
{
    size_t mask = ((size_t)1 << history->bits) - 1;
    size_t i =
        (pc * UINT64_C(0x9e3779b97f4a7c15) ^ target * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 20 & mask;
    for (; history->slots[i] != 0; i = (i + 1) & mask) {
        const struct member *member = &history->members[history->slots[i] - 1];
        if (member->pc == pc && member->target == target)
            break;
    }
    return i;
}

static void widen(struct history *history)
{
    free(history->slots);
    history->bits = history->bits != 0 ? history->bits + 1 : 12;
    history->slots = calloc((size_t)1 << history->bits, sizeof *history->slots);
    if (history->slots == NULL)
        die("no memory");
    for (uint32_t i = 0; i < history->n_members; i++)
        history->slots[slot_of(history, history->members[i].pc, history->members[i].target)] =
            i + 1;
}

static uint32_t member_of(struct history *history, const struct site *site, uint64_t target)
{
    if (history->bits == 0 || history->n_members * 2 >= (size_t)1 << history->bits)
        widen(history);
    size_t slot = slot_of(history, site->pc, target);
    if (history->slots[slot] != 0)
        return history->slots[slot] - 1;
    history->members = grown(history->members, &history->members_room, history->n_members + 1,
                             sizeof *history->members);
    history->members[history->n_members] =
        (struct member){.pc = site->pc, .target = target, .is_call = site->kind == CALL};
    history->slots[slot] = (uint32_t)++history->n_members;
    return (uint32_t)history->n_members - 1;
}

/* --- hooks --------------------------------------------------------------------------------------- */

/* What there is to watch at an instruction; false: nothing. */
static bool describe(struct site *site, const struct rf_insn *insn, uint64_t pc)
{
    const struct rf_dise_facts facts = rf_dise_facts(insn, pc);
    bool says = (facts.has >> RF_DISE_TARGET & 1) != 0;
    *site = (struct site){.pc = pc, .from = insn->rs1, .offset = insn->imm};
    site->target = says ? (uint64_t)facts.value[RF_DISE_TARGET] : 0;
    site->is_branch = facts.opclass == RF_DISE_BRANCH;
    switch (facts.opclass) {
    case RF_DISE_CALL:
        site->kind = CALL;
        return true;
    case RF_DISE_BRANCH:
    case RF_DISE_JUMP:
        site->kind = says && site->target <= pc ? BACKWARD : OTHER_BRANCH;
        return true;
    case RF_DISE_LOAD:
    case RF_DISE_STORE:
    case RF_DISE_ATOMIC:
        site->kind = REFERENCE;
        site->is_both = (rf_records_classes(insn) & LOAD_AND_STORE) == LOAD_AND_STORE;
        return true;
    default:
        return false;
    }
}

static void expand(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                   struct rf_expansion *out)
{
    struct history *history = context;
    struct site site;
    (void)state;
    if (!describe(&site, insn, pc))
        return;
    if (site.target != 0 && site.kind != OTHER_BRANCH)
        site.member = 1 + member_of(history, &site, site.target);
    history->sites = grown(history->sites, &history->sites_room, history->n_sites + 1, sizeof site);
    history->sites[history->n_sites++] = site;
    out->watch = (uint32_t)history->n_sites;
}

static void add_event(struct history *history, uint32_t member)
{
    size_t room = history->events_room, n = history->n_events++;
    history->events = grown(history->events, &room, n + 1, sizeof *history->events);
    history->before = grown(history->before, &history->events_room, n + 1, sizeof *history->before);
    history->events[n] = member;
    history->before[n] = (uint32_t)history->n_references;
    history->calls += history->members[member].is_call;
}

static void add_event_of(struct history *history, const struct site *site)
{
    uint64_t target = history->registers[site->from] + (uint64_t)(int64_t)site->offset;
    add_event(history, site->member != 0 ? site->member - 1 : member_of(history, site, target));
}

static void add_reference(struct history *history, const struct site *site)
{
    size_t room = history->references_room, n = history->n_references++;
    history->pcs = grown(history->pcs, &room, n + 1, sizeof *history->pcs);
    history->addresses =
        grown(history->addresses, &history->references_room, n + 1, sizeof *history->addresses);
    history->pcs[n] = (uint32_t)site->pc;
    history->addresses[n] = history->registers[site->from] + (uint64_t)(int64_t)site->offset;
}

static uint32_t watch(void *context, uint32_t which)
{
    struct history *history = context;
    const struct site *site = &history->sites[which - 1];
    history->branches += site->is_branch;
    for (int i = 0; site->kind == REFERENCE && i <= site->is_both; i++)
        add_reference(history, site);
    if (site->kind == REFERENCE)
        return 0;
    if (site->kind != OTHER_BRANCH)
        add_event_of(history, site);
    return 0;
}

/* --- names --------------------------------------------------------------------------------------- */

/* Which function each target lies in. */
static void find_methods(struct history *history)
{
    struct rf_run *run;
    struct rf_symbols *symbols;
    struct rf_error error = {""};
    const struct rf_module *modules;
    size_t n;
    uint64_t *targets = malloc((history->n_members + 1) * sizeof *targets);
    if (targets == NULL || rf_run_new(&run, "", NULL) != RF_OK)
        die("no memory");
    rf_source_modules(history->source, &modules, &n);
    for (size_t i = 0; i < n; i++)
        rf_run_add_module(run, &modules[i]);
    if (rf_symbols_open(&symbols, run, NULL, &error) != RF_OK)
        die(error.message);
    for (size_t i = 0; i < history->n_members; i++)
        targets[i] = history->members[i].target;
    rf_symbols_prepare(symbols, targets, history->n_members);
    for (size_t i = 0; i < history->n_members; i++) {
        struct rf_place_name name;
        rf_symbols_lookup(symbols, targets[i], RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME, &name);
        history->members[i].method = targets[i] - (name.function[0] != '\0' ? name.offset : 0);
    }
    rf_symbols_close(symbols);
    rf_run_free(run);
    free(targets);
}

/* --- running ------------------------------------------------------------------------------------- */

void history_run(struct history *history, const char *const *argv, uint64_t limit)
{
    const struct rf_machine_setup setup = {.argv = argv, .max_instructions = limit};
    struct rf_error error = {""};
    struct rf_machine_outcome outcome;
    struct rf_batch batch;
    memset(history, 0, sizeof *history);
    if (rf_source_open_machine(&history->source, &setup, &error) != RF_OK)
        die(error.message);
    history->registers = rf_machine_registers(history->source);
    const struct rf_machine_hooks hooks = {.context = history, .expand = expand, .watch = watch};
    rf_machine_hook(history->source, &hooks);
    do {
        if (rf_source_next(history->source, &batch, &error) != RF_OK)
            die(error.message);
    } while (!rf_batch_is_end(&batch));
    rf_machine_outcome(history->source, &outcome);
    if (outcome.fault[0] != '\0')
        die(outcome.fault);
    history->instructions = outcome.instructions;
    find_methods(history);
    rf_source_close(history->source);
}

/* --- reading ------------------------------------------------------------------------------------- */

/* Where backward branches go, by pc. A branch that was not taken does not say. */
struct loops {
    struct history by_pc; /* members <pc, 0> */
    uint64_t *targets;    /* of these */
    size_t room;
};

static void note_loop(struct loops *loops, const struct rf_record *record)
{
    const struct site site = {.pc = record->pc, .kind = BACKWARD};
    uint32_t i = member_of(&loops->by_pc, &site, 0);
    loops->targets = grown(loops->targets, &loops->room, i + 1, sizeof *loops->targets);
    loops->targets[i] = record->target;
}

static bool is_backward(const struct rf_record *record)
{
    return (record->kind == RF_CLASS_BRANCH || record->kind == RF_CLASS_JUMP) &&
           (record->flags & RF_RECORD_INDIRECT) == 0 && record->target <= record->pc;
}

static void read_record(struct history *history, struct loops *loops,
                        const struct rf_record *record)
{
    struct site site = {.pc = record->pc, .kind = record->kind == RF_CLASS_CALL ? CALL : BACKWARD};
    uint64_t target = record->target;
    history->branches += record->kind == RF_CLASS_BRANCH;
    if (site.kind == BACKWARD && !is_backward(record)) {
        uint32_t slot = loops->by_pc.bits == 0 || record->kind != RF_CLASS_BRANCH
                            ? 0
                            : loops->by_pc.slots[slot_of(&loops->by_pc, record->pc, 0)];
        if (slot == 0)
            return;
        target = loops->targets[slot - 1];
    }
    add_event(history, member_of(history, &site, target));
}

/* Once for where backward branches go (history NULL), once for the events. */
static void read_records(struct rf_source *source, struct history *history, struct loops *loops)
{
    struct rf_error error = {""};
    struct rf_batch batch;
    for (;;) {
        if (rf_source_next(source, &batch, &error) != RF_OK)
            die(error.message);
        if (rf_batch_is_end(&batch))
            return;
        if (batch.records == NULL)
            die("a trace of records is wanted: of two profiles, calls and edges");
        for (size_t i = 0; i < batch.n; i++)
            if (history != NULL)
                read_record(history, loops, &batch.records[i]);
            else if (is_backward(&batch.records[i]))
                note_loop(loops, &batch.records[i]);
    }
}

void history_read(struct history *history, const char *path)
{
    struct loops loops = {.room = 0};
    struct rf_error error = {""};
    memset(history, 0, sizeof *history);
    for (int pass = 0; pass < 2; pass++) {
        rf_source_close(history->source);
        if (rf_source_open(&history->source, path, NULL, &error) != RF_OK)
            die(error.message);
        read_records(history->source, pass == 1 ? history : NULL, &loops);
    }
    find_methods(history);
    rf_source_close(history->source);
    history_free(&loops.by_pc);
    free(loops.targets);
}

void history_free(struct history *history)
{
    free(history->members);
    free(history->events);
    free(history->before);
    free(history->pcs);
    free(history->addresses);
    free(history->sites);
    free(history->slots);
}
