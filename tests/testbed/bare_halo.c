/* A halo swap written out, in a bare loop: what MPI itself takes for halo's test on the wire. A box
   of N x N x N on each rank, periodic, with subarray types; its neighbours in the first direction
   are the other rank, in the others the rank itself, and in all of them where there is no other
   rank. By messages, puts and gets.

   usage: mpirun -np 1|2 bare_halo N Prints a table of the kinds and their times: `swap_us`, the
   median over batches, as rank 0 sees it. A barrier ends each swap by puts or gets, as it tells the
   ranks that their data are there. */

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 3, FACES = 2 * DIRECTIONS, REPETITIONS = 10, BATCHES = 21, SIDE_MAX = 1000 };

/* Face 2 d is the lower one in direction d, 2 d + 1 the upper one. */
struct box {
    double *values;            /* with a halo of one layer, in the window */
    MPI_Datatype inner[FACES]; /* the box's own layer at that face */
    MPI_Datatype outer[FACES]; /* the halo's */
    int neighbors[FACES];
    MPI_Win window;
};

/* Where the neighbour has what lies at this face. */
static int opposite(int face) { return face ^ 1; }

static void by_messages(const struct box *box)
{
    MPI_Request requests[2 * FACES];
    MPI_Status statuses[2 * FACES];
    for (int face = 0; face < FACES; face++)
        MPI_Irecv(box->values, 1, box->outer[face], box->neighbors[face], face, MPI_COMM_WORLD,
                  &requests[face]);
    for (int face = 0; face < FACES; face++)
        MPI_Isend(box->values, 1, box->inner[face], box->neighbors[face], opposite(face),
                  MPI_COMM_WORLD, &requests[FACES + face]);
    MPI_Waitall(2 * FACES, requests, statuses);
}

static void by_puts(const struct box *box)
{
    for (int face = 0; face < FACES; face++)
        MPI_Put(box->values, 1, box->inner[face], box->neighbors[face], 0, 1,
                box->outer[opposite(face)], box->window);
    MPI_Win_flush_all(box->window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void by_gets(const struct box *box)
{
    for (int face = 0; face < FACES; face++)
        MPI_Get(box->values, 1, box->outer[face], box->neighbors[face], 0, 1,
                box->inner[opposite(face)], box->window);
    MPI_Win_flush_all(box->window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Microseconds of a swap. */
static double time_us(void (*swap)(const struct box *), const struct box *box)
{
    double batches_us[BATCHES];
    for (int batch = 0; batch <= BATCHES; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = MPI_Wtime();
        for (int i = 0; i < REPETITIONS; i++)
            swap(box);
        /* The second one overwrites the first. */
        batches_us[batch == 0 ? 0 : batch - 1] = (MPI_Wtime() - start_s) * 1e6 / REPETITIONS;
    }
    qsort(batches_us, BATCHES, sizeof *batches_us, ascending);
    return batches_us[BATCHES / 2];
}

/* A layer of the box across `direction`. */
static MPI_Datatype layer(int side, int direction, int place)
{
    int sizes[DIRECTIONS];
    int counts[DIRECTIONS];
    int starts[DIRECTIONS];
    for (int d = 0; d < DIRECTIONS; d++) {
        sizes[d] = side + 2;
        counts[d] = d == direction ? 1 : side;
        starts[d] = d == direction ? place : 1;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(DIRECTIONS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void create(struct box *box, int side, int rank, int ranks)
{
    const MPI_Aint edge = side + 2;
    const MPI_Aint bytes = edge * edge * edge * (MPI_Aint)sizeof *box->values;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &box->values, &box->window);
    memset(box->values, 1, (size_t)bytes);
    for (int d = 0; d < DIRECTIONS; d++) {
        const size_t lower = 2 * (size_t)d;
        const size_t upper = lower + 1;
        box->outer[lower] = layer(side, d, 0);
        box->inner[lower] = layer(side, d, 1);
        box->inner[upper] = layer(side, d, side);
        box->outer[upper] = layer(side, d, side + 1);
        box->neighbors[lower] = box->neighbors[upper] = d == 0 ? ranks - 1 - rank : rank;
    }
    MPI_Win_lock_all(0, box->window);
}

static void destroy(struct box *box)
{
    MPI_Win_unlock_all(box->window);
    for (int face = 0; face < FACES; face++) {
        MPI_Type_free(&box->inner[face]);
        MPI_Type_free(&box->outer[face]);
    }
    MPI_Win_free(&box->window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long side = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (ranks > 2 || side < 1 || side > SIDE_MAX) {
        (void)fprintf(stderr, "usage: mpirun -np 1|2 bare_halo N\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct box box;
    create(&box, (int)side, rank, ranks);
    static const struct {
        const char *name;
        void (*swap)(const struct box *);
    } kinds[] = {{"messages", by_messages}, {"put", by_puts}, {"get", by_gets}};
    if (rank == 0)
        (void)printf("kind\tswap_us\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const double us = time_us(kinds[i].swap, &box);
        if (rank == 0)
            (void)printf("%s\t%.3f\n", kinds[i].name, us);
    }
    destroy(&box);
    MPI_Finalize();
    return 0;
}
