#include "monitor/waiting.h"

#include "common/mpi/mpi_check.h"

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

/* The series with the smallest key above `key`. NULL: there is none. */
static const struct late_series *series_after(const struct late *late, int64_t key)
{
    const struct late_series *next = NULL;
    for (int i = 0; late != NULL && i < late->count; i++) {
        const struct late_series *const series = &late->series[i];
        const int64_t own = key_of(series);
        if (own != INT64_MAX && own > key && (next == NULL || own < key_of(next)))
            next = series;
    }
    return next;
}

static void set_waited(struct rows *rows, const struct late_series *series,
                       const struct late_waiting *waiting, int rank)
{
    const uint64_t identity = communicators[series->communicator].identity;
    const double calls_s = (double)waiting->calls * ticks_ns() * 1e-9;
    const double error_ticks = ERRORS * waiting->error_ticks + waiting->skew_ticks;
    for (int i = 0; i < rows->count; i++) {
        MPIX_Monitor_row *const row = &rows->rows[i].row;
        if (rows->rows[i].kind != KIND_COLL || rows->rows[i].identity != identity ||
            rows->rows[i].operation != series->kind)
            continue;
        row->waited_s = waiting->mean_ticks * calls_s;
        row->waited_lo_s = fmax(0.0, waiting->mean_ticks - error_ticks) * calls_s;
        row->waited_hi_s = (waiting->mean_ticks + error_ticks) * calls_s;
        row->last_calls = waiting->last;
        row->last_rank = rank;
    }
}

void rows_find_late(struct rows *rows, const struct snapshot *snapshot, MPI_Comm comm)
{
    int rank;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    for (int64_t key = -1;;) {
        const struct late_series *const own = series_after(snapshot->late, key);
        const int64_t own_key = own != NULL ? key_of(own) : INT64_MAX;
        struct late_waiting waiting;
        key = late_next_key(own_key, comm);
        if (key == INT64_MAX)
            return;
        const struct late_series *const series = own_key == key ? own : NULL;
        if (late_compare(series, comm, &waiting) && series != NULL &&
            waiting.ranks == communicators[series->communicator].processes)
            set_waited(rows, series, &waiting, rank);
    }
}
