/*
 * What a 3D halo swap costs, by method: put and get on coarrays, messages of derived datatypes or
 * of packed values, persistent messages, a neighbourhood collective, and memory that the processes
 * of a node share.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its halo part, with what MPI programs do
 * beside it; see swap/methods.h. Each rank holds a box of a periodic grid and one layer of its
 * neighbours' values around it: the six faces, without edges and corners. Coarrays are MPI-3
 * windows here: see common/mpi/coarray.h.
 */
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "common/stats/batch.h"
#include "halo/kernel.h"
#include "halo/parameters.h"

#include <stdio.h>

struct halo_state {
    struct halo_parameters parameters;
    struct bc_run *run;
    struct halo_grid grid;
    MPI_Comm comm;    /* of the grid */
    double max_bytes; /* that a box may need; rank 0 */
};

/* Of a row. */
struct key {
    const struct halo_method *method;
    const struct halo_box *box;
};

/* What a row remembers from visit to visit. */
struct row {
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
    struct halo_state *const halo = state;
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
static void check_missing(struct halo_state *halo, int i)
{
    const struct halo_method *const method = halo_methods[i];
    halo->parameters.method_chosen[i] = !method->missing;
    if (method->missing)
        bc_output_remark(halo->run->output, "note", "no %s: this MPI library has no such function",
                         method->name);
}

/* Says how many faces of the shared window cross nodes; leaves it out where no process shares a
   node with a neighbour. Collective. */
static void check_sharing(struct halo_state *halo, int i)
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
static void check_order(struct halo_state *halo, int i)
{
    const struct halo_method *const method = halo_methods[i];
    if (method->is_right != NULL && !method->is_right(&halo->grid, halo->comm))
        bc_output_remark(halo->run->output, "note",
                         "%s: this MPI library brings faces to the wrong side where both "
                         "neighbours are the same process; the time is that of the same messages",
                         method->name);
}

/* ---- what all rows share --------------------------------------------------------------------- */

static void open_halo(void *state, struct bc_run *run)
{
    static void (*const checks[])(struct halo_state *, int) = {check_missing, check_sharing,
                                                               check_order};
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    struct halo_state *const halo = state;
    struct halo_parameters *const p = &halo->parameters;
    BC_MPI(MPI_Dims_create(run->job.ranks, HALO_DIRECTIONS, p->dims));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, p->dims, periodic, 0, &halo->comm));
    BC_MPI(MPI_Comm_set_errhandler(halo->comm, MPI_ERRORS_RETURN));
    halo->run = run;
    halo->grid = halo_grid_of(p->dims, run->job.rank);
    if (p->left_out != NULL)
        bc_output_remark(run->output, "note",
                         "no boxes of %s: they do not fit into memory or /dev/shm: %s", p->left_out,
                         halo_box_advice(halo->max_bytes, p->packs).text);
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        for (int i = 0; i < HALO_METHODS; i++)
            if (p->method_chosen[i])
                checks[c](halo, i);
}

static void list_rows(void *state, struct bc_rows *rows)
{
    const struct halo_parameters *const p = &((struct halo_state *)state)->parameters;
    for (int i = 0; i < HALO_METHODS; i++)
        for (int j = 0; j < p->box_count && p->method_chosen[i]; j++)
            bc_rows_add(rows, &(struct key){halo_methods[i], &p->boxes[j]});
}

static void close_halo(void *state)
{
    struct halo_state *const halo = state;
    BC_MPI(MPI_Comm_free(&halo->comm));
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
static void visit(void *state, const void *row_key, double seconds, void *memory)
{
    const struct halo_state *const halo = state;
    const struct bc_run *const run = halo->run;
    const struct key *const key = row_key;
    struct row *const row = memory;
    const bool check = run->settings.check;
    struct halo_exchange exchange;
    halo_exchange_init(&exchange, key->box, &halo->grid, halo->comm, run->job.node_comm);
    key->method->create(&exchange);
    struct round round = {.method = key->method, .exchange = &exchange, .window = run->window};
    const struct bc_batch batch = {
        .repeat = check ? repeat_checked : repeat,
        .context = &round,
        .repetitions = check ? 1 : 0,
        .clock_readings = 1.0,
        .window = run->window,
    };
    bc_batch_visit(run, &batch, seconds, &row->swaps);
    row->wrong += round.wrong;
    key->method->destroy(&exchange);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    return bc_batch_is_precise(((const struct halo_state *)state)->run,
                               &((const struct row *)row)->swaps);
}

static void conclude(void *state, const void *row_key, void *memory, void *filled)
{
    const struct halo_state *const halo = state;
    const struct bc_run *const run = halo->run;
    const struct key *const key = row_key;
    struct row *const row = memory;
    struct result *const result = filled;
    const int *const dims = halo->grid.dims;
    const int64_t *const extent = key->box->extent;
    int64_t wrong = 0;
    bc_batch_conclude(run, &row->swaps, "swap", &result->swaps);
    if (run->settings.check)
        bc_harness_reduce(&row->wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    result->method = key->method->name;
    result->sync = halo_sync_names[key->method->sync];
    write_extents(result->dims, dims[0], dims[1], dims[2]);
    write_extents(result->local, extent[0], extent[1], extent[2]);
    result->ndata = halo_ndata(key->box);
    result->bwidth_mbs = (double)sizeof(double) * (double)result->ndata / 1048576.0 /
                         (result->swaps.repetition.value * 1e-9);
    result->check = !run->settings.check ? "off" : wrong > 0 ? "FAIL" : "ok";
    if (wrong > 0)
        result->swaps.outcome.status = BC_FAIL;
}

const struct bc_benchmark halo_benchmark = {
    .name = "halo",
    .summary = "Measures a 3D halo swap in a periodic grid of processes, by put, get, messages\n"
               "of several kinds, and shared memory.",
    .options = {halo_options, HALO_OPTIONS, &halo_default_parameters,
                sizeof halo_default_parameters},
    .table = {columns, sizeof columns / sizeof *columns},
    .budget_s = 50.0,
    .may_start_together = true,
    .bytes = {sizeof(struct halo_state), sizeof(struct key), sizeof(struct result),
              sizeof(struct row)},
    .complete = halo_parameters_complete,
    .fit = fit,
    .open = open_halo,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .close = close_halo,
};
