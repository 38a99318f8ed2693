/* cmd_coproc.c - riffle coproc: look at microcode and at the machine that runs it. */
#include "command.h"
#include "coproc.h"
#include <stdlib.h>
#include <string.h>

struct settings {
    int disassemble, transistors;
};

static const struct cli_option options[] = {
    {CLI_FLAG, 0, "disassemble", .brief = "source made from the words, not the listing",
     .offset = offsetof(struct settings, disassemble)},
    {CLI_FLAG, 0, "transistors", .brief = "how large the machine is, as CSV",
     .offset = offsetof(struct settings, transistors)},
    {.type = CLI_END},
};

/* In lines of 80 columns, from column 17 on. */
static void print_brief(const char *text, size_t n)
{
    enum { BEFORE = 17, ROOM = 80 - BEFORE };
    while (n > ROOM) {
        size_t piece = ROOM;
        while (piece > 1 && text[piece] != ' ')
            piece--;
        printf("%.*s\n%*s", (int)piece, text, BEFORE, "");
        text += piece + 1;
        n -= piece + 1;
    }
    printf("%.*s\n", (int)n, text);
}

/* The name, and the first line of its text without the name. */
static void list_programs(void)
{
    for (const struct rf_coproc_program *p = rf_coproc_programs(); p->name != NULL; p++) {
        const char *brief = strstr(p->text, " - ");
        brief = brief != NULL ? brief + 3 : "";
        printf("%-16s ", p->name);
        print_brief(brief, strcspn(brief, "\n"));
    }
}

static void print_transistors(void)
{
    static const char *const sizes[] = {"half", "base", "double"};
    struct rf_coproc_part parts[RF_COPROC_PARTS];
    puts("size,structure,bits,ports,transistors");
    for (unsigned size = 0; size < 3; size++) {
        uint64_t sum = 0;
        size_t n = rf_coproc_cost(size, parts);
        for (size_t i = 0; i < n; i++) {
            printf("%s,\"%s\",%llu,%u,%llu\n", sizes[size], parts[i].name,
                   (unsigned long long)parts[i].bits, parts[i].ports,
                   (unsigned long long)parts[i].transistors);
            sum += parts[i].transistors;
        }
        printf("%s,total,,,%llu\n", sizes[size], (unsigned long long)sum);
    }
}

typedef size_t printer(const struct rf_coproc *coproc, char *text, size_t size);

static int show(const struct rf_coproc *coproc, printer *print)
{
    size_t n = print(coproc, NULL, 0) + 1;
    char *text = malloc(n);
    if (text == NULL)
        return cli_fail(CLI_FAILED, "no memory for a listing of %zu bytes", n);
    print(coproc, text, n);
    fputs(text, stdout);
    free(text);
    return CLI_OK;
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_coproc *coproc;
    if (settings->transistors)
        print_transistors();
    else if (call->n_arguments == 0)
        list_programs();
    if (call->n_arguments == 0)
        return CLI_OK;
    rf_status status = rf_coproc_open(&coproc, call->arguments[0], NULL, &error);
    if (status != RF_OK)
        return cli_fail_parsed(status, &error);
    int shown = show(coproc, settings->disassemble ? rf_coproc_disassemble : rf_coproc_list);
    rf_coproc_close(coproc);
    return shown;
}

const struct cli_action cli_action_coproc = {
    .arguments = {"[FILE]", 0, 1},
    .settings = {options, sizeof(struct settings)},
    .words = cli_words_programs,
    .run = run,
};
