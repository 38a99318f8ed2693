/* Any text as a simulated core, and as the shape of caches: refused with a sentence, or understood, printed and understood again
 * alike. */
#include "fuzz.h"
#include "machine/timing/config.h"
#include <string.h>

enum { MOST = 4096 };

static void check_core(const char *text)
{
    char printed[MOST], twice[MOST];
    struct rf_timing_config config, again;
    struct rf_error error = {""};
    if (rf_timing_config_parse(&config, text, &error) != RF_OK) {
        PROMISE(error.message[0] != '\0');
        return;
    }
    size_t n = rf_timing_config_print(&config, printed, sizeof printed);
    PROMISE(n == strlen(printed) && n < sizeof printed);
    PROMISE(rf_timing_config_parse(&again, printed, NULL) == RF_OK);
    rf_timing_config_print(&again, twice, sizeof twice);
    PROMISE(strcmp(printed, twice) == 0);
}

static void check_cache(const char *text)
{
    struct rf_cache_shape shape;
    struct rf_error error = {""};
    if (rf_cache_parse(&shape, text, &error) != RF_OK) {
        PROMISE(error.message[0] != '\0');
        return;
    }
    PROMISE(shape.n_levels > 0);
    for (size_t i = 0; i < shape.n_levels; i++)
        PROMISE(shape.levels[i].size > 0 && shape.levels[i].ways > 0 && shape.levels[i].line > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char text[MOST];
    if (n >= sizeof text)
        return 0;
    memcpy(text, bytes, n);
    text[n] = '\0';
    check_core(text);
    check_cache(text);
    return 0;
}
