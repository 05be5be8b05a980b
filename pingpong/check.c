/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

/* Values of gaps, after the data, and of the target before the transfer. Source and target differ,
   so that moving a gap also shows. */
#define UNTOUCHED_SOURCE (-1.0)
#define UNTOUCHED_TARGET (-2.0)

static int64_t checked_values(const struct pingpong_game *g)
{
    return g->partner < 0 ? 0 : pingpong_checked(g);
}

/* Returns this rank's buffer in half a repetition, in which it `moves` the data or not. */
static struct bc_buffer *buffer_of(const struct pingpong_game *g, bool moves)
{
    if (g->own != NULL && g->pattern->move == NULL)
        return &g->own[moves ? 0 : 1];
    return g->own != NULL && moves ? &g->own[0] : g->values;
}

/* Returns value i of this rank's part before or after the current half: afterwards the target has
   the source's data, and nothing else has changed. Data encodes its index and its half. */
static double expected_at(const struct pingpong_game *g, bool source, bool after, int64_t i)
{
    const struct pingpong_shape *const shape = &g->shape;
    if ((source || after) && i < pingpong_nextent(shape) && pingpong_moves(shape, i))
        return (double)(g->halves % 1000 * 8192 + i % 8191 + 1);
    return source ? UNTOUCHED_SOURCE : UNTOUCHED_TARGET;
}

/* Writes the values. Returns when MPI may read them. */
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

/* Runs one half, and verifies its data at both ends. Returns its time in ns. Collective. */
static double play_checked_half(struct pingpong_game *g, bool there)
{
    const bool moves = g->starts == there;
    const bool source = moves != g->pattern->gets;
    struct bc_buffer *const buffer = buffer_of(g, moves);
    set_values(g, buffer, source);
    bc_sync_all(g->coarray);
    const struct bc_span span = pingpong_play_half(g, there);
    bc_sync_all(g->coarray);
    g->wrong += !are_right(g, buffer, source);
    g->halves++;
    return (double)(span.end_ns - span.start_ns);
}

double pingpong_play_checked(struct pingpong_game *game)
{
    const double there_ns = play_checked_half(game, true);
    return there_ns + play_checked_half(game, false);
}
