/* Stratified sampling as microcode sends the messages of the engine, one by one. */
#include "coproc_tuples.h"
#include "base/alloc.h"
#include "engine/stratified/compressor.h"

static uint32_t index_of(const struct rf_coproc *coproc, const char *name)
{
    const struct rf_program_symbol *symbol =
        rf_program_find(&coproc->program, RF_PROGRAM_INDEX, name);
    return coproc->processor->x[RF_OPERAND_INDEX + symbol->number];
}

struct messages {
    struct slot all[EVENTS];
    size_t n;
};

static void add(struct messages *messages, struct slot message)
{
    if (messages->n < EVENTS)
        messages->all[messages->n++] = message;
}

static void hear(void *context, const struct rf_message *message)
{
    add(context, (struct slot){message->tuple, message->count});
}

static void run_engine(const char *text, uint64_t seed, const struct rf_tuple *tuples,
                       struct messages *messages)
{
    const struct rf_engine_ops *ops;
    static _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
    struct rf_engine_env env = {rf_alloc_or_standard(NULL), seed, 0};
    struct rf_error error = {""};
    size_t consumed;
    REQUIRE(rf_engine_parse(&ops, config, sizeof config, text, &error) == RF_OK);
    size_t size = (ops->state_size(config) + 63) & ~(size_t)63;
    void *state = aligned_alloc(64, size);
    memset(state, 0, size);
    CHECK_EQ(ops->init(state, config, &env, &error), RF_OK);
    rf_compressor_listen(state, hear, messages);
    CHECK_EQ(ops->feed(state, tuples, EVENTS, &consumed), RF_OK);
    ops->release(state);
    free(state);
}

static void take_messages(const struct rf_coproc *coproc, uint32_t n, struct messages *messages)
{
    for (uint32_t i = 0; i < n; i++)
        add(messages, read_slot(coproc, i));
}

static void check_messages(const char *program, const char *engine, uint64_t seed)
{
    static struct rf_tuple tuples[EVENTS];
    static struct messages heard, found;
    struct rf_coproc *coproc = open_program(program);
    REQUIRE(coproc != NULL);
    make_stream(tuples, seed);
    heard.n = found.n = 0;
    run_engine(engine, seed, tuples, &heard);
    for (size_t i = 0; i < EVENTS; i++)
        if (run_one(coproc, tuples[i]) == RF_PROCESSOR_INTERRUPT)
            take_messages(coproc, rf_processor_slots(coproc->processor), &found);
    take_messages(coproc, index_of(coproc, "message"), &found);
    CHECK_EQ(found.n, heard.n);
    unsigned different = 0;
    for (size_t i = 0; i < found.n && i < heard.n; i++)
        different += found.all[i].tuple.a != heard.all[i].tuple.a ||
                     found.all[i].tuple.b != heard.all[i].tuple.b ||
                     found.all[i].count != heard.all[i].count;
    CHECK_EQ(different, 0);
    CHECK(found.n > 100);
    rf_coproc_close(coproc);
}

TEST(stratified_microcode_sends_the_messages_of_the_engine)
{
    static const struct {
        const char *options, *engine;
    } forms[] = {{"", "H[P16]256 (hash=paper)"},
                 {", rate=1", "H[P1]256 (hash=paper)"},
                 {", rate=7, size=half", "H[P7]128 (hash=paper)"},
                 {", rate=100, size=double", "H[P100]512 (hash=paper)"}};
    uint64_t first = test_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        char program[80];
        size_t i = seed % (sizeof forms / sizeof *forms);
        snprintf(program, sizeof program, "stratified.uc(seed=%llu%s)", (unsigned long long)seed,
                 forms[i].options);
        check_messages(program, forms[i].engine, seed);
    }
}

TEST_MAIN()
