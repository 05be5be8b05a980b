/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/waiting.h"

#include "common/mpi/mpi_check.h"
#include "monitor/lib/report/common_clock.h"
#include "monitor/lib/report/compare.h"

#include <math.h>
#include <stdlib.h>

/* Half-width of the interval of a waiting time, in standard errors. */
#define ERRORS 2.0

/* Returns a key that is the same on all ranks of the communicator. */
static int64_t key_of(const struct late_series *series)
{
    const struct communicator *const on = &communicators[series->communicator];
    const uint64_t key =
        (on->identity ^ (uint64_t)series->kind) * UINT64_C(0x9e3779b97f4a7c15) + on->identity;
    return (int64_t)(key >> 2);
}

static enum late_wait wait_in(const struct late_series *series)
{
    return operation_wait((enum operation_kind)series->kind);
}

static int by_key(const void *first, const void *second)
{
    const struct late_item *const a = first, *const b = second;
    return (a->key > b->key) - (a->key < b->key);
}

/* Lists the series of rooted collectives, or of those that synchronise. Returns their number. */
static int list(const struct late *late, bool rooted, double *site_waited_s,
                struct late_item items[LATE_SERIES_MAX])
{
    int count = 0;
    for (int i = 0; late != NULL && i < late->count; i++) {
        const struct late_series *const series = &late->series[i];
        if ((wait_in(series) != ALL_WAIT) == rooted)
            items[count++] = (struct late_item){
                .key = key_of(series),
                .processes = communicators[series->communicator].processes,
                .series = series,
                .wait = wait_in(series),
                .site_waited_s = site_waited_s,
            };
    }
    qsort(items, (size_t)count, sizeof *items, by_key);
    return count;
}

/* Extrapolates from the calls that were kept to all calls: how often a rank came last. */
static int64_t last_of_all(const struct late_series *series, int64_t last)
{
    return llround((double)last * (double)series->calls / (double)series->kept);
}

/* Sets the waiting of this rank in the calls of a series, if that is known. */
static void set_waited(struct rows *rows, const struct late_series *series,
                       const struct late_waiting *waiting, int rank)
{
    const uint64_t identity = communicators[series->communicator].identity;
    const double calls_s = (double)series->calls * 1e-9, error_ns = ERRORS * waiting->error_ns;
    for (int i = 0; waiting->is_known && i < rows->count; i++) {
        MPIX_Monitor_row *const row = &rows->rows[i].row;
        if (rows->rows[i].kind != KIND_COLL || rows->rows[i].identity != identity ||
            rows->rows[i].operation != series->kind)
            continue;
        row->waited_s = row->least_waited_s = waiting->mean_ns * calls_s;
        row->waited_lo_s = fmax(0.0, (waiting->lo_ns - error_ns) * calls_s);
        row->waited_hi_s = fmax(row->waited_s, (waiting->hi_ns + error_ns) * calls_s);
        row->waited_files_s = waiting->files_share * row->waited_s;
        row->last_calls = last_of_all(series, waiting->came_last);
        row->last_rank = rank;
    }
}

/* Compares the ranks' calls in rooted collectives, or in those that synchronise. Returns for how
   many of this rank's calls the waiting is known. */
static int64_t find_waiting(struct rows *rows, const struct late *late, bool rooted,
                            double *site_waited_s, MPI_Comm comm)
{
    int rank;
    int64_t calls = 0;
    struct late_item items[LATE_SERIES_MAX];
    struct late_waiting waiting[LATE_SERIES_MAX];
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    const int count = list(late, rooted, site_waited_s, items);
    late_compare(count, items, ticks_ns(), comm, waiting);
    for (int i = 0; i < count; i++) {
        set_waited(rows, items[i].series, &waiting[i], rank);
        calls += waiting[i].is_known ? items[i].series->calls : 0;
    }
    return calls;
}

/* Returns the calls of rooted collectives of several processes, compared with others or not. */
static int64_t rooted_calls(const struct late *late)
{
    int64_t calls = late != NULL ? late->not_compared : 0;
    for (int i = 0; late != NULL && i < late->count; i++)
        if (wait_in(&late->series[i]) != ALL_WAIT)
            calls += late->series[i].calls;
    return calls;
}

/* Finds the waiting in rooted collectives, for which it compares the clocks. */
static void find_rooted(struct rows *rows, const struct late *late, double *site_waited_s,
                        const struct bc_job *job, MPI_Comm comm)
{
    rows->clock_comparisons = common_clock_compare(job);
    const double error_ns = common_clock_max_error_ns();
    BC_MPI(PMPI_Allreduce(&error_ns, &rows->clock_error_ns, 1, MPI_DOUBLE, MPI_MAX, comm));
    const int64_t unknown =
        rooted_calls(late) - find_waiting(rows, late, true, site_waited_s, comm);
    BC_MPI(PMPI_Allreduce(&unknown, &rows->unknown_rooted, 1, MPI_INT64_T, MPI_SUM, comm));
}

void rows_find_late(struct rows *rows, const struct snapshot *snapshot, const struct bc_job *job,
                    MPI_Comm comm)
{
    static double site_waited_s[SITES_MAX];
    for (int number = 0; number < SITES_MAX; number++)
        site_waited_s[number] = NAN;
    (void)find_waiting(rows, snapshot->late, false, site_waited_s, comm);
    if (job != NULL)
        find_rooted(rows, snapshot->late, site_waited_s, job, comm);
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind == KIND_SITE)
            rows->rows[i].row.waited_s = site_waited_s[rows->rows[i].order];
    /* File calls are followed only together with the other calls. */
    for (int i = 0; !snapshot->asked.calls && i < rows->count; i++)
        rows->rows[i].row.waited_files_s = NAN;
}
