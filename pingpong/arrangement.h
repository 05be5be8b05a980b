/*
 * Which ranks play ping-pong with which. Pure. Ranks are numbered by node here: they
 * are places of common/machine/node_order.h.
 */
#ifndef COMMCOST_PINGPONG_ARRANGEMENT_H
#define COMMCOST_PINGPONG_ARRANGEMENT_H

#include <stdbool.h>

enum pingpong_arrangement {
    PINGPONG_SINGLE,   /* the first rank with the last; all others are idle */
    PINGPONG_MULTIPLE, /* rank r with rank r + P / 2 */
    PINGPONG_CROSSING, /* the same, but every other pair starts at the other end */
    PINGPONG_ARRANGEMENTS
};

/* "single", "multiple", "crossing". */
extern const char *const pingpong_arrangement_names[PINGPONG_ARRANGEMENTS];

/* A rank's part. */
struct pingpong_part {
    int partner; /* -1: idle */
    bool starts; /* moves the data first; its partner moves it back */
};

/* Whether `ranks` ranks can be arranged like this: single needs 2, the others an even number of at
   least 4 (with 2 they are single). */
bool pingpong_can_arrange(enum pingpong_arrangement arrangement, int ranks);

struct pingpong_part pingpong_part_of(enum pingpong_arrangement arrangement, int rank, int ranks);

#endif
