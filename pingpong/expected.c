/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/node_order.h"
#include "common/memory/allocate.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "pingpong/pingpong.h"

#include <math.h>
#include <stdlib.h>

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

/* Returns the expected time of this rank's transfer in ns. */
static double expected_ns(const struct bc_expected *expected, struct pingpong_part part,
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

void pingpong_expect(struct pingpong_expected *times, const struct bc_expected *expected,
                     struct pingpong_part part, double link_mbs, size_t bytes)
{
    if (!expected->is_known || bytes < BC_EXPECTED_BYTES_MIN)
        return;
    times->ns =
        bc_reallocate(times->ns, times->visits + 1, sizeof *times->ns, "no memory for times");
    times->ns[times->visits++] = expected_ns(expected, part, link_mbs, bytes);
}

struct bc_expected_result pingpong_expected_result(struct pingpong_expected *times,
                                                   double latency_ns, size_t bytes)
{
    double slowest_ns = 0.0;
    if (times->visits > 0) {
        const double median_ns = bc_median(times->ns, times->visits);
        const double own_ns = isnan(median_ns) ? INFINITY : median_ns; /* for MPI_MAX */
        bc_harness_reduce(&own_ns, &slowest_ns, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        free(times->ns);
    }
    return bc_expected_result(slowest_ns, latency_ns, bytes);
}
