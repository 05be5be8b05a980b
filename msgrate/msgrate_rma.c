/*
 * How fast one-sided messages go with cold caches and many peers: msgrate's single direction and
 * its halo with MPI_Put or MPI_Get, by synchronisation.
 *
 * Method: as msgrate; the pre-posted halo opens its exposure where msgrate posts its receives. With
 * several threads each transfers its share of every peer's messages, and one of them synchronises.
 */
#include "common/run/benchmark.h"
#include "msgrate/exchange.h"

#include <mpi.h>

/* The share of a rank's /dev/shm for its window; the library keeps its own queues there, too. */
#define WINDOW_SHARE 0.75

static const struct bc_column columns[] = {
    BC_COLUMN("pattern", BC_KEY, 0, msgrate_result, pattern),
    BC_COLUMN("synchronisation", BC_KEY, 0, msgrate_result, synchronisation),
    BC_COLUMN("transfer", BC_KEY, 0, msgrate_result, transfer),
    BC_COLUMN("threads", BC_KEY, 0, msgrate_result, threads),
    MSGRATE_COLUMNS,
};

static const char *const transfer_names[MSGRATE_TRANSFERS] = {"put", "get"};
static const char *const sync_names[MSGRATE_SYNCS] = {"all", "fence", "lock", "pscw", "flush"};

/* ---- usage ----------------------------------------------------------------------------------- */

static int thread_level(const void *state)
{
    const struct msgrate_parameters *const p = state;
    return p->threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

/* The window lies in memory that a node's ranks share. */
static bool fit_window(const struct msgrate_parameters *p, const struct bc_run *run,
                       struct bc_error *error)
{
    const double bytes = (double)p->peers * (double)p->messages *
                         (double)bc_size_list_max(&p->sizes) * (run->settings.check ? 2 : 1);
    const double max_bytes = WINDOW_SHARE * (double)run->shared_memory_per_rank;
    return bytes <= max_bytes ||
           bc_error_set(error,
                        "--size, --messages, --peers: windows of %.0f MiB a rank do not fit into "
                        "/dev/shm: use at most %.0f MiB, or give it more",
                        bytes / 1048576, max_bytes / 1048576);
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct msgrate_parameters *const p = state;
    const long long threads = p->threads, messages = p->messages;
    if (threads > 1 && run->thread_level < MPI_THREAD_MULTIPLE)
        return bc_error_set(error,
                            "--threads: %lld threads need MPI_THREAD_MULTIPLE, which this MPI "
                            "library doesn't give every rank: use 1",
                            threads);
    if (threads > messages)
        return bc_error_set(error,
                            "--threads: %lld threads share %lld messages to a peer: use at most so "
                            "many, or more messages",
                            threads, messages);
    return msgrate_fit(state, run, error) && fit_window(p, run, error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void open_rma(void *state, struct bc_run *run)
{
    const int64_t threads = ((const struct msgrate_parameters *)state)->threads;
    const struct bc_job *const job = &run->job;
    msgrate_open(state, run);
    if (threads > 1 && threads * job->max_per_node > job->min_allowed_processors)
        bc_output_remark(run->output, "warning",
                         "%lld threads on each of %d ranks have to share %d processors: rates are "
                         "mostly the scheduler's",
                         (long long)threads, job->max_per_node, job->min_allowed_processors);
}

static void list_rows(void *state, struct bc_rows *rows)
{
    const struct msgrate_parameters *const p = state;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int j = 0; j < MSGRATE_RMA_PATTERNS; j++) {
            const struct msgrate_pattern *const pattern = &msgrate_rma_patterns[j];
            if (p->sync == MSGRATE_ALL || p->sync == (int)pattern->sync)
                bc_rows_add(rows, &(struct msgrate_key){p->sizes.values[i], pattern});
        }
}

static void visit(void *state, const void *key, double seconds, void *row)
{
    struct msgrate_exchange exchange;
    msgrate_access_create(&exchange, state, key);
    msgrate_visit(&exchange, seconds, row);
    msgrate_access_destroy(&exchange);
}

static bool is_precise(const void *state, const void *key, const void *row)
{
    (void)key;
    return msgrate_is_precise(state, row);
}

static void conclude(void *state, const void *row_key, void *row, void *filled)
{
    const struct msgrate_bench *const bench = state;
    const struct msgrate_key *const key = row_key;
    struct msgrate_result *const result = filled;
    msgrate_conclude(bench, key, row, result);
    result->synchronisation = sync_names[key->pattern->sync];
    result->transfer = transfer_names[bench->parameters.transfer];
    result->threads = bench->parameters.threads;
}

const struct bc_benchmark msgrate_rma_benchmark = {
    .name = "msgrate_rma",
    .summary = "Measures how many one-sided messages a second a process transfers, by\n"
               "synchronisation, with cold caches and many peers. Needs at least one process\n"
               "more than there are peers (-p).",
    .options = {msgrate_rma_options, MSGRATE_RMA_OPTIONS, &msgrate_default_parameters,
                sizeof msgrate_default_parameters},
    .table = {columns, sizeof columns / sizeof *columns},
    MSGRATE_BENCHMARK,
    .thread_level = thread_level,
    .fit = fit,
    .open = open_rma,
    .rows = list_rows,
    .bytes = {sizeof(struct msgrate_bench), sizeof(struct msgrate_key),
              sizeof(struct msgrate_result), sizeof(struct msgrate_row)},
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
};
