#include "overlap/engine/kernel.h"

#include "common/clock/clock.h"
#include "common/work/work.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/operations/buffers.h"
#include "overlap/engine/estimate.h"

#include <math.h>

/* ---- the timed regions ----------------------------------------------------------------------- */

/* These few lines are the claim: nothing but the operation, and the work where there is some, lies
   between the readings of the clock. Just before that a barrier releases all ranks, or they start
   together in a window. The result is this rank's time in ns, with the cost of one clock reading in
   it: the sampler takes that off (clock_ns of the source). */

static void release(const struct overlap_round *round)
{
    round->operation->complete = 0;
    if (round->window != NULL)
        bc_start_window_wait(round->window);
    else
        BC_MPI(MPI_Barrier(round->operation->comm));
}

/* As all below: in a round of `quantity`, with part_units in each part of the work, if any. */
typedef double time_fn(struct overlap_round *round, int quantity, uint64_t part_units);

static double time_operation(struct overlap_round *round, int quantity, uint64_t part_units)
{
    (void)part_units;
    struct op_instance *const operation = round->operation;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    operation->finish(operation);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_blocking(struct overlap_round *round, int quantity, uint64_t part_units)
{
    (void)part_units;
    struct op_instance *const operation = round->operation;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->blocking(operation);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_total(struct overlap_round *round, int quantity, uint64_t part_units)
{
    struct op_instance *const operation = round->operation;
    const int64_t parts = round->parts;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    bc_work(part_units);
    for (int64_t part = 1; part < parts; part++) {
        operation->between(operation);
        bc_work(part_units);
    }
    operation->finish(operation);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

/* An operation with work, whose time goes into round->inside_ns: two readings of the clock for each
   part. */
static double time_parts(struct overlap_round *round, int quantity, uint64_t part_units)
{
    struct op_instance *const operation = round->operation;
    const int64_t parts = round->parts;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    int64_t begin_ns = bc_now_ns();
    bc_work(part_units);
    int64_t work_ns = bc_now_ns() - begin_ns;
    for (int64_t part = 1; part < parts; part++) {
        operation->between(operation);
        begin_ns = bc_now_ns();
        bc_work(part_units);
        work_ns += bc_now_ns() - begin_ns;
    }
    operation->finish(operation);
    const double total_ns = bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
    round->inside_ns = (double)work_ns;
    return total_ns;
}

/* The same work alone, in the same parts and with the same readings. */
static double time_work_parts(struct overlap_round *round, int quantity, uint64_t part_units)
{
    (void)quantity;
    const int64_t parts = round->parts;
    release(round);
    int64_t work_ns = 0;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t begin_ns = bc_now_ns();
        bc_work(part_units);
        work_ns += bc_now_ns() - begin_ns;
    }
    return (double)work_ns;
}

static double time_work(struct overlap_round *round, int quantity, uint64_t part_units)
{
    const int64_t parts = round->parts;
    release(round);
    const int64_t start_ns = bc_now_ns();
    for (int64_t part = 0; part < parts; part++)
        bc_work(part_units);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

/* Ranks that don't work make the other end of a message so, too. */
static double time_staged_call(struct overlap_round *round, int quantity, op_call_fn *call)
{
    struct op_instance *const operation = round->operation, *const staged = round->staged;
    release(round);
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    call(staged);
    op_copy_received(operation, staged);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_staged(struct overlap_round *round, int quantity, uint64_t part_units)
{
    (void)part_units;
    return time_staged_call(round, quantity, round->staged->blocking);
}

/* ---- with the work on a device --------------------------------------------------------------- */

/* The host is in MPI while the kernel runs, and then waits for the kernel. */
static double time_total_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    struct op_instance *const operation = round->operation;
    struct bc_device *const device = round->worker.device;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->start(operation);
    bc_device_compute(device, steps);
    operation->finish(operation);
    bc_device_synchronize(device);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double time_operation_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    (void)steps;
    return time_total_on_device(round, quantity, 0);
}

/* The kernel's time, with the cost of one reading that other times have. */
static double time_work_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    release(round);
    const int64_t start_ns = bc_now_ns();
    round->kernel_ns = overlap_kernel_ns(&round->worker, steps);
    (void)bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
    return round->kernel_ns + round->clock_ns;
}

/* What readings around a part of the processor's work cost is added, as take_with_work expects. */
static double time_parts_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    const double total_ns = time_total_on_device(round, quantity, steps);
    round->inside_ns = round->kernel_ns + round->clock_ns;
    return total_ns + 2.0 * round->clock_ns;
}

/* The time beside a kernel of the same length as the last one alone. */
static double time_blocking_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    struct op_instance *const operation = round->operation;
    struct bc_device *const device = round->worker.device;
    release(round);
    const int64_t start_ns = bc_now_ns();
    operation->blocking(operation);
    bc_device_compute(device, steps);
    bc_device_synchronize(device);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns()) - round->kernel_ns;
}

static double time_staged_on_device(struct overlap_round *round, int quantity, uint64_t steps)
{
    struct op_instance *const operation = round->operation, *const staged = round->staged;
    struct bc_device *const device = round->worker.device;
    release(round);
    const int64_t start_ns = bc_now_ns();
    op_copy_sent(staged, operation);
    staged->blocking(staged);
    op_copy_received(operation, staged);
    bc_device_compute(device, steps);
    bc_device_synchronize(device);
    return bc_start_window_time(round->window, quantity, start_ns, bc_now_ns()) - round->kernel_ns;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* How times are taken. */
struct ways {
    time_fn *operation, *total, *parts, *work, *work_parts, *blocking, *staged;
};

static const struct ways *ways_of(const struct overlap_round *round)
{
    static const struct ways on_processor = {.operation = time_operation,
                                             .total = time_total,
                                             .parts = time_parts,
                                             .work = time_work,
                                             .work_parts = time_work_parts,
                                             .blocking = time_blocking,
                                             .staged = time_staged};
    static const struct ways on_device = {.operation = time_operation_on_device,
                                          .total = time_total_on_device,
                                          .parts = time_parts_on_device,
                                          .work = time_work_on_device,
                                          .work_parts = time_work_on_device,
                                          .blocking = time_blocking_on_device,
                                          .staged = time_staged_on_device};
    return round->worker.device != NULL ? &on_device : &on_processor;
}

/* The cost of one reading, which the sampler takes off, stays in all values; what more readings
   cost comes off here. */

/* Ranks that don't work do their part of the operation (NULL: none) as soon as it is released. */
static void serve(const struct overlap_round *round, int quantity, op_call_fn *part)
{
    release(round);
    const int64_t start_ns = bc_now_ns();
    if (part != NULL)
        part(round->operation);
    (void)bc_start_window_time(round->window, quantity, start_ns, bc_now_ns());
}

static double take_work(struct overlap_round *round, time_fn *time, int quantity,
                        uint64_t part_units)
{
    if (round->operation->works)
        return time(round, quantity, part_units);
    serve(round, quantity, NULL);
    return -INFINITY;
}

static double take(struct overlap_round *round, time_fn *time, int quantity, uint64_t part_units)
{
    struct op_instance *const operation = round->operation;
    const struct op_kind *const kind = operation->kind;
    const struct ways *const ways = ways_of(round);
    op_call_fn *const serving = kind->serve_blocking != NULL ? kind->serve_blocking : kind->serve;
    /* What arrives in host memory stays where the staged operation has put it. */
    struct op_instance *const arriving =
        time == ways->staged && !bc_memory_needs_copy(operation->space.receive) ? round->staged
                                                                                : operation;
    double ns = -INFINITY;
    if (round->renews && time != ways->staged)
        op_renew(operation);
    if (round->check)
        op_poison(arriving);
    if (operation->works)
        ns = time(round, quantity, part_units);
    else if (time == ways->staged)
        (void)time_staged_call(round, quantity, serving);
    else if (time == ways->blocking)
        serve(round, quantity, serving);
    else
        serve(round, quantity, kind->serve);
    /* A transfer is complete at its origin only. All else must be there when it is finished. */
    if (round->check && kind->settle != NULL)
        bc_harness_barrier(operation->comm);
    if (round->check && !op_verify(arriving))
        round->wrong++;
    return ns;
}

/* Work alone, and then an operation with the same work; less what the readings cost. */
struct with_work {
    double alone_ns, inside_ns; /* the work */
    double beside_ns;           /* the operation without it, with one reading */
    double exposed_ns;          /* what the operation adds to the work */
};

static struct with_work take_with_work(struct overlap_round *round, int quantity,
                                       uint64_t part_units)
{
    const double readings_ns = round->clock_ns * (double)round->parts;
    const struct ways *const ways = ways_of(round);
    struct with_work times;
    times.alone_ns = take_work(round, ways->work_parts, OVERLAP_WORK, part_units) - readings_ns;
    const double total_ns = take(round, ways->parts, quantity, part_units);
    times.inside_ns = round->inside_ns - readings_ns;
    times.beside_ns = total_ns - round->inside_ns - readings_ns;
    times.exposed_ns =
        round->operation->works ? times.beside_ns + times.inside_ns - times.alone_ns : -INFINITY;
    return times;
}

/* Keeps this rank's times; plain_ns is the operation without work, or its blocking counterpart. */
static void keep(const struct overlap_round *round, double plain_ns, const struct with_work *times,
                 struct bc_samples *own)
{
    const double values[OVERLAP_OWN_QUANTITIES] = {
        [OVERLAP_OWN_PLAIN] = plain_ns - round->clock_ns,
        [OVERLAP_OWN_BESIDE] = times->beside_ns - round->clock_ns,
        [OVERLAP_OWN_INSIDE] = times->inside_ns,
        [OVERLAP_OWN_ALONE] = times->alone_ns,
    };
    bc_samples_append(own, values, OVERLAP_OWN_QUANTITIES, 0);
}

void overlap_take_reference(struct overlap_round *round, double *values)
{
    values[OVERLAP_REFERENCE] = take(round, ways_of(round)->operation, OVERLAP_REFERENCE, 0);
}

void overlap_take_total(struct overlap_round *round, double *values)
{
    values[0] = take(round, ways_of(round)->total, 0, round->part_units);
}

/* What a network did just before shows in the next operation: buffers drain and token buckets fill.
   So the same work alone precedes all operations that are compared; the first one doesn't count. */
void overlap_take_trial(struct overlap_round *round, double *values)
{
    (void)take_work(round, ways_of(round)->work, OVERLAP_WORK, round->part_units);
    overlap_take_reference(round, values);
    const struct with_work times = take_with_work(round, OVERLAP_BESIDE, round->part_units);
    values[OVERLAP_BESIDE] = times.beside_ns;
    keep(round, values[OVERLAP_REFERENCE], &times, round->own);
}

void overlap_take_plenty(struct overlap_round *round, double *values)
{
    const struct with_work times = take_with_work(round, 0, round->plenty_part_units);
    keep(round, 0.0, &times, round->own_plenty);
    values[0] = times.exposed_ns;
}

void overlap_take_counterparts(struct overlap_round *round, double *values)
{
    const struct ways *const ways = ways_of(round);
    values[0] = 0.0;
    if (round->blocking)
        (void)take(round, ways->blocking, 0, 0);
    if (round->staged != NULL)
        (void)take(round, ways->staged, 0, 0);
}

/* The amounts come last, the smallest at the end, so that what precedes the reference is an
   operation with no more work in it than fits: one with plenty would leave buffers emptier for the
   reference than the reference leaves them for the operation that it is compared with. */
void overlap_take_round(struct overlap_round *round, double *values)
{
    const struct ways *const ways = ways_of(round);
    const uint64_t plenty = round->plenty_part_units;
    overlap_take_trial(round, values);
    const struct with_work times = take_with_work(round, OVERLAP_EXPOSED, plenty);
    values[OVERLAP_EXPOSED] = times.exposed_ns;
    values[OVERLAP_BLOCKING] = 0.0;
    if (round->blocking) {
        (void)take_work(round, ways->work, OVERLAP_WORK, plenty);
        values[OVERLAP_BLOCKING] = take(round, ways->blocking, OVERLAP_BLOCKING, plenty);
    }
    if (round->staged != NULL) {
        (void)take_work(round, ways->work, OVERLAP_WORK, plenty);
        values[OVERLAP_STAGED] = take(round, ways->staged, OVERLAP_STAGED, plenty);
    }
    keep(round, values[OVERLAP_BLOCKING], &times, round->own_plenty);
    for (int i = 0; i < OVERLAP_AMOUNTS; i++) {
        const uint64_t units = round->amount_part_units[i];
        values[OVERLAP_WORK + i] = take_work(round, ways->work, OVERLAP_WORK + i, units);
        values[OVERLAP_TOTAL + i] = take(round, ways->total, OVERLAP_TOTAL + i, units);
    }
}

/* A check of the kind's own runs beside the timed operations: its data tells nothing. */
static void take_and_check(void *context, double *values)
{
    struct overlap_round *const round = context;
    struct op_instance *const operation = round->operation;
    round->take(round, values);
    if (round->check && operation->kind->check != NULL && !operation->kind->check(operation))
        round->wrong++;
}

void overlap_run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                        overlap_take_fn *take_values, const struct bc_plan *plan,
                        struct bc_samples *samples)
{
    const struct bc_source source = {
        .quantities = quantities,
        .take = take_and_check,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
        .starts = bc_start_window_starts(run->window),
        .clock_ns = run->own_clock.read_ns,
    };
    round->take = take_values;
    bc_take_rounds(&source, plan, samples);
}
