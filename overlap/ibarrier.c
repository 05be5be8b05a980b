/* MPI_Ibarrier: no rank leaves before the last one enters. */
#include "common/clock.h"
#include "common/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation,
                 MPI_Request *request)
{
    BC_MPI(MPI_Ibarrier(operation->comm, request));
}

/* How long the rank whose turn it is to be late waits before it enters. */
#define LATE_NS 200000

static void create_counter(struct overlap_operation *operation)
{
    const MPI_Aint bytes =
        operation->shape.rank == 0 ? (MPI_Aint)sizeof(int64_t) : 0;
    BC_MPI(MPI_Win_allocate(bytes, (int)sizeof(int64_t), MPI_INFO_NULL,
                            operation->comm, &operation->counter,
                            &operation->window));
    if (operation->shape.rank == 0)
        *operation->counter = 0;
    BC_MPI(MPI_Barrier(operation->comm));
}

/* Adds to the counter on rank 0 and returns what it was before. */
static int64_t add_to_counter(const struct overlap_operation *operation,
                              int64_t addend)
{
    int64_t before = 0;
    BC_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, operation->window));
    BC_MPI(MPI_Fetch_and_op(&addend, &before, MPI_INT64_T, 0, 0, MPI_SUM,
                            operation->window));
    BC_MPI(MPI_Win_unlock(0, operation->window));
    return before;
}

/* Every rank counts itself on rank 0 just before it enters, one of them late,
   and looks at the count when it has left: by then all must have entered. The
   unlock completes the addition at its target, so a rank that has entered has
   been counted. */
static bool check(struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    if (operation->window == MPI_WIN_NULL)
        create_counter(operation);
    const int64_t round = operation->checks++;
    if (round % shape->ranks == shape->rank) {
        const int64_t start_ns = bc_now_ns();
        while (bc_now_ns() - start_ns < LATE_NS)
            ;
    }
    add_to_counter(operation, 1);
    MPI_Request request;
    post(operation, &request);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    const bool all_entered =
        add_to_counter(operation, 0) >= (round + 1) * shape->ranks;
    /* Nobody starts the next round before all have looked. */
    BC_MPI(MPI_Barrier(operation->comm));
    return all_entered;
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
