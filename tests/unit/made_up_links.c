#include "made_up_links.h"

struct made_up made_up;

struct linkmap_points all_points(void)
{
    return (struct linkmap_points){.comm = MPI_COMM_WORLD, .count = ranks, .own = rank};
}

struct linkmap_links links_of(bool one_way)
{
    return (struct linkmap_links){
        .bytes = one_way ? 1 << 20 : 8, .one_way = one_way, .repetitions = 4};
}

int make_links_alike(void **state)
{
    struct random random = random_from(1);
    made_up = (struct made_up){.factor_of_call = NULL};
    for (int from = 0; from < MADE_UP_MAX; from++)
        for (int to = 0; to < MADE_UP_MAX; to++) {
            made_up.together_ns[from][to] = USUAL_NS + JITTER_NS * random_normal(&random);
            made_up.alone_ns[from][to] = USUAL_NS + JITTER_NS * random_normal(&random);
        }
    return 0;
}

void slow_way(int from, int to, double factor)
{
    made_up.together_ns[from][to] *= factor;
    made_up.alone_ns[from][to] *= factor;
}

void slow_pair(int a, int b, double factor)
{
    slow_way(a, b, factor);
    slow_way(b, a, factor);
}

void slow_point(int point, enum linkmap_way way, double factor)
{
    for (int other = 0; other < MADE_UP_MAX; other++)
        if (way == LINKMAP_OUT)
            slow_way(point, other, factor);
        else
            slow_way(other, point, factor);
}

void slow_between(int (*group_of)(int point), double factor)
{
    for (int from = 0; from < MADE_UP_MAX; from++)
        for (int to = 0; to < MADE_UP_MAX; to++)
            if (group_of(from) != group_of(to))
                slow_way(from, to, factor);
}

/* ---- linkmap/links.h ------------------------------------------------------------------------- */

/* A round trip is the same from both ends: the time from the lower point to the other one. */
static double time_in(double table_ns[MADE_UP_MAX][MADE_UP_MAX], const struct linkmap_links *links,
                      int from, int to)
{
    return links->one_way || from < to ? table_ns[from][to] : table_ns[to][from];
}

double linkmap_time(const struct linkmap_links *links, const struct linkmap_points *points,
                    enum linkmap_way way, int partner)
{
    if (partner == points->own)
        return NAN;
    return way == LINKMAP_OUT ? time_in(made_up.together_ns, links, points->own, partner)
                              : time_in(made_up.together_ns, links, partner, points->own);
}

void linkmap_time_link(const struct linkmap_links *links, const struct linkmap_points *points,
                       int partner, bool leads, double times_ns[LINKMAP_WAYS])
{
    const int earlier = leads ? made_up.alone_calls[points->own][partner]++ : 0;
    const double factor = made_up.factor_of_call != NULL ? made_up.factor_of_call(earlier) : 1.0;
    times_ns[LINKMAP_OUT] = factor * time_in(made_up.alone_ns, links, points->own, partner);
    times_ns[LINKMAP_IN] = factor * time_in(made_up.alone_ns, links, partner, points->own);
}
