/* rivals.h - the hash tables that people would count with otherwise. Each counts all tuples into a
 * table that starts empty; the context is a struct bench_engine. */
#ifndef RF_BENCH_RIVALS_H
#define RF_BENCH_RIVALS_H

#ifdef __cplusplus
extern "C" {
#endif

void rival_unordered_map(void *context);
void rival_absl_flat_hash_map(void *context); /* only with HAVE_ABSL */

#ifdef __cplusplus
}
#endif
#endif
