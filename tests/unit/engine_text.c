/* Engines as text: what is understood, and the sentences for what is not. */
#include <riffle/engine.h>
#include "test.h"

static const struct {
    const char *text;
    const char *printed; /* NULL: refused */
    const char *message;
} rows[] = {
    {"exact", "exact(memory=0, interval=0)", NULL},
    {" exact ( ) ", "exact(memory=0, interval=0)", NULL},
    {"exact(memory=1Mi)", "exact(memory=1Mi, interval=0)", NULL},
    {"exact(interval=1M, memory=0)", "exact(memory=0, interval=1M)", NULL},
    {"exat", NULL, "no engine 'exat'; did you mean 'exact'?"},
    {"", NULL, "no engine ''; 'riffle engines' lists them"},
    {"stratxxxx", NULL, "no engine 'stratxxxx'; 'riffle engines' lists them"},
    {"stratifxxx", NULL, "no engine 'stratifxxx'; did you mean 'stratified'?"},
    {"stratxxxxx", NULL, "no engine 'stratxxxxx'; 'riffle engines' lists them"},
    {"exact(memroy=1)", NULL, "engine 'exact': no option 'memroy'; did you mean 'memory'?"},
    {"exact(memory=x)", NULL,
     "engine 'exact': memory must be a number such as 2048 or 1M, got 'x'"},
    {"multihash(interval=1X)", NULL,
     "engine 'multihash': interval must be auto or a number such as 2048 or 1M, got '1X'"},
    {"multihash(interval=2G)", NULL,
     "engine 'multihash': interval must be auto or between 0 and 1G, got '2G'"},
    {"multihash(tables=17)", NULL, "engine 'multihash': tables must be between 1 and 16, got '17'"},
    {"multihash(tables=4, counters=4)", NULL,
     "engine 'multihash': 4 counters cannot be divided evenly among 4 tables of 2 to 65536"},
    {"multihash(counter_bits=32)", NULL,
     "engine 'multihash': counter_bits must be auto or between 0 and 31, got '32'"},
    {"rap(eps=1x)", NULL, "engine 'rap': eps must be a share such as 0.1% or 0.001, got '1x'"},
    {"rap(eps=200%)", NULL, "engine 'rap': eps must be between 0.0001% and 100%, got '200%'"},
    {"rap-hw(tcam=64)",
     "rap-hw(eps=1%, b=4, bits=64, key=a, q=2, first_merge=1Ki, ends=1, tcam=64, queue=1Ki, "
     "arrival=4, pipelined=no)",
     NULL},
    {"rap-hw(tcam=32, b=2)",
     "rap-hw(eps=1%, b=2, bits=64, key=a, q=2, first_merge=1Ki, ends=1, tcam=32, queue=1Ki, "
     "arrival=4, pipelined=no)",
     NULL},
    {"rap-hw(tcam=63)", NULL, "engine 'rap-hw': tcam must be at least 64 for b=4"},
    {"rap-hw(b=3)", NULL, "engine 'rap-hw': b must be 2, 4, 8 or 16, got 3"},
    {"rap(nodes=63)", NULL, "engine 'rap': nodes must be at least 64 for b=4"},
    {"rap(key=c)", NULL, "engine 'rap': key must be one of a|b|both, got 'c'"},
    {"multihash(reset=perhaps)", NULL,
     "engine 'multihash': reset must be yes or no, got 'perhaps'"},
    {"exact(memory=1Mi", NULL, "engine 'exact': the options lack a closing ')'"},
    {"exact(memory)", NULL, "engine 'exact': expected option=value at 'memory)'"},
    {"exact(memory=10)", NULL, "engine 'exact': memory must be at least 15536 bytes"},
    {"exact) x", NULL, "engine 'exact': unexpected ') x' after it"},
};

static const struct {
    const char *text;
    enum rf_shape shape;
} shapes[] = {
    {"exact", RF_SHAPE_TUPLE},        {"multihash", RF_SHAPE_TUPLE},
    {"H[P256]2048", RF_SHAPE_TUPLE},  {"rap", RF_SHAPE_RANGE_A},
    {"rap(key=b)", RF_SHAPE_RANGE_B}, {"rap(key=both)", RF_SHAPE_RECTANGLE},
    {"rap-hw", RF_SHAPE_RANGE_A},     {"rap-hw(key=b)", RF_SHAPE_RANGE_B},
};

static rf_status no_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

static rf_status note_shape(void *context, const struct rf_summary *summary)
{
    *(unsigned *)context = summary->shape;
    return RF_OK;
}

/* The shape that the descriptor states is that of the report. */
TEST(an_engine_knows_its_shape)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct rf_engine *engine;
        unsigned reported = RF_SHAPE_RECTANGLE + 1;
        const struct rf_sink sink = {no_item, NULL, note_shape, &reported};
        REQUIRE(rf_engine_open(&engine, shapes[i].text, NULL, NULL) == RF_OK);
        CHECK_ROW(shapes[i].text, rf_engine_shape(engine) == shapes[i].shape);
        CHECK_ROW(shapes[i].text, rf_engine_report(engine, &sink) == RF_OK);
        CHECK_ROW(shapes[i].text, reported == shapes[i].shape);
        rf_engine_close(engine);
    }
}

TEST(an_engine_says_whether_order_matters)
{
    static const struct {
        const char *text, *name;
        int any_order;
    } orders[] = {{"exact(interval=7)", "exact", 1},
                  {"multihash(paper)", "multihash", 0},
                  {"H[P256]2048 A16", "stratified", 0},
                  {"streams", "streams", 0}};
    struct rf_engine_info info;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        REQUIRE(rf_engine_describe(orders[i].text, &info, NULL) == RF_OK);
        CHECK_ROW(orders[i].text, strcmp(info.name, orders[i].name) == 0);
        CHECK_ROW(orders[i].text, info.any_order == orders[i].any_order);
    }
    struct rf_error error = {""};
    CHECK_EQ(rf_engine_describe("exact(colour=red)", &info, &error), RF_EINVAL);
    CHECK(strstr(error.message, "colour") != NULL);
}

TEST(text_to_engine_and_back)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_engine *engine;
        struct rf_error error = {""};
        rf_status status = rf_engine_open(&engine, rows[i].text, NULL, &error);
        CHECK_ROW(rows[i].text, (status == RF_OK) == (rows[i].printed != NULL));
        if (status == RF_OK) {
            char text[256];
            rf_engine_print(engine, text, sizeof text);
            CHECK_TEXT(text, rows[i].printed);
        } else {
            CHECK_TEXT(error.message, rows[i].message);
        }
        rf_engine_close(engine);
    }
}

static const struct {
    const char *text, *shorter;
} long_texts[] = {
    {"exact(memory=0, interval=0)", "exact"},
    {"exact(memory=64Mi, interval=0)", "exact(memory=64Mi)"},
    {"multihash(interval=1M, threshold=0.1%, tables=4)", "multihash(tables=4)"},
    {"rap(eps=1%)", "rap"},
    {"rap(eps=0.5%)", "rap(eps=0.5%)"},
    {"H[P256]2048", "H[P256]2048"}, /* a notation of its own */
    {"of another day(x=1)", "of another day(x=1)"},
};

TEST(people_see_what_is_not_as_usual)
{
    for (size_t i = 0; i < sizeof long_texts / sizeof *long_texts; i++) {
        char text[200], cut[4];
        size_t n = rf_engine_shorten(long_texts[i].text, text, sizeof text);
        CHECK_TEXT(text, long_texts[i].shorter);
        CHECK_EQ(n, strlen(text));
        CHECK_EQ(rf_engine_shorten(long_texts[i].text, cut, sizeof cut), n);
        CHECK_EQ(memcmp(cut, text, 3), 0);
    }
}

TEST_MAIN()
