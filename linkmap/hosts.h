/*
 * What the points of a map are called in results: by their hosts.
 */
#pragma once

#include "common/result/output.h"
#include "linkmap/links.h"

enum { LINKMAP_HOST_LENGTH = 256 };

/* The host of a point. */
struct linkmap_host {
    char name[LINKMAP_HOST_LENGTH];
    char label[BC_CELL_LENGTH]; /* what the point is called: HOST, or HOST:RANK */
    int rank;                   /* the point's, in MPI_COMM_WORLD */
    bool is_slow;               /* the point, with any message size */
};

/* The hosts of all points on rank 0, which frees them; NULL elsewhere. They are called as Slurm
   does where it started each rank itself: within Slurm's jobs mpirun may hand the first node's
   variables to the ranks of all nodes, which then have fewer different names from Slurm than from
   MPI. Labels have ranks if `with_ranks` or if several points have the same name. `rank` is the
   point's in MPI_COMM_WORLD. Collective over points->comm. */
struct linkmap_host *linkmap_hosts_gather(const struct linkmap_points *points, int rank,
                                          bool with_ranks);
