#include "overlap/engine/columns.h"

#include <string.h>

/* A time of struct overlap_gain with its interval; a gain may be below 0. */
#define GAIN_COLUMNS(name, role, member)                                                           \
    BC_COLUMN_AS(BC_CELL_US, name "_us", role, 3, overlap_result, gain.member.value),              \
        BC_COLUMN_AS(BC_CELL_US, name "_lo_us", BC_INFO, 3, overlap_result,                        \
                     gain.member.interval.lo),                                                     \
        BC_COLUMN_AS(BC_CELL_US, name "_hi_us", BC_INFO, 3, overlap_result,                        \
                     gain.member.interval.hi)

/* With the roles of the data-driven model, where the sizes are the same in every launch. */
static const struct bc_column columns[] = {
    BC_COLUMN("collective", BC_RUN_KEY, 0, overlap_result, collective),
    BC_COLUMN("model", BC_RUN_KEY, 0, overlap_result, model),
    BC_COLUMN("form", BC_RUN_KEY, 11, overlap_result, form),
    BC_COLUMN("test_calls", BC_RUN_KEY, 0, overlap_result, test_calls),
    BC_COLUMN("elements", BC_KEY, 0, overlap_result, elements),
    BC_COLUMN_AS(BC_CELL_AMOUNT, "size_bytes", BC_KEY, 1, overlap_result, size_bytes),
    BC_COLUMN_AS(BC_CELL_TIME, "ref_us", BC_LESS, 3, overlap_result, reference.value),
    BC_COLUMN_AS(BC_CELL_US, "ref_sd_us", BC_INFO, 3, overlap_result, reference.sd),
    BC_COLUMN_AS(BC_CELL_TIME, "work_us", BC_INFO, 3, overlap_result, work.value),
    BC_COLUMN_AS(BC_CELL_TIME, "total_us", BC_INFO, 3, overlap_result, total.value),
    BC_COLUMN("overlap_pct", BC_MORE, 2, overlap_result, overlap_pct),
    BC_COLUMN("overlap_lo_pct", BC_INFO, 2, overlap_result, overlap_lo_pct),
    BC_COLUMN("overlap_hi_pct", BC_INFO, 2, overlap_result, overlap_hi_pct),
    GAIN_COLUMNS("blocking", BC_LESS, blocking),
    GAIN_COLUMNS("exposed", BC_LESS, exposed),
    GAIN_COLUMNS("gain", BC_INFO, gain),
    BC_COLUMN("gain_pct", BC_INFO, 2, overlap_result, gain.gain_pct.value),
    BC_COLUMN("gain_lo_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.lo),
    BC_COLUMN("gain_hi_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.hi),
    BC_COLUMN_ABOUT(
        "pays, even or loses against the blocking call; by how much: --columns=main,gain_pct",
        "verdict", BC_INFO, 9, overlap_result, verdict),
    BC_COLUMN("best_test_calls", BC_INFO, 0, overlap_result, best_test_calls),
    BC_TIME_RANGE_COLUMNS("ref", 3, overlap_result, reference),
    BC_TIME_RANGE_COLUMNS("work", 3, overlap_result, work),
    BC_TIME_RANGE_COLUMNS("total", 3, overlap_result, total),
    BC_OUTCOME_COLUMNS(overlap_result, outcome),
};
/* With --buffers=new. */
static const struct bc_column buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, overlap_result, buffers);
enum { COUNT = sizeof columns / sizeof *columns, OWN_KEYS_AT = 4 };

/* In the time-driven model a launch finds the size that takes the cutoff time, so that is a result,
   and the time of one size can't be compared with another's. */
static enum bc_role time_driven_role(const struct bc_column *column)
{
    if (strcmp(column->name, "elements") == 0)
        return BC_MORE;
    return strcmp(column->name, "size_bytes") == 0 || column->role == BC_LESS ? BC_INFO
                                                                              : column->role;
}

/* The names of the keys that vary. */
static const char *varying_keys(const struct overlap_parameters *p)
{
    static char names[64]; /* stays as long as the run */
    (void)snprintf(names, sizeof names, "%s%s%s", p->form == OP_FORMS ? "form," : "",
                   p->test_calls_count > 1 ? "test_calls," : "",
                   p->test_calls[0] == OVERLAP_AUTO ? "best_test_calls," : "");
    return names;
}

/* The main columns where buffers lie on a device. */
#define MEMORY_COLUMNS                                                                             \
    "size_bytes,blocking_us,staged_us,direct_gain_pct,direct_gain_lo_pct,direct_gain_hi_pct,"      \
    "direct_verdict,status"

void overlap_open_result(struct bc_run *run, const struct overlap_state *overlap,
                         const struct bc_column *own_keys, size_t own_count, const char *main)
{
    const struct overlap_parameters *const parameters = &overlap->parameters;
    static struct bc_column all[COUNT + OVERLAP_OWN_KEYS_MAX]; /* stay as long as the run */
    static struct bc_table table;
    const bool data_driven = overlap_is_data_driven(parameters);
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; i == OWN_KEYS_AT && k < own_count; k++)
            all[count++] = own_keys[k];
        all[count] = columns[i];
        if (!data_driven)
            all[count].role = time_driven_role(&columns[i]);
        count++;
    }
    table = (struct bc_table){all, count, main, "ref_us,work_us,total_us"};
    const struct bc_table *with = &table;
    if (overlap->space.device != NULL)
        with = bc_memory_table(with, offsetof(struct overlap_result, staged), MEMORY_COLUMNS);
    if (parameters->buffers == BC_BUFFERS_NEW)
        with = bc_table_with_key(with, buffers_column);
    bc_open_result(run, with, varying_keys(parameters));
}
