#include "common/clock/clock.h"
#include "common/clock/work.h"
#include "common/mpi/mpi_check.h"
#include "overlap/engine/measure.h"

/* ---- the timed regions ----------------------------------------------------------------------- */

/* These few lines are the claim: nothing but the operation, and the work where there is some, lies
   between the readings of the clock. Just before that a barrier releases all ranks, or they start
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

static double time_total(const struct overlap_round *round, int quantity, uint64_t units)
{
    const struct overlap_operation *const operation = round->operation;
    MPI_Request request;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    bc_work(units);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

/* An operation with work, whose parts are timed, too: four readings of the clock. */
struct parts {
    double total_ns, work_ns;
};

static struct parts time_parts(const struct overlap_round *round, int quantity)
{
    const struct overlap_operation *const operation = round->operation;
    MPI_Request request;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    const int64_t work_start_ns = bc_now_ns();
    bc_work(round->units);
    const int64_t work_end_ns = bc_now_ns();
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return (struct parts){
        bc_start_window_time(round->window, quantity, start_ns, bc_now_ns()),
        (double)(work_end_ns - work_start_ns),
    };
}

static double time_work(const struct overlap_round *round, int quantity, uint64_t units)
{
    release(round);
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
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

/* The cost of one reading, which the sampler takes off, stays in all values; what more readings
   cost comes off here. */

static double take_reference(struct overlap_round *round)
{
    before_operation(round);
    const double ns = time_reference(round, OVERLAP_REFERENCE);
    after_operation(round);
    return ns;
}

static double take_total(struct overlap_round *round, int quantity, uint64_t units)
{
    before_operation(round);
    const double ns = time_total(round, quantity, units);
    after_operation(round);
    return ns;
}

void overlap_take_reference(void *context, double *values)
{
    values[OVERLAP_REFERENCE] = take_reference(context);
    after_round(context);
}

void overlap_take_total(void *context, double *values)
{
    struct overlap_round *const round = context;
    values[0] = take_total(round, 0, round->units);
    after_round(round);
}

/* What a network did just before shows in the next operation: buffers drain and token buckets fill.
   So the work alone precedes all operations that are compared; the first one doesn't count. */
static void take_trial(struct overlap_round *round, double *values)
{
    const double clock_ns = round->clock_ns;
    (void)time_work(round, OVERLAP_WORK, round->units);
    values[OVERLAP_REFERENCE] = take_reference(round);
    const double alone_ns = time_work(round, OVERLAP_WORK, round->units);
    before_operation(round);
    const struct parts parts = time_parts(round, OVERLAP_EXPOSED);
    after_operation(round);
    values[OVERLAP_EXPOSED] = parts.total_ns - parts.work_ns - clock_ns;
    const double own[OVERLAP_OWN_QUANTITIES] = {
        [OVERLAP_OWN_REFERENCE] = values[OVERLAP_REFERENCE] - clock_ns,
        [OVERLAP_OWN_EXPOSED] = values[OVERLAP_EXPOSED] - clock_ns,
        [OVERLAP_OWN_INSIDE] = parts.work_ns - clock_ns,
        [OVERLAP_OWN_ALONE] = alone_ns - clock_ns,
    };
    bc_samples_append(round->own, own, OVERLAP_OWN_QUANTITIES, 0);
}

void overlap_take_trial(void *context, double *values)
{
    take_trial(context, values);
    after_round(context);
}

void overlap_take_round(void *context, double *values)
{
    struct overlap_round *const round = context;
    take_trial(round, values);
    values[OVERLAP_WORK] = time_work(round, OVERLAP_WORK, round->answer_units);
    values[OVERLAP_TOTAL] = take_total(round, OVERLAP_TOTAL, round->answer_units);
    after_round(round);
}
