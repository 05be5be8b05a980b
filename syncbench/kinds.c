/* SPDX-License-Identifier: BSD-3-Clause */
#include "syncbench/syncbench.h"

#include "common/mpi/mpi_check.h"

void syncbench_nothing(struct syncbench_team *team) { (void)team; }

/* ---- coarrays -------------------------------------------------------------------------------- */

static void sync_all(struct syncbench_team *team) { bc_sync_all(&team->coarray); }

static void sync_images(struct syncbench_team *team)
{
    bc_sync_images(&team->coarray, &team->images);
}

static void lock(struct syncbench_team *team) { bc_mutex_lock(&team->lock); }

static void unlock(struct syncbench_team *team) { bc_mutex_unlock(&team->lock); }

static void enter_critical(struct syncbench_team *team) { bc_queue_lock_acquire(&team->critical); }

static void leave_critical(struct syncbench_team *team) { bc_queue_lock_release(&team->critical); }

/* ---- MPI's own ------------------------------------------------------------------------------- */

static void barrier(struct syncbench_team *team) { BC_MPI(MPI_Barrier(team->coarray.comm)); }

static void ibarrier(struct syncbench_team *team)
{
    MPI_Request request;
    BC_MPI(MPI_Ibarrier(team->coarray.comm, &request));
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void allreduce_bytes(const struct syncbench_team *team, int count)
{
    static const char mine = 0;
    static char all;
    BC_MPI(MPI_Allreduce(&mine, &all, count, MPI_BYTE, MPI_BOR, team->coarray.comm));
}

static void allreduce_nothing(struct syncbench_team *team) { allreduce_bytes(team, 0); }

static void allreduce_byte(struct syncbench_team *team) { allreduce_bytes(team, 1); }

/* Opens a window through which no data passes. */
static void open_window(struct syncbench_team *team)
{
    double *memory;
    team->window = bc_window_create(team->coarray.comm, 1, sizeof(double), &memory);
}

static void close_window(struct syncbench_team *team) { BC_MPI(MPI_Win_free(&team->window)); }

static void fence(struct syncbench_team *team) { BC_MPI(MPI_Win_fence(0, team->window)); }

static void open_fence(struct syncbench_team *team)
{
    open_window(team);
    BC_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, team->window));
}

static void close_fence(struct syncbench_team *team)
{
    BC_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, team->window));
    close_window(team);
}

static void open_pscw(struct syncbench_team *team)
{
    MPI_Group all;
    open_window(team);
    BC_MPI(MPI_Comm_group(team->coarray.comm, &all));
    BC_MPI(MPI_Group_incl(all, team->images.count, team->images.ranks, &team->group));
    BC_MPI(MPI_Group_free(&all));
}

static void close_pscw(struct syncbench_team *team)
{
    BC_MPI(MPI_Group_free(&team->group));
    close_window(team);
}

static void pscw(struct syncbench_team *team)
{
    BC_MPI(MPI_Win_post(team->group, 0, team->window));
    BC_MPI(MPI_Win_start(team->group, 0, team->window));
    BC_MPI(MPI_Win_complete(team->window));
    BC_MPI(MPI_Win_wait(team->window));
}

static void lock_all_flush(struct syncbench_team *team)
{
    BC_MPI(MPI_Win_lock_all(0, team->window));
    BC_MPI(MPI_Win_flush_all(team->window));
    BC_MPI(MPI_Win_unlock_all(team->window));
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct syncbench_kind syncbench_kinds[SYNCBENCH_KINDS] = {
    {"sync all", SYNCBENCH_EVERYONE, sync_all, .leave = syncbench_nothing},
    {"MPI barrier", SYNCBENCH_EVERYONE, barrier, .leave = syncbench_nothing},
    {"pairwise", SYNCBENCH_PAIR, sync_images, .leave = syncbench_nothing},
    {"random", SYNCBENCH_RANDOM, sync_images, .leave = syncbench_nothing},
    {"ring", SYNCBENCH_RING, sync_images, .leave = syncbench_nothing},
    {"3D grid", SYNCBENCH_GRID, sync_images, .leave = syncbench_nothing},
    {"lock", SYNCBENCH_TURNS, lock, .leave = unlock},
    {"critical", SYNCBENCH_TURNS, enter_critical, .leave = leave_critical},
    {"ibarrier", SYNCBENCH_EVERYONE, ibarrier, .leave = syncbench_nothing},
    {"allreduce 0 bytes", SYNCBENCH_EVERYONE, allreduce_nothing, .leave = syncbench_nothing,
     .may_not_wait = true},
    {"allreduce 1 byte", SYNCBENCH_EVERYONE, allreduce_byte, .leave = syncbench_nothing},
    {"fence", SYNCBENCH_EVERYONE, fence, .leave = syncbench_nothing, .open = open_fence,
     .close = close_fence},
    {"PSCW", SYNCBENCH_PAIR, pscw, .leave = syncbench_nothing, .open = open_pscw,
     .close = close_pscw},
    {"lock_all+flush", SYNCBENCH_NOBODY, lock_all_flush, .leave = syncbench_nothing,
     .open = open_window, .close = close_window},
};
