/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of a 3D halo exchange, by method: put and get on coarrays, messages with datatypes or packed
 * values, persistent messages, a neighbourhood collective, and shared memory. Each rank holds a box
 * of a periodic grid with one layer of its neighbours' values around it: six faces, without edges
 * and corners.
 *
 * Timed region: on each rank, a batch of exchanges of all six faces, between two readings of the
 * clock (kernel.c). A sample is the batch's time divided by its number of exchanges. Each batch is
 * preceded by a barrier, or with --start=window by an agreed start. If it has several exchanges, it
 * is preceded by one untimed exchange, and single exchanges are timed between batches for p99 and
 * max. With --check a batch is one exchange, whose data is prepared before and verified after the
 * timed region. With arrays on a device, the staged counterpart is timed alternately with the
 * method: pack, copy to pinned memory, exchange, copy back, unpack (common/halo_swap/on_device.c).
 *
 * When: a row is a method and a box. The rows of a group (common/run/visits.c) are measured
 * alternately, in visits with new buffers.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left (15 s per
 * run). The first visit chooses batches of about 20 µs, at least as long as 100 readings of the
 * clock. A visit ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * Written: one line per row, after its group's last visit (columns.c): the mean of the visits'
 * medians. The sample of a batch is the time of the rank that is usually the slowest, of a single
 * exchange that of the slowest rank, and with --start=window the time from the first start to the
 * last end (common/measure/rounds.h).
 *
 * Source: the halo part of the EPCC suite (common/coarray/coarray.h), extended by the methods of
 * MPI programs (common/halo_swap/methods.h).
 */
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "halo/halo.h"
#include "halo/warnings.h"

#include <math.h>
#include <stdio.h>

/* Main columns with arrays on a device. */
#define MEMORY_COLUMNS                                                                             \
    "method,sync,local,latency_us,staged_us,direct_gain_pct,direct_gain_lo_pct,"                   \
    "direct_gain_hi_pct,direct_verdict,status"

struct halo {
    struct halo_parameters parameters; /* the first member: options are read into it */
    struct bc_run *run;
    struct halo_grid grid;
    MPI_Comm comm;                  /* of the grid */
    struct halo_neighbourhood near; /* faces of all ranks */
    struct bc_device *device;       /* NULL if all arrays are in host memory */
};

struct halo_row {
    const struct halo_method *method;
    const struct halo_box *box;
    struct bc_store store;
    int64_t checked, wrong; /* with --check: exchanges verified; wrong ones on this rank */
};

/* The quantities of a round. */
enum { DIRECT, STAGED, QUANTITIES };

/* ---- shared by all rows ---------------------------------------------------------------------- */

static void make_grid(struct halo *halo, struct bc_run *run)
{
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    struct halo_parameters *const p = &halo->parameters;
    BC_MPI(MPI_Dims_create(run->job.ranks, HALO_DIRECTIONS, p->dims));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, p->dims, periodic, 0, &halo->comm));
    BC_MPI(MPI_Comm_set_errhandler(halo->comm, MPI_ERRORS_RETURN));
    halo->run = run;
    halo->grid = halo_grid_of(p->dims, run->job.rank);
    halo->near = halo_neighbourhood_of(&halo->grid, halo->comm, run->job.node_comm);
}

/* Returns why a method has no rows, or NULL if it has any. */
static const char *why_no_rows(const struct halo *halo, const struct halo_method *method)
{
    if (method->missing)
        return "this MPI library has no such function";
    if (method->shares_node && halo->run->job.ranks == 1)
        return "it " BC_NEEDS_2_RANKS;
    if (method->shares_node && halo->near.on_node == 0)
        return "no process shares a node with a neighbour";
    if (method->shares_node && halo->device != NULL)
        return "its arrays are in host memory that processes share";
    return NULL;
}

/* Prints notes on boxes and methods left out, faces that a shared window can't share, and a library
   that misplaces faces. Collective. */
static void note_methods(const struct halo *halo)
{
    const struct halo_parameters *const p = &halo->parameters;
    struct bc_output *const output = halo->run->output;
    if (p->local.left_out != NULL)
        halo_note_left_out(&p->local, output);
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        const char *const obstacle = why_no_rows(halo, method);
        if (!p->method_chosen[i])
            continue;
        if (obstacle != NULL)
            bc_output_remark(output, HALO_NOTE_LEFT_OUT, method->name, obstacle);
        else if (method->shares_node && halo->near.off_node == 0)
            bc_output_remark(output, HALO_NOTE_ON_NODE, method->name);
        else if (method->shares_node)
            bc_output_remark(output, HALO_NOTE_ACROSS_NODES, method->name,
                             (long long)halo->near.off_node, (long long)halo->near.faces);
        else if (method->may_misplace)
            halo_note_misplaced(method, false, "", &halo->grid, halo->comm, output);
    }
}

/* Lists the rows of the chosen methods. If there are none, sets the error to the obstacle of the
   last method and returns false. */
static bool list_rows(const struct halo *halo, struct bc_error *error)
{
    const struct halo_parameters *const p = &halo->parameters;
    const char *obstacle = "";
    bool any = false;
    for (int i = 0; i < HALO_METHODS; i++) {
        if (!p->method_chosen[i])
            continue;
        obstacle = why_no_rows(halo, halo_methods[i]);
        for (int j = 0; j < p->local.count && obstacle == NULL; j++) {
            *(struct halo_row *)(halo_methods[i]->in_window ? bc_add_window_row
                                                            : bc_add_row)(halo->run) =
                (struct halo_row){.method = halo_methods[i], .box = &p->local.boxes[j]};
            any = true;
        }
    }
    return any || bc_error_set(error, "--methods: %.80s: %s: use another method, or all",
                               p->methods.text, obstacle);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Creates the exchange of a row, or its staged counterpart, which always packs its faces. */
static void create_exchange(const struct halo *halo, const struct halo_row *row, bool staged,
                            struct halo_exchange *exchange)
{
    const struct bc_run *const run = halo->run;
    const bool upper = run->job.rank >= run->job.ranks / 2;
    const struct halo_space space = {.device = halo->device,
                                     .memory = halo->parameters.memory.of[upper],
                                     .staged = staged,
                                     .checks = run->settings.check};
    halo_exchange_create(exchange, staged ? &halo_method_packed : row->method, row->box,
                         &halo->grid, halo->comm, run->job.node_comm, &space);
}

/* With --check, barriers precede the preparation of data, since neighbours must have finished, and
   follow it. No barrier follows the exchange: values that arrive late must show. */
static void measure(const struct halo *halo, struct bc_visit *visit)
{
    const struct bc_run *const run = halo->run;
    struct halo_row *const row = visit->row;
    const bool check = run->settings.check;
    const struct bc_quantities quantities = {
        .count = halo->device != NULL ? QUANTITIES : 1,
        .clock_readings = 1.0, /* around a batch */
        .batching = BC_BATCHES,
        .repetitions = check ? 1 : 0, /* 0: chosen in the first visit */
    };
    struct halo_exchange exchanges[QUANTITIES];
    for (int q = 0; q < quantities.count; q++)
        create_exchange(halo, row, q == STAGED, &exchanges[q]);
    struct bc_rounds *const rounds = bc_rounds_of(run, &quantities, visit->seconds, &row->store);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;)
        for (int q = 0; bc_round_wants(round, q); q++) {
            const struct halo_exchange *const exchange = &exchanges[q];
            bc_round_release(round, MPI_COMM_WORLD);
            if (check) {
                bc_round_start(round);
                halo_prepare(exchange, row->checked);
                bc_round_release(round, exchange->comm);
            }
            if (round->lead_in > 0)
                (void)halo_time_swaps(exchange, round->lead_in); /* untimed */
            bc_round_start(round);
            bc_round_time(round, q, halo_time_swaps(exchange, round->repetitions));
            if (check)
                row->wrong += !halo_is_right(exchange, row->checked++);
        }
    visit->is_precise = bc_store_is_precise(run, &quantities, &row->store);
    for (int q = 0; q < quantities.count; q++)
        halo_exchange_destroy(&exchanges[q]);
}

static void write_extents(char *cell, int64_t a, int64_t b, int64_t c)
{
    snprintf(cell, BC_CELL_LENGTH, "%lldx%lldx%lld", (long long)a, (long long)b, (long long)c);
}

static void write_row(const struct halo *halo, struct halo_row *row)
{
    const int *const dims = halo->grid.dims;
    const int64_t *const extent = row->box->extent;
    struct halo_result result = {.method = row->method->name,
                                 .sync = bc_sync_names[row->method->sync],
                                 .ndata = halo_ndata(row->box)};
    write_extents(result.dims, dims[0], dims[1], dims[2]);
    write_extents(result.local, extent[0], extent[1], extent[2]);
    const int transfers = 1; /* a repetition is one swap */
    bc_transfer_conclude(halo->run, &row->store, "swap", transfers, result.ndata, row->wrong,
                         &result.swaps);
    const double scale = 1.0;
    if (halo->device != NULL)
        result.staged = bc_staged_of(&halo->parameters.memory, &result.swaps.measured.counterpart,
                                     &result.swaps.measured.gain, scale);
    bc_write_row(halo->run, &result);
}

const struct bc_program halo_program = {
    .name = "halo",
    .summary = "Measures a 3D halo exchange in a periodic grid of processes, by puts, gets,\n"
               "messages, a neighbourhood collective, and shared memory.",
    .placement = "put, get and shared window: " BC_IN_WINDOWS "; other methods: " BC_PLACED,
    .has_buffers = true,
    .options = {halo_options, HALO_OPTIONS},
    .defaults = &halo_default_parameters,
    .defaults_bytes = sizeof halo_default_parameters,
    .state_bytes = sizeof(struct halo),
    .row_bytes = sizeof(struct halo_row),
    .budget_s = BC_BUDGET_S, /* of a whole run */
    .has_start = true,
    .complete = halo_parameters_complete,
    .fit = halo_parameters_fit,
};

/* A device holds two arrays, four with --check. For the method and its staged counterpart, packing
   needs buffers and index lists for both directions: 8 times ndata values. */
static void open_memory(struct halo *halo, struct bc_run *run)
{
    const struct halo_parameters *const p = &halo->parameters;
    double values = 0.0;
    if (!bc_memory_is_asked(&p->memory))
        return;
    for (int i = 0; i < p->local.count; i++) {
        const struct halo_box *const box = &p->local.boxes[i];
        values = fmax(values, (run->settings.check ? 4.0 : 2.0) * (double)halo_array_values(box) +
                                  8.0 * (double)halo_ndata(box));
    }
    halo->device = bc_memory_open(run, &p->memory, sizeof(double) * values, "a smaller --local");
}

static void open_result(const struct halo *halo, struct bc_run *run)
{
    if (halo->device == NULL) {
        bc_open_result(run, &halo_table, "");
        return;
    }
    bc_open_result(
        run, bc_memory_table(&halo_table, offsetof(struct halo_result, staged), MEMORY_COLUMNS),
        "");
    bc_memory_describe(run, halo->device);
}

int main(int argc, char **argv)
{
    struct halo halo;
    struct bc_run *const run = bc_start(&halo_program, &halo, argc, argv);
    struct bc_error error = {""};
    make_grid(&halo, run);
    open_memory(&halo, run);
    if (!list_rows(&halo, &error)) /* the same on all ranks */
        bc_require(run, false, &error);
    open_result(&halo, run);
    note_methods(&halo);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&halo, visit);
        else /* BC_WRITE */
            write_row(&halo, visit->row);
    BC_MPI(MPI_Comm_free(&halo.comm));
    return bc_finish(run);
}
