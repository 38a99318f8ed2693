/* builds.h - when two modules are the same. */
#ifndef RF_PROFILE_BUILDS_H
#define RF_PROFILE_BUILDS_H

/* The order of two struct rf_module: by process, then by address. 0: the same file of the same build, mapped alike. */
int rf_module_compare(const void *left, const void *right);

#endif
