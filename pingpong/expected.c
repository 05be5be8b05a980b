/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/node_order.h"
#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

#include <math.h>

double pingpong_link_mbs(const struct bc_expected *expected, const struct bc_job *job,
                         struct pingpong_part part)
{
    const bool crosses = part.partner >= 0 && bc_crosses_nodes(job, part.partner);
    int pairs[2] = {crosses && part.starts, crosses && !part.starts};
    double other_mbs;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, pairs, 2, MPI_INT, MPI_SUM, job->node_comm));
    if (!crosses)
        return 0.0;
    const double own_mbs = expected->link_mbs / (pairs[0] > pairs[1] ? pairs[0] : pairs[1]);
    BC_MPI(MPI_Sendrecv(&own_mbs, 1, MPI_DOUBLE, part.partner, 0, &other_mbs, 1, MPI_DOUBLE,
                        part.partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return fmin(own_mbs, other_mbs);
}

double pingpong_expected_ns(const struct bc_expected *expected, struct pingpong_part part,
                            double link_mbs, size_t bytes)
{
    double copy_ns[BC_COPY_WAYS];
    if (part.partner < 0)
        return 0.0;
    const int on_node = bc_translate_rank(MPI_COMM_WORLD, part.partner, expected->comm);
    if (on_node == MPI_UNDEFINED)
        return bc_expected_link_ns(link_mbs, bytes);
    bc_expected_copy_ns(expected, on_node, bytes, part.starts, copy_ns);
    return (copy_ns[BC_COPY_OUT] + copy_ns[BC_COPY_IN]) / 2.0;
}
