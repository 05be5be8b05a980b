/*
 * Blocking collectives under the model, on 2 ranks:
 *
 *   cost           with MODEL_SYNC_COLL=1: does a bare loop of barriers, or of allreduces, find
 *                  D + x of the report in each call, also where ranks sometimes come late? Needs
 *                  MODEL_REPORT; the environment says what to expect.
 *   neighborhood   the same of neighbourhood collectives, which take MODEL_DURATION_US and
 *                  MODEL_PER_BYTE_NS
 *   sisters        the same of the blocking sisters of other non-blocking collectives, which take
 *                  MODEL_BLOCKING_US and MODEL_PER_BYTE_NS
 *   data           do barriers and allreduces still do what programs rely on?
 */
#include "measure.h"

#include <mpi.h>

enum {
    BATCHES = 150,
    BATCH = 10,
    SINGLES = BATCHES * BATCH,
    LATE_EVERY = 20,
    LATE_US = 100,
    INTS = 32
};

static int rank;
static double clock_cost_us;
static int sent[INTS];
static int received[INTS];

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void allreduce_nothing(void)
{
    MPI_Allreduce(sent, received, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void allreduce_ints(void)
{
    MPI_Allreduce(sent, received, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* On a periodic grid of 1 x 2: a rank is its own neighbour above and below, and the other one's
 * left and right. */
static MPI_Comm grid;
static MPI_Datatype column; /* ROWS ints */

enum { NEIGHBORS = 4, ROWS = 4, COLUMNS = INTS / ROWS };

static void neighbor_allgather(void)
{
    MPI_Neighbor_allgather(sent, 4, MPI_INT, received, 4, MPI_INT, grid);
}

static void neighbor_alltoall(void)
{
    MPI_Neighbor_alltoall(sent, 8, MPI_INT, received, 8, MPI_INT, grid);
}

static void neighbor_alltoallv(void)
{
    static const int counts[NEIGHBORS] = {2, 2, 4, 4}; /* what goes down comes from above */
    static const int displs[NEIGHBORS] = {0, 2, 4, 8};
    MPI_Neighbor_alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT, grid);
}

static void neighbor_alltoallw(void)
{
    static const int counts[NEIGHBORS] = {1, 1, 1, 1};
    static const MPI_Aint displs[NEIGHBORS] = {0, 4, 8, 12};
    const MPI_Datatype types[NEIGHBORS] = {column, column, column, column};
    MPI_Neighbor_alltoallw(sent, counts, displs, types, received, counts, displs, types, grid);
}

/* The blocking sisters of non-blocking collectives. */
static void bcast(void) { MPI_Bcast(sent, 3, MPI_INT, 0, MPI_COMM_WORLD); }

static void gather(void) { MPI_Gather(sent, 4, MPI_INT, received, 4, MPI_INT, 0, MPI_COMM_WORLD); }

static void scatter(void)
{
    MPI_Scatter(sent, 5, MPI_INT, received, 5, MPI_INT, 1, MPI_COMM_WORLD);
}

static void allgather(void)
{
    MPI_Allgather(sent, 6, MPI_INT, received, 6, MPI_INT, MPI_COMM_WORLD);
}

static void alltoallv(void)
{
    static const int counts[] = {5, 5};
    static const int displs[] = {0, 5};
    MPI_Alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT, MPI_COMM_WORLD);
}

static void reduce(void) { MPI_Reduce(sent, received, INTS, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD); }

static void reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(sent, received, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void exscan(void) { MPI_Exscan(sent, received, 9, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

struct timed {
    const char *name;
    void (*call)(void);
    int ints; /* that the duration is for */
};

static const struct timed barriers[] = {
    {"barrier", barrier, 0},
    {"allreduce", allreduce_nothing, 0},
    {"allreduce", allreduce_ints, INTS},
};

static const struct timed neighborhood[] = {
    {"neighbor_allgather", neighbor_allgather, 4},
    {"neighbor_alltoall", neighbor_alltoall, 8},
    {"neighbor_alltoallv", neighbor_alltoallv, 12},
    {"neighbor_alltoallw", neighbor_alltoallw, NEIGHBORS *ROWS},
};

static const struct timed sisters[] = {
    {"bcast", bcast, 3},
    {"gather", gather, 4},
    {"scatter", scatter, 5},
    {"allgather", allgather, 6},
    {"alltoallv", alltoallv, 10},
    {"reduce", reduce, INTS},
    {"allreduce", allreduce_nothing, 0},
    {"allreduce", allreduce_ints, INTS},
    {"reduce_scatter_block", reduce_scatter_block, 8},
    {"exscan", exscan, 9},
};

enum {
    SISTERS = sizeof sisters / sizeof sisters[0],
    BARRIERS = sizeof barriers / sizeof barriers[0],
    NEIGHBORHOOD = sizeof neighborhood / sizeof neighborhood[0],
    CALLS_MAX = SISTERS
};

/* Usual times of a call, in us, the mean over the ranks. */
struct measured {
    double each;   /* timed by itself, after work */
    double stream; /* in a batch, nothing between; of the quickest */
};

static struct measured measure(void (*call)(void))
{
    static double each[SINGLES];
    static double stream[BATCHES];
    for (int i = 0; i < SINGLES; i++) {
        measure_work(2);
        if (i % LATE_EVERY == 0 && rank == i / LATE_EVERY % 2)
            measure_work(LATE_US);
        const double begin = check_now_us();
        call();
        each[i] = check_now_us() - begin;
    }
    for (int i = 0; i < BATCHES; i++) {
        call();
        const double begin = check_now_us();
        for (int j = 0; j < BATCH; j++)
            call();
        stream[i] = (check_now_us() - begin) / BATCH;
    }
    struct measured measured = {
        .each = measure_middle(each, SINGLES) - clock_cost_us,
        .stream = measure_quickest(stream, BATCHES) - clock_cost_us / BATCH,
    };
    PMPI_Allreduce(MPI_IN_PLACE, &measured, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    measured.each /= 2;
    measured.stream /= 2;
    return measured;
}

static void test_cost(const char *path, const struct timed calls[], int count, double no_bytes_us)
{
    const double per_byte_us = measure_asked("MODEL_PER_BYTE_NS", 0) / 1e3;
    const double wait_us = measure_asked("MODEL_WAIT_US", 0);
    struct measured measured[CALLS_MAX];
    clock_cost_us = measure_clock_cost_us();
    for (int i = 0; i < count; i++)
        measured[i] = measure(calls[i].call);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    for (int i = 0; rank == 0 && i < count; i++) {
        const char *name = calls[i].name;
        const int64_t bytes = calls[i].ints * (int64_t)sizeof(int);
        const double duration = no_bytes_us + per_byte_us * (double)bytes;
        const double claim = duration + measure_claim(path, name, bytes, "extra_us");
        const double real = measure_claim(path, name, bytes, "real_us");
        check_close("duration_us", measure_claim(path, name, bytes, "duration_us"), duration, 1e-3);
        check_close("operations", measure_claim(path, name, bytes, "operations"),
                    BATCHES * (2 * BATCH + 1), 0);
        if (isnan(real) || real < 0.8 * duration) {
            check_close("x is w and little more", claim - duration, wait_us + 0.1, 0.1);
            measure_check_stream(name, "call after work", measured[i].each, claim, 1);
            measure_check_stream(name, "call in a loop", measured[i].stream, claim, 1);
        } else {
            /* Then it is as restless as the real one, but still D + x. */
            check_close("call after work", measured[i].each, claim, 0.15 * claim);
            check_close("real_us tells", real, claim, 0.15 * claim + 0.1);
        }
    }
}

static void test_data(void)
{
    enum { LATE_RANK_US = 20000 };
    for (int late = 0; late < 2; late++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == late)
            measure_work(LATE_RANK_US);
        double enter_us = check_now_us(); /* both ranks are on one machine, so there is one clock */
        MPI_Barrier(MPI_COMM_WORLD);
        const double leave_us = check_now_us();
        double last_enter_us;
        MPI_Allreduce(&enter_us, &last_enter_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        check_equal("barrier: nobody leaves before the last enters", leave_us >= last_enter_us,
                    true);
        check_equal("allreduce: the last to enter was late",
                    last_enter_us - enter_us >= LATE_RANK_US / 2.0, rank != late);
    }
    int unexpected = 0;
    for (int i = 0; i < INTS; i++)
        sent[i] = 100 * rank + i;
    allreduce_ints();
    for (int i = 0; i < INTS; i++)
        unexpected += received[i] != 100 + 2 * i;
    check_equal("allreduce: unexpected elements", unexpected, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_begin(rank == 0);
    if (argc < 2)
        return EXIT_FAILURE;
    const char *path =
        getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    const int dims[2] = {1, 2};
    const int closed[2] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, closed, 0, &grid);
    const int sizes[2] = {ROWS, COLUMNS};
    const int subsizes[2] = {ROWS, 1};
    const int starts[2] = {0, 1};
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (strcmp(argv[1], "cost") == 0) {
        test_cost(path, barriers, BARRIERS, measure_asked("MODEL_BARRIER_US", 0));
        return check_end();
    }
    if (strcmp(argv[1], "neighborhood") == 0) {
        const double duration_us = measure_asked("MODEL_DURATION_US", 0);
        test_cost(path, neighborhood, NEIGHBORHOOD,
                  measure_asked("MODEL_BLOCKING_US", duration_us));
        return check_end();
    }
    if (strcmp(argv[1], "sisters") == 0) {
        test_cost(path, sisters, SISTERS, measure_asked("MODEL_BLOCKING_US", NAN));
        return check_end();
    }
    test_data();
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return check_end();
}
