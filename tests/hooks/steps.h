/* steps.h - what has hooks (stepped.c), for what has none (steps.c). */
#ifndef TESTS_HOOKS_STEPS_H
#define TESTS_HOOKS_STEPS_H

#include <stdint.h>

unsigned s_work(void);
unsigned s_after(unsigned rounds);
unsigned s_handle(void);

#endif
