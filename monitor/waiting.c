/*
 * What ranks waited for late ones, from the calls that each rank kept (late.h).
 *
 * Where each rank needs data of every other one, nobody leaves a collective before the last one has
 * come. So of the ranks' times in a call the shortest is that of the rank that came last: the
 * call's own cost; what a rank's time is longer is waiting. No clock is shared for that, but the
 * times of all ranks are in nanoseconds, since their ticks may differ. A call in which any rank
 * needs nothing of another one, as blocks are empty, tells no waiting: who needs nothing may leave
 * at once.
 *
 * A rooted collective may return before the other ranks have come, so times in it
 * tell nothing. With a clock that all ranks share (common_clock.h) the times of entry do: a rank
 * has waited from its own entry until the root's, or the root until that of the last of the others,
 * but no longer than until its call returned. That is waiting for those at whom the data starts:
 * what a rank waits for one that passes the data on, as trees of messages do, isn't in it.
 *
 * Ranks hand what they know up a binomial tree of all ranks, a series after the other by rising
 * key, until a rank has that of all of the communicator's processes; that one hands the result
 * back. Each rank sends and receives for a series of its own, and for those that it passes on, two
 * messages for each rank below it: no collectives, and no memory that grows with the ranks.
 *
 * The time of all calls together is known. Mostly what makes a call long is waiting, so that the
 * time of all tells more of the waiting in all than the calls that were kept do by themselves: few
 * long ones may be among these or not (the regression estimator: W. G. Cochran, "Sampling
 * Techniques", 3rd edition, 1977, chapter 7).
 */
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"
#include "monitor/common_clock.h"
#include "monitor/report.h"

#include <math.h>
#include <stdlib.h>

/* A series of this rank that is compared with those of the communicator's other ranks. */
struct late_item {
    int64_t key; /* the same on all these ranks, of no other series, below INT64_MAX */
    int processes;
    const struct late_series *series;
    enum late_wait wait;
};

/* What a rank waited in the calls of a series, in ns a call. */
struct late_waiting {
    bool is_known; /* false: not all ranks have kept the same calls, or in none all waited, or the
                      root is none of the ranks */
    double mean_ns;
    double lo_ns, hi_ns; /* means, too: as far as clocks or the ranks' leaving are known */
    double error_ns;     /* standard error of the mean, for the calls that were not kept */
    int64_t came_last;   /* calls in which this rank came last, of those that were kept */
};

/* What is known of a call: of one rank, then the maxima over ranks. */
struct known {
    double root_ns; /* entry of the root; -INFINITY: there is none */
    double last_ns; /* entry of the last of the others; the same. Not rooted: the shortest time of a
                       rank, below 0; INFINITY if a rank may leave before others come */
    double root_error_ns, others_error_ns; /* how far these clocks may be off */
    int last_rank;
};

/* This rank in a comparison, and in the tree of ranks. */
struct comparison {
    double tick_ns;
    const struct common_clock *clock;
    MPI_Comm comm;
    int rank, children;
    struct child {
        int rank;
        struct head {
            int64_t key; /* INT64_MAX: there are no more series */
            int64_t calls, ranks;
            int32_t kept; /* 0: ranks have counted or kept other calls */
            int32_t processes;
        } next; /* what ranks at and below it have of the next series */
    } child[31];
};

/* ---- the mean of all calls ------------------------------------------------------------------- */

/* A mean over all calls of a series. */
struct late_mean {
    double mean;
    double error; /* standard error, for the calls that were not kept */
    double shift; /* by how much it differs from the mean of the calls that were kept */
};

/* Sums over the calls that were kept of one part. */
struct sums {
    int calls;
    double waited, ticks;                           /* sums */
    double waited_squares, ticks_squares, products; /* of distances from the means */
};

static struct sums sums_of(const struct late_series *series, const double waited[],
                           enum late_part part)
{
    struct sums sums = {0};
    for (int i = 0; i < series->kept; i++)
        if (series->call[i].part == part) {
            sums.calls++;
            sums.waited += waited[i];
            sums.ticks += (double)series->call[i].ticks;
        }
    for (int i = 0; i < series->kept; i++)
        if (series->call[i].part == part) {
            const double more = waited[i] - sums.waited / sums.calls;
            const double longer = (double)series->call[i].ticks - sums.ticks / sums.calls;
            sums.waited_squares += more * more;
            sums.ticks_squares += longer * longer;
            sums.products += more * longer;
        }
    return sums;
}

/* The mean of what a rank waited, from what it waited in each of the calls that the series kept, in
   any unit, of which a tick has `tick`. It waits only where it has this part. */
static struct late_mean late_mean(const struct late_series *series, const double waited[],
                                  enum late_part part, double tick)
{
    const struct sums sums = sums_of(series, waited, part);
    const struct late_sum *const all = &series->of_part[part];
    const double mean_of_kept = sums.waited / series->kept;
    if (series->kept == series->calls || (sums.calls < 3 && all->calls == sums.calls))
        return (struct late_mean){.mean = mean_of_kept};
    /* Too few were kept to tell how they differ: all of the time may have been waiting, or none. */
    if (sums.calls < 3)
        return (struct late_mean){mean_of_kept, tick * (double)all->ticks / (double)series->calls,
                                  0.0};
    /* How much more a rank waits in a call that takes one tick longer. */
    const double slope = sums.ticks_squares > 0.0 ? sums.products / sums.ticks_squares : 0.0;
    const double longer = (double)all->ticks / (double)all->calls - sums.ticks / sums.calls;
    const double unexplained = fmax(0.0, sums.waited_squares - slope * sums.products);
    const double left_out = 1.0 - (double)sums.calls / (double)all->calls;
    const double share = (double)all->calls / (double)series->calls;
    const double mean = share * (sums.waited / sums.calls + slope * longer);
    return (struct late_mean){
        .mean = mean,
        .error = share * sqrt(unexplained / (sums.calls - 2) / sums.calls * left_out),
        .shift = mean - mean_of_kept,
    };
}

/* ---- of a call ------------------------------------------------------------------------------- */

static double waited_ns[LATE_KEPT_MAX], shortest_ns[LATE_KEPT_MAX];

static double took_ns(const struct comparison *comparison, const struct late_call *call)
{
    return (double)call->ticks * comparison->tick_ns;
}

static struct known known_of(const struct comparison *comparison, enum late_wait wait,
                             const struct late_call *call)
{
    struct known known = {
        .root_ns = -INFINITY, .last_ns = -INFINITY, .last_rank = comparison->rank};
    if (wait == ALL_WAIT) {
        known.last_ns = call->part == LATE_MEMBER ? -took_ns(comparison, call) : INFINITY;
    } else if (call->part == LATE_ROOT) {
        known.root_ns = common_clock_ns(comparison->clock, call->entered);
        known.root_error_ns = common_clock_error_ns(comparison->clock, call->entered);
    } else if (call->part == LATE_MEMBER) {
        known.last_ns = common_clock_ns(comparison->clock, call->entered);
        known.others_error_ns = common_clock_error_ns(comparison->clock, call->entered);
    }
    return known;
}

static void keep_maxima(struct known *all, const struct known *other)
{
    all->root_ns = fmax(all->root_ns, other->root_ns);
    all->root_error_ns = fmax(all->root_error_ns, other->root_error_ns);
    all->others_error_ns = fmax(all->others_error_ns, other->others_error_ns);
    if (other->last_ns > all->last_ns ||
        (!(other->last_ns < all->last_ns) && other->last_rank < all->last_rank)) {
        all->last_ns = other->last_ns;
        all->last_rank = other->last_rank;
    }
}

/* ---- collectives that synchronise ------------------------------------------------------------ */

#define OWN_COST 0.05 /* quantile */

static struct late_waiting synchronised(const struct comparison *comparison,
                                        const struct late_item *item, const struct known known[])
{
    const struct late_series *const series = item->series;
    struct late_waiting waiting = {.is_known = false};
    size_t told = 0;
    for (int i = 0; i < series->kept; i++) {
        waited_ns[i] = 0.0;
        if (known[i].last_ns > 0.0)
            continue;
        shortest_ns[told++] = -known[i].last_ns;
        waited_ns[i] = took_ns(comparison, &series->call[i]) + known[i].last_ns;
        waiting.came_last += known[i].last_rank == comparison->rank;
    }
    if (told == 0)
        return waiting;
    const struct late_mean mean = late_mean(series, waited_ns, LATE_MEMBER, comparison->tick_ns);
    bc_sort(shortest_ns, told);
    const double skew_ns =
        bc_quantile(shortest_ns, told, OWN_COST) * (double)told / (double)series->kept;
    waiting.is_known = true;
    waiting.mean_ns = fmax(0.0, mean.mean);
    waiting.error_ns = mean.error;
    waiting.lo_ns = waiting.mean_ns - skew_ns;
    waiting.hi_ns = waiting.mean_ns + skew_ns;
    return waiting;
}

/* ---- rooted collectives ---------------------------------------------------------------------- */

static double within(double waited, double max) { return fmin(fmax(waited, 0.0), max); }

static struct late_waiting rooted(const struct comparison *comparison, const struct late_item *item,
                                  const struct known known[])
{
    const struct late_series *const series = item->series;
    const bool root_waits = item->wait == THE_ROOT_WAITS;
    const enum late_part waits = root_waits ? LATE_ROOT : LATE_MEMBER;
    struct late_waiting waiting = {.is_known = true};
    for (int i = 0; i < series->kept; i++) {
        const struct late_call *const call = &series->call[i];
        const double root_ns = known[i].root_ns, last_ns = known[i].last_ns;
        /* The ranks may have kept calls of other roots, or the root be none of them. */
        if (!(root_ns > -INFINITY))
            return (struct late_waiting){.is_known = false};
        if (root_waits)
            waiting.came_last += call->part == LATE_MEMBER &&
                                 known[i].last_rank == comparison->rank && last_ns > root_ns;
        else
            waiting.came_last +=
                call->part == LATE_ROOT && last_ns > -INFINITY && root_ns > last_ns;
        waited_ns[i] = 0.0;
        if (call->part != waits)
            continue;
        const double longer_ns =
            (root_waits ? last_ns : root_ns) - common_clock_ns(comparison->clock, call->entered);
        const double error_ns = common_clock_error_ns(comparison->clock, call->entered) +
                                (root_waits ? known[i].others_error_ns : known[i].root_error_ns);
        const double max_ns = took_ns(comparison, call);
        waited_ns[i] = within(longer_ns, max_ns);
        waiting.lo_ns += within(longer_ns - error_ns, max_ns) / series->kept;
        waiting.hi_ns += within(longer_ns + error_ns, max_ns) / series->kept;
    }
    const struct late_mean mean = late_mean(series, waited_ns, waits, comparison->tick_ns);
    waiting.mean_ns = fmax(0.0, mean.mean);
    waiting.error_ns = mean.error;
    waiting.lo_ns += mean.shift;
    waiting.hi_ns += mean.shift;
    return waiting;
}

/* ---- the tree of ranks ----------------------------------------------------------------------- */

/* Of each call that was kept: of this rank and those below it, and of one child. */
static struct known of_these[LATE_KEPT_MAX], of_child[LATE_KEPT_MAX];

enum { TAG_HEAD, TAG_KNOWN };

static void send_known(const struct head *head, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(head, sizeof *head, MPI_BYTE, to, TAG_HEAD, comm));
    if (head->kept > 0)
        BC_MPI(
            PMPI_Send(of_these, head->kept * (int)sizeof *of_these, MPI_BYTE, to, TAG_KNOWN, comm));
}

static void receive_head(struct head *head, int from, MPI_Comm comm)
{
    BC_MPI(PMPI_Recv(head, sizeof *head, MPI_BYTE, from, TAG_HEAD, comm, MPI_STATUS_IGNORE));
}

static void receive_known(const struct head *head, struct known *known, int from, MPI_Comm comm)
{
    if (head->kept > 0)
        BC_MPI(PMPI_Recv(known, head->kept * (int)sizeof *known, MPI_BYTE, from, TAG_KNOWN, comm,
                         MPI_STATUS_IGNORE));
}

static void find_place(struct comparison *comparison)
{
    int ranks;
    const int rank = comparison->rank;
    BC_MPI(PMPI_Comm_size(comparison->comm, &ranks));
    for (int step = 1; step < ranks - rank && (rank & step) == 0; step *= 2) {
        struct child *const child = &comparison->child[comparison->children++];
        child->rank = rank + step;
        receive_head(&child->next, child->rank, comparison->comm);
    }
}

/* Begins the sum of a series of this rank. */
static struct head begin(const struct comparison *comparison, const struct late_item *item)
{
    const struct late_series *const series = item->series;
    for (int i = 0; i < series->kept; i++)
        of_these[i] = known_of(comparison, item->wait, &series->call[i]);
    return (struct head){.key = item->key,
                         .calls = series->calls,
                         .kept = series->kept,
                         .ranks = 1,
                         .processes = item->processes};
}

/* Adds what a child knows of this series to the sum, which may be of nobody yet. */
static void add_child(struct head *all, const struct child *child, MPI_Comm comm)
{
    const struct head *const head = &child->next;
    receive_known(head, all->ranks == 0 ? of_these : of_child, child->rank, comm);
    if (all->ranks == 0) {
        *all = *head;
        return;
    }
    all->ranks += head->ranks;
    if (all->calls != head->calls || all->kept != head->kept)
        all->kept = 0;
    for (int i = 0; i < all->kept; i++)
        keep_maxima(&of_these[i], &of_child[i]);
}

/* The sum of the whole communicator for a series that this rank has, as `item`, or one below it. */
static struct head sum_up(struct comparison *comparison, int64_t key, const struct late_item *item)
{
    struct head all = {.ranks = 0};
    const MPI_Comm comm = comparison->comm;
    const int rank = comparison->rank, parent = rank & (rank - 1);
    struct child *const end = comparison->child + comparison->children;
    if (item != NULL)
        all = begin(comparison, item);
    for (struct child *child = comparison->child; child < end; child++)
        if (child->next.key == key)
            add_child(&all, child, comm);
    if (rank != 0 && all.ranks != all.processes) {
        send_known(&all, parent, comm);
        receive_head(&all, parent, comm);
        receive_known(&all, of_these, parent, comm);
    }
    for (struct child *child = comparison->child; child < end; child++)
        if (child->next.key == key) {
            send_known(&all, child->rank, comm);
            receive_head(&child->next, child->rank, comm);
        }
    return all;
}

/*
 * Compares what ranks kept: fills in waiting[i] of items[i]. Items are by rising key; a rank has
 * those that it has. A tick of this rank is tick_ns long; `clock` is this rank's, for rooted
 * series. Ranks that leave a call at other times have the difference in their waiting, which is
 * known to no more than what the call takes by itself, the 5 % quantile of the shortest times.
 * Collective over `comm`, on which nobody else may send; not thread-safe.
 */
static void late_compare(int count, const struct late_item items[], double tick_ns,
                         const struct common_clock *clock, MPI_Comm comm,
                         struct late_waiting waiting[])
{
    struct comparison comparison = {.tick_ns = tick_ns, .clock = clock, .comm = comm};
    BC_MPI(PMPI_Comm_rank(comm, &comparison.rank));
    find_place(&comparison);
    for (int next = 0;;) {
        const struct late_item *item = next < count ? &items[next] : NULL;
        /* The smallest key that this rank or one below it has next. */
        int64_t key = item != NULL ? item->key : INT64_MAX;
        for (int i = 0; i < comparison.children; i++)
            if (comparison.child[i].next.key < key) {
                key = comparison.child[i].next.key;
                item = NULL;
            }
        if (key == INT64_MAX)
            break;
        const struct head all = sum_up(&comparison, key, item);
        if (item == NULL)
            continue;
        if (all.kept == 0 || all.ranks != all.processes)
            waiting[next] = (struct late_waiting){.is_known = false};
        else if (item->wait == ALL_WAIT)
            waiting[next] = synchronised(&comparison, item, of_these);
        else
            waiting[next] = rooted(&comparison, item, of_these);
        next++;
    }
    const struct head end = {.key = INT64_MAX};
    if (comparison.rank != 0)
        send_known(&end, comparison.rank & (comparison.rank - 1), comm);
}

/* ---- in the rows of a report ----------------------------------------------------------------- */

/* How many standard errors the interval of a waiting time reaches. */
#define ERRORS 2.0

static int by_key(const void *first, const void *second)
{
    const struct late_item *const a = first, *const b = second;
    return (a->key > b->key) - (a->key < b->key);
}

/* Lists the series of rooted collectives, or of those that synchronise. Returns how many. */
static int list(const struct late *late, bool rooted, struct late_item items[LATE_SERIES_MAX])
{
    int count = 0;
    for (int i = 0; late != NULL && i < late->count; i++) {
        const struct late_series *const series = &late->series[i];
        const enum late_wait wait = operation_wait((enum operation_kind)series->kind);
        const struct communicator *const on = &communicators[series->communicator];
        const uint64_t key =
            (on->identity ^ (uint64_t)series->kind) * UINT64_C(0x9e3779b97f4a7c15) + on->identity;
        if ((wait != ALL_WAIT) == rooted)
            items[count++] = (struct late_item){(int64_t)(key >> 2), on->processes, series, wait};
    }
    qsort(items, (size_t)count, sizeof *items, by_key);
    return count;
}

/* Sets what this rank waited in the calls of a series, if that is known. */
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
        /* In how many of all calls, from those that were kept. */
        row->last_calls =
            llround((double)waiting->came_last * (double)series->calls / (double)series->kept);
        row->last_rank = rank;
    }
}

/* Compares the ranks' calls in collectives that synchronise or, with a clock, in rooted ones.
   Returns how many calls of this rank that doesn't tell of. */
static int64_t find_waiting(struct rows *rows, const struct late *late, double tick_ns,
                            const struct common_clock *clock, MPI_Comm comm)
{
    int rank;
    int64_t untold = late != NULL ? late->not_compared : 0;
    struct late_item items[LATE_SERIES_MAX];
    struct late_waiting waiting[LATE_SERIES_MAX];
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    const int count = list(late, clock != NULL, items);
    late_compare(count, items, tick_ns, clock, comm, waiting);
    for (int i = 0; i < count; i++) {
        set_waited(rows, items[i].series, &waiting[i], rank);
        untold += waiting[i].is_known ? 0 : items[i].series->calls;
    }
    return untold;
}

void rows_find_late(struct rows *rows, const struct snapshot *snapshot, bool compare_clocks,
                    MPI_Comm comm)
{
    struct common_clock clock;
    (void)find_waiting(rows, snapshot->late, ticks_ns(), NULL, comm);
    if (!compare_clocks)
        return;
    rows->clock_comparisons = common_clock_find(comm, &clock);
    BC_MPI(
        PMPI_Allreduce(&clock.known.bound_ns, &rows->clock_error_ns, 1, MPI_DOUBLE, MPI_MAX, comm));
    const int64_t untold = find_waiting(rows, snapshot->late, clock.tick_ns, &clock, comm);
    BC_MPI(PMPI_Allreduce(&untold, &rows->untold_rooted, 1, MPI_INT64_T, MPI_SUM, comm));
}
