#include "overlap/transfers.h"

#include <stdlib.h>

static void create(struct overlap_operation *operation, double *buffer, int64_t elements)
{
    MPI_Win *const window = bc_allocate(1, sizeof *window, "no memory for a window");
    BC_MPI(MPI_Win_create(buffer, (MPI_Aint)((size_t)elements * sizeof *buffer),
                          (int)sizeof *buffer, MPI_INFO_NULL, operation->comm, window));
    BC_MPI(MPI_Win_set_errhandler(*window, MPI_ERRORS_RETURN));
    BC_MPI(MPI_Win_lock_all(0, *window));
    operation->own = window;
}

void overlap_create_target_window(struct overlap_operation *operation)
{
    create(operation, operation->receive, operation->kind->receive.elements(&operation->shape));
}

void overlap_create_source_window(struct overlap_operation *operation)
{
    create(operation, operation->send, operation->kind->send.elements(&operation->shape));
}

void overlap_destroy_window(struct overlap_operation *operation)
{
    MPI_Win *const window = operation->own;
    BC_MPI(MPI_Win_unlock_all(*window));
    BC_MPI(MPI_Win_free(window));
    free(window);
}

void overlap_sync_window(const struct overlap_operation *operation)
{
    BC_MPI(MPI_Win_sync(overlap_window(operation)));
}
