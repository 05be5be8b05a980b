/*
 * What linkmap knows of the job and of each message size, and the rows that it makes of that.
 */
#ifndef COMMCOST_LINKMAP_ROWS_H
#define COMMCOST_LINKMAP_ROWS_H

#include "common/run/benchmark.h"
#include "linkmap/parameters.h"
#include "linkmap/places.h"
#include "linkmap/verdicts.h"

/* The links of a point over which wrong data came: how many, and the first of them. */
enum { LINKMAP_WRONG_SHOWN = 4 };
struct linkmap_wrong {
    int links;
    int partners[LINKMAP_WRONG_SHOWN];
};

struct linkmap_state {
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

/* A message size. */
struct linkmap_row {
    struct linkmap_links links;
    double *medians_ns; /* of each point's links, by visit, way and point; rank 0 */
    bool is_judged;
    struct linkmap_map map;
    struct linkmap_verdicts verdicts;
    struct linkmap_wrong *wrong; /* by point; rank 0, NULL where data isn't verified */
    enum bc_status status;       /* of all its rows whose data isn't wrong */
    int64_t further, next;       /* rows after the first one, and the next of them */
    int from, to;                /* the pair of the last one */
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

enum { LINKMAP_COLUMNS = 21 };
extern const struct bc_column linkmap_columns[LINKMAP_COLUMNS];

/* The name of a point in a result, HOST or HOST:RANK, cut to a cell. Rank 0. */
void linkmap_point_name(const struct linkmap_state *state, int point, char name[BC_CELL_LENGTH]);

/* Members of struct bc_benchmark. */
bool linkmap_is_precise(const void *state, const void *key, const void *row);
void linkmap_conclude(void *state, const void *key, void *row, void *result);
bool linkmap_follow(void *state, const void *key, void *row, void *result);

#endif
