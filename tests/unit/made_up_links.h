/*
 * Stand-ins for linkmap/links.c: what links take among all others, and alone, is in two tables, the
 * same on all ranks. Each rank of MPI_COMM_WORLD is a point.
 */
#ifndef COMMCOST_TESTS_UNIT_MADE_UP_LINKS_H
#define COMMCOST_TESTS_UNIT_MADE_UP_LINKS_H

#include "ranks.h"

#include "linkmap/links.h"

enum { MADE_UP_MAX = 16 }; /* points */

/* What a link takes that nothing is wrong with, give or take the jitter. */
#define USUAL_NS 1000.0
#define JITTER_NS 5.0

struct made_up {
    double together_ns[MADE_UP_MAX][MADE_UP_MAX]; /* in the tournament, from one point to another */
    double alone_ns[MADE_UP_MAX][MADE_UP_MAX];
    int alone_calls[MADE_UP_MAX][MADE_UP_MAX]; /* of this rank's point as the one that leads */
    /* By what a time alone is multiplied, by the number of the link's earlier calls; NULL: 1. */
    double (*factor_of_call)(int earlier);
};
extern struct made_up made_up;

/* All ranks, as points. Members that nothing here uses are 0. Local. */
struct linkmap_points all_points(void);

/* Links of one size for the functions of links.h: 8 bytes, or 1 MiB where each way is timed by
   itself. */
struct linkmap_links links_of(bool one_way);

/* A cmocka setup: all links as usual, alone and together. */
int make_links_alike(void **state);

/* Make links take longer, together and alone: one way, both, or all of a point one way. */
void slow_way(int from, int to, double factor);
void slow_pair(int a, int b, double factor);
void slow_point(int point, enum linkmap_way way, double factor);

/* Makes each link longer whose points the function tells apart. */
void slow_between(int (*group_of)(int point), double factor);

#endif
