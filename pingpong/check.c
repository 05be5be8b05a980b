#include "pingpong/check.h"

/* The value of gaps, of what lies behind the data, and of the target before the transfer. Source
   and target differ, so that moving a gap is noticed, too. */
#define UNTOUCHED_SOURCE (-1.0)
#define UNTOUCHED_TARGET (-2.0)

/* Value i of the data that this half moves. */
static double value_at(int64_t half, int64_t i)
{
    return (double)(half % 1000 * 8192 + i % 8191 + 1);
}

/* Whether this half moves data from this rank to its partner. */
static bool is_source(const struct pingpong_half *half)
{
    const bool moves = half->game->starts == half->there;
    return moves != half->pattern->gets;
}

/* The number of values that are checked. */
static int64_t checked_values(const struct pingpong_game *g)
{
    const int64_t guarded = pingpong_nextent(&g->shape) + PINGPONG_GUARD_VALUES;
    return guarded < g->coarray->count ? guarded : g->coarray->count;
}

/* Value i of this rank's part before the half, or after it. */
static double expected_at(const struct pingpong_half *half, bool after, int64_t i)
{
    const struct pingpong_shape *const shape = &half->game->shape;
    const bool source = is_source(half);
    if ((source || after) && i < pingpong_nextent(shape) && pingpong_moves(shape, i))
        return value_at(half->number, i);
    return source ? UNTOUCHED_SOURCE : UNTOUCHED_TARGET;
}

void pingpong_prepare(const struct pingpong_half *half)
{
    const struct pingpong_game *const g = half->game;
    for (int64_t i = 0; i < checked_values(g); i++)
        g->coarray->values[i] = expected_at(half, false, i);
}

bool pingpong_is_right(const struct pingpong_half *half)
{
    const struct pingpong_game *const g = half->game;
    for (int64_t i = 0; i < checked_values(g); i++)
        if (g->coarray->values[i] != expected_at(half, true, i))
            return false;
    return true;
}
