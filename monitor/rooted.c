#include "monitor/rooted.h"

#include "common/mpi/mpi_check.h"

#include <math.h>

/* What is known of each call, the maxima over ranks. */
static struct known {
    double root_ns[LATE_KEPT_MAX];       /* entry of the root; -INFINITY: there is none */
    double root_error_ns[LATE_KEPT_MAX]; /* how far these clocks may be off */
    double others_error_ns[LATE_KEPT_MAX];
} known;

/* The last of the other ranks. */
static struct timed {
    double entry_ns;
    int rank;
} last[LATE_KEPT_MAX];

static double waited_ns[LATE_KEPT_MAX];

/* Sets what this rank knows of a call. */
static void set_own(const struct late_series *series, int i, const struct common_clock *clock,
                    int rank)
{
    known.root_ns[i] = -INFINITY;
    known.root_error_ns[i] = known.others_error_ns[i] = 0.0;
    last[i] = (struct timed){-INFINITY, rank};
    if (series == NULL)
        return;
    const struct late_entry *const entry = &series->entry[i];
    const double entry_ns = common_clock_ns(clock, entry->ticks);
    const double error_ns = common_clock_error_ns(clock, entry->ticks);
    if (entry->is_root) {
        known.root_ns[i] = entry_ns;
        known.root_error_ns[i] = error_ns;
        return;
    }
    known.others_error_ns[i] = error_ns;
    last[i].entry_ns = entry_ns;
}

static void set_all(const struct late_series *series, const struct common_clock *clock, int kept,
                    int rank, MPI_Comm comm)
{
    double *const parts[] = {known.root_ns, known.root_error_ns, known.others_error_ns};
    for (int i = 0; i < kept; i++)
        set_own(series, i, clock, rank);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        BC_MPI(PMPI_Allreduce(MPI_IN_PLACE, parts[k], kept, MPI_DOUBLE, MPI_MAX, comm));
    BC_MPI(PMPI_Allreduce(MPI_IN_PLACE, last, kept, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
}

/* Whether this rank came last in a call, and others waited for it. */
static bool came_late(const struct late_entry *entry, int i, bool root_waits, int rank)
{
    if (root_waits)
        return !entry->is_root && last[i].rank == rank && last[i].entry_ns > known.root_ns[i];
    return entry->is_root && last[i].entry_ns > -INFINITY && known.root_ns[i] > last[i].entry_ns;
}

static double within(double waited, double max) { return fmin(fmax(waited, 0.0), max); }

static void summarize(const struct late_series *series, bool root_waits,
                      const struct common_clock *clock, int rank, struct rooted_waiting *waiting)
{
    for (int i = 0; i < series->kept; i++) {
        const struct late_entry *const entry = &series->entry[i];
        waiting->last += came_late(entry, i, root_waits, rank);
        waited_ns[i] = 0.0;
        if (entry->is_root != root_waits)
            continue;
        const double until_ns = root_waits ? last[i].entry_ns : known.root_ns[i];
        const double took_ns = common_clock_length_ns(series->call[i].ticks);
        const double longer_ns = until_ns - common_clock_ns(clock, entry->ticks);
        const double error_ns = common_clock_error_ns(clock, entry->ticks) +
                                (root_waits ? known.others_error_ns[i] : known.root_error_ns[i]);
        waited_ns[i] = within(longer_ns, took_ns);
        waiting->lo_ns += within(longer_ns - error_ns, took_ns) / series->kept;
        waiting->hi_ns += within(longer_ns + error_ns, took_ns) / series->kept;
    }
    const struct late_mean mean =
        late_mean(series, waited_ns, root_waits, common_clock_length_ns(1 << 20) / (1 << 20));
    waiting->mean_ns = fmax(0.0, mean.mean);
    waiting->error_ns = mean.error;
    waiting->lo_ns += mean.shift;
    waiting->hi_ns += mean.shift;
}

bool rooted_compare(const struct late_series *series, bool root_waits,
                    const struct common_clock *clock, MPI_Comm comm, struct rooted_waiting *waiting)
{
    int rank, kept;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    *waiting = (struct rooted_waiting){.calls = series != NULL ? series->calls : 0};
    if (!late_kept_alike(series, comm, &waiting->ranks, &kept))
        return false;
    set_all(series, clock, kept, rank, comm);
    /* The ranks may have kept calls of other roots, or the root be none of them. */
    for (int i = 0; i < kept; i++)
        if (!(known.root_ns[i] > -INFINITY))
            return false;
    if (series != NULL)
        summarize(series, root_waits, clock, rank, waiting);
    return true;
}
