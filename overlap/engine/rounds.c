/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/rounds.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/operations/buffers.h"
#include "overlap/engine/kernel_device.h"
#include "overlap/engine/row.h"

#include <math.h>

/* ---- before and after the timed region ------------------------------------------------------- */

static void release(const struct overlap_experiment *x, const struct bc_round *round)
{
    x->operation->complete = 0;
    if (x->by_barrier || round->window == NULL)
        BC_MPI(MPI_Barrier(x->operation->comm));
    else
        bc_round_start(round);
}

static double ns_of(const struct overlap_experiment *x, const struct bc_round *round, int quantity,
                    struct bc_span span)
{
    const double ns =
        x->by_barrier ? (double)(span.end_ns - span.start_ns) : bc_round_ns(round, quantity, span);
    return x->operation->works ? ns : -INFINITY;
}

/* Prepares the operation, whose data will arrive in `arriving`, and releases all ranks. */
static void begin_time(const struct overlap_experiment *x, const struct bc_round *round,
                       struct op_instance *arriving)
{
    if (x->check)
        op_prepare_check(arriving);
    release(x, round);
}

/* Verifies the data and returns the time. A transfer completes at its origin only, so a barrier
   comes first. */
static double end_time(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                       struct bc_span span, struct op_instance *arriving)
{
    if (x->check && x->operation->settle != NULL)
        bc_harness_barrier(x->operation->comm);
    if (x->check && !op_verify(arriving))
        x->wrong++;
    return ns_of(x, round, quantity, span);
}

static void renew(const struct overlap_experiment *x)
{
    if (x->renews)
        op_renew(x->operation);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Each function below times one operation, or work alone, and returns this rank's time in ns with
   the cost of a reading of the clock; -INFINITY if the rank has no work to do. It notes the start
   for a quantity of the round. Collective. */

double overlap_take(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                    enum overlap_call call, uint64_t units)
{
    struct op_instance *const operation = x->operation;
    struct bc_device *const device = x->worker.device;
    const bool blocks = call == OVERLAP_CALL_BLOCKING;
    struct bc_span span;
    renew(x);
    begin_time(x, round, operation);
    if (!operation->works)
        span =
            overlap_time_service(operation, blocks ? operation->serve_blocking : operation->serve);
    else if (device != NULL && blocks)
        span = overlap_time_blocking_on_device(operation, device, units);
    else if (device != NULL)
        span = overlap_time_total_on_device(operation, device, units);
    else if (blocks)
        span = overlap_time_blocking(operation);
    else if (call == OVERLAP_CALL_TOTAL)
        span = overlap_time_total(operation, x->parts, units);
    else
        span = overlap_time_operation(operation);
    return end_time(x, round, quantity, span, operation) - (blocks ? x->kernel_ns : 0.0);
}

static double take_staged(struct overlap_experiment *x, const struct bc_round *round, int quantity,
                          uint64_t steps)
{
    struct op_instance *const operation = x->operation, *const staged = x->staged;
    /* Data for host memory stays in the staged buffer. */
    struct op_instance *const arriving =
        bc_memory_needs_copy(operation->space.receive) ? operation : staged;
    struct bc_span span;
    begin_time(x, round, arriving);
    if (!operation->works)
        span = overlap_time_staged(operation, staged, operation->serve_blocking);
    else if (x->worker.device != NULL)
        span = overlap_time_staged_on_device(operation, staged, x->worker.device, steps);
    else
        span = overlap_time_staged(operation, staged, staged->blocking);
    return end_time(x, round, quantity, span, arriving) - x->kernel_ns;
}

/* Times a kernel alone, and keeps its time. */
static struct bc_span time_kernel(struct overlap_experiment *x, uint64_t steps)
{
    const struct overlap_timed_work kernel = overlap_time_kernel(&x->worker, steps);
    x->kernel_ns = kernel.work_ns;
    return kernel.span;
}

static double take_work(struct overlap_experiment *x, const struct bc_round *round, int quantity,
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

/* Times the work alone in parts, with a reading for each. */
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

/* Times in ns of the work alone, and of an operation with the same work. The costs of readings are
   subtracted, except one where noted. */
struct with_work {
    double alone_ns, inside_ns; /* the work */
    double beside_ns;           /* the operation minus the work; includes one reading */
    double exposed_ns;          /* time added to the work; includes one reading */
};
static struct with_work take_with_work(struct overlap_experiment *x, const struct bc_round *round,
                                       int quantity, uint64_t part_units)
{
    struct op_instance *const operation = x->operation;
    const double readings_ns = x->clock_ns * (double)x->parts;
    double more_ns = 0.0; /* for readings around the work, as on the host */
    struct overlap_timed_work timed = {.work_ns = 0.0};
    struct with_work times;
    times.alone_ns = take_work_parts(x, round, part_units) - readings_ns;
    renew(x);
    begin_time(x, round, operation);
    if (!operation->works) {
        timed.span = overlap_time_service(operation, operation->serve);
    } else if (x->worker.device != NULL) {
        timed.span = overlap_time_total_on_device(operation, x->worker.device, part_units);
        timed.work_ns = x->kernel_ns + x->clock_ns;
        more_ns = 2.0 * x->clock_ns;
    } else {
        timed = overlap_time_parts(operation, x->parts, part_units);
    }
    const double total_ns = end_time(x, round, quantity, timed.span, operation) + more_ns;
    times.inside_ns = timed.work_ns - readings_ns;
    times.beside_ns = total_ns - timed.work_ns - readings_ns;
    times.exposed_ns =
        operation->works ? times.beside_ns + times.inside_ns - times.alone_ns : -INFINITY;
    return times;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Keeps this rank's times of a round; plain_ns is the operation without work, or blocking. */
static void keep(const struct overlap_experiment *x, double plain_ns, const struct with_work *times,
                 struct bc_samples *own)
{
    const double values[OVERLAP_OWN_QUANTITIES] = {
        [OVERLAP_OWN_PLAIN] = plain_ns - x->clock_ns,
        [OVERLAP_OWN_BESIDE] = times->beside_ns - x->clock_ns,
        [OVERLAP_OWN_INSIDE] = times->inside_ns,
        [OVERLAP_OWN_ALONE] = times->alone_ns,
    };
    bc_samples_append(own, values, OVERLAP_OWN_QUANTITIES, 0);
}

/* Runs the kind's own check, if any. Collective. */
static void check_round(struct overlap_experiment *x)
{
    struct op_instance *const operation = x->operation;
    if (x->check && operation->kind->check != NULL && !operation->kind->check(operation))
        x->wrong++;
}

static const struct bc_quantities one_quantity = {.count = 1, .clock_readings = 1.0};

void overlap_reference_rounds(const struct bc_run *run, struct overlap_experiment *x,
                              const struct bc_plan *plan, struct bc_samples *samples)
{
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &one_quantity, plan, samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_value(round, OVERLAP_REFERENCE,
                       overlap_take(x, round, OVERLAP_REFERENCE, OVERLAP_CALL_REFERENCE, 0));
        check_round(x);
    }
}

void overlap_total_rounds(const struct bc_run *run, struct overlap_experiment *x,
                          const struct bc_plan *plan, struct bc_samples *samples)
{
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &one_quantity, plan, samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_value(round, 0, overlap_take(x, round, 0, OVERLAP_CALL_TOTAL, x->part_units));
        check_round(x);
    }
}

void overlap_plenty_rounds(const struct bc_run *run, struct overlap_experiment *x,
                           const struct bc_plan *plan)
{
    struct bc_samples discarded = {.count = 0};
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &one_quantity, plan, &discarded);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        const struct with_work plenty = take_with_work(x, round, 0, x->plenty_part_units);
        bc_round_value(round, 0, plenty.exposed_ns);
        keep(x, 0.0, &plenty, &x->own_plenty);
        check_round(x);
    }
    bc_samples_free(&discarded);
}

void overlap_counterpart_rounds(const struct bc_run *run, struct overlap_experiment *x,
                                const struct bc_plan *plan)
{
    struct bc_samples discarded = {.count = 0};
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &one_quantity, plan, &discarded);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        (void)overlap_take(x, round, 0, OVERLAP_CALL_BLOCKING, 0);
        if (x->staged != NULL)
            (void)take_staged(x, round, 0, 0);
        bc_round_value(round, 0, 0.0);
        check_round(x);
    }
    bc_samples_free(&discarded);
}

void overlap_trial_rounds(const struct bc_run *run, struct overlap_experiment *x,
                          const struct bc_plan *plan)
{
    static const struct bc_quantities quantities = {.count = OVERLAP_BESIDE + 1,
                                                    .clock_readings = 1.0};
    struct bc_samples discarded = {.count = 0};
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &quantities, plan, &discarded);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        /* See overlap_answer_rounds. */
        (void)take_work(x, round, OVERLAP_WORK, x->part_units);
        const double reference_ns =
            overlap_take(x, round, OVERLAP_REFERENCE, OVERLAP_CALL_REFERENCE, 0);
        const struct with_work beyond = take_with_work(x, round, OVERLAP_BESIDE, x->part_units);
        bc_round_value(round, OVERLAP_REFERENCE, reference_ns);
        bc_round_value(round, OVERLAP_BESIDE, beyond.beside_ns);
        keep(x, reference_ns, &beyond, &x->own);
        check_round(x);
    }
    bc_samples_free(&discarded);
}

void overlap_answer_rounds(const struct bc_run *run, struct overlap_experiment *x,
                           const struct bc_plan *plan, struct bc_samples *samples)
{
    const struct bc_quantities quantities = {
        .count = x->staged != NULL ? OVERLAP_QUANTITIES : OVERLAP_STAGED, .clock_readings = 1.0};
    const uint64_t plenty_units = x->plenty_part_units;
    struct bc_rounds *const rounds = bc_rounds_by_plan(run, &quantities, plan, samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        /* A network's state before an operation affects it: buffers drain, token buckets fill. So
           the same work alone precedes all operations that are compared; the first work is
           discarded. */
        (void)take_work(x, round, OVERLAP_WORK, x->part_units);
        const double reference_ns =
            overlap_take(x, round, OVERLAP_REFERENCE, OVERLAP_CALL_REFERENCE, 0);
        const struct with_work beyond = take_with_work(x, round, OVERLAP_BESIDE, x->part_units);
        bc_round_value(round, OVERLAP_REFERENCE, reference_ns);
        bc_round_value(round, OVERLAP_BESIDE, beyond.beside_ns);
        keep(x, reference_ns, &beyond, &x->own);

        const struct with_work plenty = take_with_work(x, round, OVERLAP_EXPOSED, plenty_units);
        double blocking_ns = 0.0;
        if (x->blocking) {
            (void)take_work(x, round, OVERLAP_WORK, plenty_units);
            blocking_ns =
                overlap_take(x, round, OVERLAP_BLOCKING, OVERLAP_CALL_BLOCKING, plenty_units);
        }
        if (x->staged != NULL) {
            (void)take_work(x, round, OVERLAP_WORK, plenty_units);
            bc_round_value(round, OVERLAP_STAGED,
                           take_staged(x, round, OVERLAP_STAGED, plenty_units));
        }
        bc_round_value(round, OVERLAP_EXPOSED, plenty.exposed_ns);
        bc_round_value(round, OVERLAP_BLOCKING, blocking_ns);
        keep(x, blocking_ns, &plenty, &x->own_plenty);

        /* The amounts come last, in descending order, so that the next round's reference follows an
           operation with little work. After one with plenty of work, buffers would be emptier than
           they are for the operation that the reference is compared with. */
        for (int i = 0; i < OVERLAP_AMOUNTS; i++) {
            const int work = OVERLAP_WORK + i, total = OVERLAP_TOTAL + i;
            const uint64_t units = x->amount_part_units[i];
            bc_round_value(round, work, take_work(x, round, work, units));
            bc_round_value(round, total, overlap_take(x, round, total, OVERLAP_CALL_TOTAL, units));
        }
        check_round(x);
    }
}

/* ---- estimates over ranks -------------------------------------------------------------------- */

struct overlap_estimates overlap_slowest_estimates(const struct bc_run *run,
                                                   const struct overlap_experiment *x, size_t first,
                                                   size_t end)
{
    enum { INTERVALS = OVERLAP_EST_TOTAL + 1 };
    const bool works = x->operation->works;
    const int rank = run->job.rank;
    struct overlap_estimates own = {.half_width_ns = {NAN, NAN}}, estimates;
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    if (works)
        own = overlap_estimate_own(&x->own, first, end);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){works ? own.ns[i] : -INFINITY, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < INTERVALS; i++)
        if (slowest[i].rank != rank)
            own.half_width_ns[i] = 0.0;
    bc_harness_allreduce(own.half_width_ns, estimates.half_width_ns, INTERVALS, MPI_DOUBLE, MPI_SUM,
                         MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates.ns[i] = slowest[i].value;
    return estimates;
}

void overlap_slowest_gain(const struct overlap_experiment *x, size_t first, size_t end,
                          double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    double own_ns[OVERLAP_GAIN_ESTIMATED] = {-INFINITY, -INFINITY, -INFINITY};
    if (x->operation->works)
        overlap_gain_own(&x->own_plenty, first, end, own_ns);
    bc_harness_allreduce(own_ns, estimates_ns, OVERLAP_GAIN_ESTIMATED, MPI_DOUBLE, MPI_MAX,
                         MPI_COMM_WORLD);
}
