/*
 * What the points of a map are called in results: by their hosts.
 */
#ifndef COMMCOST_LINKMAP_PLACES_H
#define COMMCOST_LINKMAP_PLACES_H

#include "common/result/output.h"
#include "linkmap/links.h"

enum { LINKMAP_HOST_LENGTH = 256 };

/* What rank 0 knows of a point. */
struct linkmap_place {
    char host[LINKMAP_HOST_LENGTH];
    int rank;     /* of MPI_COMM_WORLD */
    bool is_slow; /* with some size */
};

/* The places of all points on rank 0, which frees them, NULL elsewhere. Hosts are called as Slurm
   does where it started each rank itself: within its jobs mpirun may hand the first node's
   variables to the ranks of all nodes, which then have fewer of Slurm's names than of MPI's. `rank`
   is the point's in MPI_COMM_WORLD; `names_repeat`, set on rank 0, says whether several points have
   a host's name. Collective over points->comm. */
struct linkmap_place *linkmap_places_gather(const struct linkmap_points *points, int rank,
                                            bool *names_repeat);

/* What a place is called in a result, HOST or HOST:RANK, cut to a cell. Local. */
void linkmap_place_name(const struct linkmap_place *place, bool with_rank,
                        char name[BC_CELL_LENGTH]);

#endif
