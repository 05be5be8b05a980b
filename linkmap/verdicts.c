/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on points and links. The map of all links yields suspects, which are timed again, one
 * link at a time, alternately with links that aren't suspected (controls).
 *
 * A point or link is suspected if it takes longer than the map explains, by more than the threshold
 * and by more standard deviations than any point or link would reach with probability alpha if
 * residuals were normally distributed. A suspected link is slow if it is also slow alone: compared
 * with the median of the controls between the same groups, its median is longer by more than the
 * threshold, and its min by more than half the threshold. A suspected point is slow if most of its
 * links are.
 */
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/run/run.h"
#include "common/stats/random.h"
#include "linkmap/verdicts.h"

#include <math.h>
#include <stdlib.h>

/* Max suspected links of a point, and of all points. */
enum { OF_POINT_MAX = 16, LINKS_MAX = 512 };

/* Links that are timed again for a suspected point, and the min share of them that must be slow. */
enum { PARTNERS = 5 };
#define PARTNERS_SHARE 0.8

/* Max controls between each two groups. */
enum { CONTROLS = 5 };

/* Times that each link is timed alone. */
enum { ALONE_VISITS = 6 };

const char *const linkmap_fault_names[] = {NULL, "even", "slow", "slow out", "slow in"};

static bool is_point(const struct linkmap_suspect *suspect) { return suspect->from == suspect->to; }

/* ---- suspects -------------------------------------------------------------------------------- */

/* Returns the number of standard deviations that any of `among` values exceeds by chance with
   probability alpha. The deviation itself is an estimate from the map's points. In simulations,
   Student's quantile with one degree of freedom per point keeps this probability <= alpha. */
static double deviations(const struct linkmap_map *map, double alpha, double among)
{
    const double degrees = fmax(LINKMAP_POINTS_FOR_SIGMA, map->count);
    return bc_student_quantile(1.0 - fmin(0.25, alpha / among), degrees);
}

/* Returns the median of the times that groups alone explain, over a point's links. */
static double expected_of_point(const struct linkmap_map *map, int point)
{
    double *const values = bc_allocate((size_t)map->count, sizeof *values, "no memory");
    for (int i = 0; i < map->count; i++)
        values[i] = i == point ? NAN : linkmap_expected(map, point, i);
    const double ns = linkmap_median(values, map->count);
    free(values);
    return ns;
}

/* Adds the suspected points, the same on all points. */
static void suspect_points(struct linkmap_verdicts *verdicts, const struct linkmap_limits *limits)
{
    const struct linkmap_map *const map = &verdicts->map;
    const int ways = map->links->one_way ? LINKMAP_WAYS : 1;
    const double beyond = deviations(map, limits->alpha / 2.0, (double)ways * map->count);
    for (int point = 0; point < map->count; point++)
        for (int way = 0; way < ways; way++) {
            /* An effect is a median of residuals, so their deviation adds to its own. */
            const double sigma_ns =
                hypot(map->effect_sigma_ns[way], 1.2533 * map->sigma_ns / sqrt(map->count - 1.0));
            const double more_ns = map->effect_ns[way][point];
            if (more_ns > beyond * sigma_ns &&
                more_ns > limits->threshold * expected_of_point(map, point))
                verdicts->suspects[verdicts->count++] = (struct linkmap_suspect){
                    .from = point, .to = point, .way = way, .more_ns = more_ns, .alone_pct = NAN};
        }
}

static int by_more(const void *a, const void *b)
{
    const double left = ((const struct linkmap_suspect *)a)->more_ns;
    const double right = ((const struct linkmap_suspect *)b)->more_ns;
    return (left < right) - (left > right);
}

/* Returns by how many standard deviations a suspected link takes longer. */
static double deviations_of_link(const struct linkmap_map *map, double alpha)
{
    const double among = (map->links->one_way ? 1.0 : 0.5) * map->count * (map->count - 1.0);
    return deviations(map, alpha / 2.0, among);
}

/* Finds at most OF_POINT_MAX suspected links from this point, the slowest first; `from` of unused
   entries is NONE. A round trip is attributed to its first point. Returns how many don't fit. */
enum { NONE = -1 };
static int own_suspects(const struct linkmap_map *map, const struct linkmap_limits *limits,
                        struct linkmap_suspect *own)
{
    const double beyond = deviations_of_link(map, limits->alpha);
    struct linkmap_suspect *const all =
        bc_allocate((size_t)map->count, sizeof *all, "no memory for suspects");
    int count = 0;
    for (int to = map->links->one_way ? 0 : map->own + 1; to < map->count; to++) {
        const double explained_ns = linkmap_explained(map, map->own, to);
        const double more_ns = map->times_ns[LINKMAP_OUT][to] - explained_ns;
        if (to != map->own && more_ns > limits->threshold * explained_ns &&
            more_ns > beyond * map->sigma_ns)
            all[count++] = (struct linkmap_suspect){
                .from = map->own, .to = to, .more_ns = more_ns, .alone_pct = NAN};
    }
    qsort(all, (size_t)count, sizeof *all, by_more);
    for (int i = 0; i < OF_POINT_MAX; i++)
        own[i] = i < count ? all[i] : (struct linkmap_suspect){.from = NONE};
    free(all);
    return count > OF_POINT_MAX ? count - OF_POINT_MAX : 0;
}

/* Broadcasts the suspects of rank 0. */
static void bcast_suspects(struct linkmap_verdicts *verdicts)
{
    BC_MPI(MPI_Bcast(verdicts->suspects, verdicts->count * (int)sizeof *verdicts->suspects,
                     MPI_BYTE, 0, verdicts->map.comm));
}

/* Adds the suspected links of all points, the slowest first. */
static void suspect_links(struct linkmap_verdicts *verdicts, const struct linkmap_limits *limits)
{
    const struct linkmap_points *const points = verdicts->map.links->points;
    struct linkmap_suspect own[OF_POINT_MAX];
    int left_out = own_suspects(&verdicts->map, limits, own), found = 0;
    struct linkmap_suspect *const all = bc_gather(own, sizeof own, points->comm);
    for (int i = 0; all != NULL && i < points->count * OF_POINT_MAX; i++)
        if (all[i].from != NONE)
            all[found++] = all[i];
    if (found > 0)
        qsort(all, (size_t)found, sizeof *all, by_more);
    for (int i = 0; i < found && i < LINKS_MAX; i++)
        verdicts->suspects[verdicts->count++] = all[i];
    free(all);
    left_out += found > LINKS_MAX ? found - LINKS_MAX : 0;
    BC_MPI(MPI_Allreduce(&left_out, &verdicts->left_out, 1, MPI_INT, MPI_SUM, points->comm));
    BC_MPI(MPI_Bcast(&verdicts->count, 1, MPI_INT, 0, points->comm));
    bcast_suspects(verdicts);
}

/* True if a link or one of its points, except point `but` (-1 for no exception), is suspected. */
static bool is_suspected(const struct linkmap_verdicts *verdicts, int from, int to, int but)
{
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const bool hits =
            is_point(s) ? s->from != but && (s->from == from || s->from == to)
                        : (s->from == from && s->to == to) || (s->from == to && s->to == from);
        if (hits)
            return true;
    }
    return false;
}

/* ---- links to time again --------------------------------------------------------------------- */

enum { CONTROL = -1 };

/* A link that is timed alone. `suspect` is an index, or CONTROL. */
struct retimed_link {
    int from, to, suspect;
    double median_ns, min_ns; /* NAN if a signal came first */
};

struct retiming {
    const struct linkmap_verdicts *verdicts;
    const struct linkmap_map *map; /* of the verdicts */
    uint64_t random;
    struct retimed_link *links;
    int count;
    double seconds; /* of all links, estimated from the map */
};

static void add_link(struct retiming *plan, int from, int to, int suspect, double more_ns)
{
    const double ns = linkmap_explained(plan->map, from, to) + fmax(0.0, more_ns);
    plan->seconds += 2e-9 * ns * (plan->map->links->repetitions + 1) * ALONE_VISITS;
    plan->links[plan->count++] = (struct retimed_link){from, to, suspect, NAN, NAN};
}

static void plan_controls(struct retiming *plan, int from_group, int to_group)
{
    const struct linkmap_map *const map = plan->map;
    const uint64_t points = (uint64_t)map->count;
    const uint64_t first = bc_random_next(&plan->random) % (points * points);
    int added = 0;
    for (uint64_t i = 0; i < points * points && added < CONTROLS; i++) {
        /* Strides of a prime spread the controls. They reach every pair unless the prime divides
           the number of pairs, and enough pairs even then. */
        const uint64_t pair = (first + i * 7919) % (points * points);
        const int from = (int)(pair / points), to = (int)(pair % points);
        if (from == to || map->group[from] != from_group || map->group[to] != to_group ||
            is_suspected(plan->verdicts, from, to, -1))
            continue;
        add_link(plan, from, to, CONTROL, 0.0);
        added++;
    }
}

/* Adds a suspected link, or a suspected point's links to partners that aren't suspected. */
static void plan_suspect(struct retiming *plan, int suspect)
{
    const int points = plan->map->count;
    const struct linkmap_suspect *const s = &plan->verdicts->suspects[suspect];
    const int first = (int)(bc_random_next(&plan->random) % (uint64_t)points);
    int added = 0;
    if (!is_point(s)) {
        add_link(plan, s->from, s->to, suspect, s->more_ns);
        return;
    }
    for (int i = 0; i < points && added < PARTNERS; i++) {
        const int other = (first + i) % points;
        const int from = s->way == LINKMAP_OUT ? s->from : other;
        const int to = s->way == LINKMAP_OUT ? other : s->from;
        if (other == s->from || is_suspected(plan->verdicts, from, to, s->from))
            continue;
        add_link(plan, from, to, suspect, 0.0);
        added++;
    }
}

/* Plans the links to time again, the same on all points. Leaves out suspects for which there is no
   time, but keeps the first one if there is any time. */
static struct retiming make_plan(const struct linkmap_verdicts *verdicts, double seconds)
{
    const struct linkmap_map *const map = &verdicts->map;
    const size_t max = (size_t)verdicts->count * PARTNERS +
                       (size_t)LINKMAP_GROUPS_MAX * LINKMAP_GROUPS_MAX * CONTROLS;
    struct retiming plan = {
        .verdicts = verdicts,
        .map = map,
        .random = (uint64_t)map->count,
        .links = bc_allocate(max, sizeof *plan.links, "no memory to time %zu links", max)};
    if (verdicts->count == 0)
        return plan;
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++)
            plan_controls(&plan, from, to);
    for (int i = 0; i < verdicts->count && (plan.seconds < seconds || (i == 0 && seconds > 0.0));
         i++)
        plan_suspect(&plan, i);
    return plan;
}

/* ---- one link alone -------------------------------------------------------------------------- */

/* Times the planned links one after the other, ALONE_VISITS times, into times_ns[link *
   ALONE_VISITS + visit] on each link's first point. Returns false on all points if a signal
   interrupted it. */
static bool time_in_turn(const struct retiming *plan, double *times_ns)
{
    const struct linkmap_points *const points = plan->map->links->points;
    int ended = 0;
    for (int visit = 0; visit < ALONE_VISITS && !ended; visit++) {
        for (int i = 0; i < plan->count; i++) {
            const struct retimed_link *const link = &plan->links[i];
            const bool leads = points->own == link->from;
            double both_ns[LINKMAP_WAYS];
            bc_harness_barrier(points->comm);
            if (leads || points->own == link->to)
                linkmap_time_link(plan->map->links, leads ? link->to : link->from, leads, both_ns);
            if (leads)
                times_ns[i * ALONE_VISITS + visit] = both_ns[LINKMAP_OUT];
        }
        ended = bc_signals_noted() != 0;
        bc_harness_allreduce(MPI_IN_PLACE, &ended, 1, MPI_INT, MPI_MAX, points->comm);
    }
    return !ended;
}

static void time_alone(struct retiming *plan)
{
    const struct linkmap_points *const points = plan->map->links->points;
    const size_t count = (size_t)plan->count;
    double *const times_ns =
        bc_allocate(count * ALONE_VISITS, sizeof *times_ns, "no memory to time %zu links", count);
    double *const median_ns = bc_allocate(2 * count, sizeof *median_ns, "no memory for times");
    double *const min_ns = median_ns + count;
    const bool whole = time_in_turn(plan, times_ns);
    for (size_t i = 0; i < count; i++) {
        const bool is_own = points->own == plan->links[i].from;
        double *const of_link = times_ns + i * ALONE_VISITS;
        median_ns[i] = is_own ? bc_median(of_link, ALONE_VISITS) : -INFINITY;
        min_ns[i] = is_own ? of_link[0] : -INFINITY; /* sorted now */
    }
    bc_harness_allreduce(MPI_IN_PLACE, median_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm);
    bc_harness_allreduce(MPI_IN_PLACE, min_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm);
    for (size_t i = 0; whole && i < count; i++) {
        plan->links[i].median_ns = median_ns[i];
        plan->links[i].min_ns = min_ns[i];
    }
    free(median_ns);
    free(times_ns);
}

/* Returns the median of the controls between the same groups; NAN if there is none. */
static double usual_alone_ns(const struct retiming *plan, const struct retimed_link *link)
{
    const int *const group = plan->map->group;
    double values[CONTROLS];
    size_t count = 0;
    for (int i = 0; i < plan->count && count < CONTROLS; i++) {
        const struct retimed_link *const other = &plan->links[i];
        if (other->suspect == CONTROL && group[other->from] == group[link->from] &&
            group[other->to] == group[link->to])
            values[count++] = other->median_ns;
    }
    return bc_median(values, count);
}

/* Decides whether a suspect is also slow alone. */
static void decide(const struct retiming *plan, int number, double threshold,
                   struct linkmap_suspect *suspect)
{
    const struct linkmap_map *const map = plan->map;
    double more_pct[PARTNERS];
    int count = 0, slow = 0;
    for (int i = 0; i < plan->count; i++) {
        const struct retimed_link *const link = &plan->links[i];
        if (link->suspect != number)
            continue;
        double expected_ns = usual_alone_ns(plan, link);
        if (!is_point(suspect)) /* a link isn't to blame for the effects of its points */
            expected_ns += fmax(0.0, map->effect_ns[LINKMAP_OUT][link->from]) +
                           fmax(0.0, map->effect_ns[LINKMAP_IN][link->to]);
        if (!isfinite(expected_ns) || !isfinite(link->median_ns))
            continue;
        more_pct[count++] = 100.0 * (link->median_ns / expected_ns - 1.0);
        slow += link->median_ns > (1.0 + threshold) * expected_ns &&
                link->min_ns > (1.0 + threshold / 2.0) * expected_ns;
    }
    suspect->timed = count > 0;
    suspect->slow = count > 0 && slow >= PARTNERS_SHARE * count;
    suspect->alone_pct = bc_median(more_pct, (size_t)count);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_links *links,
                   const struct linkmap_limits *limits)
{
    struct linkmap_map *const map = &verdicts->map;
    *verdicts = (struct linkmap_verdicts){
        .suspects = bc_allocate((size_t)LINKMAP_WAYS * (size_t)links->points->count + LINKS_MAX,
                                sizeof *verdicts->suspects, "no memory for suspects")};
    linkmap_map_make(map, links, limits->threshold);
    /* Messages that share a bottleneck between groups vary most. */
    verdicts->resolution =
        fmax(limits->threshold, deviations_of_link(map, limits->alpha) * map->sigma_ns /
                                    linkmap_expected_range(map).hi);
    suspect_points(verdicts, limits);
    suspect_links(verdicts, limits);
    struct retiming plan = make_plan(verdicts, limits->seconds);
    time_alone(&plan);
    for (int i = 0; i < verdicts->count; i++)
        decide(&plan, i, limits->threshold, &verdicts->suspects[i]);
    bcast_suspects(verdicts);
    free(plan.links);
}

/* A way that was not timed again is reported as slow if the other way is slow. */
enum linkmap_fault linkmap_fault_of(const struct linkmap_verdicts *verdicts, int from, int to,
                                    double *alone_pct)
{
    bool suspected = false, slow = false;      /* either way */
    bool maybe[LINKMAP_WAYS] = {false, false}; /* slow, or not timed again */
    *alone_pct = NAN;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const bool is_same = s->from == from && s->to == to;
        const int way = is_same ? s->way : LINKMAP_IN;
        if (!is_same && (s->from != to || s->to != from))
            continue;
        suspected = true;
        slow = slow || s->slow;
        maybe[way] = maybe[way] || s->slow || !s->timed;
        *alone_pct = fmax(*alone_pct, s->alone_pct);
    }
    const bool out = maybe[LINKMAP_OUT], in = maybe[LINKMAP_IN];
    /* A link without a suspect may have been left out. */
    const bool left_out = !suspected && from != to && verdicts->left_out > 0;
    if (!slow)
        return out || in || left_out ? LINKMAP_UNKNOWN : LINKMAP_EVEN;
    if ((out && in) || !verdicts->map.links->one_way)
        return LINKMAP_SLOW;
    return out ? LINKMAP_SLOW_OUT : LINKMAP_SLOW_IN;
}

/* Returns a key that sorts pairs by `from`, then `to`. */
static int64_t key_of(int from, int to) { return from * (INT64_C(1) << 32) + to; }

bool linkmap_next_slow(const struct linkmap_verdicts *verdicts, int *from, int *to)
{
    const int64_t last = key_of(*from, *to);
    int64_t next = INT64_MAX;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const int64_t key = s->from < s->to ? key_of(s->from, s->to) : key_of(s->to, s->from);
        if (!is_point(s) && s->slow && key > last && key < next) {
            next = key;
            *from = s->from < s->to ? s->from : s->to;
            *to = s->from + s->to - *from;
        }
    }
    return next < INT64_MAX;
}

void linkmap_verdicts_free(struct linkmap_verdicts *verdicts)
{
    linkmap_map_free(&verdicts->map);
    free(verdicts->suspects);
}
