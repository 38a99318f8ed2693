/* figure.h - one figure of what an engine reports, for the labs' measuring programs. */
#ifndef LAB_FIGURE_H
#define LAB_FIGURE_H

#include <riffle/riffle.h>

/* A figure that is looked for, and the last that was found. */
struct lab_wanted {
    const char *name;
    double value;
};

/* For the sinks of those that want no more than this: the context of lab_keep begins with a struct lab_wanted. */
rf_status lab_keep(void *context, const struct rf_figure *figure);
rf_status lab_no_item(void *context, const struct rf_item *item);

/* The figure of this name ("messages", say); 0 where the engine has none. */
double lab_figure(const struct rf_engine *engine, const char *name);

#endif
