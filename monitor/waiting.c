#include "monitor/waiting.h"

#include "common/mpi/mpi_check.h"
#include "monitor/rooted.h"

#include <math.h>

/* How many standard errors the interval of a waiting time reaches. */
#define ERRORS 2.0

/* The same on all ranks of the communicator. INT64_MAX if there is nobody to compare with. */
static int64_t key_of(const struct late_series *series)
{
    const struct communicator *const on = &communicators[series->communicator];
    if (on->processes < 2 || on->is_inter || series->communicator == OTHER_COMMUNICATORS)
        return INT64_MAX;
    const uint64_t key =
        (on->identity ^ (uint64_t)series->kind) * UINT64_C(0x9e3779b97f4a7c15) + on->identity;
    return (int64_t)(key >> 2);
}

static enum rooted_wait wait_in(const struct late_series *series)
{
    return operation_rooted_wait((enum operation_kind)series->kind);
}

/* The series, of rooted collectives or of those that synchronise, with the smallest key above
   `key`. NULL: there is none. */
static const struct late_series *series_after(const struct late *late, int64_t key, bool rooted)
{
    const struct late_series *next = NULL;
    for (int i = 0; late != NULL && i < late->count; i++) {
        const struct late_series *const series = &late->series[i];
        const int64_t own = key_of(series);
        if ((wait_in(series) != NOT_ROOTED) == rooted && own != INT64_MAX && own > key &&
            (next == NULL || own < key_of(next)))
            next = series;
    }
    return next;
}

/* What a rank waited in the calls of a series. */
struct waited {
    double s, lo_s, hi_s;
    int64_t last_calls;
};

static void set_waited(struct rows *rows, const struct late_series *series,
                       const struct waited *waited, int rank)
{
    const uint64_t identity = communicators[series->communicator].identity;
    for (int i = 0; i < rows->count; i++) {
        MPIX_Monitor_row *const row = &rows->rows[i].row;
        if (rows->rows[i].kind != KIND_COLL || rows->rows[i].identity != identity ||
            rows->rows[i].operation != series->kind)
            continue;
        row->waited_s = row->least_waited_s = waited->s;
        row->waited_lo_s = fmax(0.0, waited->lo_s);
        row->waited_hi_s = fmax(waited->s, waited->hi_s);
        row->last_calls = waited->last_calls;
        row->last_rank = rank;
    }
}

/* Whether all ranks of the communicator have the series, of which `ranks` have it. */
static bool is_whole(const struct late_series *series, int ranks)
{
    return series != NULL && ranks == communicators[series->communicator].processes;
}

/* In how many of all calls a rank came last, from those that were kept. */
static int64_t last_of_all(const struct late_series *series, int64_t last)
{
    return llround((double)last * (double)series->calls / (double)series->kept);
}

static struct waited waited_of(const struct late_series *series, const struct late_waiting *waiting)
{
    const double calls_s = (double)waiting->calls * ticks_ns() * 1e-9;
    const double error_ticks = ERRORS * waiting->error_ticks + waiting->skew_ticks;
    return (struct waited){
        .s = waiting->mean_ticks * calls_s,
        .lo_s = (waiting->mean_ticks - error_ticks) * calls_s,
        .hi_s = (waiting->mean_ticks + error_ticks) * calls_s,
        .last_calls = last_of_all(series, waiting->last),
    };
}

void rows_find_late(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm)
{
    int rank;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    for (int64_t key = -1;;) {
        const struct late_series *const own = series_after(snapshot->late, key, false);
        const int64_t own_key = own != NULL ? key_of(own) : INT64_MAX;
        struct late_waiting waiting;
        key = late_next_key(own_key, comm);
        if (key == INT64_MAX)
            return;
        const struct late_series *const series = own_key == key ? own : NULL;
        if (late_compare(series, comm, &waiting) && is_whole(series, waiting.ranks)) {
            const struct waited waited = waited_of(series, &waiting);
            set_waited(rows, series, &waited, rank);
        }
    }
}

/* ---- rooted collectives ---------------------------------------------------------------------- */

static struct waited waited_of_rooted(const struct late_series *series,
                                      const struct rooted_waiting *waiting)
{
    const double calls_s = (double)waiting->calls * 1e-9;
    return (struct waited){
        .s = waiting->mean_ns * calls_s,
        .lo_s = (waiting->lo_ns - ERRORS * waiting->error_ns) * calls_s,
        .hi_s = (waiting->hi_ns + ERRORS * waiting->error_ns) * calls_s,
        .last_calls = last_of_all(series, waiting->last),
    };
}

/* Calls of several processes, be they compared with others or not. */
static int64_t rooted_calls(const struct late *late)
{
    int64_t calls = 0;
    for (int i = 0; late != NULL && i < late->count; i++)
        if (wait_in(&late->series[i]) != NOT_ROOTED &&
            communicators[late->series[i].communicator].processes != 1)
            calls += late->series[i].calls;
    return calls;
}

/* Compares the clocks. Returns this rank's. */
static struct common_clock find_clock(struct rows *rows, MPI_Comm comm)
{
    struct common_clock clock;
    rows->clock_comparisons = common_clock_find(comm, &clock);
    const double error_ns = fmax(clock.first_error_ns, clock.last_error_ns);
    BC_MPI(PMPI_Allreduce(&error_ns, &rows->clock_error_ns, 1, MPI_DOUBLE, MPI_MAX, comm));
    return clock;
}

void rows_find_late_rooted(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm)
{
    int rank;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    const struct common_clock clock = find_clock(rows, comm);
    int64_t untold = rooted_calls(snapshot->late);
    for (int64_t key = -1;;) {
        const struct late_series *const own = series_after(snapshot->late, key, true);
        const int64_t own_key = own != NULL ? key_of(own) : INT64_MAX;
        struct rooted_waiting waiting;
        key = late_next_key(own_key, comm);
        if (key == INT64_MAX)
            break;
        const struct late_series *const series = own_key == key ? own : NULL;
        const bool root_waits = series != NULL && wait_in(series) == THE_ROOT_WAITS;
        if (rooted_compare(series, root_waits, &clock, comm, &waiting) &&
            is_whole(series, waiting.ranks)) {
            const struct waited waited = waited_of_rooted(series, &waiting);
            set_waited(rows, series, &waited, rank);
            untold -= series->calls;
        }
    }
    BC_MPI(PMPI_Allreduce(&untold, &rows->untold_rooted, 1, MPI_INT64_T, MPI_SUM, comm));
}
