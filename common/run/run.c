#include "common/run/internal.h"

#include "common/mpi/harness.h"

double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows)
{
    int64_t bytes = run->job.memory_per_rank;
    if (in_windows && run->job.shared_memory_per_rank < bytes)
        bytes = run->job.shared_memory_per_rank;
    return share * (double)bytes;
}

struct bc_starts *bc_run_starts(const struct bc_run *run)
{
    return run->window != NULL ? run->program->starter->starts(run->window) : NULL;
}

int64_t bc_run_part_of_visit(int64_t total, const struct bc_run *run)
{
    const int64_t visit = run->visit, visits = run->visits;
    return total * (visit + 1) / visits - total * visit / visits;
}

struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity, int subtrahend)
{
    return bc_samples_summarize(samples, quantity, subtrahend,
                                (enum bc_estimator)run->settings.estimator,
                                run->settings.confidence_pct / 100.0);
}

struct bc_summary bc_run_over_visits(const struct bc_run *run, const double *values, size_t count)
{
    const double confidence = run->settings.confidence_pct / 100.0;
    struct bc_summary mean = bc_mean_of_visits(values, count, confidence);
    if (run->settings.estimator == BC_MEAN)
        mean.interval = bc_mean_interval(values, count, confidence);
    return mean;
}

struct bc_outcome bc_run_outcome(const struct bc_run *run, const struct bc_samples *samples,
                                 bool precise)
{
    struct bc_outcome outcome = run->visited;
    outcome.samples = (int64_t)samples->count;
    outcome.status = precise ? BC_OK : BC_BUDGET;
    outcome.slowest_rank = bc_samples_slowest_rank(samples, run->job.ranks);
    return outcome;
}

void bc_dump_look(struct bc_run *run)
{
    if (run->own->dump != NULL && run->own->dump_problem == 0) /* what failed first says more */
        run->own->dump_problem = bc_stream_problem(run->own->dump);
}

void bc_run_dump(const struct bc_run *run, const char *name, const struct bc_samples *samples,
                 int quantity)
{
    size_t sample = 0;
    for (size_t v = 0; run->own->dump != NULL && v < samples->visits; v++) {
        const struct bc_samples visit = bc_samples_of_visit(samples, v);
        for (size_t i = 0; i < visit.count; i++)
            fprintf(run->own->dump, "%lld\t%s\t%zu\t%zu\t%.1f\n", (long long)run->rows + 1, name,
                    v + 1, ++sample, visit.values[quantity][i]);
    }
}

int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome)
{
    int64_t sum = 0;
    bc_harness_reduce(&wrong, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (sum > 0)
        outcome->status = BC_FAIL;
    return sum;
}
