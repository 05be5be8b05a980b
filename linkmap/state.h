/*
 * What linkmap knows of the job and of each message size, and what a row says.
 */
#ifndef COMMCOST_LINKMAP_STATE_H
#define COMMCOST_LINKMAP_STATE_H

#include "common/run/program.h"
#include "linkmap/parameters.h"
#include "linkmap/places.h"
#include "linkmap/verdicts.h"

/* The links of a point over which wrong data came: how many, and the first of them. */
enum { LINKMAP_WRONG_SHOWN = 4 };
struct linkmap_wrong {
    int links;
    int partners[LINKMAP_WRONG_SHOWN];
};

struct linkmap {
    struct linkmap_parameters parameters;
    struct bc_run *run;
    bool per_rank;
    bool names_ranks; /* points are named HOST:RANK */
    struct linkmap_points points;
    struct linkmap_place *places; /* NULL on all ranks but rank 0 */
    double noted_s;               /* when it was said last how far the tournament is */
    int judged;                   /* sizes that have verdicts */
    double again_end_s;           /* when the last suspects must have been timed again; rank 0 */
};

/* Of a message size. */
struct linkmap_row {
    int bytes;
    struct linkmap_links links;
    double *medians_ns; /* of each point's links, by visit, way and point; rank 0 */
    bool is_judged;
    struct linkmap_map map;
    struct linkmap_verdicts verdicts;
    struct linkmap_wrong *wrong; /* by point; rank 0, NULL where data isn't verified */
    enum bc_status status;       /* of all its rows whose data isn't wrong */
    int from, to;                /* the pair that is written */
    double *fetched_ns;          /* the links of `from`, by visit, way and point; rank 0 */
    int *fetched_wrong;          /* its wrong data, as links.wrong; rank 0 */
};

struct linkmap_result {
    const char *scope; /* whole, node (or rank), pair */
    char a[BC_CELL_LENGTH], b[BC_CELL_LENGTH];
    int64_t bytes;
    struct bc_summary time;               /* half a round trip, ns */
    struct bc_summary ways[LINKMAP_WAYS]; /* bandwidths, MB/s */
    double alone_pct;
    const char *verdict;
    int group;
    struct bc_outcome outcome;
};

#endif
