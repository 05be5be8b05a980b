#include "bare.h"

#include "common/measure/rounds.h"

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

const struct bc_quantities bare_ours = {.count = 1, .clock_readings = 1.0, .batching = BC_BATCHES};

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

/* Values are times of an operation; those of a round are of all its repetitions. */
static void sample(const struct bc_run *run, bare_fn *loop, bare_fn *less, void *context,
                   enum bc_lead_in lead_in, int64_t repetitions, double seconds,
                   struct bare_row *row)
{
    bare_fn *const loops[] = {loop, less};
    const struct bc_quantities quantities = {.count = less != NULL ? 2 : 1,
                                             .clock_readings = 1.0,
                                             .batching = BC_BATCHES,
                                             .repetitions = repetitions,
                                             .lead_in = lead_in,
                                             .no_tail = true};
    row->has_less = less != NULL;
    row->samples.repetitions = repetitions;
    struct bc_rounds *const rounds =
        bc_rounds_of(run, &quantities, seconds * (1.0 - BARE_OURS), &row->samples);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;)
        for (int q = 0; bc_round_wants(round, q); q++)
            bc_round_value(round, q, loops[q](context) * (double)repetitions);
}

void bare_visit(const struct bc_run *run, bare_fn *loop, bare_fn *less, void *context,
                int64_t repetitions, double seconds, struct bare_row *row)
{
    sample(run, loop, less, context, BC_LEAD_IN_NEVER, repetitions, seconds, row);
}

void bare_visit_apart(const struct bc_run *run, bare_fn *loop, void *context, int64_t repetitions,
                      double seconds, struct bare_row *row)
{
    sample(run, loop, NULL, context, BC_LEAD_IN_BATCHES, repetitions, seconds, row);
}

void bare_write_row(struct bc_run *run, const char *name, const struct bc_summary *ours,
                    const struct bc_outcome *outcome, struct bare_row *row)
{
    struct bare_result result = {0};
    if (run->job.rank == 0) {
        result.name = name;
        result.ours = *ours;
        result.bare = bc_store_summary(run, &row->samples, row->has_less ? 1 : -1);
        result.ratio = ours->value / result.bare.value;
        result.outcome = *outcome;
    }
    bc_store_free(&row->samples);
    bc_write_row(run, &result);
}
