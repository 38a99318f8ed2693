/* Any text as a selector: refused with a sentence, or understood, printed and understood again alike. */
#include "fuzz.h"
#include <riffle/selector.h>
#include <string.h>

static void check_again(const struct rf_selector *selector)
{
    char text[4096], twice[4096];
    struct rf_selector again;
    size_t n = rf_selector_print(selector, text, sizeof text);
    PROMISE(n == strlen(text) && n < sizeof text);
    PROMISE(rf_selector_parse(&again, text, NULL) == RF_OK);
    rf_selector_print(&again, twice, sizeof twice);
    PROMISE(strcmp(text, twice) == 0);
}

/* At as many places as it has letters. */
static size_t resolve(void *context, unsigned field, const char *symbol, uint64_t *addresses,
                      size_t max)
{
    (void)context;
    size_t n = symbol[0] == 'x' ? 0 : strlen(symbol);
    for (size_t i = 0; i < n && i < max; i++)
        addresses[i] = (uint64_t)(unsigned char)symbol[0] << 56 | i << field;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const struct rf_record records[300] = {{.kind = RF_CLASS_CALL, .pc = 5}};
    char text[1024];
    struct rf_selector selector;
    struct rf_error error = {""};
    struct rf_tuple out[300];
    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (rf_selector_parse(&selector, text, &error) != RF_OK) {
        PROMISE(error.message[0] != '\0');
        return 0;
    }
    check_again(&selector);
    struct rf_selector more = selector;
    if (rf_selector_bind_more(&more, resolve, NULL, &error) == RF_OK)
        PROMISE(rf_selector_run(&more, records, 300, out) <= 300);
    if (rf_selector_bind(&selector, resolve, NULL, &error) == RF_OK) {
        check_again(&selector);
        PROMISE(rf_selector_run(&selector, records, 300, out) <= 300);
    }
    return 0;
}
