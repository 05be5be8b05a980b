#include "overlap/engine/kernel.h"

#include "common/clock.h"
#include "common/mpi_check.h"
#include "common/work.h"

/* ---- the timed regions ---------------------------------------------------- */

/* All ranks are released by a barrier just before each; the result is this
   rank's time in nanoseconds, with one clock reading in it. */

static double time_reference(const struct overlap_operation *operation)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(operation->comm));
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return (double)(bc_now_ns() - start_ns);
}

static double time_total(const struct overlap_operation *operation,
                         uint64_t units)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(operation->comm));
    const int64_t start_ns = bc_now_ns();
    operation->post(operation, &request);
    bc_work(units);
    BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return (double)(bc_now_ns() - start_ns);
}

static double time_work(const struct overlap_operation *operation,
                        uint64_t units)
{
    BC_MPI(MPI_Barrier(operation->comm));
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

/* ---- rounds ----------------------------------------------------------------

   What a network did just before shows in the next operation: buffers drain
   and token buckets fill while nothing is sent. So the two operations that are
   compared are both preceded by the work alone; of the two it counts once. */

static void take_reference(void *context, double *values)
{
    const struct overlap_round *const round = context;
    values[OVERLAP_REFERENCE] = time_reference(round->operation);
}

static void take_total(void *context, double *values)
{
    const struct overlap_round *const round = context;
    values[0] = time_total(round->operation, round->units);
}

static void take_round(void *context, double *values)
{
    const struct overlap_round *const round = context;
    (void)time_work(round->operation, round->units);
    values[OVERLAP_REFERENCE] = time_reference(round->operation);
    values[OVERLAP_WORK] = time_work(round->operation, round->units);
    values[OVERLAP_TOTAL] = time_total(round->operation, round->units);
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
    if (operation->collective->check != NULL &&
        !operation->collective->check(operation))
        round->wrong++;
}

static void take_reference_checked(void *context, double *values)
{
    struct overlap_round *const round = context;
    overlap_operation_poison(round->operation);
    values[OVERLAP_REFERENCE] = time_reference(round->operation);
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
    (void)time_work(round->operation, round->units);
    values[OVERLAP_REFERENCE] = time_reference(round->operation);
    count_wrong(round);
    overlap_operation_poison(round->operation);
    values[OVERLAP_WORK] = time_work(round->operation, round->units);
    values[OVERLAP_TOTAL] = time_total(round->operation, round->units);
    count_wrong(round);
    run_own_check(round);
}

struct bc_source overlap_reference_source(struct overlap_round *round,
                                          bool check)
{
    return (struct bc_source){
        .quantities = 1,
        .take = check ? take_reference_checked : take_reference,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
    };
}

struct bc_source overlap_total_source(struct overlap_round *round, bool check)
{
    return (struct bc_source){
        .quantities = 1,
        .take = check ? take_total_checked : take_total,
        .context = round,
    };
}

struct bc_source overlap_round_source(struct overlap_round *round, bool check)
{
    return (struct bc_source){
        .quantities = OVERLAP_QUANTITIES,
        .take = check ? take_round_checked : take_round,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
    };
}
