/*
 * How fast one-sided messages go with cold caches and many peers: msgrate's
 * single direction and its halo with MPI_Put or MPI_Get, by synchronisation.
 *
 * Method: as msgrate; the pre-posted halo opens its exposure where msgrate posts
 * its receives. With several threads each transfers its share of every peer's
 * messages, and one of them synchronises.
 *
 *   parameters.h, peers.h, bench.h, messages.h  as for msgrate
 *   rma.h         the timed patterns, by synchronisation
 *   team.h        threads
 */
#include "common/run/run.h"
#include "msgrate/bench.h"
#include "msgrate/parameters.h"
#include "msgrate/rma.h"

#include <mpi.h>
#include <string.h>

/* A run with defaults ends within this. */
#define RUN_BUDGET_S 20.0

/* Of a rank's part of /dev/shm the window may take this share: the library keeps
   its own queues there. */
#define WINDOW_SHARE 0.75

/* More than any processor runs. */
#define THREADS_MAX 1024

static const struct bc_column columns[] = {
    {"pattern", BC_KEY, 0},  {"synchronisation", BC_KEY, 0},
    {"transfer", BC_KEY, 0}, {"threads", BC_KEY, 0},
    MSGRATE_COLUMNS,
};

static const char *const transfer_names[] = {"put", "get"};

/* --sync: all, or the name that the methods give it. */
enum { SYNC_ALL };
static const char *const sync_names[] = {"all", "fence", "lock", "pscw", "flush"};

static struct msgrate_parameters parameters;
static int transfer;    /* enum msgrate_transfer */
static int chosen_sync; /* of sync_names */
static int64_t threads = 1;

/* The window lies in memory that a node's ranks share. */
static bool validate_window(const struct bc_run *run, struct bc_error *error)
{
    const double bytes = (double)parameters.peers * (double)parameters.messages *
                         (double)msgrate_largest(&parameters) * (run->settings.check ? 2 : 1);
    if (bytes <= WINDOW_SHARE * (double)run->shared_memory_per_rank)
        return true;
    return bc_error_set(error,
                        "--size, --messages, --peers: windows of %.0f MiB "
                        "a rank do not fit into /dev/shm: use at most "
                        "%.0f MiB, or give it more",
                        bytes / 1048576,
                        WINDOW_SHARE * (double)run->shared_memory_per_rank / 1048576);
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    if (threads > 1 && run->thread_level < MPI_THREAD_MULTIPLE)
        return bc_error_set(error,
                            "--threads: %lld threads need "
                            "MPI_THREAD_MULTIPLE, which this MPI library "
                            "doesn't give every rank: use 1",
                            (long long)threads);
    if (threads > parameters.messages)
        return bc_error_set(error,
                            "--threads: %lld threads share %lld messages "
                            "to a peer: use at most so many, or more "
                            "messages",
                            (long long)threads, (long long)parameters.messages);
    const int buffers = run->settings.check ? 3 : 2;
    return msgrate_parameters_validate(&parameters, run, buffers, error) &&
           validate_window(run, error);
}

static void warn_of_threads(const struct bc_run *run)
{
    const struct bc_job *const job = &run->job;
    if (threads > 1 && threads * job->most_per_node > job->least_allowed_processors)
        bc_output_remark(run->output, "warning",
                         "%lld threads on each of %d ranks have to share %d "
                         "processors: rates are mostly the scheduler's",
                         (long long)threads, job->most_per_node, job->least_allowed_processors);
}

static bool is_chosen(const struct msgrate_method *method)
{
    return chosen_sync == SYNC_ALL || strcmp(method->synchronisation, sync_names[chosen_sync]) == 0;
}

static int chosen_methods(void)
{
    int count = 0;
    for (int i = 0; i < MSGRATE_METHODS; i++)
        count += is_chosen(&msgrate_methods[i]);
    return count;
}

/* A row for each method. False if the run must end. */
static bool write_rows(struct msgrate_bench *bench, struct msgrate_access *access,
                       int64_t *rows_left)
{
    for (int i = 0; i < MSGRATE_METHODS; i++) {
        const struct msgrate_method *const method = &msgrate_methods[i];
        if (!is_chosen(method))
            continue;
        struct msgrate_result result;
        struct bc_row row;
        msgrate_measure_access(access, method, bc_run_row_seconds(bench->run, (*rows_left)--),
                               &result);
        msgrate_warn_wrong(bench, &result);
        bc_row_clear(&row, &bench->run->benchmark->table);
        bc_row_text(&row, "pattern", method->pattern);
        bc_row_text(&row, "synchronisation", method->synchronisation);
        bc_row_text(&row, "transfer", transfer_names[transfer]);
        bc_row_integer(&row, "threads", threads);
        msgrate_fill_row(&row, bench, &result);
        if (!bc_run_row(bench->run, &row))
            return false;
    }
    return true;
}

static void run_sizes(struct msgrate_bench *bench)
{
    const struct bc_size_list *const sizes = &parameters.sizes;
    int64_t rows_left = (int64_t)sizes->count * chosen_methods();
    bool goes_on = true;
    for (size_t i = 0; i < sizes->count && goes_on; i++) {
        struct msgrate_access access;
        msgrate_access_create(&access, bench, (enum msgrate_transfer)transfer, (int)threads,
                              sizes->values[i]);
        goes_on = write_rows(bench, &access, &rows_left);
        msgrate_access_destroy(&access);
    }
}

int main(int argc, char **argv)
{
    struct bc_option rows[MSGRATE_OPTIONS_MAX];
    size_t count = msgrate_parameters_table(&parameters, rows);
    rows[count++] = (struct bc_option){.long_name = "transfer",
                                       .short_name = 'u',
                                       .kind = BC_CHOICE,
                                       .value = &transfer,
                                       .choices = "put|get",
                                       .help = "MPI_Put or MPI_Get"};
    rows[count++] =
        (struct bc_option){.long_name = "sync",
                           .short_name = 'r',
                           .kind = BC_CHOICE,
                           .value = &chosen_sync,
                           .choices = "all|fence|lock|pscw|flush",
                           .help = "synchronisation: fence; lock and unlock; post, start, "
                                   "complete and wait; or flush inside one lock_all"};
    rows[count++] =
        (struct bc_option){.long_name = "threads",
                           .short_name = 't',
                           .kind = BC_INTEGER,
                           .value = &threads,
                           .argument = "N",
                           .min = 1,
                           .max = THREADS_MAX,
                           .help = "threads of a process that transfer messages at the same time "
                                   "(with more than 1: MPI_THREAD_MULTIPLE)"};
    const struct bc_benchmark benchmark = {
        .name = "msgrate_rma",
        .summary = "Measures how many one-sided messages a second a process "
                   "transfers, by\nsynchronisation, with cold caches and many "
                   "peers. Needs at least one process\nmore than there are "
                   "peers (-p).",
        .table = {columns, sizeof columns / sizeof *columns},
        .options = rows,
        .option_count = count,
        .thread_level = MPI_THREAD_SINGLE,
        .threads = &threads,
        .run_budget_s = RUN_BUDGET_S,
        .validate = validate,
    };
    struct bc_run run;
    int status;
    if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
        return status;
    struct msgrate_bench bench;
    msgrate_bench_create(&bench, &run, &parameters);
    warn_of_threads(&run);
    run_sizes(&bench);
    msgrate_bench_destroy(&bench);
    return bc_run_end(&run);
}
