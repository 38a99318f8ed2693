/* box.h - algebra on patterns: unions of boxes. */
#ifndef RF_DISE_BOX_H
#define RF_DISE_BOX_H

#include "dise/production.h"

/* A union; none: it matches nothing. */
struct rf_dise_set {
    unsigned n;
    struct rf_dise_box boxes[RF_DISE_BOXES_EACH];
};

/* The box that matches everything. */
struct rf_dise_box rf_dise_box_all(void);
/* What both match; false: nothing. */
bool rf_dise_box_meet(struct rf_dise_box *out, const struct rf_dise_box *a,
                      const struct rf_dise_box *b);
/* Drop what cannot be (a load with a target) from the box; false: nothing is left. */
bool rf_dise_box_tidy(struct rf_dise_box *box);

/* Add a box to a union, unless another one covers it; drop those that it covers. False: there is no room. */
bool rf_dise_set_add(struct rf_dise_set *set, const struct rf_dise_box *box);
/* set = set || other, set = set && other. False: that takes more boxes than there can be. */
bool rf_dise_set_join(struct rf_dise_set *set, const struct rf_dise_set *other);
bool rf_dise_set_meet(struct rf_dise_set *set, const struct rf_dise_set *other);

/* Classes of instructions that an opcode can be of: jalr is a call, a return or a jump. */
uint32_t rf_dise_classes_of(unsigned op);

#endif
