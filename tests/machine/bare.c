#include "bare.h"

#include "common/measure/plan.h"

#include <stdlib.h>

static const struct bc_column columns[] = {
    BC_COLUMN("name", BC_KEY, 0, bare_result, name),
    BC_TIME_COLUMNS("ours", BC_LESS, 4, bare_result, ours),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_us", BC_LESS, 4, bare_result, bare.value),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_lo_us", BC_INFO, 4, bare_result, bare.interval.lo),
    BC_COLUMN_AS(BC_CELL_TIME, "bare_hi_us", BC_INFO, 4, bare_result, bare.interval.hi),
    BC_COLUMN("ratio", BC_LESS, 4, bare_result, ratio),
    BC_OUTCOME_COLUMNS(bare_result, outcome),
};

const struct bc_table bare_table = {.columns = columns, .count = sizeof columns / sizeof *columns};

bool bare_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    (void)state;
    return run->job.ranks == 2 || bc_error_set(error, "needs 2 ranks");
}

/* The number in an environment variable, or one for where it isn't set. */
static int64_t number_in(const char *variable, int64_t otherwise)
{
    const char *const text = getenv(variable);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

void bare_list(struct bc_run *run, int count)
{
    const int64_t only = number_in("BARE_ROW", 0);
    for (int row = 0; row < count; row++)
        if (only == 0 || only == row + 1)
            *(int *)bc_add_row(run) = row;
}

void bare_in_turn(const struct bc_run *run, void (*ours)(void *), void (*bare)(void *),
                  void *context)
{
    const bool bare_first = run->visit % 2 != number_in("BARE_FIRST", 0);
    if (bare_first)
        bare(context);
    ours(context);
    if (!bare_first)
        bare(context);
}

int64_t bare_repetitions(int64_t ours)
{
    return number_in("BARE_REPETITIONS", ours > 0 ? ours : 100);
}

int64_t bare_leads_in(int64_t repetitions) { return repetitions > 1 ? 1 : 0; }

struct loops {
    bare_fn *run, *less;
    void *context;
};

static void take(void *context, double *values)
{
    const struct loops *const loops = context;
    values[0] = loops->run(loops->context);
    if (loops->less != NULL)
        values[1] = loops->less(loops->context);
}

static void sample(const struct bc_run *run, struct loops loops, bool starts_apart,
                   int64_t repetitions, double seconds, struct bare_row *row)
{
    const struct bc_source source = {.quantities = loops.less != NULL ? 2 : 1,
                                     .take = take,
                                     .starts_apart = starts_apart,
                                     .context = &loops,
                                     .clock_ns = run->own_clock.read_ns / (double)repetitions};
    row->has_less = loops.less != NULL;
    bc_run_sample(run, &source, -1, seconds * (1.0 - BARE_OURS), &row->samples);
}

void bare_visit(const struct bc_run *run, bare_fn *loop, bare_fn *less, void *context,
                int64_t repetitions, double seconds, struct bare_row *row)
{
    sample(run, (struct loops){loop, less, context}, false, repetitions, seconds, row);
}

void bare_visit_apart(const struct bc_run *run, bare_fn *loop, void *context, int64_t repetitions,
                      double seconds, struct bare_row *row)
{
    sample(run, (struct loops){loop, NULL, context}, bare_leads_in(repetitions) > 0, repetitions,
           seconds, row);
}

void bare_write_row(struct bc_run *run, const char *name, const struct bc_summary *ours,
                    const struct bc_outcome *outcome, struct bare_row *row)
{
    struct bare_result result = {0};
    if (run->job.rank == 0) {
        result.name = name;
        result.ours = *ours;
        result.bare = bc_run_summarize(run, &row->samples, 0, row->has_less ? 1 : -1);
        result.ratio = ours->value / result.bare.value;
        result.outcome = *outcome;
    }
    bc_samples_free(&row->samples);
    bc_write_row(run, &result);
}
