/* Any text as an engine: refused with a sentence, or opened; what it prints opens the same engine, as
 * does the short form.
 *
 * Memory is capped: an engine may be asked for with any size, and must then fail cleanly. */
#include "fuzz.h"
#include <riffle/engine.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8 << 20 };

static void *resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    (void)context;
    (void)old_size;
    if (new_size > ROOM)
        return NULL;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static const struct rf_alloc capped = {resize, NULL};

static void use(struct rf_engine *engine, const struct rf_engine_setup *setup)
{
    static const struct rf_tuple tuples[] = {
        {1, 2},
        {3, 4},
        {1, 2},
        {0, 0},
    };
    char text[1024], twice[1024];
    struct rf_engine *again;
    rf_engine_feed(engine, &(struct rf_tuples){tuples, NULL, 4}, NULL);
    PROMISE(rf_engine_print(engine, text, sizeof text) == strlen(text));
    for (int shorter = 0; shorter < 2;
         shorter++) { /* in full, and without what goes without saying */
        char written[1024];
        memcpy(written, text, sizeof written);
        if (shorter)
            PROMISE(rf_engine_shorten(text, written, sizeof written) <= strlen(text));
        if (rf_engine_open(&again, written, setup, NULL) != RF_OK)
            continue;
        rf_engine_print(again, twice, sizeof twice);
        PROMISE(strcmp(text, twice) == 0);
        rf_engine_close(again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct rf_engine_setup setup = {.alloc = &capped};
    char text[512];
    struct rf_engine *engine;
    struct rf_error error = {""};
    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (rf_engine_open(&engine, text, &setup, &error) != RF_OK) {
        PROMISE(error.message[0] != '\0');
        return 0;
    }
    use(engine, &setup);
    rf_engine_close(engine);
    return 0;
}
