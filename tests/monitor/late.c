/*
 * Ranks that come late to collectives, by times that it draws at random and knows: prints for each
 * function and rank what the rank waited in seconds, in how many calls it came last, and for how
 * many seconds the host stopped the ranks within calls, which looks like waiting. Knows nothing of
 * the monitor. All ranks must run on one host, whose clock they share.
 *
 * usage: late CALLS MAX_US SEED: CALLS calls of each of three collectives, before each of which a
 *        rank works for up to MAX_US, the rank that the seed chooses for up to twice as long
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FUNCTIONS = 3 };
static const char *const names[FUNCTIONS] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"};

static int rank, ranks;
static MPI_Comm comm;
static uint64_t random_state;

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* From 0 to 1 (Knuth's MMIX generator). */
static double draw(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static void work(double us)
{
    const int64_t end_ns = now_ns() + (int64_t)(us * 1e3);
    while (now_ns() < end_ns)
        ;
}

static void call(int function, double *buffer)
{
    double *const received = buffer + ranks;
    if (function == 0)
        MPI_Barrier(comm);
    else if (function == 1)
        MPI_Allreduce(buffer, received, 1, MPI_DOUBLE, MPI_SUM, comm);
    else
        MPI_Alltoall(buffer, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, comm);
}

static int ascending(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* What calls took beyond ten times their median, where `took_ns` is what each took after all ranks
   had come. Sorts them. */
static int64_t stopped_ns(int64_t *took_ns, int calls)
{
    int64_t sum = 0;
    qsort(took_ns, (size_t)calls, sizeof *took_ns, ascending);
    const int64_t limit = 10 * took_ns[calls / 2];
    for (int i = 0; i < calls; i++)
        sum += took_ns[i] > limit ? took_ns[i] : 0;
    return sum;
}

/* What all ranks waited, from when they came to each call and left it. */
static void tell(const char *name, int64_t *came_ns, int64_t *left_ns, int calls)
{
    int64_t *const last_ns = malloc((size_t)calls * sizeof *last_ns);
    int64_t waited_ns = 0, *const all_ns = malloc((size_t)ranks * sizeof *all_ns);
    int came_last = 0, *const all_last = malloc((size_t)ranks * sizeof *all_last);
    MPI_Reduce(came_ns, last_ns, calls, MPI_INT64_T, MPI_MAX, 0, comm);
    MPI_Bcast(last_ns, calls, MPI_INT64_T, 0, comm);
    for (int i = 0; i < calls; i++) {
        waited_ns += last_ns[i] - came_ns[i];
        came_last += last_ns[i] == came_ns[i];
        left_ns[i] -= last_ns[i];
    }
    int64_t stops_ns = stopped_ns(left_ns, calls);
    MPI_Allreduce(MPI_IN_PLACE, &stops_ns, 1, MPI_INT64_T, MPI_SUM, comm);
    MPI_Gather(&waited_ns, 1, MPI_INT64_T, all_ns, 1, MPI_INT64_T, 0, comm);
    MPI_Gather(&came_last, 1, MPI_INT, all_last, 1, MPI_INT, 0, comm);
    for (int r = 0; rank == 0 && r < ranks; r++)
        printf("%s %d %.9f %d %.9f\n", name, r, (double)all_ns[r] * 1e-9, all_last[r],
               (double)stops_ns * 1e-9);
    free(last_ns);
    free(all_ns);
    free(all_last);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_name(comm, "team");
    const int calls = (int)strtol(argv[1], NULL, 10);
    const double max_us = strtod(argv[2], NULL);
    const int slow = (int)(strtol(argv[3], NULL, 10) % ranks);
    random_state = strtoull(argv[3], NULL, 10) * 1000003 + (uint64_t)rank * 7919;
    for (int i = 0; i < 10; i++)
        (void)draw();
    double *const buffer = calloc(2 * (size_t)ranks, sizeof *buffer);
    int64_t *const came_ns = malloc(FUNCTIONS * (size_t)calls * sizeof *came_ns);
    int64_t *const left_ns = malloc(FUNCTIONS * (size_t)calls * sizeof *left_ns);
    for (int i = 0; i < calls; i++)
        for (int function = 0; function < FUNCTIONS; function++) {
            work(max_us * draw() * (rank == slow ? 2.0 : 1.0));
            came_ns[function * calls + i] = now_ns();
            call(function, buffer);
            left_ns[function * calls + i] = now_ns();
        }
    for (int function = 0; function < FUNCTIONS; function++) {
        const size_t first = (size_t)function * (size_t)calls;
        tell(names[function], came_ns + first, left_ns + first, calls);
    }
    free(buffer);
    free(came_ns);
    free(left_ns);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
