/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier: no rank leaves before the last one enters. */
#include "common/memory/allocate.h"
#include "common/clock/clock.h"
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

#include <stdlib.h>

/* Delay of the late rank. */
#define LATE_NS 200000

/* State of the check: a mark on each rank that all ranks can write. It starts a page because MPICH
   4.0.2 (ch4:ucx) writes to the wrong place in small or unaligned windows. */
struct marks {
    int64_t mark;   /* written by the late rank: the last round */
    int64_t round;  /* counted from 1 */
    MPI_Win window; /* window of the mark, locked by all ranks */
};

static struct marks *create_marks(const struct op_instance *operation)
{
    struct marks *const marks = bc_allocate_pages(sizeof *marks, "no memory for a mark");
    *marks = (struct marks){.mark = 0};
    BC_MPI(MPI_Win_create(&marks->mark, (MPI_Aint)sizeof marks->mark, (int)sizeof marks->mark,
                          MPI_INFO_NULL, operation->comm, &marks->window));
    BC_MPI(MPI_Win_lock_all(0, marks->window));
    BC_MPI(MPI_Barrier(operation->comm));
    return marks;
}

static void destroy(struct op_instance *operation)
{
    struct marks *const marks = operation->own;
    if (marks == NULL)
        return;
    BC_MPI(MPI_Win_unlock_all(marks->window));
    BC_MPI(MPI_Win_free(&marks->window));
    free(marks);
}

/* Waits, then writes the round into the marks of all other ranks. Inside the barrier, these ranks
   make progress for the flush. */
static void come_late(const struct op_instance *operation, const struct marks *marks)
{
    bc_sleep_ns(LATE_NS);
    for (int rank = 0; rank < operation->shape.ranks; rank++)
        if (rank != operation->shape.rank)
            BC_MPI(MPI_Put(&marks->round, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, marks->window));
    BC_MPI(MPI_Win_flush_all(marks->window));
}

/* A different rank is late each time. A rank that has left the barrier must find the mark that the
   late rank wrote before entering. Reading the mark takes no message, so it can't delay a rank that
   left early. */
static bool check(struct op_instance *operation)
{
    if (operation->own == NULL)
        operation->own = create_marks(operation);
    struct marks *const marks = operation->own;
    marks->round++;
    const bool late = marks->round % operation->shape.ranks == operation->shape.rank;
    if (late)
        come_late(operation, marks);
    operation->start(operation);
    operation->finish(operation);
    BC_MPI(MPI_Win_sync(marks->window));
    const int64_t found = *(volatile const int64_t *)&marks->mark;
    BC_MPI(MPI_Barrier(operation->comm));
    return late || found == marks->round;
}

OP_COLLECTIVE(barrier, MPI_Ibarrier, MPI_Barrier, (operation->comm), .no_elements = true,
              .check = check, .destroy = destroy);
