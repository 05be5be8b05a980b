/*
 * Ranks that come late to collectives, by times that it draws at random and knows: prints for each
 * function and rank what the rank waited in seconds, in how many calls others waited for it, and
 * for how many seconds the host stopped the ranks: within calls, which looks like waiting where
 * only times in calls tell of it; or, where calls have a root, so that others waited for them.
 * Knows nothing of the monitor. All ranks must run on one host, whose clock they share; where a
 * library shifts the clock of some (clock_shift.c) it takes that back.
 *
 * usage: late CALLS MAX_US SEED: CALLS calls of each of nine collectives, before each of which a
 *        rank works for up to MAX_US, the rank that the seed chooses for up to twice as long; the
 *        roots change from call to call
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum function {
    BARRIER,
    ALLREDUCE,
    ALLTOALL,
    BCAST,
    SCATTER,
    SCATTERV,
    GATHER,
    GATHERV,
    REDUCE,
    FUNCTIONS
};
static const char *const names[FUNCTIONS] = {
    "MPI_Barrier",  "MPI_Allreduce", "MPI_Alltoall", "MPI_Bcast",  "MPI_Scatter",
    "MPI_Scatterv", "MPI_Gather",    "MPI_Gatherv",  "MPI_Reduce",
};

static int rank, ranks;
static int *ones, *places; /* counts and displacements of the blocks of all ranks */
static MPI_Comm comm;
static uint64_t random_state, roots_state;

typedef int64_t unshift_fn(int64_t shifted_ns);
static unshift_fn *unshift; /* NULL: nothing shifts the clock */

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same on all ranks. */
static int64_t true_ns(void)
{
    const int64_t shown_ns = now_ns();
    return unshift != NULL ? unshift(shown_ns) : shown_ns;
}

/* From 0 to 1 (Knuth's MMIX generator). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void work(double us)
{
    const int64_t end_ns = now_ns() + (int64_t)(us * 1e3);
    while (now_ns() < end_ns)
        ;
}

static void call(enum function function, double *buffer, int root)
{
    double *const received = buffer + ranks;
    switch (function) {
    case BARRIER:
        MPI_Barrier(comm);
        break;
    case ALLREDUCE:
        MPI_Allreduce(buffer, received, 1, MPI_DOUBLE, MPI_SUM, comm);
        break;
    case ALLTOALL:
        MPI_Alltoall(buffer, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, comm);
        break;
    case BCAST:
        MPI_Bcast(buffer, 1, MPI_DOUBLE, root, comm);
        break;
    case SCATTER:
        MPI_Scatter(buffer, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, root, comm);
        break;
    case SCATTERV:
        MPI_Scatterv(buffer, ones, places, MPI_DOUBLE, received, 1, MPI_DOUBLE, root, comm);
        break;
    case GATHERV:
        MPI_Gatherv(buffer, 1, MPI_DOUBLE, received, ones, places, MPI_DOUBLE, root, comm);
        break;
    case GATHER:
        MPI_Gather(buffer, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, root, comm);
        break;
    case REDUCE:
        MPI_Reduce(buffer, received, 1, MPI_DOUBLE, MPI_SUM, root, comm);
        break;
    case FUNCTIONS:
        break;
    }
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

/* When this rank came to each call of a function and left it, and the root of each. */
struct calls {
    int count;
    int64_t *came_ns, *left_ns;
    int *roots;
};

/* What a rank knows of a function. What ranks tell each other for that isn't on `comm`. */
struct truth {
    int64_t waited_ns, stopped_ns;
    int came_last;
};

/* Ranks that work for up to twice a time come by no more than that times as much late: there are
   barriers in between. */
enum { STOPPED_TIMES = 20 };

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* All wait for the last one. */
static struct truth truth_of_synchronising(const struct calls *calls)
{
    struct truth truth = {0};
    int64_t *const last_ns = malloc((size_t)calls->count * sizeof *last_ns);
    MPI_Reduce(calls->came_ns, last_ns, calls->count, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(last_ns, calls->count, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < calls->count; i++) {
        truth.waited_ns += last_ns[i] - calls->came_ns[i];
        truth.came_last += last_ns[i] == calls->came_ns[i];
        calls->left_ns[i] -= last_ns[i];
    }
    truth.stopped_ns = stopped_ns(calls->left_ns, calls->count);
    MPI_Allreduce(MPI_IN_PLACE, &truth.stopped_ns, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    free(last_ns);
    return truth;
}

/* Of each call: when the last of the ranks came that wait or, if `waits` isn't set, of those that
   they wait for; INT64_MIN where this rank isn't one of them, or where there are none. */
static int64_t *arrivals(const struct calls *calls, bool root_waits, bool waits, bool first)
{
    int64_t *const came_ns = malloc((size_t)calls->count * sizeof *came_ns);
    for (int i = 0; i < calls->count; i++) {
        const bool is_one = ((calls->roots[i] == rank) == root_waits) == waits;
        came_ns[i] = !is_one ? INT64_MIN : first ? -calls->came_ns[i] : calls->came_ns[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, came_ns, calls->count, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return came_ns;
}

/* The root waits for the last of the others, or the others for the root. A rank that waits for
   longer than limit_ns waits for one that was stopped. */
static struct truth truth_of_rooted(const struct calls *calls, bool root_waits, int64_t limit_ns)
{
    struct truth truth = {0};
    int64_t *const last_ns = arrivals(calls, root_waits, false, false);
    int64_t *const minus_first_ns = arrivals(calls, root_waits, true, true); /* who waits */
    for (int i = 0; i < calls->count; i++) {
        const int64_t came_ns = calls->came_ns[i];
        const int64_t until_ns = min_of(last_ns[i], calls->left_ns[i]);
        if ((calls->roots[i] == rank) != root_waits)
            truth.came_last += came_ns == last_ns[i] && came_ns > -minus_first_ns[i];
        else if (until_ns > came_ns) {
            truth.waited_ns += until_ns - came_ns;
            truth.stopped_ns += until_ns - came_ns > limit_ns ? until_ns - came_ns : 0;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &truth.stopped_ns, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    free(last_ns);
    free(minus_first_ns);
    return truth;
}

static void tell(enum function function, const struct calls *calls, double max_us)
{
    const char *const name = names[function];
    const int64_t limit_ns = (int64_t)(STOPPED_TIMES * max_us * 1e3);
    const struct truth truth = function < BCAST
                                   ? truth_of_synchronising(calls)
                                   : truth_of_rooted(calls, function >= GATHER, limit_ns);
    const int64_t waited_ns = truth.waited_ns, stops_ns = truth.stopped_ns;
    const int came_last = truth.came_last;
    int64_t *const all_ns = malloc((size_t)ranks * sizeof *all_ns);
    int *const all_last = malloc((size_t)ranks * sizeof *all_last);
    MPI_Gather(&waited_ns, 1, MPI_INT64_T, all_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Gather(&came_last, 1, MPI_INT, all_last, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; r++)
        printf("%s %d %.9f %d %.9f\n", name, r, (double)all_ns[r] * 1e-9, all_last[r],
               (double)stops_ns * 1e-9);
    free(all_ns);
    free(all_last);
}

static struct calls make_calls(int count)
{
    return (struct calls){
        .count = count,
        .came_ns = malloc((size_t)count * sizeof(int64_t)),
        .left_ns = malloc((size_t)count * sizeof(int64_t)),
        .roots = malloc((size_t)count * sizeof(int)),
    };
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
    roots_state = strtoull(argv[3], NULL, 10) * 1000003 + 104729;
    for (int i = 0; i < 10; i++)
        (void)draw(&random_state);
    *(void **)&unshift = dlsym(RTLD_DEFAULT, "clock_shift_undo");
    ones = malloc((size_t)ranks * sizeof *ones);
    places = malloc((size_t)ranks * sizeof *places);
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        places[i] = i;
    }
    double *const buffer = calloc(2 * (size_t)ranks, sizeof *buffer);
    struct calls of[FUNCTIONS];
    for (int function = 0; function < FUNCTIONS; function++)
        of[function] = make_calls(calls);
    for (int i = 0; i < calls; i++)
        for (int function = 0; function < FUNCTIONS; function++) {
            const struct calls *const all = &of[function];
            work(max_us * draw(&random_state) * (rank == slow ? 2.0 : 1.0));
            all->roots[i] = (int)(draw(&roots_state) * ranks);
            all->came_ns[i] = true_ns();
            call((enum function)function, buffer, all->roots[i]);
            all->left_ns[i] = true_ns();
        }
    for (int function = 0; function < FUNCTIONS; function++) {
        tell((enum function)function, &of[function], max_us);
        free(of[function].came_ns);
        free(of[function].left_ns);
        free(of[function].roots);
    }
    free(ones);
    free(places);
    free(buffer);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
