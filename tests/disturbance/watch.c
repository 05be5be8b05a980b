/*
 * What a rank sees of stops. Writes to PREFIX.RANK a line for each interval that it timed: its
 * beginning in CLOCK_MONOTONIC and its length, both in ns, with a tab between. The first line is of
 * the whole watch.
 *
 * usage: disturbance_watch PREFIX SECONDS gaps|child|work|short_work|barrier|iallreduce|naps
 *   gaps        readings of the clock: those more than 1 us after the one before
 *   child       the same, of a child of the rank, which waits for it
 *   work        10,000 units of work, which take about 20 us
 *   short_work  a tenth of that
 *   barrier     MPI_Barrier
 *   iallreduce  MPI_Iallreduce and its MPI_Wait
 *   naps        nanosleep of 5 ms
 */
#include "common/clock/clock.h"
#include "common/clock/work.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GAP_NS = 1000, UNITS = 10000, NAP_NS = 5000000, INTERVALS_MAX = 4000000 };

struct interval {
    int64_t begin_ns;
    int64_t length_ns;
};

static struct interval intervals[INTERVALS_MAX];
static size_t interval_count;
static int rank;

static void note(int64_t begin_ns, int64_t end_ns)
{
    if (interval_count < INTERVALS_MAX)
        intervals[interval_count++] = (struct interval){begin_ns, end_ns - begin_ns};
}

static void work(void) { bc_work(UNITS); }

static void short_work(void) { bc_work(UNITS / 10); }

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void iallreduce(void)
{
    double mine = 1.0, sum;
    MPI_Request request;
    MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void nap(void) { bc_sleep_ns(NAP_NS); }

static const struct mode {
    const char *name;
    void (*act)(void); /* NULL: nothing, of which the gaps are noted */
    bool in_child;
} modes[] = {
    {"gaps", NULL, false},       {"child", NULL, true},
    {"work", work, false},       {"short_work", short_work, false},
    {"barrier", barrier, false}, {"iallreduce", iallreduce, false},
    {"naps", nap, false},
};

static void watch_gaps(int64_t end_ns)
{
    int64_t last_ns = bc_now_ns();
    while (last_ns < end_ns) {
        const int64_t now_ns = bc_now_ns();
        if (now_ns - last_ns > GAP_NS)
            note(last_ns, now_ns);
        last_ns = now_ns;
    }
}

/* As often on all ranks: rank 0 knows when it's time. */
static void watch_actions(void (*act)(void), int64_t end_ns)
{
    enum { AT_ONCE = 50 };
    int goes_on = 1;
    while (goes_on) {
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t begin_ns = bc_now_ns();
            act();
            note(begin_ns, bc_now_ns());
        }
        goes_on = bc_now_ns() < end_ns;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void watch(void (*act)(void), double seconds)
{
    const int64_t begin_ns = bc_now_ns();
    const int64_t end_ns = begin_ns + (int64_t)(seconds * 1e9);
    interval_count = 1;
    if (act == NULL)
        watch_gaps(end_ns);
    else
        watch_actions(act, end_ns);
    intervals[0] = (struct interval){begin_ns, bc_now_ns() - begin_ns};
}

static void write_intervals(const char *prefix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < interval_count; i++)
        fprintf(file, "%" PRId64 "\t%" PRId64 "\n", intervals[i].begin_ns, intervals[i].length_ns);
    if (fclose(file) != 0)
        exit(EXIT_FAILURE);
}

static void run(const struct mode *mode, const char *prefix, double seconds)
{
    const pid_t child = mode->in_child ? fork() : 0;
    if (child != 0) {
        waitpid(child, NULL, 0);
        return;
    }
    watch(mode->act, seconds);
    write_intervals(prefix);
    if (mode->in_child)
        exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool is_known = false;
    for (size_t i = 0; argc == 4 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[3], modes[i].name) == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            run(&modes[i], argv[1], strtod(argv[2], NULL));
            is_known = true;
        }
    }
    if (!is_known)
        fprintf(stderr, "usage: disturbance_watch PREFIX SECONDS MODE\n");
    MPI_Finalize();
    return is_known ? EXIT_SUCCESS : EXIT_FAILURE;
}
