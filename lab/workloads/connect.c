/* connect.c - four in a row: alpha-beta search on bit boards with a table of positions, playing itself.
 *
 *     A column has seven bits, from the bottom up, for six rows. The seventh stays empty, so that shifts do not
 *     run from one column into the next.
 *
 * The size adds to the depth and to the number of games. */
#include "workload.h"
#include <stdbool.h>

enum { COLUMNS = 7, ROWS = 6, HEIGHT = ROWS + 1, TABLE = 1 << 14, WIN = 1000 };

struct board {
    uint64_t mine, all; /* of the player to move; of both */
};

enum bound { EXACT, AT_LEAST, AT_MOST };

struct entry {
    uint64_t key;
    int16_t score;
    uint8_t depth, bound, move;
};

struct search {
    struct entry table[TABLE];
    uint64_t nodes, hits;
};

static uint64_t bottom(int column)
{
    return UINT64_C(1) << column * HEIGHT;
}

static bool can_play(const struct board *board, int column)
{
    return (board->all & bottom(column) << (ROWS - 1)) == 0;
}

static struct board play(const struct board *board, int column)
{
    return (struct board){board->all ^ board->mine, board->all | (board->all + bottom(column))};
}

static bool has_four(uint64_t stones)
{
    static const int directions[4] = {1, HEIGHT - 1, HEIGHT, HEIGHT + 1};
    for (int i = 0; i < 4; i++) {
        uint64_t pairs = stones & stones >> directions[i];
        if ((pairs & pairs >> 2 * directions[i]) != 0)
            return true;
    }
    return false;
}

static int count_threes(uint64_t stones, uint64_t others)
{
    static const int directions[4] = {1, HEIGHT - 1, HEIGHT, HEIGHT + 1};
    int n = 0;
    for (int i = 0; i < 4; i++) {
        int d = directions[i];
        uint64_t three = stones & stones >> d & stones >> 2 * d;
        n += __builtin_popcountll((three << 3 * d | three >> d) & ~others);
    }
    return n;
}

/* For the player to move: open threes, and stones in the middle. */
static int judge(const struct board *board)
{
    uint64_t theirs = board->all ^ board->mine;
    uint64_t middle = bottom(COLUMNS / 2) * ((1u << ROWS) - 1);
    return 4 * (count_threes(board->mine, theirs) - count_threes(theirs, board->mine)) +
           __builtin_popcountll(board->mine & middle) - __builtin_popcountll(theirs & middle);
}

static uint64_t key_of(const struct board *board)
{
    return board->mine + board->all; /* a different number for every position */
}

static struct entry *entry_of(struct search *search, uint64_t key)
{
    return &search->table[key * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

static int negamax(struct search *search, const struct board *board, int depth, int alpha,
                   int beta);

/* The best score over all moves, the remembered one first. */
static int best_of(struct search *search, const struct board *board, int depth, int alpha, int beta,
                   struct entry *found)
{
    static const int order[COLUMNS] = {3, 2, 4, 1, 5, 0, 6};
    int best = -WIN, first = found->move;
    for (int i = -1; i < COLUMNS && alpha < beta; i++) {
        int column = i < 0 ? first : order[i];
        if (column >= COLUMNS || (i >= 0 && column == first) || !can_play(board, column))
            continue;
        struct board next = play(board, column);
        int score = -negamax(search, &next, depth - 1, -beta, -alpha);
        if (score > best) {
            best = score;
            found->move = (uint8_t)column;
        }
        if (best > alpha)
            alpha = best;
    }
    return best;
}

static int negamax(struct search *search, const struct board *board, int depth, int alpha, int beta)
{
    search->nodes++;
    if (has_four(board->all ^ board->mine))
        return -WIN + __builtin_popcountll(board->all);
    if (__builtin_popcountll(board->all) == COLUMNS * ROWS)
        return 0;
    if (depth == 0)
        return judge(board);
    uint64_t key = key_of(board);
    struct entry *known = entry_of(search, key), found = {key, 0, (uint8_t)depth, EXACT, COLUMNS};
    if (known->key == key) {
        search->hits++;
        found.move = known->move;
        bool enough = known->depth >= depth;
        if (enough &&
            (known->bound == EXACT || (known->bound == AT_LEAST && known->score >= beta) ||
             (known->bound == AT_MOST && known->score <= alpha)))
            return known->score;
    }
    int best = best_of(search, board, depth, alpha, beta, &found);
    found.score = (int16_t)best;
    found.bound = best >= beta ? AT_LEAST : best <= alpha ? AT_MOST : EXACT;
    *known = found;
    return best;
}

static void play_game(struct search *search, int opening, int depth)
{
    struct board board = {0, 0};
    int score = 0;
    board = play(&board, opening);
    printf("%d", opening);
    while (__builtin_popcountll(board.all) < COLUMNS * ROWS && !has_four(board.all ^ board.mine)) {
        struct entry found = {.move = COLUMNS};
        for (int d = 1; d <= depth; d++)
            score = best_of(search, &board, d, -WIN, WIN, &found);
        board = play(&board, found.move);
        printf("%d", found.move);
    }
    printf(" %s, last score %d\n", has_four(board.all ^ board.mine) ? "won" : "drawn", score);
}

int main(int argc, char **argv)
{
    unsigned size = workload_size(argc, argv);
    struct search *search = workload_memory(1, sizeof *search);
    int depth = 4;
    for (unsigned scale = size; scale > 2 && depth < 9; scale /= 3)
        depth++;
    for (unsigned game = 0; game < 1 + size; game++)
        play_game(search, (int)(game % COLUMNS), depth);
    printf("connect: depth %d, %llu nodes, %llu known\n", depth, (unsigned long long)search->nodes,
           (unsigned long long)search->hits);
    free(search);
    return 0;
}
