/* Any bytes as a RISC-V program: refused with a sentence, or loaded and run for a little while. A system call
 * ends it, since a fuzzer's files must not reach the host's. */
#include "fuzz.h"
#include "machine/linux/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const arguments[] = {"program", "argument", NULL}, *const nothing[] = {NULL};
    struct rf_core core;
    struct rf_loader_program program;
    struct rf_error error = {""};
    if (rf_core_open(&core, NULL, &error) != RF_OK)
        return 0;
    rf_status status = rf_loader_load(&core.memory, &program, bytes, n, "in", &error);
    if (status == RF_OK)
        status = rf_loader_start(&core, &program, arguments, nothing, &error);
    PROMISE(status == RF_OK || error.message[0] != '\0');
    if (status == RF_OK) {
        core.budget = 5000;
        rf_core_run(&core);
        PROMISE(core.stop != RF_STOP_NONE && core.instructions <= core.budget);
    }
    rf_core_close(&core);
    return 0;
}
