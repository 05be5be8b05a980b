#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

#include <stdlib.h>

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

/* ---- the same on a device -------------------------------------------------------------------- */

/* Brings this rank's values: by a kernel, as a program fills its buffers. MPI may read them once
   the kernel has ended. */
static void fill_device(const struct pingpong_game *g, int64_t count)
{
    double *const values = g->staged != NULL ? g->staged : g->coarray->values;
    bc_device_copy(g->device, g->filling, g->image, (size_t)count * sizeof *values);
    bc_device_move(g->device, values, g->filling, (size_t)count);
    bc_device_wait(g->device);
    if (g->staged != NULL)
        bc_device_copy(g->device, g->coarray->values, values, (size_t)count * sizeof *values);
}

/* Whether the values are the image's, as the device sees them and as a copy does. */
static bool is_device_right(const struct pingpong_game *g, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    double *const values = g->staged != NULL ? g->staged : g->coarray->values;
    double *const copy = bc_allocate((size_t)count, sizeof *copy, "no memory for a copy");
    bc_device_copy(g->device, g->expected, g->image, bytes);
    bool right = bc_device_is_equal(g->device, values, g->expected, (size_t)count);
    bc_device_copy(g->device, copy, values, bytes);
    for (int64_t i = 0; i < count && right; i++)
        right = copy[i] == g->image[i];
    free(copy);
    return right;
}

/* The buffers that this needs. */
static void make_images(struct pingpong_game *g)
{
    const size_t bytes = (size_t)g->coarray->count * sizeof(double);
    g->image = bc_allocate(1, bytes, "no memory for %zu bytes", bytes);
    g->filling = bc_device_allocate(g->device, BC_MEMORY_DEVICE, bytes);
    g->expected = bc_device_allocate(g->device, BC_MEMORY_DEVICE, bytes);
    if (g->filling == NULL || g->expected == NULL)
        bc_abort("no memory on the device for %zu bytes", bytes);
}

static void free_images(struct pingpong_game *g)
{
    bc_device_free(g->device, BC_MEMORY_DEVICE, g->filling);
    bc_device_free(g->device, BC_MEMORY_DEVICE, g->expected);
    free(g->image);
}

/* ---- a half ---------------------------------------------------------------------------------- */

static void set_values(struct pingpong_game *g, bool source)
{
    double *const values = g->device != NULL ? g->image : g->coarray->values;
    const int64_t count = checked_values(g);
    for (int64_t i = 0; i < count; i++)
        values[i] = expected_at(g, source, false, i);
    if (g->device != NULL)
        fill_device(g, count);
}

static bool are_right(struct pingpong_game *g, bool source)
{
    const double *const values = g->device != NULL ? g->image : g->coarray->values;
    const int64_t count = checked_values(g);
    for (int64_t i = 0; i < count && g->device != NULL; i++)
        g->image[i] = expected_at(g, source, true, i);
    bool right = g->device == NULL || is_device_right(g, count);
    for (int64_t i = 0; i < count && right; i++)
        right = values[i] == expected_at(g, source, true, i);
    return right;
}

/* The time of one half, whose data is verified at both ends. Collective. */
static int64_t play_checked_half(struct pingpong_game *g, bool there)
{
    const bool moves = g->starts == there;
    const bool source = moves != g->pattern->gets;
    set_values(g, source);
    bc_sync_all(g->coarray);
    const int64_t ns = pingpong_play_half(g, there);
    bc_sync_all(g->coarray);
    g->wrong += !are_right(g, source);
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
        .context = game,
        .repetitions = check ? 1 : 0,
        .clock_readings = check ? 2.0 : 1.0,
        .participants = check || game->sync == BC_SYNC_ALL ? NULL : game->participants,
    };
    if (check && game->device != NULL) {
        make_images(game);
        make_images(counterpart);
    }
    bc_batch_visit(run, &batch, seconds, row);
    row->wrong += game->wrong + (counterpart != NULL ? counterpart->wrong : 0);
    if (check && game->device != NULL) {
        free_images(game);
        free_images(counterpart);
    }
}
