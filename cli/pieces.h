/* pieces.h - traces that several ranks read together (cmd_mpi.c), where there are fewer traces than ranks.
 *
 *     rank 0          cli_pieces_decide(shards, n, ranks)   opens every piece, and says what each is
 *        | a row of n pieces each
 *     rank i          cli_piece_open(&source, shard, piece, i, ranks)
 *
 * One rank decides for all, so that each event is read by one rank or is known to be missing. */
#ifndef CLI_PIECES_H
#define CLI_PIECES_H

#include "plan.h"

struct cli_piece {
    struct rf_trace_piece is;
    uint64_t whole; /* the shard is not cut: rank 0 takes all of it, the others nothing */
};

/* A row of n_shards pieces for each rank, one behind the other; free() it. NULL: no memory. What cannot be read in pieces, or is no
 * file, is not cut; a pipe is not even opened. */
struct cli_piece *cli_pieces_decide(char *const *shards, size_t n_shards, size_t ranks);

/* A few shards by name, more by the first and the last. */
void cli_pieces_name(char *const *shards, size_t n, char *names, size_t size);

/* The piece of a rank, of a shard that is cut. RF_EINVAL: it is another one here than the rank that decided has seen. */
rf_status cli_piece_open(struct rf_source **source, const char *shard,
                         const struct cli_piece *piece, size_t rank, size_t ranks,
                         struct rf_error *error);

#endif
