/* SPDX-License-Identifier: BSD-3-Clause */
#include "linkmap/links.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/stats/random.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* ---- times ----------------------------------------------------------------------------------- */

double *linkmap_times_of(const struct linkmap_times *times, int visit, int way)
{
    return times->ns + (size_t)(visit * times->ways + way) * (size_t)times->points;
}

void linkmap_times_add_visit(struct linkmap_times *times)
{
    const size_t of_visit = (size_t)times->ways * (size_t)times->points;
    times->visits++;
    times->ns = bc_reallocate(times->ns, (size_t)times->visits * of_visit, sizeof *times->ns,
                              "no memory for the times of %d links", times->points);
    double *const added = linkmap_times_of(times, times->visits - 1, LINKMAP_OUT);
    for (size_t i = 0; i < of_visit; i++)
        added[i] = NAN;
}

double *linkmap_times_list(const struct linkmap_times *times, int way, int point)
{
    double *const values =
        bc_allocate((size_t)times->visits, sizeof *values, "no memory for times");
    for (int visit = 0; visit < times->visits; visit++)
        values[visit] = linkmap_times_of(times, visit, way)[point];
    return values;
}

double linkmap_times_median(const struct linkmap_times *times, int way, int point)
{
    double *const values = linkmap_times_list(times, way, point);
    const double ns = bc_median(values, (size_t)times->visits);
    free(values);
    return ns;
}

/* ---- one link -------------------------------------------------------------------------------- */

/* Times exchanges with the partner, and returns their median or mean, less the clock's cost. */
static double ask(const struct linkmap_links *links, int partner)
{
    const struct linkmap_points *const points = links->points;
    const size_t count = (size_t)links->repetitions;
    double *const times_ns = bc_allocate(count, sizeof *times_ns, "no memory for times");
    linkmap_ask(links, partner, times_ns);
    const double ns = points->takes_mean ? bc_mean(times_ns, count) : bc_median(times_ns, count);
    free(times_ns);
    return ns - points->clock_ns;
}

void linkmap_time_link(const struct linkmap_links *links, int partner, bool leads,
                       double times_ns[LINKMAP_WAYS])
{
    double own_ns = NAN, partners_ns = NAN;
    if (leads)
        own_ns = ask(links, partner);
    else
        linkmap_answer(links, partner);
    if (links->one_way && leads)
        linkmap_answer(links, partner);
    else if (links->one_way)
        own_ns = ask(links, partner);
    else
        own_ns /= 2.0;
    BC_MPI(MPI_Sendrecv(&own_ns, 1, MPI_DOUBLE, partner, LINKMAP_TAG_TIMES, &partners_ns, 1,
                        MPI_DOUBLE, partner, LINKMAP_TAG_TIMES, links->points->comm,
                        MPI_STATUS_IGNORE));
    times_ns[LINKMAP_OUT] = links->one_way || leads ? own_ns : partners_ns;
    times_ns[LINKMAP_IN] = links->one_way || !leads ? partners_ns : own_ns;
}

/* ---- the expected times -----------------------------------------------------------------------
 */

/* Sets both ways' expected times of the link to the partner: by copies within a node, which both
   points make, or by the slower network. */
static void expect_link(const struct linkmap_links *links, int partner, bool leads,
                        double times_ns[LINKMAP_WAYS])
{
    const struct linkmap_points *const points = links->points;
    const struct linkmap_place *const own = &points->places[points->own],
                                      *const other = &points->places[partner];
    const size_t bytes = (size_t)links->bytes;
    double copy_ns[BC_COPY_WAYS];
    if (own->node != other->node) {
        times_ns[LINKMAP_OUT] = times_ns[LINKMAP_IN] =
            bc_expected_link_ns(fmin(own->link_mbs, other->link_mbs), bytes);
        return;
    }
    bc_expected_copy_ns(&points->expected, other->node_rank, bytes, leads, copy_ns);
    times_ns[LINKMAP_OUT] = copy_ns[BC_COPY_OUT];
    times_ns[LINKMAP_IN] = copy_ns[BC_COPY_IN];
}

/* ---- the data -------------------------------------------------------------------------------- */

/* Returns byte `place` of the message between two points. */
static unsigned char data_at(int from, int to, int place)
{
    return (unsigned char)(31 * from + 17 * to + place % 251 + 1);
}

/* Sends a message of known data each way. Both ends count wrong data that arrived at either. */
static void check_link(const struct linkmap_links *links, int partner)
{
    const struct linkmap_points *const points = links->points;
    struct bc_buffer sent_to = points->sent, received_in = points->received;
    unsigned char *const sent = sent_to.image, *const received = received_in.image;
    const size_t bytes = (size_t)links->bytes;
    int wrong_here = 0, wrong_there;
    for (int i = 0; i < links->bytes; i++) {
        sent[i] = data_at(points->own, partner, i);
        received[i] = 0;
    }
    bc_buffer_write(&sent_to, bytes);
    bc_buffer_write(&received_in, bytes);
    BC_MPI(MPI_Sendrecv(sent_to.start, links->bytes, MPI_BYTE, partner, LINKMAP_TAG_CHECK,
                        received_in.start, links->bytes, MPI_BYTE, partner, LINKMAP_TAG_CHECK,
                        points->comm, MPI_STATUS_IGNORE));
    wrong_here = !bc_buffer_read(&received_in, bytes);
    for (int i = 0; i < links->bytes; i++)
        wrong_here = wrong_here || received[i] != data_at(partner, points->own, i);
    BC_MPI(MPI_Sendrecv(&wrong_here, 1, MPI_INT, partner, LINKMAP_TAG_CHECK, &wrong_there, 1,
                        MPI_INT, partner, LINKMAP_TAG_CHECK, points->comm, MPI_STATUS_IGNORE));
    links->wrong[partner] += wrong_here || wrong_there;
}

/* ---- the tournament -------------------------------------------------------------------------- */

/* Returns the number of seats (places in the tournament), which is even: an odd number of points
   leaves one seat empty, whose partner is idle. */
static int seats(int points) { return points + points % 2; }

int linkmap_rounds(int points) { return points < 2 ? 0 : seats(points) - 1; }

int linkmap_partner(int point, int round, int points)
{
    /* Seats i and j meet if i + j is 2 * round modulo `last`. The seat that would meet itself meets
       the last one. */
    const int last = seats(points) - 1;
    int partner = round;
    if (point != last) {
        partner = (int)(((long long)2 * round - point) % last);
        partner = partner < 0 ? partner + last : partner;
        partner = partner == point ? last : partner;
    }
    return partner < points ? partner : -1;
}

/* ---- all links ------------------------------------------------------------------------------- */

void linkmap_begin_visit(struct linkmap_links *links)
{
    const struct linkmap_points *const points = links->points;
    linkmap_times_add_visit(&links->times);
    if (points->checks && links->wrong == NULL)
        links->wrong =
            bc_allocate((size_t)points->count, sizeof *links->wrong, "no memory for checks");
}

/* Returns the points' order in a visit's tournament, the same on all points: by number in the first
   visit, then shuffled. The caller frees it. */
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

void linkmap_time_rounds(struct linkmap_links *links)
{
    const struct linkmap_points *const points = links->points;
    const int visit = links->times.visits - 1;
    int *const order = order_of_visit(visit, points->count);
    const int rounds = linkmap_rounds(points->count);
    int own_place = 0;
    while (order[own_place] != points->own)
        own_place++;
    /* All messages come first, since a pair's copies would delay the messages of others. */
    for (int i = 0; i < rounds * links->times.ways / LINKMAP_WAYS; i++) {
        const int place = linkmap_partner(own_place, i % rounds, points->count);
        const bool copies = i >= rounds;
        double times_ns[LINKMAP_WAYS];
        if (place < 0)
            continue;
        const int partner = order[place];
        if (copies)
            expect_link(links, partner, points->own < partner, times_ns);
        else
            linkmap_time_link(links, partner, points->own < partner, times_ns);
        if (!copies && points->checks)
            check_link(links, partner);
        for (int way = 0; way < LINKMAP_WAYS; way++)
            linkmap_times_of(&links->times, visit, (copies ? LINKMAP_EXPECTED : 0) + way)[partner] =
                times_ns[way];
    }
    free(order);
}

double linkmap_time(const struct linkmap_links *links, int way, int partner)
{
    return partner == links->points->own ? NAN : linkmap_times_median(&links->times, way, partner);
}

/* Returns the time of the fastest visit. */
static double fastest_ns(const struct linkmap_times *times, int way, int partner)
{
    double min_ns = INFINITY;
    for (int visit = 0; visit < times->visits; visit++)
        min_ns = fmin(min_ns, linkmap_times_of(times, visit, way)[partner]);
    return min_ns;
}

double linkmap_share(const struct linkmap_links *links, int partner)
{
    const struct linkmap_times *const times = &links->times;
    double share = NAN;
    for (int way = 0; way < LINKMAP_WAYS; way++)
        share = fmin(share, linkmap_times_median(times, LINKMAP_EXPECTED + way, partner) /
                                fastest_ns(times, way, partner));
    return share;
}

void linkmap_links_free(struct linkmap_links *links)
{
    free(links->times.ns);
    free(links->wrong);
}
