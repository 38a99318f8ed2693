/* units.h - counts and shares as text; embedders and the program use them too, so they are public. */
#ifndef RF_BASE_UNITS_H
#define RF_BASE_UNITS_H

#include <riffle/text.h>

#endif
