/*
 * What linkmap knows of the job and of each message size.
 */
#pragma once

#include "common/run/program.h"
#include "linkmap/columns.h"
#include "linkmap/hosts.h"
#include "linkmap/parameters.h"
#include "linkmap/verdicts.h"

/* The links of a point that brought wrong data: their number, and the first partners. */
enum { LINKMAP_WRONG_SHOWN = 4 };
struct linkmap_wrong {
    int links;
    int partners[LINKMAP_WRONG_SHOWN];
};

struct linkmap {
    struct linkmap_parameters parameters;
    struct bc_run *run;
    bool per_rank;
    struct linkmap_points points;
    struct linkmap_host *hosts; /* of the points; NULL on all ranks but rank 0 */
    double noted_s;             /* when progress was noted last */
    int judged;                 /* sizes that have verdicts */
    double again_end_s;         /* when timing suspects again must end; rank 0 */
};

/* What is kept of a message size. */
struct linkmap_row {
    struct linkmap_links links;
    struct linkmap_times medians; /* over each point's links; rank 0 */
    struct linkmap_times whole;   /* over all points' medians, as of one point; rank 0 */
    bool is_judged;
    struct linkmap_map map;
    struct linkmap_verdicts verdicts;
    struct linkmap_wrong *wrong;  /* by point; rank 0, NULL where data isn't verified */
    enum bc_status status;        /* of its rows whose data is right */
    int from, to;                 /* the pair that is written */
    struct linkmap_links fetched; /* those of `from`; rank 0 */
};
