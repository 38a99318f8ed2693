/* cmd_selectors.c - riffle selectors: list the presets, and print a selector in full. */
#include "plan.h"

enum { CLASSES_TEXT = 80 };

static void print_classes(uint32_t classes, char text[CLASSES_TEXT])
{
    size_t n = 0;
    for (unsigned kind = 0; rf_class_name(kind) != NULL; kind++)
        if (classes >> kind & 1)
            n += (size_t)snprintf(text + n, CLASSES_TEXT - n, "%s%s", n > 0 ? "," : "",
                                  rf_class_name(kind));
}

static void put_row(const char *name, const char *text, const char *brief)
{
    cli_put_row((const int[]){0, 14, 45}, (const char *const[]){name, text, brief}, 3);
}

static void list_fields(void)
{
    char classes[CLASSES_TEXT] = "any";
    for (unsigned field = 1; rf_field_info(field) != NULL; field++) {
        const struct rf_field_info *info = rf_field_info(field);
        if (info->classes != rf_field_info(RF_FIELD_PC)->classes)
            print_classes(info->classes, classes);
        else
            snprintf(classes, sizeof classes, "any");
        put_row(info->name, classes, info->brief);
    }
}

static void list(void)
{
    for (const struct rf_selector_preset *p = rf_selector_presets(); p->name != NULL; p++)
        put_row(p->name, p->text, p->brief);
    puts("\nfields:");
    list_fields();
}

/* In full, as profiles have it. */
static int show(const char *text)
{
    struct rf_selector selector;
    struct rf_error error = {""};
    char full[1024];
    if (rf_selector_parse(&selector, text, &error) != RF_OK)
        return cli_fail(CLI_USAGE, "%s", error.message);
    rf_selector_print(&selector, full, sizeof full);
    puts(full);
    return CLI_OK;
}

const struct cli_action cli_action_selectors = {
    .arguments = {"[SELECTOR]", 0, 1},
    .words = cli_words_selectors,
    .list = list,
    .show = show,
};
