/* selector.h - the words of the selector language. */
#ifndef RF_EVENT_SELECTOR_H
#define RF_EVENT_SELECTOR_H

#include <stdbool.h>
#include <riffle/selector.h>

/* Characters of a symbol that needs no quotes; `next` is the one behind `c`. A single dot belongs to
 * it (memcpy.part.0), two are the sign of a range. */
int rf_selector_is_symbol(char c, char next);

/* Is it written with a name that does not stand for one address? Then its spans count, not lo and hi. */
static inline bool rf_selector_has_name(const struct rf_condition *condition)
{
    return condition->lo.symbol[0] != '\0' || condition->hi.symbol[0] != '\0';
}

/* Does condition i hold for this value of its field? */
static inline bool rf_selector_holds(const struct rf_selector *selector, unsigned i, uint64_t value)
{
    const struct rf_condition *c = &selector->conditions[i];
    bool inside = value - c->lo.value <= c->hi.value - c->lo.value;
    if (rf_selector_has_name(c)) {
        inside = false;
        for (unsigned k = 0; k < selector->n_spans; k++) {
            const struct rf_selector_span *span = &selector->spans[k];
            inside |= span->condition == i && value - span->lo <= span->hi - span->lo;
        }
    }
    return inside != (c->negate != 0);
}

#endif
