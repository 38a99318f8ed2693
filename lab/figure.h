/* figure.h - one figure of what an engine reports, for the labs' measuring programs. */
#ifndef LAB_FIGURE_H
#define LAB_FIGURE_H

#include <riffle/riffle.h>

/* The figure of this name ("messages", say); 0 where the engine has none. */
double lab_figure(const struct rf_engine *engine, const char *name);

#endif
