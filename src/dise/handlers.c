/* handlers.c - the handlers that call() can name. */
#include "dise/production.h"

const struct rf_dise_handler rf_dise_handlers[] = {
#define HANDLER(id, selector, what) {#id, selector, what},
#include "dise/handlers.def"
#undef HANDLER
    {0},
};
