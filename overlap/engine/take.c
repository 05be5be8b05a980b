#include "overlap/engine/take.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/operations/buffers.h"
#include "overlap/engine/kernel_device.h"

#include <math.h>

/* ---- before and after the timed region ------------------------------------------------------- */

static void release(const struct overlap_experiment *x, const struct bc_round *round)
{
    x->operation->complete = 0;
    if (round == NULL || round->window == NULL)
        BC_MPI(MPI_Barrier(x->operation->comm));
    else
        bc_round_start(round);
}

/* Makes the operation ready whose data arrives in `arriving`, and releases all ranks. */
static void begin(const struct overlap_experiment *x, const struct bc_round *round,
                  struct op_instance *arriving)
{
    if (x->check)
        op_poison(arriving);
    release(x, round);
}

/* Returns the time of the span. */
static double ns_of(const struct overlap_experiment *x, const struct bc_round *round, int quantity,
                    struct bc_span span)
{
    const double ns =
        round != NULL ? bc_round_ns(round, quantity, span) : (double)(span.end_ns - span.start_ns);
    return x->operation->works ? ns : -INFINITY;
}

/* Verifies the data. A transfer is complete at its origin only; all data must be there when it is
   looked at. */
static void verify(struct overlap_experiment *x, struct op_instance *arriving)
{
    if (x->check && x->operation->kind->settle != NULL)
        bc_harness_barrier(x->operation->comm);
    if (x->check && !op_verify(arriving))
        x->wrong++;
}

static void renew(const struct overlap_experiment *x)
{
    if (x->renews)
        op_renew(x->operation);
}

/* The part of a rank that doesn't work in the blocking counterpart. */
static op_call_fn *blocking_service(const struct op_kind *kind)
{
    return kind->serve_blocking != NULL ? kind->serve_blocking : kind->serve;
}

/* ---- the times ------------------------------------------------------------------------------- */

double overlap_take_reference(struct overlap_experiment *x, const struct bc_round *round,
                              int quantity)
{
    struct op_instance *const operation = x->operation;
    struct bc_span span;
    renew(x);
    begin(x, round, operation);
    if (!operation->works)
        span = overlap_time_service(operation, operation->kind->serve);
    else if (x->worker.device != NULL)
        span = overlap_time_total_on_device(operation, x->worker.device, 0);
    else
        span = overlap_time_operation(operation);
    verify(x, operation);
    return ns_of(x, round, quantity, span);
}

double overlap_take_total(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                          uint64_t part_units)
{
    struct op_instance *const operation = x->operation;
    struct bc_span span;
    renew(x);
    begin(x, round, operation);
    if (!operation->works)
        span = overlap_time_service(operation, operation->kind->serve);
    else if (x->worker.device != NULL)
        span = overlap_time_total_on_device(operation, x->worker.device, part_units);
    else
        span = overlap_time_total(operation, x->parts, part_units);
    verify(x, operation);
    return ns_of(x, round, quantity, span);
}

double overlap_take_blocking(struct overlap_experiment *x, const struct bc_round *round,
                             int quantity, uint64_t steps)
{
    struct op_instance *const operation = x->operation;
    struct bc_span span;
    renew(x);
    begin(x, round, operation);
    if (!operation->works)
        span = overlap_time_service(operation, blocking_service(operation->kind));
    else if (x->worker.device != NULL)
        span = overlap_time_blocking_on_device(operation, x->worker.device, steps);
    else
        span = overlap_time_blocking(operation);
    verify(x, operation);
    return ns_of(x, round, quantity, span) - x->kernel_ns;
}

double overlap_take_staged(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                           uint64_t steps)
{
    struct op_instance *const operation = x->operation, *const staged = x->staged;
    /* What arrives in host memory stays where the staged operation has put it. */
    struct op_instance *const arriving =
        bc_memory_needs_copy(operation->space.receive) ? operation : staged;
    struct bc_span span;
    begin(x, round, arriving);
    if (!operation->works)
        span = overlap_time_staged(operation, staged, blocking_service(operation->kind));
    else if (x->worker.device != NULL)
        span = overlap_time_staged_on_device(operation, staged, x->worker.device, steps);
    else
        span = overlap_time_staged(operation, staged, staged->blocking);
    verify(x, arriving);
    return ns_of(x, round, quantity, span) - x->kernel_ns;
}

/* Times a kernel alone, and keeps its time. */
static struct bc_span time_kernel(struct overlap_experiment *x, uint64_t steps)
{
    const struct overlap_timed_work kernel = overlap_time_kernel(&x->worker, steps);
    x->kernel_ns = kernel.work_ns;
    return kernel.span;
}

double overlap_take_work(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                         uint64_t part_units)
{
    struct bc_span span;
    release(x, round);
    if (!x->operation->works)
        span = overlap_time_service(x->operation, NULL);
    else if (x->worker.device != NULL)
        span = time_kernel(x, part_units);
    else
        span = overlap_time_work(x->parts, part_units);
    const double ns = ns_of(x, round, quantity, span);
    return x->operation->works && x->worker.device != NULL ? x->kernel_ns + x->clock_ns : ns;
}

/* Times the work alone in parts, with the cost of a reading for each. */
static double take_work_parts(struct overlap_experiment *x, const struct bc_round *round,
                              uint64_t part_units)
{
    release(x, round);
    if (!x->operation->works) {
        (void)overlap_time_service(x->operation, NULL);
        return -INFINITY;
    }
    if (x->worker.device == NULL)
        return overlap_time_work_parts(x->parts, part_units);
    (void)time_kernel(x, part_units);
    return x->kernel_ns + x->clock_ns;
}

struct overlap_with_work overlap_take_with_work(struct overlap_experiment *x,
                                                const struct bc_round *round, int quantity,
                                                uint64_t part_units)
{
    struct op_instance *const operation = x->operation;
    const double readings_ns = x->clock_ns * (double)x->parts;
    double more_ns = 0.0; /* which the host would need to read the clock around the work */
    struct overlap_timed_work timed = {.work_ns = 0.0};
    struct overlap_with_work times;
    times.alone_ns = take_work_parts(x, round, part_units) - readings_ns;
    renew(x);
    begin(x, round, operation);
    if (!operation->works) {
        timed.span = overlap_time_service(operation, operation->kind->serve);
    } else if (x->worker.device != NULL) {
        timed.span = overlap_time_total_on_device(operation, x->worker.device, part_units);
        timed.work_ns = x->kernel_ns + x->clock_ns;
        more_ns = 2.0 * x->clock_ns;
    } else {
        timed = overlap_time_parts(operation, x->parts, part_units);
    }
    verify(x, operation);
    const double total_ns = ns_of(x, round, quantity, timed.span) + more_ns;
    times.inside_ns = timed.work_ns - readings_ns;
    times.beside_ns = total_ns - timed.work_ns - readings_ns;
    times.exposed_ns =
        operation->works ? times.beside_ns + times.inside_ns - times.alone_ns : -INFINITY;
    return times;
}

void overlap_check_round(struct overlap_experiment *x)
{
    struct op_instance *const operation = x->operation;
    if (x->check && operation->kind->check != NULL && !operation->kind->check(operation))
        x->wrong++;
}
