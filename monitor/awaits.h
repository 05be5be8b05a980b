/*
 * What a process has to do with the others in a blocking collective, by the standard's dependences
 * of data: AWAITS_<function> is an enum late_part, from the call's arguments and `on`, the
 * communicator's record. A block of no bytes is none. functions.c includes this.
 */
#ifndef COMMCOST_MONITOR_AWAITS_H
#define COMMCOST_MONITOR_AWAITS_H

#include "monitor/late.h"

#define MEMBER_IF(needs_others) ((needs_others) ? LATE_MEMBER : LATE_APART)
/* The root's own block means nothing, nor do arguments of processes beside the root in an
   intercommunicator. */
#define ROOTED_PART(block_bytes)                                                                   \
    (is_root(on, root) ? LATE_ROOT : MEMBER_IF(!on->is_inter && (block_bytes) > 0))

#define AWAITS_Barrier LATE_MEMBER
#define AWAITS_Allreduce MEMBER_IF(bytes_of(count, datatype) > 0)
#define AWAITS_Allgather MEMBER_IF(bytes_of(recvcount, recvtype) > 0)
#define AWAITS_Alltoall AWAITS_Allgather
#define AWAITS_Allgatherv MEMBER_IF(needs_all(on, COUNTS(recvcounts), &recvtype, false))
#define AWAITS_Alltoallv AWAITS_Allgatherv
#define AWAITS_Alltoallw MEMBER_IF(needs_all(on, COUNTS(recvcounts), recvtypes, true))
/* A null handle's record has no processes. */
#define AWAITS_Reduce_scatter                                                                      \
    MEMBER_IF(on->size > 0 && bytes_of(recvcounts[on->rank], datatype) > 0)
#define AWAITS_Reduce_scatter_block AWAITS_Allreduce

#define AWAITS_Bcast ROOTED_PART(bytes_of(count, datatype))
#define AWAITS_Scatter ROOTED_PART(bytes_of(recvcount, recvtype))
#define AWAITS_Scatterv AWAITS_Scatter
#define AWAITS_Gather ROOTED_PART(bytes_of(sendcount, sendtype))
#define AWAITS_Gatherv AWAITS_Gather
#define AWAITS_Reduce AWAITS_Bcast

/* Who needs data of some others only. */
#define AWAITS_Scan LATE_UNTOLD
#define AWAITS_Exscan LATE_UNTOLD
#define AWAITS_Neighbor_allgather LATE_UNTOLD
#define AWAITS_Neighbor_allgatherv LATE_UNTOLD
#define AWAITS_Neighbor_alltoall LATE_UNTOLD
#define AWAITS_Neighbor_alltoallv LATE_UNTOLD
#define AWAITS_Neighbor_alltoallw LATE_UNTOLD

#endif
