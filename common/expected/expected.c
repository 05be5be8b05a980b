/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/expected/expected.h"

#include "common/clock/source.h"
#include "common/expected/network.h"
#include "common/memory/allocate.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/result/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies of a block each way, without the one to warm up. */
enum { COPIES = 3 };

/* The share of a rank's shared memory that blocks may take; MPI libraries and windows need some. */
#define BLOCK_SHARE 0.1

/* The parts of a window begin on pages. */
enum { PAGE_BYTES = 4096 };

enum { TAG = 1 };

/* ---- opening --------------------------------------------------------------------------------- */

/* Finds the node's rate on its first rank. */
static void find_link(struct bc_expected *expected, const struct bc_run *run, double link_gbits)
{
    struct bc_fastest_port port = {.name = "--link-rate", .mbit = 1e3 * link_gbits};
    if (run->job.nodes == 1)
        return;
    if (link_gbits == 0.0 && run->job.node_rank == 0)
        port = bc_find_fastest_port("");
    if (port.mbit > 0.0)
        bc_output_meta(run->output, BC_NOTE_LINK_RATE, port.mbit / 1e3, port.name);
    else
        bc_output_remark(run->output, BC_NOTE_NO_LINK_RATE);
    BC_MPI(MPI_Bcast(&port.mbit, 1, MPI_DOUBLE, 0, expected->comm));
    expected->link_mbs = port.mbit * 1e6 / 8.0 / 1048576.0;
}

/* Makes the window of blocks if ranks of this node need it and have room. */
static void open_blocks(struct bc_expected *expected, const struct bc_run *run, size_t bytes)
{
    int64_t most = (int64_t)bytes;
    if (run->job.node_ranks == 1)
        return;
    bc_harness_allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, expected->comm);
    if (most == 0 || run->job.oversubscribed ||
        (double)most > bc_run_usable_bytes(run, BLOCK_SHARE, true))
        return;
    const size_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    int fails =
        MPI_Win_allocate_shared((MPI_Aint)(pages * PAGE_BYTES), 1, MPI_INFO_NULL, expected->comm,
                                (void *)&expected->block, &expected->window) != MPI_SUCCESS;
    bc_harness_allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_MAX, expected->comm);
    if (fails) {
        expected->window = MPI_WIN_NULL;
        return;
    }
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, expected->window));
    memset(expected->block, 0, bytes);
    expected->copy = bc_allocate_pages(bytes, "no memory for copies");
}

void bc_expected_open(struct bc_expected *expected, const struct bc_run *run, double link_gbits,
                      size_t bytes)
{
    *expected = (struct bc_expected){.is_known = bc_source_has_hardware(),
                                     .comm = run->job.node_comm,
                                     .window = MPI_WIN_NULL,
                                     .clock_ns = run->own_clock.read_ns};
    if (!expected->is_known)
        return;
    find_link(expected, run, link_gbits);
    open_blocks(expected, run, bytes);
}

void bc_expected_close(struct bc_expected *expected)
{
    if (!expected->is_known || expected->window == MPI_WIN_NULL)
        return;
    BC_MPI(MPI_Win_unlock_all(expected->window));
    BC_MPI(MPI_Win_free(&expected->window));
    free(expected->copy);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Writes this rank's block before each of the partner's copies. */
static void write_blocks(const struct bc_expected *expected, int partner, size_t bytes)
{
    for (int i = 0; i <= COPIES; i++) {
        memset(expected->block, i + 1, bytes);
        BC_MPI(MPI_Win_sync(expected->window));
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, partner, TAG, expected->comm));
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, partner, TAG, expected->comm, MPI_STATUS_IGNORE));
    }
}

/* Copies the partner's blocks. Returns the shortest time: interruptions aren't the hardware's. */
static double copy_blocks(const struct bc_expected *expected, int partner, size_t bytes)
{
    double min_ns = INFINITY;
    MPI_Aint size;
    int unit;
    const char *theirs;
    BC_MPI(MPI_Win_shared_query(expected->window, partner, &size, &unit, (void *)&theirs));
    for (int i = 0; i <= COPIES; i++) {
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, partner, TAG, expected->comm, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Win_sync(expected->window));
        const double ns = (double)bc_time_copy(expected->copy, theirs, bytes) - expected->clock_ns;
        if (i > 0)
            min_ns = fmin(min_ns, ns);
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, partner, TAG, expected->comm));
    }
    return min_ns;
}

void bc_expected_copy_ns(const struct bc_expected *expected, int partner, size_t bytes, bool leads,
                         double copy_ns[BC_COPY_WAYS])
{
    copy_ns[BC_COPY_OUT] = copy_ns[BC_COPY_IN] = NAN;
    if (expected->window == MPI_WIN_NULL)
        return;
    if (leads)
        write_blocks(expected, partner, bytes);
    copy_ns[BC_COPY_IN] = copy_blocks(expected, partner, bytes);
    if (!leads)
        write_blocks(expected, partner, bytes);
    BC_MPI(MPI_Sendrecv(&copy_ns[BC_COPY_IN], 1, MPI_DOUBLE, partner, TAG, &copy_ns[BC_COPY_OUT], 1,
                        MPI_DOUBLE, partner, TAG, expected->comm, MPI_STATUS_IGNORE));
}

/* ---- results --------------------------------------------------------------------------------- */

double bc_expected_link_ns(double link_mbs, size_t bytes)
{
    return link_mbs > 0.0 ? 1e9 * (double)bytes / 1048576.0 / link_mbs : NAN;
}

struct bc_expected_result bc_expected_result(double expected_ns, double ns, size_t bytes)
{
    if (!(expected_ns > 0.0) || !isfinite(expected_ns))
        return (struct bc_expected_result){NAN, NAN};
    return (struct bc_expected_result){1e9 * (double)bytes / 1048576.0 / expected_ns,
                                       100.0 * expected_ns / ns};
}
