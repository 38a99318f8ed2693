/* pipeline.c - commit, issue, dispatch, fetch, once per cycle. */
#include "pipeline.h"
#include "machine/timing/predictor.h"
#include "machine/records.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACK_STAGES = 4, NOBODY = -1, PORTS = 4 };
static const uint64_t NEVER = UINT64_MAX;

/* One instruction on its way; times are NEVER until they are known. */
struct flight {
    uint64_t fetched, dispatched, issued, complete, committed;
    long producers[3]; /* instructions whose results it waits for */
};

struct pipeline {
    const struct rf_timing_config *config;
    const struct rf_retired *stream;
    size_t n;
    struct flight *flights;
    uint64_t cycle;
    size_t fetch_next, dispatch_next, commit_next; /* the first that has not */
    size_t memory_in_flight, stations_in_use;
    size_t rob_freed, lsq_freed; /* in this cycle: free from the next on */
    uint64_t fetch_blocked_until;
    long waiting_for; /* a mispredicted branch that fetch waits for */
    uint64_t line;
    long last_writer[RF_REG_NONE + 1];
    uint64_t mshr[64], bus_free;
    struct rf_cache *icache, *dcache;
    struct rf_predictor predictor;
    struct line_fill {
        uint64_t line, ready;
    } fills[4096];
    struct write {
        uint64_t word, done;
    } writes[1024]; /* the write buffer, the oldest first */
    size_t n_writes;
};

static bool touches_memory(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_LOAD || insn->kind == RF_OP_CLASS_STORE ||
           insn->kind == RF_OP_CLASS_ATOMIC;
}

static bool loads(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_LOAD || insn->kind == RF_OP_CLASS_ATOMIC;
}

static bool stores(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_STORE || insn->kind == RF_OP_CLASS_ATOMIC;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t line_of(const struct rf_cache_shape *cache, uint64_t address)
{
    return address / cache->levels[0].line;
}

/* When a line that missed `levels` levels now is there. */
static uint64_t fetch_line(struct pipeline *p, unsigned levels)
{
    size_t soonest = 0;
    for (size_t i = 0; i < p->config->mshrs; i++)
        if (p->mshr[i] < p->mshr[soonest])
            soonest = i;
    uint64_t ready = later(p->cycle, p->mshr[soonest]) + p->config->l2_hit;
    if (levels > 1) {
        uint64_t on_bus = later(ready, p->bus_free);
        p->bus_free = on_bus + p->config->bus;
        ready = on_bus + p->config->memory;
    }
    p->mshr[soonest] = ready;
    return ready;
}

/* --- commit ----------------------------------------------------------------------------------- */

/* Into the write buffer, which it leaves in its turn when its line is there. */
static void write_store(struct pipeline *p, const struct rf_retired *instruction)
{
    uint64_t address = instruction->address, line = line_of(&p->config->dcache, address);
    uint64_t before = p->n_writes > 0 ? p->writes[p->n_writes - 1].done : 0;
    struct line_fill *fill = &p->fills[line % 4096];
    unsigned missed =
        rf_cache_access(p->dcache, address, rf_records_bytes(&instruction->insn), RF_CACHE_STORE);
    if (missed > 0)
        *fill = (struct line_fill){line, fetch_line(p, missed)};
    uint64_t there = fill->line == line ? fill->ready : 0;
    p->writes[p->n_writes++] =
        (struct write){address / 8, later(before, later(there, p->cycle + 1))};
}

/* What is written leaves the buffer. */
static void drain_writes(struct pipeline *p)
{
    while (p->n_writes > 0 && p->writes[0].done <= p->cycle)
        memmove(p->writes, p->writes + 1, --p->n_writes * sizeof *p->writes);
}

static bool is_in_write_buffer(const struct pipeline *p, uint64_t address)
{
    for (size_t i = 0; i < p->n_writes; i++)
        if (p->writes[i].word == address / 8)
            return true;
    return false;
}

static void commit(struct pipeline *p)
{
    p->rob_freed = p->lsq_freed = 0;
    drain_writes(p);
    for (uint64_t k = 0; k < p->config->commit_width && p->commit_next < p->dispatch_next; k++) {
        struct flight *flight = &p->flights[p->commit_next];
        const struct rf_retired *instruction = &p->stream[p->commit_next];
        if (flight->complete == NEVER || flight->complete + 1 > p->cycle)
            return;
        if (stores(&instruction->insn) && p->n_writes == p->config->write_buffer)
            return;
        flight->committed = p->cycle;
        p->commit_next++;
        p->rob_freed++;
        p->lsq_freed += touches_memory(&instruction->insn);
        p->memory_in_flight -= touches_memory(&instruction->insn);
        if (stores(&instruction->insn))
            write_store(p, instruction);
    }
}

/* --- issue ------------------------------------------------------------------------------------ */

static unsigned port_of(const struct rf_insn *insn)
{
    if (insn->kind == RF_OP_CLASS_MULTIPLY || insn->kind == RF_OP_CLASS_DIVIDE)
        return 1;
    if (touches_memory(insn))
        return 2;
    return insn->kind >= RF_OP_CLASS_FADD && insn->kind <= RF_OP_CLASS_FMOVE ? 3 : 0;
}

static uint64_t latency_of(const struct rf_timing_config *config, const struct rf_insn *insn)
{
    switch (insn->kind) {
    case RF_OP_CLASS_MULTIPLY:
        return config->multiply;
    case RF_OP_CLASS_DIVIDE:
        return config->divide;
    case RF_OP_CLASS_FADD:
        return config->fp_add;
    case RF_OP_CLASS_FMUL:
        return config->fp_multiply;
    case RF_OP_CLASS_FMA:
        return config->fp_fused;
    case RF_OP_CLASS_FDIV:
        return config->fp_divide;
    default:
        return 1;
    }
}

/* The youngest older store to the same word that has not left the queue. */
static long forwarding_store(const struct pipeline *p, size_t i)
{
    for (size_t k = i; k > p->commit_next; k--)
        if (stores(&p->stream[k - 1].insn) &&
            p->stream[k - 1].address / 8 == p->stream[i].address / 8)
            return (long)(k - 1);
    return NOBODY;
}

static bool ready_to_issue(const struct pipeline *p, size_t i)
{
    const struct flight *flight = &p->flights[i];
    if (flight->dispatched + 1 > p->cycle)
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (flight->producers[k] != NOBODY && p->flights[flight->producers[k]].complete > p->cycle)
            return false;
    if (!loads(&p->stream[i].insn))
        return true;
    long store = forwarding_store(p, i);
    return store == NOBODY || p->flights[store].complete != NEVER;
}

static uint64_t load_complete(struct pipeline *p, size_t i)
{
    uint64_t address = p->stream[i].address, hit = p->cycle + p->config->l1_hit;
    long store = forwarding_store(p, i);
    if (store != NOBODY) /* and the cache is not asked */
        return later(p->cycle, p->flights[store].complete) + p->config->forward;
    if (is_in_write_buffer(p, address))
        return p->cycle + p->config->forward;
    unsigned missed =
        rf_cache_access(p->dcache, address, rf_records_bytes(&p->stream[i].insn), RF_CACHE_LOAD);
    uint64_t line = line_of(&p->config->dcache, address);
    struct line_fill *fill = &p->fills[line % 4096];
    if (missed > 0)
        *fill = (struct line_fill){line, fetch_line(p, missed)};
    return fill->line == line ? later(hit, fill->ready) : hit;
}

static void issue(struct pipeline *p)
{
    const uint64_t ports[PORTS] = {p->config->alu_ports, p->config->multiply_ports,
                                   p->config->memory_ports, p->config->fp_ports};
    uint64_t used[PORTS] = {0}, issued = 0;
    for (size_t i = p->commit_next; i < p->dispatch_next && issued < p->config->issue_width; i++) {
        struct flight *flight = &p->flights[i];
        const struct rf_insn *insn = &p->stream[i].insn;
        unsigned port = port_of(insn);
        if (flight->issued != NEVER || used[port] == ports[port] || !ready_to_issue(p, i))
            continue;
        flight->issued = p->cycle;
        flight->complete =
            loads(insn) ? load_complete(p, i) : p->cycle + latency_of(p->config, insn);
        used[port]++;
        issued++;
        p->stations_in_use--;
    }
}

/* --- dispatch --------------------------------------------------------------------------------- */

static bool room_to_dispatch(const struct pipeline *p, size_t i)
{
    size_t in_flight = p->dispatch_next - p->commit_next + p->rob_freed;
    bool memory = touches_memory(&p->stream[i].insn);
    return in_flight < p->config->rob && p->stations_in_use < p->config->rs &&
           (!memory || p->memory_in_flight + p->lsq_freed < p->config->lsq);
}

static void dispatch(struct pipeline *p)
{
    for (uint64_t k = 0; k < p->config->decode_width && p->dispatch_next < p->fetch_next; k++) {
        size_t i = p->dispatch_next;
        const struct rf_insn *insn = &p->stream[i].insn;
        struct flight *flight = &p->flights[i];
        if (flight->fetched + p->config->stages - BACK_STAGES > p->cycle || !room_to_dispatch(p, i))
            return;
        const uint8_t sources[3] = {insn->rs1, insn->rs2, insn->rs3};
        for (unsigned s = 0; s < 3; s++)
            flight->producers[s] = sources[s] == RF_REG_NONE ? NOBODY : p->last_writer[sources[s]];
        if (insn->rd != RF_REG_NONE)
            p->last_writer[insn->rd] = (long)i;
        flight->dispatched = p->cycle;
        p->dispatch_next++;
        p->stations_in_use++;
        p->memory_in_flight += touches_memory(insn);
    }
}

/* --- fetch ------------------------------------------------------------------------------------ */

/* Is the line of the next instruction there? Asks for it if not. */
static bool line_is_there(struct pipeline *p, const struct rf_retired *instruction)
{
    uint64_t line = line_of(&p->config->icache, instruction->pc) + 1;
    if (line == p->line)
        return true;
    p->line = line;
    unsigned missed =
        rf_cache_access(p->icache, instruction->pc, instruction->insn.length, RF_CACHE_LOAD);
    if (missed > 0)
        p->fetch_blocked_until = fetch_line(p, missed);
    return missed == 0;
}

/* What a transfer of control does to fetch: true ends the group of this cycle. */
static bool follow_transfer(struct pipeline *p, size_t i)
{
    const struct rf_retired *instruction = &p->stream[i];
    const struct rf_insn *insn = &instruction->insn;
    if (insn->kind != RF_OP_CLASS_BRANCH && insn->kind != RF_OP_CLASS_JUMP)
        return false;
    bool taken = instruction->next_pc != instruction->pc + insn->length;
    enum rf_prediction prediction =
        rf_predictor_see(&p->predictor, insn, instruction->pc, instruction->next_pc);
    if (taken)
        p->line = 0;
    if (prediction == RF_MISPREDICTED)
        p->waiting_for = (long)i;
    if (prediction == RF_PREDICTED_LATE)
        p->fetch_blocked_until = p->cycle + 1 + p->config->btb_miss;
    return taken || prediction != RF_PREDICTED;
}

static bool may_fetch(struct pipeline *p)
{
    if (p->waiting_for != NOBODY) {
        uint64_t complete = p->flights[p->waiting_for].complete;
        if (complete == NEVER || p->cycle < complete + 1)
            return false;
        p->waiting_for = NOBODY;
    }
    return p->cycle >= p->fetch_blocked_until;
}

static void fetch(struct pipeline *p)
{
    size_t queue = (p->config->stages - BACK_STAGES) * p->config->decode_width;
    if (!may_fetch(p))
        return;
    for (uint64_t k = 0; k < p->config->fetch_width && p->fetch_next < p->n; k++) {
        size_t i = p->fetch_next;
        if (i - p->dispatch_next >= queue || !line_is_there(p, &p->stream[i]))
            return;
        p->flights[i].fetched = p->cycle;
        p->fetch_next++;
        if (follow_transfer(p, i))
            return;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static void open_pipeline(struct pipeline *p)
{
    char text[128];
    const struct rf_timing_config *config = p->config;
    rf_cache_print(&config->dcache, text, sizeof text);
    rf_status status = rf_cache_open(&p->dcache, text, NULL, NULL);
    rf_cache_print(&config->icache, text, sizeof text);
    status |= rf_cache_open(&p->icache, text, NULL, NULL);
    status |= rf_cache_join(p->icache, p->dcache);
    p->predictor = (struct rf_predictor){.history_bits = (unsigned)config->history,
                                         .btb_entries = (unsigned)config->btb,
                                         .ras_entries = (unsigned)config->ras,
                                         .direction = calloc((size_t)1 << config->history, 1),
                                         .btb = calloc(config->btb, sizeof(struct rf_btb_entry))};
    p->flights = malloc(p->n * sizeof *p->flights);
    if (status != RF_OK || p->flights == NULL || p->predictor.direction == NULL ||
        p->predictor.btb == NULL)
        abort();
    for (size_t i = 0; i < p->n; i++)
        p->flights[i] = (struct flight){NEVER, NEVER, NEVER, NEVER, NEVER, {0, 0, 0}};
    for (size_t r = 0; r <= RF_REG_NONE; r++)
        p->last_writer[r] = NOBODY;
    p->waiting_for = NOBODY;
}

static void close_pipeline(struct pipeline *p)
{
    rf_cache_close(p->icache);
    rf_cache_close(p->dcache);
    free(p->predictor.direction);
    free(p->predictor.btb);
    free(p->flights);
    free(p);
}

uint64_t pipeline_cycles(const struct rf_timing_config *config, const struct rf_retired *stream,
                         size_t n)
{
    struct pipeline *p = calloc(1, sizeof *p);
    if (p == NULL)
        abort();
    p->config = config;
    p->stream = stream;
    p->n = n;
    open_pipeline(p);
    for (; p->commit_next < n; p->cycle++) {
        commit(p);
        issue(p);
        dispatch(p);
        fetch(p);
    }
    uint64_t cycles = n > 0 ? p->flights[n - 1].committed : 0;
    close_pipeline(p);
    return cycles;
}
