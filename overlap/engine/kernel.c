#include "overlap/engine/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "common/clock/work.h"

/* ---- the timed regions ----------------------------------------------------------------------- */

/* All ranks are released by a barrier just before each, or start together in a window;
   the result is this rank's time in nanoseconds, with what one clock reading costs in it
   (overlap_run_rounds takes it off). */

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

/* ---- rounds ----------------------------------------------------------------

   What a network did just before shows in the next operation: buffers drain
   and token buckets fill while nothing is sent. So the two operations that are
   compared are both preceded by the work alone; of the two it counts once. */

static void take_reference(void *context, double *values)
{
    const struct overlap_round *const round = context;
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
}

static void take_total(void *context, double *values)
{
    const struct overlap_round *const round = context;
    values[0] = time_total(round, 0);
}

static void take_round(void *context, double *values)
{
    const struct overlap_round *const round = context;
    (void)time_work(round, OVERLAP_WORK);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    values[OVERLAP_WORK] = time_work(round, OVERLAP_WORK);
    values[OVERLAP_TOTAL] = time_total(round, OVERLAP_TOTAL);
}

static void count_wrong(struct overlap_round *round)
{
    if (!overlap_operation_verify(round->operation))
        round->wrong++;
}

/* A collective with a check of its own runs it beside the timed operations,
   whose data then has nothing to show. */
static void run_own_check(struct overlap_round *round)
{
    struct overlap_operation *const operation = round->operation;
    if (operation->collective->check != NULL && !operation->collective->check(operation))
        round->wrong++;
}

static void take_reference_checked(void *context, double *values)
{
    struct overlap_round *const round = context;
    overlap_operation_poison(round->operation);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    count_wrong(round);
    run_own_check(round);
}

static void take_total_checked(void *context, double *values)
{
    struct overlap_round *const round = context;
    overlap_operation_poison(round->operation);
    take_total(context, values);
    count_wrong(round);
    run_own_check(round);
}

static void take_round_checked(void *context, double *values)
{
    struct overlap_round *const round = context;
    overlap_operation_poison(round->operation);
    (void)time_work(round, OVERLAP_WORK);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    count_wrong(round);
    overlap_operation_poison(round->operation);
    values[OVERLAP_WORK] = time_work(round, OVERLAP_WORK);
    values[OVERLAP_TOTAL] = time_total(round, OVERLAP_TOTAL);
    count_wrong(round);
    run_own_check(round);
}

struct bc_source overlap_reference_source(struct overlap_round *round, bool check)
{
    return (struct bc_source){
        .quantities = 1,
        .take = check ? take_reference_checked : take_reference,
        .context = round,
        .starts = bc_start_window_starts(round->window),
        .slowest_of = OVERLAP_REFERENCE,
    };
}

struct bc_source overlap_total_source(struct overlap_round *round, bool check)
{
    return (struct bc_source){
        .quantities = 1,
        .take = check ? take_total_checked : take_total,
        .context = round,
        .starts = bc_start_window_starts(round->window),
    };
}

struct bc_source overlap_round_source(struct overlap_round *round, bool check)
{
    return (struct bc_source){
        .quantities = OVERLAP_QUANTITIES,
        .take = check ? take_round_checked : take_round,
        .context = round,
        .starts = bc_start_window_starts(round->window),
        .slowest_of = OVERLAP_REFERENCE,
    };
}
