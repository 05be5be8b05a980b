/* MPI_Ibarrier: no rank leaves before the last one enters. */
#include "common/clock.h"
#include "common/mpi_check.h"
#include "overlap/engine/overlap.h"

#include <stdlib.h>

static void post(const struct overlap_operation *operation,
                 MPI_Request *request)
{
    BC_MPI(MPI_Ibarrier(operation->comm, request));
}

/* How long the rank whose turn it is to be late waits before it enters. */
#define LATE_NS 200000

/* Opens this rank's mark to all for as long as the operation exists. Its memory
   is ours and on a boundary of its own because MPICH 4.0.2 (ch4:ucx) writes to
   the wrong place both in a window of MPI_Win_allocate of less than a page, and
   in one of MPI_Win_create that starts off a boundary of 16 bytes. */
static void create_window(struct overlap_operation *operation)
{
    enum { BOUNDARY = 64 };
    operation->mark = aligned_alloc(BOUNDARY, BOUNDARY);
    if (operation->mark == NULL)
        bc_abort("no memory for a mark");
    *operation->mark = 0;
    BC_MPI(MPI_Win_create(operation->mark, (MPI_Aint)sizeof *operation->mark,
                          (int)sizeof *operation->mark, MPI_INFO_NULL,
                          operation->comm, &operation->window));
    BC_MPI(MPI_Win_lock_all(0, operation->window));
    BC_MPI(MPI_Barrier(operation->comm));
}

/* Comes late, and before it enters leaves its mark on all other ranks. The
   flush returns when the marks are there; the others, who wait in the barrier,
   make progress for it. */
static void come_late(const struct overlap_operation *operation, int64_t mark)
{
    const int64_t start_ns = bc_now_ns();
    while (bc_now_ns() - start_ns < LATE_NS)
        ;
    for (int rank = 0; rank < operation->shape.ranks; rank++)
        if (rank != operation->shape.rank)
            BC_MPI(MPI_Put(&mark, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T,
                           operation->window));
    BC_MPI(MPI_Win_flush_all(operation->window));
}

/* One rank in turn comes late; whoever has left the barrier must find the mark
   that the late one made before it entered. Looking at it takes no message, so
   a rank that was let out early can't be held up until the mark is there. */
static bool check(struct overlap_operation *operation)
{
    if (operation->window == MPI_WIN_NULL)
        create_window(operation);
    const int64_t mark = ++operation->checks;
    const bool late = mark % operation->shape.ranks == operation->shape.rank;
    if (late)
        come_late(operation, mark);
    MPI_Request request;
    post(operation, &request);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    BC_MPI(MPI_Win_sync(operation->window));
    const int64_t found = *(volatile const int64_t *)operation->mark;
    /* Nobody starts the next round before all have looked. */
    BC_MPI(MPI_Barrier(operation->comm));
    return late || found == mark;
}

int main(int argc, char **argv)
{
    static const struct overlap_collective ibarrier = {
        .name = "ibarrier",
        .no_elements = true,
        .post = post,
        .check = check,
    };
    return overlap_main(&ibarrier, argc, argv);
}
