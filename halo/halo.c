/*
 * What a 3D halo swap costs, by method: put and get on coarrays, messages of derived datatypes or
 * of packed values, persistent messages, a neighbourhood collective, and memory that the processes
 * of a node share.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its halo part, with what MPI programs do
 * beside it; see swap/methods.h. Each rank holds a box of a periodic grid and one layer of its
 * neighbours' values around it: the six faces, without edges and corners. Coarrays are MPI-3
 * windows here: see common/coarray/coarray.h.
 */
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "common/sync_clock/start_window.h"
#include "common/batch/batch.h"
#include "halo/kernel.h"
#include "halo/parameters.h"

#include <stdio.h>

struct halo {
    struct halo_parameters parameters;
    struct bc_run *run;
    struct halo_grid grid;
    MPI_Comm comm;    /* of the grid */
    double max_bytes; /* that a box may need; rank 0 */
};

struct row {
    const struct halo_method *method;
    const struct halo_box *box;
    struct bc_batch_row swaps;
    int64_t wrong; /* swaps that were checked, on this rank */
};

struct result {
    const char *method, *sync;
    char dims[BC_CELL_LENGTH], local[BC_CELL_LENGTH];
    int64_t ndata;
    struct bc_batch_result swaps;
    double bwidth_mbs;
    const char *check;
};

static const struct bc_column columns[] = {
    BC_COLUMN("method", BC_KEY, 0, result, method),
    BC_COLUMN("sync", BC_KEY, 0, result, sync),
    BC_COLUMN("dims", BC_KEY, 0, result, dims),
    BC_COLUMN("local", BC_KEY, 0, result, local),
    BC_COLUMN("ndata", BC_INFO, 0, result, ndata),
    BC_COLUMN("nrep", BC_INFO, 0, result, swaps.repetitions),
    BC_COLUMN("time_s", BC_INFO, 6, result, swaps.total_s),
    BC_TIME_COLUMNS("latency", BC_LESS, 3, result, swaps.repetition),
    BC_COLUMN("bwidth_mbs", BC_INFO, 6, result, bwidth_mbs),
    BC_COLUMN("check", BC_INFO, 0, result, check),
    BC_OUTCOME_COLUMNS(result, swaps.outcome),
};

/* ---- usage ----------------------------------------------------------------------------------- */

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct halo *const halo = state;
    struct halo_parameters *const p = &halo->parameters;
    if (!halo_parameters_fit(p, run->job.ranks, error))
        return false;
    halo->max_bytes = bc_run_usable_bytes(run, BC_MEMORY_SHARE, p->in_window);
    if (!bc_option_given(&run->options, "local"))
        halo_parameters_shorten(p, halo->max_bytes);
    return halo_boxes_fit(p->boxes, p->box_count, halo->max_bytes, p->packs, "memory or /dev/shm",
                          error);
}

/* ---- what the run says before its rows ------------------------------------------------------- */

/* Leaves out a method that calls a function which the MPI library lacks. */
static void check_missing(struct halo *halo, int i)
{
    const struct halo_method *const method = halo_methods[i];
    halo->parameters.method_chosen[i] = !method->missing;
    if (method->missing)
        bc_output_remark(halo->run->output, "note", "no %s: this MPI library has no such function",
                         method->name);
}

/* Says how many faces of the shared window cross nodes; leaves it out where no process shares a
   node with a neighbour. Collective. */
static void check_sharing(struct halo *halo, int i)
{
    const struct halo_method *const method = halo_methods[i];
    if (!method->shares_node)
        return;
    const struct halo_neighbourhood n =
        halo_neighbourhood_of(&halo->grid, halo->comm, halo->run->job.node_comm);
    halo->parameters.method_chosen[i] = n.on_node > 0;
    if (n.on_node == 0)
        bc_output_remark(halo->run->output, "note",
                         "no %s: no process shares a node with a neighbour", method->name);
    else
        bc_output_remark(halo->run->output, "note",
                         "%s: %lld of %lld faces cross nodes, as packed messages", method->name,
                         (long long)n.off_node, (long long)n.faces);
}

/* Says when a method brings faces to the wrong side, which --check alone would show. Collective. */
static void check_order(struct halo *halo, int i)
{
    const struct halo_method *const method = halo_methods[i];
    if (method->is_right != NULL && !method->is_right(&halo->grid, halo->comm))
        bc_output_remark(halo->run->output, "note",
                         "%s: this MPI library brings faces to the wrong side where both "
                         "neighbours are the same process; the time is that of the same messages",
                         method->name);
}

/* ---- what all rows share --------------------------------------------------------------------- */

static void make_grid(struct halo *halo, struct bc_run *run)
{
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    struct halo_parameters *const p = &halo->parameters;
    BC_MPI(MPI_Dims_create(run->job.ranks, HALO_DIRECTIONS, p->dims));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, p->dims, periodic, 0, &halo->comm));
    BC_MPI(MPI_Comm_set_errhandler(halo->comm, MPI_ERRORS_RETURN));
    halo->run = run;
    halo->grid = halo_grid_of(p->dims, run->job.rank);
}

/* Leaves out what this job or MPI library can't do, and says so. Collective. */
static void check_methods(struct halo *halo)
{
    static void (*const checks[])(struct halo *, int) = {check_missing, check_sharing, check_order};
    const struct halo_parameters *const p = &halo->parameters;
    if (p->left_out != NULL)
        bc_output_remark(halo->run->output, "note",
                         "no boxes of %s: they do not fit into memory or /dev/shm: %s", p->left_out,
                         halo_box_advice(halo->max_bytes, p->packs).text);
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        for (int i = 0; i < HALO_METHODS; i++)
            if (p->method_chosen[i])
                checks[c](halo, i);
}

static void list_rows(const struct halo *halo)
{
    const struct halo_parameters *const p = &halo->parameters;
    for (int i = 0; i < HALO_METHODS; i++)
        for (int j = 0; j < p->box_count && p->method_chosen[i]; j++) {
            struct row *const row = bc_add_row(halo->run);
            row->method = halo_methods[i];
            row->box = &p->boxes[j];
        }
}

/* ---- one row --------------------------------------------------------------------------------- */

struct round {
    const struct halo_method *method;
    const struct halo_exchange *exchange;
    struct bc_start_window *window; /* or NULL */
    int64_t swaps;                  /* that were checked so far */
    int64_t wrong;                  /* of these, on this rank */
};

static double repeat(void *context, int64_t repetitions)
{
    const struct round *const round = context;
    return halo_swap_often(round->method, round->exchange, repetitions, round->window);
}

/* The barrier, or the window, comes after the data is made, just before the timed region, so that
   no rank waits in the timed region for another one's data to be made. There is none after the
   swap: values that arrive or are read too late must be seen. */
static double repeat_checked(void *context, int64_t repetitions)
{
    struct round *const round = context;
    double ns = 0.0;
    for (int64_t i = 0; i < repetitions; i++) {
        halo_prepare(round->exchange, round->swaps);
        if (round->window != NULL)
            bc_start_window_wait(round->window);
        else
            bc_harness_release(round->exchange->comm);
        ns += halo_swap_often(round->method, round->exchange, 1, round->window);
        if (!halo_is_right(round->exchange, round->swaps))
            round->wrong++;
        round->swaps++;
    }
    return ns;
}

static void write_extents(char *cell, int64_t a, int64_t b, int64_t c)
{
    snprintf(cell, BC_CELL_LENGTH, "%lldx%lldx%lld", (long long)a, (long long)b, (long long)c);
}

/* A sample is a batch of swaps, long against the clock. With --check each swap is timed by itself,
   and its data is made before and verified after the timed region. */
static void measure(const struct halo *halo, struct bc_visit *visit)
{
    const struct bc_run *const run = halo->run;
    struct row *const row = visit->row;
    const bool check = run->settings.check;
    struct halo_exchange exchange;
    halo_exchange_init(&exchange, row->box, &halo->grid, halo->comm, run->job.node_comm);
    row->method->create(&exchange);
    struct round round = {.method = row->method, .exchange = &exchange, .window = run->window};
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = &round,
        .repetitions = check ? 1 : 0,
        .clock_readings = 1.0,
        .window = run->window,
    };
    bc_batch_visit(run, &batch, visit->seconds, &row->swaps);
    visit->is_precise = bc_batch_is_precise(run, &row->swaps);
    row->wrong += round.wrong;
    row->method->destroy(&exchange);
}

static void write_row(const struct halo *halo, struct row *row)
{
    struct bc_run *const run = halo->run;
    struct result result = {0};
    const int *const dims = halo->grid.dims;
    const int64_t *const extent = row->box->extent;
    int64_t wrong = 0;
    bc_batch_conclude(run, &row->swaps, "swap", &result.swaps);
    if (run->settings.check)
        bc_harness_reduce(&row->wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    result.method = row->method->name;
    result.sync = halo_sync_names[row->method->sync];
    write_extents(result.dims, dims[0], dims[1], dims[2]);
    write_extents(result.local, extent[0], extent[1], extent[2]);
    result.ndata = halo_ndata(row->box);
    result.bwidth_mbs = (double)sizeof(double) * (double)result.ndata / 1048576.0 /
                        (result.swaps.repetition.value * 1e-9);
    result.check = !run->settings.check ? "off" : wrong > 0 ? "FAIL" : "ok";
    if (wrong > 0)
        result.swaps.outcome.status = BC_FAIL;
    bc_write_row(run, &result);
}

const struct bc_program halo_program = {
    .name = "halo",
    .summary = "Measures a 3D halo swap in a periodic grid of processes, by put, get, messages\n"
               "of several kinds, and shared memory.",
    .options = {halo_options, HALO_OPTIONS},
    .defaults = &halo_default_parameters,
    .defaults_bytes = sizeof halo_default_parameters,
    .state_bytes = sizeof(struct halo),
    .row_bytes = sizeof(struct row),
    .budget_s = 50.0,
    .starter = &bc_window_starter,
    .complete = halo_parameters_complete,
    .fit = fit,
};

int main(int argc, char **argv)
{
    struct halo halo;
    struct bc_run *const run = bc_start(&halo_program, &halo, argc, argv);
    bc_open_result(run, columns, sizeof columns / sizeof *columns);
    make_grid(&halo, run);
    check_methods(&halo);
    list_rows(&halo);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&halo, visit);
        else
            write_row(&halo, visit->row);
    BC_MPI(MPI_Comm_free(&halo.comm));
    return bc_finish(run);
}
