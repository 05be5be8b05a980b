#include "common/clock/clock.h"
#include "common/clock/work.h"
#include "common/mpi/mpi_check.h"
#include "overlap/engine/measure.h"

/* ---- the timed regions ----------------------------------------------------------------------- */

/* These few lines are the claim: nothing but the operation, and the work where there is some, lies
   between two readings of the clock. Just before that a barrier releases all ranks, or they start
   together in a window. The result is this rank's time in ns, with the cost of one clock reading in
   it: the sampler takes that off (clock_ns of the source). */

static void release(const struct overlap_round *round)
{
    if (round->window != NULL)
        bc_start_window_wait(round->window);
    else
        BC_MPI(MPI_Barrier(round->operation->comm));
}

static double time_reference(const struct overlap_round *round, int quantity)
{
    const struct overlap_operation *const operation = round->operation;
    MPI_Request request;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_total(const struct overlap_round *round, int quantity)
{
    const struct overlap_operation *const operation = round->operation;
    MPI_Request request;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    bc_work(round->units);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_work(const struct overlap_round *round, int quantity)
{
    release(round);
    const int64_t start_ns = bc_now_ns();
    bc_work(round->units);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

/* ---- --check --------------------------------------------------------------------------------- */

static void before_operation(const struct overlap_round *round)
{
    if (round->check)
        overlap_operation_poison(round->operation);
}

static void after_operation(struct overlap_round *round)
{
    if (round->check && !overlap_operation_verify(round->operation))
        round->wrong++;
}

/* A check of the collective's own runs beside the timed operations: its data tells nothing. */
static void after_round(struct overlap_round *round)
{
    struct overlap_operation *const operation = round->operation;
    if (round->check && operation->collective->check != NULL &&
        !operation->collective->check(operation))
        round->wrong++;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

void overlap_take_reference(void *context, double *values)
{
    struct overlap_round *const round = context;
    before_operation(round);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    after_operation(round);
    after_round(round);
}

void overlap_take_total(void *context, double *values)
{
    struct overlap_round *const round = context;
    before_operation(round);
    values[0] = time_total(round, 0);
    after_operation(round);
    after_round(round);
}

/* What a network did just before shows in the next operation: buffers drain and token buckets fill.
   So the work alone precedes both operations that are compared; only its second time counts. */
void overlap_take_round(void *context, double *values)
{
    struct overlap_round *const round = context;
    before_operation(round);
    (void)time_work(round, OVERLAP_WORK);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    after_operation(round);
    before_operation(round);
    values[OVERLAP_WORK] = time_work(round, OVERLAP_WORK);
    values[OVERLAP_TOTAL] = time_total(round, OVERLAP_TOTAL);
    after_operation(round);
    after_round(round);
}
