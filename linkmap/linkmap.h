/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types shared by the files of linkmap: options, a row's columns, and the state of the job and of
 * each message size.
 */
#pragma once

#include "common/device/memory.h"
#include "common/measure/samples.h"
#include "common/run/parse.h"
#include "common/run/program.h"
#include "linkmap/verdicts.h"

/* The ends of links. */
enum linkmap_per { LINKMAP_PER_AUTO, LINKMAP_PER_NODE, LINKMAP_PER_RANK };

/* Pairs that get a row. */
enum linkmap_pairs { LINKMAP_PAIRS_OUT_OF_LINE, LINKMAP_PAIRS_ALL };

struct linkmap_parameters {
    int per;   /* enum linkmap_per */
    int pairs; /* enum linkmap_pairs */
    struct bc_size_list sizes;
    double alpha_pct;     /* probability of any suspect although all links are alike */
    double threshold_pct; /* min excess time of a slow node or link over others */
    const char *exclude;  /* file for the list of slow nodes, or NULL */
    double link_gbits;    /* of the network; 0: that of the fastest port */
    double min_share_pct; /* of the expected rate; less is a warning and a row */
    struct bc_memory_options memory;
};

extern const struct linkmap_parameters linkmap_default_parameters;
enum { LINKMAP_OPTIONS = 10 };
extern const struct bc_option linkmap_options[LINKMAP_OPTIONS];

struct linkmap_result {
    const char *scope; /* whole, node (or rank), pair */
    const char *a, *b; /* labels of hosts */
    int64_t bytes;
    struct bc_summary time;               /* half a round trip, ns */
    struct bc_summary ways[LINKMAP_WAYS]; /* bandwidths, MB/s */
    double alone_pct;
    const char *verdict;
    int group;
    struct bc_expected_result expected; /* of the way with the smaller share */
    const char *memory;
    struct bc_outcome outcome;
};

extern const struct bc_table linkmap_table;
extern const struct bc_column linkmap_memory_column; /* a key with --memory */

enum { LINKMAP_HOST_LENGTH = 256 };

/* The host of a point. */
struct linkmap_host {
    char name[LINKMAP_HOST_LENGTH];
    char label[BC_CELL_LENGTH]; /* the point's name: HOST, or HOST:RANK */
    int rank;                   /* the point's rank in MPI_COMM_WORLD */
    bool is_slow;               /* slow at any message size */
};

struct linkmap {
    struct linkmap_parameters parameters;
    struct bc_run *run;
    bool per_rank;
    struct linkmap_points points;
    struct bc_device *device;   /* NULL if all buffers are in host memory */
    struct linkmap_host *hosts; /* of the points; NULL on all ranks except rank 0 */
    int judged;                 /* sizes that have verdicts */
    double again_end_s;         /* deadline for timing suspects again; rank 0 */
};

/* A point's links with wrong data: their number, and the first partner after the point, or 0 if
   there is none. */
struct linkmap_wrong {
    int links, partner;
};

/* With fewer visits a verdict may reflect a single moment, so a warning is printed. */
enum { LINKMAP_VISITS_MIN = 3 };

struct linkmap_pair {
    int from, to; /* points; from < to */
};

/* Links that reach less than --min-share of the expected rate (low_links.c). The same on all
   points. */
struct linkmap_low_links {
    int64_t all;                /* their number */
    bool are_most;              /* more than half of all links */
    struct linkmap_pair *pairs; /* the listed ones in order: none if they are most */
    int count;                  /* of the listed ones */
};

/* A message size: its state between visits, and its rows. */
struct linkmap_row {
    struct linkmap_links links;
    struct linkmap_times medians; /* of each point's links; last, of these medians; rank 0 */
    bool is_judged;
    struct linkmap_verdicts verdicts;
    struct linkmap_low_links low;
    struct linkmap_wrong *wrong;  /* indexed by point; rank 0, NULL if data isn't verified */
    const char *status;           /* of rows whose data is right */
    struct linkmap_pair pair;     /* being written */
    struct linkmap_links fetched; /* links of the pair's first point, fetched to rank 0 */
};

/* True if the times of the whole job are as precise as --precision asks. Rank 0. */
bool linkmap_is_precise(const struct linkmap *linkmap, const struct linkmap_row *row);

/* Finds these links, none for small messages or after few visits. `low` is all zeros. Collective
   over the points. */
void linkmap_find_low(struct linkmap_low_links *low, const struct linkmap_links *links,
                      double min_share);

/* Sets a pair to the next listed one. Returns false if there is none. Local. */
bool linkmap_next_low(const struct linkmap_low_links *low, struct linkmap_pair *pair);

/* Writes a size's rows of the whole job, points, and pairs, and frees its state. Collective. */
void linkmap_write_rows(struct linkmap *linkmap, struct linkmap_row *row);
