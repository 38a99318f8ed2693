/* pieces.c - one decision for all ranks on how traces are cut, and what each of them then opens. */
#include "pieces.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMED_MAX = 8 };

/* A pipe gives its bytes once: whoever looks at the first ones has taken them. */
static bool is_file(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static rf_status look(const char *shard, size_t part, size_t parts, struct rf_trace_piece *piece)
{
    struct rf_source *source;
    rf_status status = rf_source_open_part(&source, shard, part, parts, NULL, NULL);
    if (status != RF_OK)
        return status;
    status = rf_source_piece(source, piece);
    rf_source_close(source);
    return status;
}

/* `pieces` are a column of the table: those of one shard. Can all of them be read, one behind the other? */
static bool cut(const char *shard, struct cli_piece *pieces, size_t n_shards, size_t ranks)
{
    uint64_t events = 0;
    for (size_t i = 0; i < ranks; i++) {
        struct rf_trace_piece *piece = &pieces[i * n_shards].is;
        if (look(shard, i, ranks, piece) != RF_OK || piece->first != events)
            return false;
        events += piece->events;
    }
    return true;
}

struct cli_piece *cli_pieces_decide(char *const *shards, size_t n_shards, size_t ranks)
{
    struct cli_piece *pieces = calloc(n_shards * ranks, sizeof *pieces);
    for (size_t i = 0; pieces != NULL && i < n_shards; i++) {
        bool whole = !is_file(shards[i]) || !cut(shards[i], pieces + i, n_shards, ranks);
        for (size_t rank = 0; rank < ranks; rank++)
            pieces[rank * n_shards + i].whole = whole;
    }
    return pieces;
}

void cli_pieces_name(char *const *shards, size_t n, char *names, size_t size)
{
    size_t used = 0;
    if (n > NAMED_MAX) {
        snprintf(names, size, "%s to %s, %zu shards", shards[0], shards[n - 1], n);
        return;
    }
    names[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++)
        used +=
            (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "", shards[i]);
}

rf_status cli_piece_open(struct rf_source **source, const char *shard,
                         const struct cli_piece *piece, size_t rank, size_t ranks,
                         struct rf_error *error)
{
    struct rf_trace_piece is;
    rf_status status = rf_source_open_part(source, shard, rank, ranks, NULL, error);
    if (status != RF_OK)
        return status;
    if (rf_source_piece(*source, &is) == RF_OK && is.identity == piece->is.identity &&
        is.first == piece->is.first && is.events == piece->is.events)
        return RF_OK;
    rf_source_close(*source);
    *source = NULL;
    snprintf(error->message, sizeof error->message, "%s: it is not the trace that rank 0 has",
             shard);
    return RF_EINVAL;
}
