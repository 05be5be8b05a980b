#include "overlap/engine/kernel.h"

#include "common/clock/clock.h"
#include "common/clock/work.h"
#include "common/mpi/mpi_check.h"

/* ---- the timed regions ----------------------------------------------------------------------- */

/* Just before a timed region a barrier releases all ranks, or they start together in a window. The
   result is this rank's time in ns, with the cost of one clock reading in it: the sampler takes
   that off (clock_ns of the source). */

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

/* ---- rounds ---------------------------------------------------------------------------------- */

/* What a network did just before shows in the next operation: buffers drain and token buckets fill
   while nothing is sent. So the work alone precedes each of the two operations that are compared;
   only the second time of the work counts. */

static void take_reference(void *context, double *values)
{
    values[OVERLAP_REFERENCE] = time_reference(context, OVERLAP_REFERENCE);
}

static void take_total(void *context, double *values)
{
    values[0] = time_total(context, 0);
}

static void take_round(void *context, double *values)
{
    const struct overlap_round *const round = context;
    (void)time_work(round, OVERLAP_WORK);
    values[OVERLAP_REFERENCE] = time_reference(round, OVERLAP_REFERENCE);
    values[OVERLAP_WORK] = time_work(round, OVERLAP_WORK);
    values[OVERLAP_TOTAL] = time_total(round, OVERLAP_TOTAL);
}

/* ---- rounds with --check --------------------------------------------------------------------- */

static void count_wrong(struct overlap_round *round)
{
    if (!overlap_operation_verify(round->operation))
        round->wrong++;
}

/* A collective with a check of its own has no data that tells anything: its check runs beside the
   timed operations. */
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
    take_reference(round, values);
    count_wrong(round);
    run_own_check(round);
}

static void take_total_checked(void *context, double *values)
{
    struct overlap_round *const round = context;
    overlap_operation_poison(round->operation);
    take_total(round, values);
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

/* ---- sources --------------------------------------------------------------------------------- */

static struct bc_source source_of(struct overlap_round *round, int quantities,
                                  void (*take)(void *context, double *values))
{
    return (struct bc_source){
        .quantities = quantities,
        .take = take,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
        .starts = bc_start_window_starts(round->window),
        .clock_ns = round->clock_ns,
    };
}

struct bc_source overlap_reference_source(struct overlap_round *round)
{
    return source_of(round, 1, round->check ? take_reference_checked : take_reference);
}

struct bc_source overlap_total_source(struct overlap_round *round)
{
    return source_of(round, 1, round->check ? take_total_checked : take_total);
}

struct bc_source overlap_round_source(struct overlap_round *round)
{
    return source_of(round, OVERLAP_QUANTITIES, round->check ? take_round_checked : take_round);
}
