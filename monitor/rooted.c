#include "monitor/rooted.h"

#include "monitor/together.h"

#include <math.h>

/* What is known of a call: of one rank, then the maxima over ranks. */
struct known {
    double root_ns;                        /* entry of the root; -INFINITY: there is none */
    double last_ns;                        /* entry of the last of the others; the same */
    double root_error_ns, others_error_ns; /* how far these clocks may be off */
    int last_rank;
};

_Static_assert(sizeof(struct known) <= TOGETHER_PART_MAX, "parts fit");

struct comparison {
    const struct late_item *items;
    struct late_waiting *waiting;
    const struct common_clock *clock;
    int rank;
};

static double waited_ns[LATE_KEPT_MAX];

static struct known known_of(const struct late_call *call, const struct common_clock *clock,
                             int rank)
{
    struct known known = {.root_ns = -INFINITY, .last_ns = -INFINITY, .last_rank = rank};
    if (call->part == LATE_ROOT) {
        known.root_ns = common_clock_ns(clock, call->entered);
        known.root_error_ns = common_clock_error_ns(clock, call->entered);
    } else if (call->part == LATE_MEMBER) {
        known.last_ns = common_clock_ns(clock, call->entered);
        known.others_error_ns = common_clock_error_ns(clock, call->entered);
    }
    return known;
}

static void set_own(const void *context, int item, void *parts)
{
    const struct comparison *const comparison = context;
    const struct late_series *const series = comparison->items[item].series;
    struct known *const known = parts;
    for (int i = 0; i < series->kept; i++)
        known[i] = known_of(&series->call[i], comparison->clock, comparison->rank);
}

static void keep_maxima(void *sum, const void *more, int kept)
{
    struct known *all = sum;
    for (const struct known *other = more; kept > 0; kept--, all++, other++) {
        all->root_ns = fmax(all->root_ns, other->root_ns);
        all->root_error_ns = fmax(all->root_error_ns, other->root_error_ns);
        all->others_error_ns = fmax(all->others_error_ns, other->others_error_ns);
        if (other->last_ns > all->last_ns ||
            (!(other->last_ns < all->last_ns) && other->last_rank < all->last_rank)) {
            all->last_ns = other->last_ns;
            all->last_rank = other->last_rank;
        }
    }
}

/* Whether this rank came last in a call, and others waited for it. */
static bool came_late(const struct known *known, enum late_part part, bool root_waits, int rank)
{
    if (root_waits)
        return part == LATE_MEMBER && known->last_rank == rank && known->last_ns > known->root_ns;
    return part == LATE_ROOT && known->last_ns > -INFINITY && known->root_ns > known->last_ns;
}

static double within(double waited, double max) { return fmin(fmax(waited, 0.0), max); }

/* Adds what this rank waited in call `i` of those that were kept. */
static void add_waiting(const struct late_item *item, int i, const struct known *known,
                        const struct common_clock *clock, struct late_waiting *waiting)
{
    const struct late_call *const call = &item->series->call[i];
    const double until_ns = item->root_waits ? known->last_ns : known->root_ns;
    const double took_ns = common_clock_length_ns(call->ticks);
    const double longer_ns = until_ns - common_clock_ns(clock, call->entered);
    const double error_ns = common_clock_error_ns(clock, call->entered) +
                            (item->root_waits ? known->others_error_ns : known->root_error_ns);
    const double kept = item->series->kept;
    waited_ns[i] = within(longer_ns, took_ns);
    waiting->lo_ns += within(longer_ns - error_ns, took_ns) / kept;
    waiting->hi_ns += within(longer_ns + error_ns, took_ns) / kept;
}

/* The ranks may have kept calls of other roots, or the root be none of them. */
static bool has_roots(const struct known known[], int kept)
{
    for (int i = 0; i < kept; i++)
        if (!(known[i].root_ns > -INFINITY))
            return false;
    return true;
}

static void set_waiting(const void *context, int index, bool is_whole, const void *parts)
{
    const struct comparison *const comparison = context;
    const struct late_item *const item = &comparison->items[index];
    const struct late_series *const series = item->series;
    struct late_waiting *const waiting = &comparison->waiting[index];
    const enum late_part waits = item->root_waits ? LATE_ROOT : LATE_MEMBER;
    const struct known *const known = parts;
    *waiting = (struct late_waiting){.is_known = is_whole && has_roots(known, series->kept)};
    for (int i = 0; waiting->is_known && i < series->kept; i++) {
        const enum late_part part = series->call[i].part;
        waiting->last += came_late(&known[i], part, item->root_waits, comparison->rank);
        waited_ns[i] = 0.0;
        if (part == waits)
            add_waiting(item, i, &known[i], comparison->clock, waiting);
    }
    if (!waiting->is_known)
        return;
    const struct late_mean mean =
        late_mean(series, waited_ns, waits, common_clock_length_ns(1 << 20) / (1 << 20));
    waiting->mean_ns = fmax(0.0, mean.mean);
    waiting->error_ns = mean.error;
    waiting->lo_ns += mean.shift;
    waiting->hi_ns += mean.shift;
}

void rooted_compare(int count, const struct late_item items[], const struct common_clock *clock,
                    MPI_Comm comm, struct late_waiting waiting[])
{
    struct comparison comparison = {items, waiting, clock, 0};
    PMPI_Comm_rank(comm, &comparison.rank);
    const struct together how = {sizeof(struct known), set_own, keep_maxima, set_waiting,
                                 &comparison};
    together(count, items, &how, comm);
}
