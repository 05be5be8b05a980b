#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

/* ---- the data of --check --------------------------------------------------------------------- */

/* The value of gaps, of what lies behind the data, and of the target before the transfer. Source
   and target differ, so that moving a gap is noticed, too. */
#define UNTOUCHED_SOURCE (-1.0)
#define UNTOUCHED_TARGET (-2.0)

/* The number of values that are checked on this rank. */
static int64_t checked_values(const struct pingpong_game *g)
{
    return g->partner < 0 ? 0 : pingpong_checked(g);
}

/* What this rank's values lie in, in a half in which it `moves` the data or not. */
static struct bc_buffer *buffer_of(const struct pingpong_game *g, bool moves)
{
    if (g->fresh != NULL && g->pattern->move == NULL)
        return &g->fresh[moves ? 0 : 1];
    return g->fresh != NULL && moves ? &g->fresh[0] : g->values;
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

/* MPI may read the values once what has written them has ended. */
static void set_values(struct pingpong_game *g, struct bc_buffer *buffer, bool source)
{
    double *const values = buffer->image;
    const int64_t count = checked_values(g);
    for (int64_t i = 0; i < count; i++)
        values[i] = expected_at(g, source, false, i);
    bc_buffer_write(buffer, (size_t)count * sizeof *values);
    if (g->staged && count > 0)
        bc_device_copy(buffer->device, g->coarray->values, buffer->start,
                       (size_t)count * sizeof *values);
}

static bool are_right(const struct pingpong_game *g, struct bc_buffer *buffer, bool source)
{
    const double *const values = buffer->image;
    const int64_t count = checked_values(g);
    bool right = bc_buffer_read(buffer, (size_t)count * sizeof *values);
    for (int64_t i = 0; i < count && right; i++)
        right = values[i] == expected_at(g, source, true, i);
    return right;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static int64_t play_checked_half(struct pingpong_game *g, bool there)
{
    const bool moves = g->starts == there;
    const bool source = moves != g->pattern->gets;
    struct bc_buffer *const buffer = buffer_of(g, moves);
    set_values(g, buffer, source);
    bc_sync_all(g->coarray);
    const int64_t ns = pingpong_play_half(g, there);
    bc_sync_all(g->coarray);
    g->wrong += !are_right(g, buffer, source);
    g->halves++;
    return ns;
}

/* ---- a visit --------------------------------------------------------------------------------- */

/* Gives MPI memory that is allocated now. */
static void renew(void *context)
{
    struct pingpong_game *const g = context;
    for (int i = 0; i < 2; i++)
        bc_buffer_renew(&g->fresh[i]);
    g->origin = g->fresh[0].start;
    g->landing = g->fresh[1].start;
}

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

static double repeat_counterpart(void *context, int64_t repetitions)
{
    struct pingpong_game *const g = ((struct pingpong_game *)context)->counterpart;
    const int64_t ns = pingpong_play_staged(g, repetitions);
    return g->partner >= 0 ? (double)ns : BC_NO_PART;
}

static double repeat_counterpart_checked(void *context, int64_t repetitions)
{
    return repeat_checked(((struct pingpong_game *)context)->counterpart, repetitions);
}

void pingpong_visit(const struct bc_run *run, struct pingpong_game *game, double seconds,
                    struct bc_batch_row *row)
{
    const bool check = run->settings.check;
    struct pingpong_game *const counterpart = game->counterpart;
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .counterpart = counterpart == NULL ? NULL
                       : check             ? repeat_counterpart_checked
                                           : repeat_counterpart,
        .prepare = game->fresh != NULL ? renew : NULL,
        .context = game,
        .repetitions = check || game->fresh != NULL ? 1 : 0,
        .clock_readings = check ? 2.0 : 1.0,
        .participants = check || game->sync == BC_SYNC_ALL ? NULL : game->participants,
    };
    bc_batch_visit(run, &batch, seconds, row);
    row->wrong += game->wrong + (counterpart != NULL ? counterpart->wrong : 0);
}
