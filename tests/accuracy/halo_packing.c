/*
 * How long it takes to pack and to unpack the six faces of a box: what halo's packed messages take
 * besides the messages. After waiting for a message a face is copied more slowly than right after
 * another one, so there are pauses as long as the messages take, which aren't counted. Prints the
 * slowest rank's microseconds; used by halo_accuracy.py.
 */
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "halo/swap/methods.h"

#include <stdio.h>

enum { ROUNDS = 501 };

/* The values of the options. */
struct state {
    int64_t extent[HALO_DIRECTIONS];
    int64_t pause_ns; /* as long as a message takes */
};

static const struct state defaults = {.extent = {1, 1, 1}};

#define EXTENT(name, direction)                                                                    \
    {                                                                                              \
        .long_name = name, .kind = BC_SIZE, .at = offsetof(struct state, extent[direction]),       \
        .argument = "N", .min = 1, .max = 1000, .help = "extent of the box, in values"             \
    }

static const struct bc_option options[] = {
    EXTENT("x", 0),
    EXTENT("y", 1),
    EXTENT("z", 2),
    {"pause", BC_INTEGER, offsetof(struct state, pause_ns), .argument = "NS", .max = 1e9,
     .help = "of each face"},
};

static void pause_for(int64_t ns)
{
    const int64_t end_ns = bc_now_ns() + ns;
    while (bc_now_ns() < end_ns)
        continue;
}

/* As in a swap: after all sends have been waited for all faces are packed; then each one is
   unpacked after its receive was. In ns, with what 7 pairs of clock readings cost. */
static int64_t pack_and_unpack(const struct halo_exchange *x, double *const *buffers,
                               int64_t pause_ns)
{
    pause_for(HALO_FACES * pause_ns);
    int64_t start_ns = bc_now_ns();
    for (int face = 0; face < HALO_FACES; face++)
        halo_pack(&x->box, &x->sent[face], x->values, buffers[face]);
    int64_t ns = bc_now_ns() - start_ns;
    for (int face = 0; face < HALO_FACES; face++) {
        pause_for(pause_ns);
        start_ns = bc_now_ns();
        halo_unpack(&x->box, &x->received[face], buffers[HALO_FACES + face], x->values);
        ns += bc_now_ns() - start_ns;
    }
    return ns;
}

static double measure(const struct state *state, const struct bc_run *run)
{
    static double us[ROUNDS];
    static const int dims[] = {1, 1, 1};
    const struct halo_box box = {{state->extent[0], state->extent[1], state->extent[2]}};
    const struct halo_grid grid = halo_grid_of(dims, 0);
    double *buffers[2 * HALO_FACES];
    struct halo_exchange x;
    halo_exchange_init(&x, &box, &grid, MPI_COMM_WORLD, run->job.node_comm);
    x.values = halo_allocate_values(halo_array_values(&box));
    for (int i = 0; i < 2 * HALO_FACES; i++)
        buffers[i] = halo_allocate_values(halo_face_values(&box, i % HALO_FACES));
    for (int i = 0; i < ROUNDS; i++)
        us[i] = ((double)pack_and_unpack(&x, buffers, state->pause_ns) -
                 (HALO_FACES + 1) * run->own_clock.read_ns) *
                1e-3;
    return bc_median(us, ROUNDS); /* the memory goes with the process */
}

static void pack(void *state, struct bc_run *run)
{
    double us = measure(state, run);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    if (run->job.rank == 0)
        printf("packing and unpacking: %.3f us\n", us);
}

const struct bc_benchmark halo_packing_benchmark = {
    .name = "halo_packing",
    .summary = "Measures the packing and unpacking of faces.",
    .options = {options, sizeof options / sizeof *options, &defaults, sizeof defaults},
    .bytes = {.state = sizeof(struct state)},
    .open = pack,
};
