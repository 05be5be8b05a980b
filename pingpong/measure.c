#include "pingpong/pingpong.h"

/* ---- the data of --check --------------------------------------------------------------------- */

/* The value of gaps, of what lies behind the data, and of the target before the transfer. Source
   and target differ, so that moving a gap is noticed, too. */
#define UNTOUCHED_SOURCE (-1.0)
#define UNTOUCHED_TARGET (-2.0)

/* The number of values that are checked on this rank. */
static int64_t checked_values(const struct pingpong_game *g)
{
    const int64_t guarded = pingpong_nextent(&g->shape) + PINGPONG_GUARD_VALUES;
    if (g->partner < 0)
        return 0;
    return guarded < g->coarray->count ? guarded : g->coarray->count;
}

/* Value i of this rank's part before the present half, or after it: by then the target has the
   source's data, and nothing else has changed. Data tells its place in a block, and its half. */
static double expected_at(const struct pingpong_game *g, bool source, bool after, int64_t i)
{
    const struct pingpong_shape *const shape = &g->shape;
    if ((source || after) && i < pingpong_nextent(shape) && pingpong_moves(shape, i))
        return (double)(g->halves % 1000 * 8192 + i % 8191 + 1);
    return source ? UNTOUCHED_SOURCE : UNTOUCHED_TARGET;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static int64_t play_checked_half(struct pingpong_game *g, bool there)
{
    double *const values = g->coarray->values;
    const int64_t count = checked_values(g);
    const bool moves = g->starts == there;
    const bool source = moves != g->pattern->gets;
    for (int64_t i = 0; i < count; i++)
        values[i] = expected_at(g, source, false, i);
    bc_sync_all(g->coarray);
    const int64_t ns = pingpong_play_half(g, there);
    bc_sync_all(g->coarray);
    bool right = true;
    for (int64_t i = 0; i < count && right; i++)
        right = values[i] == expected_at(g, source, true, i);
    g->wrong += !right;
    g->halves++;
    return ns;
}

/* ---- a visit --------------------------------------------------------------------------------- */

static double repeat(void *context, int64_t repetitions)
{
    struct pingpong_game *const g = context;
    const int64_t ns = pingpong_play(g, repetitions);
    return g->partner >= 0 ? (double)ns : BC_NO_PART;
}

static double repeat_checked(void *context, int64_t repetitions)
{
    struct pingpong_game *const g = context;
    int64_t ns = 0;
    for (int64_t i = 0; i < repetitions; i++) {
        ns += play_checked_half(g, true);
        ns += play_checked_half(g, false);
    }
    return g->partner >= 0 ? (double)ns : BC_NO_PART;
}

void pingpong_visit(const struct bc_run *run, struct pingpong_game *game, double seconds,
                    struct bc_batch_row *row)
{
    const bool check = run->settings.check;
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = game,
        .repetitions = check ? 1 : 0,
        .clock_readings = check ? 2.0 : 1.0,
        .participants = check || game->sync == BC_SYNC_ALL ? NULL : game->participants,
    };
    bc_batch_visit(run, &batch, seconds, row);
    row->wrong += game->wrong;
}
