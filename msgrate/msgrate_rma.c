/*
 * How fast one-sided messages go with cold caches and many peers: msgrate's single direction and
 * its halo with MPI_Put or MPI_Get, by synchronisation.
 *
 * Method: as msgrate; the pre-posted halo opens its exposure where msgrate posts its receives. With
 * several threads each transfers its share of every peer's messages, and one of them synchronises.
 *
 *   parameters.h, peers.h, messages.h, bench.h  as for msgrate
 *   rma_kernel.h  the timed patterns, by synchronisation
 *   access.h      their iterations
 *   team.h        threads
 */
#include "common/run/benchmark.h"
#include "msgrate/access.h"

#include <mpi.h>

/* A run with defaults ends within this. */
#define RUN_BUDGET_S 20.0

/* The share of a rank's part of /dev/shm that its window may take: the library keeps its own queues
   there. */
#define WINDOW_SHARE 0.75

/* Of a row. */
struct key {
    int64_t size_bytes;
    const struct msgrate_method *method;
};

struct result {
    const char *pattern, *synchronisation, *transfer;
    int64_t threads;
    struct msgrate_result measured;
};

static const struct bc_column columns[] = {
    BC_COLUMN("pattern", BC_KEY, 0, result, pattern),
    BC_COLUMN("synchronisation", BC_KEY, 0, result, synchronisation),
    BC_COLUMN("transfer", BC_KEY, 0, result, transfer),
    BC_COLUMN("threads", BC_KEY, 0, result, threads),
    MSGRATE_COLUMNS(result, measured),
};

static const char *const transfer_names[MSGRATE_TRANSFERS] = {"put", "get"};

static const char *const sync_names[MSGRATE_SYNCS] = {"all", "fence", "lock", "pscw", "flush"};

/* ---- usage ----------------------------------------------------------------------------------- */

static int thread_level(const void *state)
{
    const struct msgrate_parameters *const p = state;
    return p->threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

static bool fit_threads(const struct msgrate_parameters *p, const struct bc_run *run,
                        struct bc_error *error)
{
    if (p->threads > 1 && run->thread_level < MPI_THREAD_MULTIPLE)
        return bc_error_set(error,
                            "--threads: %lld threads need MPI_THREAD_MULTIPLE, which this MPI "
                            "library doesn't give every rank: use 1",
                            (long long)p->threads);
    return p->threads <= p->messages ||
           bc_error_set(error,
                        "--threads: %lld threads share %lld messages to a peer: use at most so "
                        "many, or more messages",
                        (long long)p->threads, (long long)p->messages);
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
    return fit_threads(p, run, error) && msgrate_fit(state, run, error) &&
           fit_window(p, run, error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void warn_of_threads(const struct bc_run *run, int64_t threads)
{
    const struct bc_job *const job = &run->job;
    if (threads > 1 && threads * job->max_per_node > job->min_allowed_processors)
        bc_output_remark(run->output, "warning",
                         "%lld threads on each of %d ranks have to share %d "
                         "processors: rates are mostly the scheduler's",
                         (long long)threads, job->max_per_node, job->min_allowed_processors);
}

static void open_rma(void *state, struct bc_run *run)
{
    msgrate_open(state, run);
    warn_of_threads(run, ((const struct msgrate_parameters *)state)->threads);
}

static void list_rows(void *state, struct bc_rows *rows)
{
    const struct msgrate_parameters *const p = state;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int j = 0; j < MSGRATE_METHODS; j++)
            if (p->sync == MSGRATE_ALL || p->sync == (int)msgrate_methods[j].sync)
                bc_rows_add(rows, &(struct key){p->sizes.values[i], &msgrate_methods[j]});
}

static void measure(void *state, const void *row, double seconds, void *filled)
{
    struct msgrate_bench *const bench = state;
    const struct key *const key = row;
    struct result *const result = filled;
    struct msgrate_access access;
    msgrate_access_create(&access, bench, key->size_bytes);
    msgrate_measure_access(&access, key->method, seconds, &result->measured);
    msgrate_access_destroy(&access);
    result->pattern = key->method->pattern;
    result->synchronisation = sync_names[key->method->sync];
    result->transfer = transfer_names[bench->parameters.transfer];
    result->threads = bench->parameters.threads;
}

const struct bc_benchmark msgrate_rma_benchmark = {
    .name = "msgrate_rma",
    .summary = "Measures how many one-sided messages a second a process transfers, by\n"
               "synchronisation, with cold caches and many peers. Needs at least one process\n"
               "more than there are peers (-p).",
    .options = msgrate_rma_options,
    .option_count = MSGRATE_RMA_OPTIONS,
    .table = {columns, sizeof columns / sizeof *columns},
    .budget_s = RUN_BUDGET_S,
    .defaults = &msgrate_default_parameters,
    .defaults_bytes = sizeof msgrate_default_parameters,
    .state_bytes = sizeof(struct msgrate_bench),
    .key_bytes = sizeof(struct key),
    .result_bytes = sizeof(struct result),
    .thread_level = thread_level,
    .complete = msgrate_complete,
    .fit = fit,
    .open = open_rma,
    .rows = list_rows,
    .measure = measure,
    .close = msgrate_close,
};
