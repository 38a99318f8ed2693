/* Any text as microcode: refused with a sentence, or assembled, printed and assembled again alike; and run: no
 * program leaves its arrays or runs for ever. Then the same
 * with its handler, for any parts of its arrays that it declares as slots. */
#include "fuzz.h"
#include "coproc/coproc.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECORDS = 3000 };

static const struct rf_coproc_size size = {256, 512, 1024, 16384};

static void check_again(const struct rf_program *program)
{
    static char text[1 << 17], twice[1 << 17];
    static struct rf_program again;
    struct rf_error error = {""};
    size_t n = rf_program_print(program, text, sizeof text);
    PROMISE(n == strlen(text) && n < sizeof text);
    PROMISE(rf_program_assemble(&again, text, &size, NULL, 0, &error) == RF_OK);
    PROMISE(memcmp(program->code, again.code, sizeof again.code) == 0);
    rf_program_print(&again, twice, sizeof twice);
    PROMISE(strcmp(text, twice) == 0);
}

static void check_words(const struct rf_program *program)
{
    for (unsigned i = 0; i < program->n; i++) {
        struct rf_micro_word word = rf_micro_pack(&program->code[i]);
        struct rf_micro micro;
        PROMISE(rf_micro_unpack(&micro, &word) == NULL);
        PROMISE(memcmp(&micro, &program->code[i], sizeof micro) == 0);
    }
}

static void check_run(const struct rf_program *program)
{
    struct rf_processor *processor;
    PROMISE(rf_processor_open(&processor, program, 1, NULL) == RF_OK);
    for (uint64_t i = 0; i < 40; i++) {
        struct rf_record record = {.kind = (uint8_t)(i % RF_CLASS_COUNT),
                                   .flags = (uint8_t)(i / RF_CLASS_COUNT & 3),
                                   .pc = i / 4 * 0x12345677,
                                   .value = i * 0x9e3779b97f4a7c15,
                                   .addr = ~i};
        uint64_t before = processor->cycles;
        if (processor->entries[rf_opcode_of(&record)] == RF_NO_ENTRY)
            continue;
        rf_processor_run(processor, &record);
        PROMISE(processor->cycles - before <= RF_PROCESSOR_CYCLES + RF_PROCESSOR_MISPREDICT);
    }
    rf_processor_close(processor);
}

static rf_status drop_item(void *context, const struct rf_item *item)
{
    PROMISE(item->lower <= item->count && item->count <= item->upper);
    (void)context;
    return RF_OK;
}

static rf_status drop_figure(void *context, const struct rf_figure *figure)
{
    (void)context;
    PROMISE(figure->value >= 0);
    PROMISE(strstr(figure->name, "-share") == NULL || figure->value <= 1);
    return RF_OK;
}

static rf_status drop_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    PROMISE(summary->events <= RECORDS);
    return RF_OK;
}

static void feed(struct rf_coproc *coproc)
{
    static struct rf_record records[RECORDS];
    for (uint64_t i = 0; i < RECORDS; i++)
        records[i] = (struct rf_record){.kind = (uint8_t)(i % RF_CLASS_COUNT),
                                        .flags = (uint8_t)(i / RF_CLASS_COUNT & 3),
                                        .pc = i % 97 * 0x12346,
                                        .value = i % 5,
                                        .addr = i * 8 % 1024,
                                        .target = i % 7};
    struct rf_error error = {""};
    unsigned line;
    bool fed = rf_coproc_feed(coproc, records, RECORDS, &error) == RF_OK;
    uint64_t overruns = rf_coproc_overruns(coproc, &line);
    PROMISE(fed == (error.message[0] == '\0')); /* it fails where no sample ever ends */
    PROMISE((fed || overruns >= 64) && (line > 0) == (overruns > 0));
    PROMISE(rf_coproc_end(coproc, NULL) == RF_OK);
}

/* The file is in memory; it has a name there. */
static void check_whole(const char *text, size_t n)
{
    char name[64];
    struct rf_coproc *coproc;
    struct rf_coproc_totals totals;
    struct rf_error error = {""};
    const struct rf_sink sink = {.item = drop_item, .figure = drop_figure, .end = drop_end};
    int file = memfd_create("microcode", 0);
    PROMISE(file >= 0 && write(file, text, n) == (ssize_t)n);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (rf_coproc_open(&coproc, name, NULL, &error) == RF_OK) {
        feed(coproc);
        PROMISE(rf_coproc_report(coproc, &sink, &totals) == RF_OK);
        rf_coproc_close(coproc);
    } else
        PROMISE(error.message[0] != '\0');
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char text[1 << 14], listing[1 << 17];
    static struct rf_program program;
    struct rf_error error = {""};
    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (rf_program_assemble(&program, text, &size, NULL, 0, &error) != RF_OK) {
        PROMISE(error.message[0] != '\0');
        return 0;
    }
    check_words(&program);
    check_again(&program);
    check_run(&program);
    check_whole(text, strlen(text));
    rf_program_list(&program, text, listing, sizeof listing);
    return 0;
}
