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
    {"exact(memroy=1)", NULL, "engine 'exact': no option 'memroy'; did you mean 'memory'?"},
    {"exact(memory=x)", NULL,
     "engine 'exact': memory must be a number such as 2048 or 1M, got 'x'"},
    {"multihash(interval=1X)", NULL,
     "engine 'multihash': interval must be auto or a number such as 2048 or 1M, got '1X'"},
    {"multihash(interval=2G)", NULL,
     "engine 'multihash': interval must be auto or between 0 and 1G, got '2G'"},
    {"multihash(tables=17)", NULL, "engine 'multihash': tables must be between 1 and 16, got '17'"},
    {"rap(eps=1x)", NULL, "engine 'rap': eps must be a share such as 0.1% or 0.001, got '1x'"},
    {"rap(eps=200%)", NULL, "engine 'rap': eps must be between 0.0001% and 100%, got '200%'"},
    {"rap(key=c)", NULL, "engine 'rap': key must be one of a|b|both, got 'c'"},
    {"multihash(reset=perhaps)", NULL,
     "engine 'multihash': reset must be yes or no, got 'perhaps'"},
    {"exact(memory=1Mi", NULL, "engine 'exact': the options lack a closing ')'"},
    {"exact(memory)", NULL, "engine 'exact': expected option=value at 'memory)'"},
    {"exact(memory=10)", NULL, "engine 'exact': memory must be at least 15536 bytes"},
    {"exact) x", NULL, "engine 'exact': what is ') x' behind it?"},
};

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
