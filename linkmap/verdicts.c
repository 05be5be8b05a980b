#include "linkmap/verdicts.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Suspected links that a point names, and that are timed again. */
enum { OF_POINT_MAX = 16, LINKS_MAX = 512 };

/* Links by which a suspected point is timed again; the share of them that must be slow. */
enum { PARTNERS = 5 };
#define PARTNERS_SHARE 0.8

/* Times of a link alone. */
enum { ALONE_VISITS = 6 };

/* Attempts to find a link that isn't suspected. */
enum { ATTEMPTS = 64 };

const char *linkmap_fault_name(enum linkmap_fault fault)
{
    static const char *const names[] = {"even", "slow", "slow out", "slow in"};
    return names[fault];
}

/* ---- suspects -------------------------------------------------------------------------------- */

/* How many standard deviations are too many for chance among so many. */
static double deviations(double alpha, double among)
{
    /* Student's with so many degrees is normal. */
    return bc_student_quantile(1.0 - fmin(0.25, alpha / among), 1e6);
}

static void add(struct linkmap_verdicts *verdicts, struct linkmap_suspect suspect)
{
    verdicts->suspects[verdicts->count++] = suspect;
}

/* The same on all points. */
static void suspect_points(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                           const struct linkmap_links *links, const struct linkmap_limits *limits)
{
    const int ways = links->one_way ? LINKMAP_WAYS : 1;
    const double beyond = deviations(limits->alpha, (double)ways * map->points);
    for (int point = 0; point < map->points; point++)
        for (int way = 0; way < ways; way++) {
            /* What is left of a point's links varies the median of them, too. */
            const double sigma_ns =
                hypot(map->more_sigma_ns[way], 1.2533 * map->sigma_ns / sqrt(map->points - 1.0));
            const double more_ns = map->more_ns[way][point];
            if (more_ns > limits->threshold * map->typical_ns && more_ns > beyond * sigma_ns)
                add(verdicts, (struct linkmap_suspect){point, point, way, more_ns, NAN, 0});
        }
}

static int by_more(const void *a, const void *b)
{
    const double left = ((const struct linkmap_suspect *)a)->more_ns;
    const double right = ((const struct linkmap_suspect *)b)->more_ns;
    return (left < right) - (left > right);
}

/* The links out of this point that are suspected, the slowest first: at most OF_POINT_MAX. Where
   round trips are timed each link is its first point's. Returns how many were left out. */
static int own_suspects(const struct linkmap_map *map, const struct linkmap_links *links,
                        const struct linkmap_points *points, const struct linkmap_limits *limits,
                        struct linkmap_suspect *own)
{
    const double ways = links->one_way ? 2.0 : 1.0;
    const double among = ways * map->points * (map->points - 1.0) / 2.0;
    const double beyond = deviations(limits->alpha, among);
    struct linkmap_suspect *const all =
        bc_allocate((size_t)map->points, sizeof *all, "no memory for suspects");
    int count = 0;
    for (int to = links->one_way ? 0 : points->own + 1; to < map->points; to++) {
        const double more_ns =
            linkmap_time(links, points, LINKMAP_OUT, to) - linkmap_explained(map, points->own, to);
        if (to != points->own && more_ns > limits->threshold * map->typical_ns &&
            more_ns > beyond * map->sigma_ns)
            all[count++] = (struct linkmap_suspect){points->own, to, LINKMAP_OUT, more_ns, NAN, 0};
    }
    qsort(all, (size_t)count, sizeof *all, by_more);
    const int kept = count < OF_POINT_MAX ? count : OF_POINT_MAX;
    for (int i = 0; i < OF_POINT_MAX; i++)
        own[i] = i < kept ? all[i] : (struct linkmap_suspect){-1, -1, 0, 0.0, NAN, 0};
    free(all);
    return count - kept;
}

/* Brings the suspected links of all points together, the slowest first, on all points alike. */
static void suspect_links(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                          const struct linkmap_links *links, const struct linkmap_points *points,
                          const struct linkmap_limits *limits)
{
    struct linkmap_suspect own[OF_POINT_MAX];
    const size_t bytes = sizeof own;
    int left_out = own_suspects(map, links, points, limits, own), found = 0;
    struct linkmap_suspect *const all =
        bc_allocate((size_t)map->points * OF_POINT_MAX, sizeof *all, "no memory for suspects");
    BC_MPI(MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, points->comm));
    struct linkmap_suspect *const places = verdicts->suspects + verdicts->count;
    if (points->own == 0) {
        for (int i = 0; i < map->points * OF_POINT_MAX; i++)
            if (all[i].from >= 0)
                all[found++] = all[i];
        qsort(all, (size_t)found, sizeof *all, by_more);
        left_out += found > LINKS_MAX ? found - LINKS_MAX : 0;
        found = found < LINKS_MAX ? found : LINKS_MAX;
        memcpy(places, all, (size_t)found * sizeof *all);
    }
    free(all);
    BC_MPI(MPI_Bcast(&found, 1, MPI_INT, 0, points->comm));
    BC_MPI(MPI_Bcast(places, found * (int)sizeof *places, MPI_BYTE, 0, points->comm));
    BC_MPI(MPI_Allreduce(&left_out, &verdicts->left_out, 1, MPI_INT, MPI_SUM, points->comm));
    verdicts->count += found;
}

/* ---- one link alone -------------------------------------------------------------------------- */

/* A link that is timed alone. */
struct alone {
    int from, to;
    int suspect; /* whom it is timed for */
    bool is_control;
};

struct plan {
    struct alone *links;
    int count;
};

/* SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
   2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool is_suspected(const struct linkmap_verdicts *verdicts, int from, int to)
{
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        if (s->from == s->to ? s->from == from || s->from == to
                             : (s->from == from && s->to == to) || (s->from == to && s->to == from))
            return true;
    }
    return false;
}

/* A link between the same groups as the one from `from` to `to` that nobody suspects; with `of` not
   -1 one of that point, and then only the point itself may be suspected. False if none is found. */
static bool find_link(const struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                      int from, int to, uint64_t *state, struct alone *found)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        const int a = (int)(next_random(state) % (uint64_t)map->points);
        const int b = (int)(next_random(state) % (uint64_t)map->points);
        if (a == b || map->group[a] != map->group[from] || map->group[b] != map->group[to] ||
            is_suspected(verdicts, a, b))
            continue;
        found->from = a;
        found->to = b;
        return true;
    }
    return false;
}

/* Whether the point at the other end of a suspected one's link is free of suspicion, and so is the
   link. */
static bool is_partner(const struct linkmap_verdicts *verdicts, int point, int other)
{
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        if (s->from == s->to
                ? s->from == other
                : (s->from == point && s->to == other) || (s->from == other && s->to == point))
            return false;
    }
    return point != other;
}

/* Adds a link for a suspect, and one to compare it to. */
static void plan_link(struct plan *plan, const struct linkmap_verdicts *verdicts,
                      const struct linkmap_map *map, int suspect, int from, int to, uint64_t *state)
{
    struct alone control = {.suspect = suspect, .is_control = true};
    if (!find_link(verdicts, map, from, to, state, &control))
        return;
    plan->links[plan->count++] = (struct alone){from, to, suspect, false};
    plan->links[plan->count++] = control;
}

/* The same on all points. */
static struct plan make_plan(const struct linkmap_verdicts *verdicts, const struct linkmap_map *map)
{
    struct plan plan = {bc_allocate((size_t)verdicts->count * 2 * PARTNERS, sizeof *plan.links,
                                    "no memory to time %d suspects", verdicts->count),
                        0};
    uint64_t state = (uint64_t)map->points;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        if (s->from != s->to) {
            plan_link(&plan, verdicts, map, i, s->from, s->to, &state);
            continue;
        }
        const int first = (int)(next_random(&state) % (uint64_t)map->points);
        for (int k = 0, taken = 0; k < map->points && taken < PARTNERS; k++) {
            const int other = (first + k) % map->points;
            if (!is_partner(verdicts, s->from, other))
                continue;
            plan_link(&plan, verdicts, map, i, s->way == LINKMAP_OUT ? s->from : other,
                      s->way == LINKMAP_OUT ? other : s->from, &state);
            taken++;
        }
    }
    return plan;
}

/* The median and the least of each link's times alone, on all points alike. */
static void time_alone(const struct plan *plan, const struct linkmap_links *links,
                       const struct linkmap_points *points, double *medians_ns, double *least_ns)
{
    double *const times_ns = bc_allocate((size_t)plan->count * ALONE_VISITS, sizeof *times_ns,
                                         "no memory to time links");
    for (int visit = 0; visit < ALONE_VISITS; visit++)
        for (int i = 0; i < plan->count; i++) {
            const struct alone *const link = &plan->links[i];
            double both_ns[LINKMAP_WAYS];
            BC_MPI(MPI_Barrier(points->comm));
            if (points->own == link->from)
                linkmap_time_link(links, points, link->to, true, both_ns);
            else if (points->own == link->to)
                linkmap_time_link(links, points, link->from, false, both_ns);
            if (points->own == link->from)
                times_ns[i * ALONE_VISITS + visit] = both_ns[LINKMAP_OUT];
        }
    for (int i = 0; i < plan->count; i++) {
        const bool is_own = points->own == plan->links[i].from;
        double *const of_link = times_ns + (size_t)i * ALONE_VISITS;
        medians_ns[i] = is_own ? bc_median(of_link, ALONE_VISITS) : -INFINITY;
        least_ns[i] = is_own ? of_link[0] : -INFINITY; /* sorted now */
    }
    free(times_ns);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, medians_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm));
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, least_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm));
}

/* The median of the links, between the same groups as this one, that nobody suspects. */
static double typical_alone(const struct plan *plan, const struct linkmap_map *map,
                            const struct alone *link, const double *medians_ns)
{
    double *const values = bc_allocate((size_t)plan->count, sizeof *values, "no memory for times");
    size_t count = 0;
    for (int i = 0; i < plan->count; i++) {
        const struct alone *const other = &plan->links[i];
        if (other->is_control && map->group[other->from] == map->group[link->from] &&
            map->group[other->to] == map->group[link->to])
            values[count++] = medians_ns[i];
    }
    const double ns = bc_median(values, count);
    free(values);
    return ns;
}

/* Names what is slow alone, too. */
static void decide(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct plan *plan, const double *medians_ns, const double *least_ns,
                   double threshold)
{
    for (int i = 0; i < verdicts->count; i++) {
        struct linkmap_suspect *const s = &verdicts->suspects[i];
        double more_pct[PARTNERS];
        int count = 0, slow = 0;
        for (int k = 0; k < plan->count; k++) {
            const struct alone *const link = &plan->links[k];
            if (link->suspect != i || link->is_control)
                continue;
            const double typical_ns = typical_alone(plan, map, link, medians_ns);
            /* What its points' links take longer is no fault of the link's. */
            const double expected_ns =
                s->from == s->to ? typical_ns
                                 : typical_ns + fmax(0.0, map->more_ns[LINKMAP_OUT][link->from]) +
                                       fmax(0.0, map->more_ns[LINKMAP_IN][link->to]);
            more_pct[count++] = 100.0 * (medians_ns[k] / expected_ns - 1.0);
            slow += medians_ns[k] > (1.0 + threshold) * expected_ns &&
                    least_ns[k] > (1.0 + threshold / 2.0) * expected_ns;
        }
        s->named = count > 0 && slow >= PARTNERS_SHARE * count;
        s->alone_pct = bc_median(more_pct, (size_t)count);
    }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct linkmap_links *links, const struct linkmap_points *points,
                   const struct linkmap_limits *limits)
{
    *verdicts = (struct linkmap_verdicts){
        .suspects = bc_allocate((size_t)LINKMAP_WAYS * (size_t)map->points + LINKS_MAX,
                                sizeof *verdicts->suspects, "no memory for suspects"),
        .one_way = links->one_way};
    suspect_points(verdicts, map, links, limits);
    suspect_links(verdicts, map, links, points, limits);
    const struct plan plan = make_plan(verdicts, map);
    double *const medians_ns =
        bc_allocate((size_t)plan.count, sizeof *medians_ns, "no memory for times");
    double *const least_ns =
        bc_allocate((size_t)plan.count, sizeof *least_ns, "no memory for times");
    time_alone(&plan, links, points, medians_ns, least_ns);
    decide(verdicts, map, &plan, medians_ns, least_ns, limits->threshold);
    free(least_ns);
    free(medians_ns);
    free(plan.links);
}

/* What two ways that are slow or not make together. Of a round trip it isn't known which is. */
static enum linkmap_fault fault_of(const struct linkmap_verdicts *verdicts, bool out, bool in)
{
    if ((out && in) || (!verdicts->one_way && (out || in)))
        return LINKMAP_SLOW;
    return out ? LINKMAP_SLOW_OUT : in ? LINKMAP_SLOW_IN : LINKMAP_EVEN;
}

enum linkmap_fault linkmap_fault_of_point(const struct linkmap_verdicts *verdicts, int point,
                                          double *alone_pct)
{
    bool slow[LINKMAP_WAYS] = {false, false};
    *alone_pct = NAN;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        if (s->from != point || s->to != point)
            continue;
        *alone_pct = fmax(*alone_pct, s->alone_pct);
        slow[s->way] = slow[s->way] || s->named;
    }
    return fault_of(verdicts, slow[LINKMAP_OUT], slow[LINKMAP_IN]);
}

enum linkmap_fault linkmap_fault_of_link(const struct linkmap_verdicts *verdicts, int from, int to,
                                         double *alone_pct)
{
    bool out = false, in = false;
    *alone_pct = NAN;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const bool is_out = s->from == from && s->to == to, is_in = s->from == to && s->to == from;
        if (from == to || (!is_out && !is_in))
            continue;
        *alone_pct = fmax(*alone_pct, s->alone_pct);
        out = out || (is_out && s->named);
        in = in || (is_in && s->named);
    }
    return fault_of(verdicts, out, in);
}

void linkmap_verdicts_free(struct linkmap_verdicts *verdicts)
{
    free(verdicts->suspects);
    *verdicts = (struct linkmap_verdicts){0};
}
