/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/contention.h"

#include "common/clock/clock.h"
#include "common/job/limits.h"
#include "common/mpi/harness.h"
#include "common/result/warnings.h"

#include <math.h>
#include <mpi.h>

/* A row gets a warning if a rank waited for a larger share of its time. Below that the median
   doesn't move; the services of a quiet system take less than 1 %. */
#define WAITED_SHARE_MAX 0.05

/* A shorter wait gets no warning, unless its share exceeds WAITED_SHARE_MUCH: a service that wakes
   up now and then is no competitor. */
#define WAITED_S_MIN 0.005
#define WAITED_SHARE_MUCH 0.25

/* The run gets a warning if a host took more than STOLEN_SHARE_MAX of the busy ticks, and at least
   STOLEN_TICKS_MIN ticks. */
#define STOLEN_SHARE_MAX 0.05
#define STOLEN_TICKS_MIN 10

/* ---- the kernel's counters ------------------------------------------------------------------- */

static struct bc_ticks read_ticks(void)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COUNT };
    int64_t of[COUNT];
    if (!bc_system_numbers(of, COUNT, "cpu ", "/proc/stat"))
        return (struct bc_ticks){0, 0};
    const int64_t used = of[USER] + of[NICE] + of[SYSTEM] + of[IRQ] + of[SOFTIRQ];
    return (struct bc_ticks){.stolen = of[STEAL], .busy = used + of[STEAL]};
}

/* ---- a rank ---------------------------------------------------------------------------------- */

void bc_contention_begin(struct bc_contention *contention)
{
    contention->ticks = read_ticks();
    bc_contention_look(contention, NULL);
}

double bc_waited_share(const struct bc_waits *waits)
{
    const double share = waits->seconds > 0.0 ? waits->waited_s / waits->seconds : 0.0;
    const bool is_long =
        share > WAITED_SHARE_MUCH || (share > WAITED_SHARE_MAX && waits->waited_s >= WAITED_S_MIN);
    return waits->unknown || !is_long ? 0.0 : fmin(share, 1.0);
}

void bc_contention_look(struct bc_contention *contention, struct bc_waits *waits)
{
    const struct bc_contention before = *contention;
    int64_t ns[2]; /* time on a processor; time waiting for one */
    const bool known = bc_system_numbers(ns, 2, "", "/proc/thread-self/schedstat");
    contention->waited_ns = known ? ns[1] : -1;
    contention->looked_s = bc_elapsed_s();
    if (waits == NULL)
        return;
    waits->seconds += contention->looked_s - before.looked_s;
    if (contention->waited_ns >= 0 && before.waited_ns >= 0)
        waits->waited_s += (double)(contention->waited_ns - before.waited_ns) * 1e-9;
    else
        waits->unknown = true;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Returns the largest of the ranks' values with its rank, on rank 0. Collective. */
static struct bc_located max_over_ranks(double value, const struct bc_job *job)
{
    const struct bc_located own = {value, job->rank};
    struct bc_located max = {0.0, 0};
    bc_harness_reduce(&own, &max, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    return max;
}

void bc_contention_row(const struct bc_waits *waits, const struct bc_job *job,
                       struct bc_output *output, int64_t row)
{
    if (job->shares_processors)
        return;
    const struct bc_located max = max_over_ranks(bc_waited_share(waits), job);
    if (max.value > 0.0)
        bc_output_disturbed(output, 100.0 * max.value, BC_WARNING_WAITED, (long long)row, max.rank,
                            100.0 * max.value);
}

void bc_contention_end(const struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output)
{
    const struct bc_ticks now = read_ticks();
    const double stolen = (double)(now.stolen - contention->ticks.stolen);
    const double busy = (double)(now.busy - contention->ticks.busy);
    const double share = stolen >= STOLEN_TICKS_MIN ? stolen / busy : 0.0;
    const struct bc_located max = max_over_ranks(share, job);
    if (max.value > STOLEN_SHARE_MAX)
        bc_output_remark(output, BC_WARNING_STOLEN, 100.0 * max.value, max.rank);
}
