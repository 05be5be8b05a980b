/*
 * What a 3D halo swap costs, by method: put and get on coarrays, messages of
 * derived datatypes or of packed values, persistent ones, a neighbourhood
 * collective, memory that a node's processes share.
 *
 * Method: the EPCC Fortran coarray micro-benchmark suite, its halo part, with what
 * MPI programs do beside it; see methods.h. Each rank holds a box of a periodic
 * grid and one layer of its neighbours' values around it: the six faces, without
 * edges and corners. Coarrays are MPI-3 windows here: see common/mpi/coarray.h.
 *
 *   parameters.h      options
 *   box.h             a rank's box and its faces
 *   grid.h            the processes' grid, who is next to whom
 *   exchange.h        what a method knows and keeps
 *   methods.h         the ways to swap
 *   packed.h          faces packed into messages
 *   shared_window.h   faces read out of a neighbour's memory
 *   copy.h            copying a face
 *   measure.h         one row, and the timed loop
 */
#include "common/mpi/mpi_check.h"
#include "common/run/run.h"
#include "halo/measure.h"
#include "halo/methods.h"
#include "halo/parameters.h"
#include "halo/shared_window.h"

#include <stdio.h>

/* A run with defaults ends within this, start-up included, unless the least that
   all rows need takes longer. */
#define RUN_BUDGET_S 50.0

/* Of the memory that a rank may take, its array and buffers may take this
   share. */
#define MEMORY_SHARE 0.5

static const struct bc_column columns[] = {
    {"method", BC_KEY, 0},
    {"sync", BC_KEY, 0},
    {"dims", BC_KEY, 0},
    {"local", BC_KEY, 0},
    {"ndata", BC_INFO, 0},
    {"nrep", BC_INFO, 0},
    {"time_s", BC_INFO, 6},
    {"latency_us", BC_LESS, 3},
    {"latency_lo_us", BC_INFO, 3},
    {"latency_hi_us", BC_INFO, 3},
    {"latency_p99_us", BC_INFO, 3},
    {"latency_max_us", BC_INFO, 3},
    {"bwidth_mbs", BC_INFO, 6},
    {"check", BC_INFO, 0},
    {"samples", BC_INFO, 0},
    {"status", BC_INFO, 0},
    {"slowest_rank", BC_INFO, 0},
};

static struct halo_parameters parameters;

/* What all rows share. */
struct bench {
    struct bc_run *run;
    struct bc_sampler *sampler;
    struct halo_grid grid;
    MPI_Comm comm; /* of the grid */
    int64_t rows_left;
};

/* ---- usage ----------------------------------------------------------------------------------- */

static bool uses_windows(void)
{
    for (int i = 0; i < HALO_METHODS; i++)
        if (parameters.method_chosen[i] && halo_methods[i].in_window)
            return true;
    return false;
}

/* The bytes that a box may need. */
static double usable_bytes(const struct bc_run *run)
{
    int64_t memory = run->memory_per_rank;
    if (uses_windows() && run->shared_memory_per_rank < memory)
        memory = run->shared_memory_per_rank;
    return MEMORY_SHARE * (double)memory;
}

/* What would do where a box doesn't fit. */
static struct bc_error advice_of(double most_bytes)
{
    const long long most = (long long)halo_largest_cube(most_bytes, halo_packs(&parameters));
    struct bc_error advice;
    if (most > 0)
        bc_error_set(&advice, "use at most %lldx%lldx%lld", most, most, most);
    else
        bc_error_set(&advice, "use fewer processes a node");
    return advice;
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    if (!halo_parameters_complete(&parameters, run->job.ranks, error))
        return false;
    const double most = usable_bytes(run);
    if (!bc_option_given(&run->options, "local"))
        halo_parameters_shorten(&parameters, most);
    for (int i = 0; i < parameters.box_count; i++) {
        const struct halo_box *const box = &parameters.boxes[i];
        const double needed = halo_needed_bytes(box, halo_packs(&parameters));
        if (needed <= most)
            continue;
        return bc_error_set(error,
                            "--local: %lldx%lldx%lld needs %.1f MiB a rank, "
                            "and %.1f fit into memory or /dev/shm: %s",
                            (long long)box->extent[0], (long long)box->extent[1],
                            (long long)box->extent[2], needed / 1048576, most / 1048576,
                            advice_of(most).text);
    }
    return true;
}

static void note_left_out(const struct bc_run *run)
{
    if (parameters.left_out == NULL)
        return;
    bc_output_remark(run->output, "note",
                     "no boxes of %s: they do not fit into memory or /dev/shm: "
                     "%s",
                     parameters.left_out, advice_of(usable_bytes(run)).text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void fill_extents(struct bc_row *row, const char *column, int64_t a, int64_t b, int64_t c)
{
    char cell[BC_CELL_LENGTH];
    snprintf(cell, sizeof cell, "%lldx%lldx%lld", (long long)a, (long long)b, (long long)c);
    bc_row_text(row, column, cell);
}

static void fill_row(struct bc_row *row, const struct bench *bench,
                     const struct halo_method *method, const struct halo_box *box,
                     const struct halo_result *result)
{
    const bool check = bench->run->settings.check;
    const struct bc_batch_result *const times = &result->times;
    const int *const dims = bench->grid.dims;
    const int64_t ndata = halo_ndata(box);
    bc_row_clear(row, &bench->run->benchmark->table);
    bc_row_text(row, "method", method->name);
    bc_row_text(row, "sync", halo_sync_names[method->sync]);
    fill_extents(row, "dims", dims[0], dims[1], dims[2]);
    fill_extents(row, "local", box->extent[0], box->extent[1], box->extent[2]);
    bc_row_integer(row, "ndata", ndata);
    bc_row_integer(row, "nrep", times->repetitions);
    bc_row_real(row, "time_s", times->total_s);
    bc_row_time(row, "latency", &times->repetition);
    bc_row_real(row, "bwidth_mbs",
                (double)sizeof(double) * (double)ndata / 1048576.0 /
                    (times->repetition.value * 1e-9));
    const bool wrong = result->wrong > 0;
    bc_row_text(row, "check", !check ? "off" : wrong ? "FAIL" : "ok");
    bc_row_integer(row, "samples", (int64_t)times->repetition.count);
    const char *const end = times->in_time ? "ok" : "budget";
    bc_row_text(row, "status", wrong ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", times->slowest_rank);
}

/* Measures one box by one method and writes its row. Collective; false if the run
   must end. */
static bool measure_row(struct bench *bench, const struct halo_method *method,
                        const struct halo_box *box)
{
    struct halo_exchange exchange;
    struct halo_result result;
    halo_exchange_init(&exchange, box, &bench->grid, bench->comm, bench->run->job.node_comm);
    method->create(&exchange);
    halo_measure(bench->run, bench->sampler, method, &exchange,
                 bc_run_row_seconds(bench->run, bench->rows_left--), &result);
    method->destroy(&exchange);
    struct bc_row row;
    fill_row(&row, bench, method, box, &result);
    return bc_run_row(bench->run, &row);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Says where the shared window's faces go, and leaves it out where it has none to
   share. Collective. */
static void note_shared_window(const struct bench *bench)
{
    const struct halo_neighbourhood n =
        halo_neighbourhood_of(&bench->grid, bench->comm, bench->run->job.node_comm);
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = &halo_methods[i];
        if (!parameters.method_chosen[i] || !method->shares_node)
            continue;
        if (n.on_node == 0) {
            parameters.method_chosen[i] = false;
            bc_output_remark(bench->run->output, "note",
                             "no %s: no process shares a node with a neighbour", method->name);
        } else {
            bc_output_remark(bench->run->output, "note",
                             "%s: %lld of %lld faces cross nodes, as packed "
                             "messages",
                             method->name, (long long)n.off_node, (long long)n.faces);
        }
    }
}

/* Leaves out methods that call what the MPI library lacks. */
static void note_missing(const struct bench *bench)
{
    for (int i = 0; i < HALO_METHODS; i++) {
        if (!parameters.method_chosen[i] || !halo_methods[i].missing)
            continue;
        parameters.method_chosen[i] = false;
        bc_output_remark(bench->run->output, "note", "no %s: this MPI library has no such function",
                         halo_methods[i].name);
    }
}

/* Says when the neighborhood collective brings wrong faces, which --check alone
   would show. Collective. */
static void note_neighbor_order(const struct bench *bench)
{
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = &halo_methods[i];
        if (parameters.method_chosen[i] && method->is_right != NULL &&
            !method->is_right(&bench->grid, bench->comm))
            bc_output_remark(bench->run->output, "note",
                             "%s: this MPI library brings faces to the wrong side "
                             "where both neighbours are the same process; the time "
                             "is that of the same messages",
                             method->name);
    }
}

static void count_rows(struct bench *bench)
{
    for (int i = 0; i < HALO_METHODS; i++)
        if (parameters.method_chosen[i])
            bench->rows_left += parameters.box_count;
}

static void sweep(struct bench *bench)
{
    for (int i = 0; i < HALO_METHODS; i++)
        for (int j = 0; j < parameters.box_count; j++)
            if (parameters.method_chosen[i] &&
                !measure_row(bench, &halo_methods[i], &parameters.boxes[j]))
                return;
}

/* A communicator of the grid, with the ranks of MPI_COMM_WORLD. Collective. */
static MPI_Comm create_grid_comm(void)
{
    static const int periodic[HALO_DIRECTIONS] = {1, 1, 1};
    MPI_Comm comm;
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, parameters.dims, periodic, 0, &comm));
    BC_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

int main(int argc, char **argv)
{
    struct bc_option rows[HALO_OPTIONS_MAX];
    const struct bc_benchmark benchmark = {
        .name = "halo",
        .summary = "Measures a 3D halo swap in a periodic grid of processes, by "
                   "put, get, messages\nof several kinds, and shared memory.",
        .table = {columns, sizeof columns / sizeof *columns},
        .options = rows,
        .option_count = halo_parameters_table(&parameters, rows),
        .thread_level = MPI_THREAD_SINGLE,
        .run_budget_s = RUN_BUDGET_S,
        .may_start_together = true,
        .validate = validate,
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    /* Rank 0 has taken the texts apart to validate them; so must the others. */
    struct bc_error ignored;
    halo_parameters_complete(&parameters, run.job.ranks, &ignored);
    BC_MPI(MPI_Dims_create(run.job.ranks, HALO_DIRECTIONS, parameters.dims));

    struct bench bench = {
        .run = &run,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
        .grid = halo_grid_of(parameters.dims, run.job.rank),
        .comm = create_grid_comm(),
    };
    note_left_out(&run);
    note_missing(&bench);
    note_shared_window(&bench);
    note_neighbor_order(&bench);
    count_rows(&bench);
    sweep(&bench);
    BC_MPI(MPI_Comm_free(&bench.comm));
    bc_sampler_destroy(bench.sampler);
    return bc_run_end(&run);
}
