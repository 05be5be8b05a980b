#include "linkmap/links.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/random.h"
#include "common/stats/stats.h"
#include "linkmap/kernel.h"
#include "linkmap/tournament.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first place of a visit's times of one way. */
static double *times_of(const struct linkmap_links *links, int points, int visit,
                        enum linkmap_way way)
{
    return links->times_ns + ((size_t)visit * LINKMAP_WAYS + (size_t)way) * (size_t)points;
}

/* Room for one more visit, its times NAN. */
static void begin_visit(struct linkmap_links *links, int points, bool checks)
{
    const size_t of_visit = (size_t)LINKMAP_WAYS * (size_t)points;
    if (links->visits == links->capacity) {
        links->capacity = links->capacity > 0 ? 2 * links->capacity : 8;
        links->times_ns =
            realloc(links->times_ns, (size_t)links->capacity * of_visit * sizeof(double));
        if (links->times_ns == NULL)
            bc_abort("no memory for the times of %d links", points);
    }
    double *const times_ns = times_of(links, points, links->visits++, LINKMAP_OUT);
    for (size_t i = 0; i < of_visit; i++)
        times_ns[i] = NAN;
    if (checks && links->wrong == NULL)
        links->wrong = bc_allocate((size_t)points, sizeof *links->wrong, "no memory for checks");
}

/* ---- one link -------------------------------------------------------------------------------- */

/* Asks, and returns the median without the clock's cost. */
static double ask(const struct linkmap_links *links, const struct linkmap_points *points,
                  const struct linkmap_message *message)
{
    double *const times_ns =
        bc_allocate((size_t)links->repetitions, sizeof *times_ns, "no memory for times");
    linkmap_ask(message, times_ns);
    const size_t count = (size_t)links->repetitions;
    const double ns =
        points->estimator == BC_MEAN ? bc_mean(times_ns, count) : bc_median(times_ns, count);
    free(times_ns);
    return ns - points->clock_ns;
}

void linkmap_time_link(const struct linkmap_links *links, const struct linkmap_points *points,
                       int partner, bool leads, double times_ns[LINKMAP_WAYS])
{
    const struct linkmap_message message = {
        .sent = points->sent,
        .received = points->received,
        .bytes = links->bytes,
        .answer_bytes = links->one_way ? 0 : links->bytes,
        .partner = partner,
        .tag = LINKMAP_TAG_MESSAGE,
        .comm = points->comm,
        .repetitions = links->repetitions,
    };
    double own_ns = NAN, partners_ns = NAN;
    if (leads)
        own_ns = ask(links, points, &message);
    else
        linkmap_answer(&message);
    if (links->one_way) {
        if (leads)
            linkmap_answer(&message);
        else
            own_ns = ask(links, points, &message);
    } else if (leads) {
        own_ns /= 2.0;
    }
    BC_MPI(MPI_Sendrecv(&own_ns, 1, MPI_DOUBLE, partner, LINKMAP_TAG_TIMES, &partners_ns, 1,
                        MPI_DOUBLE, partner, LINKMAP_TAG_TIMES, points->comm, MPI_STATUS_IGNORE));
    times_ns[LINKMAP_OUT] = links->one_way || leads ? own_ns : partners_ns;
    times_ns[LINKMAP_IN] = links->one_way || !leads ? partners_ns : own_ns;
}

/* ---- the data -------------------------------------------------------------------------------- */

/* What the message from a point to another one has at a place. */
static unsigned char data_at(int from, int to, int place)
{
    return (unsigned char)(31 * from + 17 * to + place % 251 + 1);
}

/* Sends a message of known data each way. What came wrong to either end counts at both. */
static void check_link(struct linkmap_links *links, const struct linkmap_points *points,
                       int partner)
{
    unsigned char *const sent = points->sent, *const received = points->received;
    int wrong_here = 0, wrong_there;
    for (int i = 0; i < links->bytes; i++) {
        sent[i] = data_at(points->own, partner, i);
        received[i] = 0;
    }
    BC_MPI(MPI_Sendrecv(sent, links->bytes, MPI_BYTE, partner, LINKMAP_TAG_CHECK, received,
                        links->bytes, MPI_BYTE, partner, LINKMAP_TAG_CHECK, points->comm,
                        MPI_STATUS_IGNORE));
    for (int i = 0; i < links->bytes; i++)
        wrong_here = wrong_here || received[i] != data_at(partner, points->own, i);
    BC_MPI(MPI_Sendrecv(&wrong_here, 1, MPI_INT, partner, LINKMAP_TAG_CHECK, &wrong_there, 1,
                        MPI_INT, partner, LINKMAP_TAG_CHECK, points->comm, MPI_STATUS_IGNORE));
    links->wrong[partner] += wrong_here || wrong_there;
}

/* ---- all links ------------------------------------------------------------------------------- */

/* The points in the order in which a visit's tournament has them, the same on all points. Each
   visit has one of its own, so that a link is busy together with others each time; the first one's
   is their number's. The caller frees it. */
static int *order_of_visit(int visit, int points)
{
    int *const order = bc_allocate((size_t)points, sizeof *order, "no memory for an order");
    uint64_t state = (uint64_t)visit;
    for (int place = 0; place < points; place++) {
        const int other = visit > 0 ? (int)(bc_random_next(&state) % (uint64_t)(place + 1)) : place;
        order[place] = order[other];
        order[other] = place;
    }
    return order;
}

void linkmap_visit(struct linkmap_links *links, const struct linkmap_points *points, int block,
                   linkmap_between_fn *between, void *context)
{
    const int rounds = linkmap_rounds(points->count);
    int *const order = order_of_visit(links->visits, points->count);
    int own_place = 0;
    while (order[own_place] != points->own)
        own_place++;
    begin_visit(links, points->count, points->checks);
    for (int round = 0; round < rounds; round++) {
        const int place = linkmap_partner(own_place, round, points->count);
        double times_ns[LINKMAP_WAYS];
        if (between != NULL && round > 0 && round % block == 0)
            between(context, round);
        if (place < 0)
            continue;
        const int partner = order[place];
        linkmap_time_link(links, points, partner, points->own < partner, times_ns);
        if (points->checks)
            check_link(links, points, partner);
        for (int way = 0; way < LINKMAP_WAYS; way++)
            times_of(links, points->count, links->visits - 1, (enum linkmap_way)way)[partner] =
                times_ns[way];
    }
    free(order);
}

struct bc_summary linkmap_over_visits(double *values, size_t visits, enum bc_estimator estimator,
                                      double confidence)
{
    return estimator == BC_MEAN ? bc_summarize(values, visits, BC_MEAN, confidence)
                                : bc_mean_of_visits(values, visits, confidence);
}

void linkmap_times(const struct linkmap_links *links, const struct linkmap_points *points,
                   enum linkmap_way way, int partner, double *values)
{
    for (int visit = 0; visit < links->visits; visit++)
        values[visit] = times_of(links, points->count, visit, way)[partner];
}

double linkmap_time(const struct linkmap_links *links, const struct linkmap_points *points,
                    enum linkmap_way way, int partner)
{
    double *const values =
        bc_allocate((size_t)links->visits, sizeof *values, "no memory for times");
    linkmap_times(links, points, way, partner, values);
    const double ns = partner == points->own ? NAN : bc_median(values, (size_t)links->visits);
    free(values);
    return ns;
}

double linkmap_visit_median(const struct linkmap_links *links, const struct linkmap_points *points,
                            int visit, enum linkmap_way way)
{
    const double *const times_ns = times_of(links, points->count, visit, way);
    size_t count = 0;
    double *const values =
        bc_allocate((size_t)points->count, sizeof *values, "no memory for times");
    for (int other = 0; other < points->count; other++)
        if (!isnan(times_ns[other]))
            values[count++] = times_ns[other];
    const double ns = bc_median(values, count);
    free(values);
    return ns;
}

void linkmap_links_free(struct linkmap_links *links)
{
    free(links->times_ns);
    free(links->wrong);
    links->times_ns = NULL;
    links->wrong = NULL;
    links->visits = links->capacity = 0;
}
