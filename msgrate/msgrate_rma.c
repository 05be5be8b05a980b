/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message rate of one-sided communication, with cold caches and many peers: msgrate's single
 * direction and pre-post with MPI_Put or MPI_Get, by synchronisation.
 *
 * Method: as msgrate; pre-post exposes its window when msgrate posts its receives. With several
 * threads each thread transfers its share of every peer's messages, and one thread synchronises.
 *
 * Timed region: on each rank, after flushing its caches, writing the data and a barrier
 * (rma_exchange.c), the transfers and synchronisations of an iteration (rma_kernel.c). Targets of
 * lock and flush do nothing and time nothing.
 *
 * When: a row is a pattern, a synchronisation and a size. Rows are measured alternately, in visits
 * with a new window.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left. A visit
 * ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * Written: one line per row, after its last visit (columns.c), as in msgrate.
 */
#include "common/run/program.h"
#include "msgrate/rma_exchange.h"
#include "msgrate/warnings.h"

#include <mpi.h>

/* Share of a rank's part of /dev/shm for its window; the library also keeps queues there. */
#define WINDOW_SHARE 0.75

static const char *const transfer_names[MSGRATE_TRANSFERS] = {"put", "get"};
static const char *const sync_names[MSGRATE_SYNCS] = {"all", "fence", "lock", "pscw", "flush"};

/* ---- usage ----------------------------------------------------------------------------------- */

static int thread_level(const void *state)
{
    const struct msgrate_parameters *const p = state;
    return p->threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

/* Checks that the window fits into the memory that a node's ranks share. */
static bool fit_window(const struct msgrate_parameters *p, const struct bc_run *run,
                       struct bc_error *error)
{
    const double bytes = (double)p->peers * (double)p->messages *
                         (double)bc_size_list_max(&p->sizes) * (run->settings.check ? 2 : 1);
    const double max_bytes = WINDOW_SHARE * (double)run->job.shared_memory_per_rank;
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
        return bc_error_set(
            error,
            "--threads: %lld threads share %lld messages to a peer: use at most one "
            "a message, or more messages",
            threads, messages);
    return msgrate_fit(state, run, error) && fit_window(p, run, error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct msgrate_rma_row {
    const struct msgrate_rma_pattern *pattern;
    struct msgrate_row at_size;
};

static void open_rma(struct msgrate_bench *bench, struct bc_run *run)
{
    const int64_t threads = bench->parameters.threads;
    const struct bc_job *const job = &run->job;
    msgrate_open(bench, run);
    if (threads > 1 && threads * job->max_per_node > job->min_allowed_processors)
        bc_output_remark(run->output, MSGRATE_WARNING_THREADS, (long long)threads,
                         job->min_allowed_processors);
}

static void list_rows(const struct msgrate_bench *bench)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    for (size_t i = 0; i < p->sizes.count; i++)
        for (int j = 0; j < MSGRATE_RMA_PATTERNS; j++) {
            const struct msgrate_rma_pattern *const pattern = &msgrate_rma_patterns[j];
            if (p->sync == MSGRATE_ALL || p->sync == (int)pattern->sync)
                *(struct msgrate_rma_row *)bc_add_row(bench->run) =
                    (struct msgrate_rma_row){pattern,
                                             {.pattern = pattern->name,
                                              .one_partner = pattern->one_partner,
                                              .size_bytes = p->sizes.values[i]}};
        }
}

static void measure(struct msgrate_bench *bench, struct bc_visit *visit)
{
    const struct bc_run *const run = bench->run;
    struct msgrate_rma_row *const rma_row = visit->row;
    struct msgrate_row *const row = &rma_row->at_size;
    struct msgrate_rma_exchange exchange;
    msgrate_rma_exchange_create(&exchange, bench, rma_row->pattern, row->size_bytes);
    struct bc_rounds *const rounds =
        bc_rounds_of(run, &msgrate_quantities, visit->seconds, &row->iterations);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        msgrate_rma_exchange_prepare(&exchange);
        if (exchange.steps->open != NULL)
            bc_round_time(round, MSGRATE_DIRECT, msgrate_time_steps(&exchange));
        row->wrong += msgrate_rma_exchange_finish(&exchange);
    }
    msgrate_rma_exchange_destroy(&exchange);
    visit->is_precise = bc_store_is_precise(run, &msgrate_quantities, &row->iterations);
}

static void write_row(const struct msgrate_bench *bench, struct msgrate_rma_row *row)
{
    struct msgrate_result result = {.synchronisation = sync_names[row->pattern->sync],
                                    .transfer = transfer_names[bench->parameters.transfer],
                                    .threads = bench->parameters.threads};
    msgrate_conclude(bench, &row->at_size, &result);
    bc_write_row(bench->run, &result);
}

const struct bc_program msgrate_rma_program = {
    .name = "msgrate_rma",
    .summary =
        "Measures the rate of one-sided messages of a process by synchronisation, with cold\n"
        "caches and many peers. Needs at least 2 processes.",
    .placement = BC_PLACED "; targets are " BC_IN_WINDOWS,
    .has_buffers = true,
    .options = {msgrate_rma_options, MSGRATE_RMA_OPTIONS},
    MSGRATE_PROGRAM,
    .row_bytes = sizeof(struct msgrate_rma_row),
    .thread_level = thread_level,
    .fit = fit,
};

int main(int argc, char **argv)
{
    struct msgrate_bench bench;
    struct bc_run *const run = bc_start(&msgrate_rma_program, &bench, argc, argv);
    bc_open_result(run, &msgrate_rma_table, bench.parameters.sizes.count > 1 ? "nbytes," : "");
    open_rma(&bench, run);
    list_rows(&bench);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&bench, visit);
        else
            write_row(&bench, visit->row);
    msgrate_close(&bench);
    return bc_finish(run);
}
