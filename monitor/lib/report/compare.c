/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/compare.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"
#include "monitor/lib/report/common_clock.h"

#include <math.h>
#include <string.h>

/* Times of a call, of one rank or maxima over ranks. */
struct known {
    double root_ns; /* entry of the root; -INFINITY: there is none */
    double last_ns; /* entry of the last of the others, or -INFINITY. Not rooted: minus the
                       shortest time of a rank; INFINITY if a rank may leave before others come */
    double root_error_ns, others_error_ns; /* maximum errors of these clocks */
    int last_rank;
    bool is_root_behind_files, is_last_behind_files;
};

struct comparison {
    double tick_ns;
    int rank;
};

static double waited_ns[LATE_KEPT_MAX], shortest_ns[LATE_KEPT_MAX];

/* Sums over the kept calls of one part. */
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

struct late_mean late_mean(const struct late_series *series, const double waited[],
                           enum late_part part, double tick)
{
    const struct sums sums = sums_of(series, waited, part);
    const struct late_sum *const all = &series->of_part[part];
    const double mean_of_kept = sums.waited / series->kept;
    if (series->kept == series->calls)
        return (struct late_mean){.mean = mean_of_kept};
    /* Too few calls to estimate the others: all of their time may be waiting, or none. */
    if (sums.calls < 3 && all->calls > sums.calls)
        return (struct late_mean){
            .mean = mean_of_kept,
            .error = tick * (double)all->ticks / (double)series->calls,
        };
    if (sums.calls < 3)
        return (struct late_mean){.mean = mean_of_kept};
    /* The additional waiting in a call that takes one tick longer. */
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

static double took_ns(const struct comparison *comparison, const struct late_call *call)
{
    return (double)call->ticks * comparison->tick_ns;
}

static struct known known_of(const struct comparison *comparison, enum late_wait wait,
                             const struct late_call *call)
{
    struct known known = {.root_ns = -INFINITY,
                          .last_ns = -INFINITY,
                          .last_rank = comparison->rank,
                          .is_root_behind_files = call->part == LATE_ROOT && call->is_behind_files,
                          .is_last_behind_files = call->is_behind_files};
    if (wait == ALL_WAIT) {
        known.last_ns = call->part == LATE_MEMBER ? -took_ns(comparison, call) : INFINITY;
    } else if (call->part == LATE_ROOT) {
        known.root_ns = common_clock_ns(call->entered);
        known.root_error_ns = common_clock_error_ns(call->entered);
    } else if (call->part == LATE_MEMBER) {
        known.last_ns = common_clock_ns(call->entered);
        known.others_error_ns = common_clock_error_ns(call->entered);
    }
    return known;
}

static void keep_maxima(struct known *all, const struct known *other)
{
    all->root_ns = fmax(all->root_ns, other->root_ns);
    all->root_error_ns = fmax(all->root_error_ns, other->root_error_ns);
    all->is_root_behind_files = all->is_root_behind_files || other->is_root_behind_files;
    all->others_error_ns = fmax(all->others_error_ns, other->others_error_ns);
    if (other->last_ns > all->last_ns ||
        (!(other->last_ns < all->last_ns) && other->last_rank < all->last_rank)) {
        all->last_ns = other->last_ns;
        all->last_rank = other->last_rank;
        all->is_last_behind_files = other->is_last_behind_files;
    }
}

#define OWN_COST 0.05 /* quantile */

/* Returns the share of waited_ns for ranks that were late because of file I/O. */
static double files_share(const struct late_series *series, const struct known known[],
                          bool root_is_late)
{
    double all_ns = 0.0, files_ns = 0.0;
    for (int i = 0; i < series->kept; i++) {
        all_ns += waited_ns[i];
        if (root_is_late ? known[i].is_root_behind_files : known[i].is_last_behind_files)
            files_ns += waited_ns[i];
    }
    return all_ns > 0.0 ? files_ns / all_ns : 0.0;
}

static struct late_waiting synchronised(const struct comparison *comparison,
                                        const struct late_item *item, const struct known known[])
{
    const struct late_series *const series = item->series;
    struct late_waiting waiting = {.is_known = false};
    size_t compared = 0;
    for (int i = 0; i < series->kept; i++) {
        waited_ns[i] = 0.0;
        if (known[i].last_ns > 0.0)
            continue;
        shortest_ns[compared++] = -known[i].last_ns;
        waited_ns[i] = took_ns(comparison, &series->call[i]) + known[i].last_ns;
        waiting.came_last += known[i].last_rank == comparison->rank;
    }
    if (compared == 0)
        return waiting;
    const struct late_mean mean = late_mean(series, waited_ns, LATE_MEMBER, comparison->tick_ns);
    bc_sort(shortest_ns, compared);
    waiting.files_share = files_share(series, known, false);
    const double skew_ns =
        bc_quantile(shortest_ns, compared, OWN_COST) * (double)compared / (double)series->kept;
    waiting.is_known = true;
    waiting.mean_ns = fmax(0.0, mean.mean);
    waiting.error_ns = mean.error;
    waiting.lo_ns = waiting.mean_ns - skew_ns;
    waiting.hi_ns = waiting.mean_ns + skew_ns;
    return waiting;
}

/* True if this rank came last, and others waited for it. */
static bool came_late(const struct known *known, enum late_part part, enum late_wait wait, int rank)
{
    if (wait == THE_ROOT_WAITS)
        return part == LATE_MEMBER && known->last_rank == rank && known->last_ns > known->root_ns;
    return part == LATE_ROOT && known->last_ns > -INFINITY && known->root_ns > known->last_ns;
}

static double within(double waited, double max) { return fmin(fmax(waited, 0.0), max); }

/* Adds the waiting of this rank in kept call `i`. */
static void add_waiting(const struct comparison *comparison, const struct late_item *item, int i,
                        const struct known *known, struct late_waiting *waiting)
{
    const struct late_call *const call = &item->series->call[i];
    const bool root_waits = item->wait == THE_ROOT_WAITS;
    const double until_ns = root_waits ? known->last_ns : known->root_ns;
    const double longer_ns = until_ns - common_clock_ns(call->entered);
    const double error_ns = common_clock_error_ns(call->entered) +
                            (root_waits ? known->others_error_ns : known->root_error_ns);
    const double kept = item->series->kept, max_ns = took_ns(comparison, call);
    waited_ns[i] = within(longer_ns, max_ns);
    waiting->lo_ns += within(longer_ns - error_ns, max_ns) / kept;
    waiting->hi_ns += within(longer_ns + error_ns, max_ns) / kept;
}

static struct late_waiting rooted(const struct comparison *comparison, const struct late_item *item,
                                  const struct known known[])
{
    const struct late_series *const series = item->series;
    const enum late_part waits = item->wait == THE_ROOT_WAITS ? LATE_ROOT : LATE_MEMBER;
    struct late_waiting waiting = {.is_known = true};
    for (int i = 0; i < series->kept; i++) {
        const enum late_part part = series->call[i].part;
        /* The ranks may have kept calls of other roots, or the root may not compare calls. */
        if (!(known[i].root_ns > -INFINITY))
            return (struct late_waiting){.is_known = false};
        waiting.came_last += came_late(&known[i], part, item->wait, comparison->rank);
        waited_ns[i] = 0.0;
        if (part == waits)
            add_waiting(comparison, item, i, &known[i], &waiting);
    }
    const struct late_mean mean = late_mean(series, waited_ns, waits, comparison->tick_ns);
    waiting.mean_ns = fmax(0.0, mean.mean);
    waiting.error_ns = mean.error;
    waiting.files_share = files_share(series, known, item->wait == OTHERS_WAIT);
    waiting.lo_ns += mean.shift;
    waiting.hi_ns += mean.shift;
    return waiting;
}

/* Head of a message about a series. */
struct head {
    int64_t key; /* INT64_MAX: there are no more series */
    int64_t calls;
    int32_t kept; /* 0: the ranks disagree in the number of calls, or of kept calls */
    int32_t ranks, processes;
};

enum { CHILDREN_MAX = 31 };

struct place {
    MPI_Comm comm;
    int parent; /* -1: none */
    int children;
    int child[CHILDREN_MAX];
    struct head next[CHILDREN_MAX]; /* the next head of each child */
};

/* Times of each kept call, of this rank and those below it, and of one child. */
static struct known sum[LATE_KEPT_MAX], more[LATE_KEPT_MAX];

enum { TAG_HEAD, TAG_KNOWN };

static void send_known(const struct head *head, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(head, sizeof *head, MPI_BYTE, to, TAG_HEAD, comm));
    if (head->kept > 0)
        BC_MPI(PMPI_Send(sum, head->kept * (int)sizeof *sum, MPI_BYTE, to, TAG_KNOWN, comm));
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

static void find_place(struct place *place, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    *place = (struct place){.comm = comm, .parent = rank == 0 ? -1 : rank & (rank - 1)};
    for (int step = 1; step < ranks - rank && (rank & step) == 0; step *= 2) {
        place->child[place->children] = rank + step;
        receive_head(&place->next[place->children++], rank + step, comm);
    }
}

static struct head begin(const struct comparison *comparison, const struct late_item *item)
{
    const struct late_series *const series = item->series;
    struct head head;
    memset(&head, 0, sizeof head); /* also the padding: it is sent as bytes */
    head.key = item->key;
    head.calls = series->calls;
    head.kept = series->kept;
    head.ranks = 1;
    head.processes = item->processes;
    for (int i = 0; i < series->kept; i++)
        sum[i] = known_of(comparison, item->wait, &series->call[i]);
    return head;
}

/* Adds the times of a child to the sum, which may be empty. */
static void add_child(struct head *all, const struct place *place, int child)
{
    const struct head *const head = &place->next[child];
    receive_known(head, all->ranks == 0 ? sum : more, place->child[child], place->comm);
    if (all->ranks == 0) {
        *all = *head;
        return;
    }
    all->ranks += head->ranks;
    if (all->calls != head->calls || all->kept != head->kept)
        all->kept = 0;
    for (int i = 0; i < all->kept; i++)
        keep_maxima(&sum[i], &more[i]);
}

/* Returns the smallest next key of this rank and those below it. */
static int64_t next_key(const struct place *place, int64_t own)
{
    int64_t key = own;
    for (int i = 0; i < place->children; i++)
        if (place->next[i].key < key)
            key = place->next[i].key;
    return key;
}

/* Completes the sum with the ranks above. */
static void complete(struct head *all, const struct place *place)
{
    if (place->parent < 0 || all->ranks == all->processes)
        return;
    send_known(all, place->parent, place->comm);
    receive_head(all, place->parent, place->comm);
    receive_known(all, sum, place->parent, place->comm);
}

static void hand_down(const struct head *all, struct place *place)
{
    for (int i = 0; i < place->children; i++)
        if (place->next[i].key == all->key) {
            send_known(all, place->child[i], place->comm);
            receive_head(&place->next[i], place->child[i], place->comm);
        }
}

/* Divides the waiting of this rank in all calls among their sites, as it is in the kept calls. */
static void divide(const struct late_item *item, const struct late_waiting *waiting)
{
    const struct late_series *const series = item->series;
    double all_ns = 0.0;
    for (int i = 0; i < series->kept; i++)
        all_ns += waited_ns[i];
    const double all_s = waiting->mean_ns * (double)series->calls * 1e-9;
    for (int i = 0; i < series->kept; i++) {
        double *const site_s = &item->site_waited_s[series->call[i].site];
        *site_s =
            (isnan(*site_s) ? 0.0 : *site_s) + (all_ns > 0.0 ? all_s * waited_ns[i] / all_ns : 0.0);
    }
}

void late_compare(int count, const struct late_item items[], double tick_ns, MPI_Comm comm,
                  struct late_waiting waiting[])
{
    struct comparison comparison = {.tick_ns = tick_ns};
    struct place place;
    BC_MPI(PMPI_Comm_rank(comm, &comparison.rank));
    find_place(&place, comm);
    for (int item = 0;;) {
        const int64_t own = item < count ? items[item].key : INT64_MAX;
        const int64_t key = next_key(&place, own);
        if (key == INT64_MAX)
            break;
        struct head all = {.ranks = 0};
        if (own == key)
            all = begin(&comparison, &items[item]);
        for (int i = 0; i < place.children; i++)
            if (place.next[i].key == key)
                add_child(&all, &place, i);
        complete(&all, &place);
        hand_down(&all, &place);
        if (own != key)
            continue;
        if (all.kept == 0 || all.ranks != all.processes)
            waiting[item] = (struct late_waiting){.is_known = false};
        else if (items[item].wait == ALL_WAIT)
            waiting[item] = synchronised(&comparison, &items[item], sum);
        else
            waiting[item] = rooted(&comparison, &items[item], sum);
        if (waiting[item].is_known && items[item].site_waited_s != NULL)
            divide(&items[item], &waiting[item]);
        item++;
    }
    const struct head end = {.key = INT64_MAX};
    if (place.parent >= 0)
        BC_MPI(PMPI_Send(&end, sizeof end, MPI_BYTE, place.parent, TAG_HEAD, comm));
}
