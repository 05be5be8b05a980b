/*
 * The time of a blocking collective, from the first rank's start to the last one's end, on a clock
 * that all ranks share.
 *
 * What is timed: all ranks start one call at a moment on which they agreed
 * (common/sync_clock/start_window.h; with --start=barrier when a barrier lets them go), and read
 * the clock before and after it (kernel.c). Then they start anew: no call runs into the next one,
 * so a root that runs ahead gains nothing. A sample is the time from the first start to the last
 * end; beside it are the mean of the ranks' own times, and how much these differ. Rounds in which a
 * rank started late are taken again. Where buffers lie on a device (--memory) each round also has
 * the staged counterpart: a copy to pinned memory, the call, a copy back.
 *
 * When and how often: a row is an operation and a size. All rows are visited in turn, six times, in
 * new buffers each time; rows that aren't precise then up to twelve times, while there is time (50
 * s a run). A visit ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * What is written: a line a row after its last visit (columns.c).
 *
 * Sources: windows and repetitions that don't pipeline: Worsch, Reussner and Augustin, "On
 * Benchmarking Collective MPI Operations", EuroPVM/MPI 2002; Hunold and Carpen-Amarie,
 * "Reproducible MPI Benchmarking is Still Not as Easy as You Think", IEEE TPDS 27 (2016).
 */
#include "collective/collective.h"

#include <string.h>

/* Adds the rows of an operation and a type; a barrier has one without a size. */
static void list_sizes(const struct collective *collective, const struct op_kind *kind,
                       enum op_type type)
{
    const struct bc_size_list *const sizes = &collective->parameters.sizes;
    struct bc_run *const run = collective->run;
    const size_t count = kind->no_elements ? 1 : sizes->count;
    for (size_t i = 0; i < count; i++) {
        const int64_t bytes = kind->no_elements ? 0 : sizes->values[i];
        const char *const obstacle =
            collective_too_large(kind, type, bytes, &collective->parameters, run);
        if (!bc_size_list_is_first(sizes, i))
            continue;
        if (obstacle != NULL)
            bc_output_remark(run->output, "note", "no %s of %lld bytes: it does not fit into %s",
                             kind->name, (long long)bytes, obstacle);
        else
            *(struct collective_row *)bc_add_row(run) = (struct collective_row){
                .kind = kind, .type = type, .elements = bytes / op_type_bytes(type)};
    }
}

static void list_rows(const struct collective *collective)
{
    const struct collective_parameters *const p = &collective->parameters;
    for (int k = 0; k < COLLECTIVE_KINDS; k++) {
        const struct op_kind *const kind = collective_kind(k);
        const char *const lacks = collective_lacks(kind, p);
        bool listed = false;
        if (!p->operations.chosen[k])
            continue;
        if (lacks != NULL)
            bc_output_remark(collective->run->output, "note", "no %s: %s", kind->name, lacks);
        for (int type = 0; type < OP_TYPES && lacks == NULL; type++) {
            if (!p->types.chosen[type] || (listed && kind->no_elements))
                continue;
            list_sizes(collective, kind, (enum op_type)type);
            listed = true;
        }
    }
}

static void write_row(const struct collective *collective, struct collective_row *row)
{
    struct collective_result result;
    collective_conclude(collective, row, &result);
    bc_write_row(collective->run, &result);
}

const struct bc_program collective_program = {
    .name = "collective",
    .summary = "Measures what blocking collective operations take, from the first process's start\n"
               "to the last one's end. Needs at least 2 processes.",
    .placement = BC_ON_PAGES,
    .options = {collective_options, COLLECTIVE_OPTIONS},
    .defaults = &collective_default_parameters,
    .defaults_bytes = sizeof collective_default_parameters,
    .state_bytes = sizeof(struct collective),
    .row_bytes = sizeof(struct collective_row),
    .budget_s = BC_BUDGET_S,
    .has_start = true,
    .start = BC_START_WINDOW,
    .complete = collective_complete,
    .fit = collective_fit,
};

int main(int argc, char **argv)
{
    struct collective collective;
    struct bc_run *const run = bc_start(&collective_program, &collective, argc, argv);
    const struct collective_parameters *const p = &collective.parameters;
    collective.run = run;
    collective.device =
        bc_memory_open(run, &p->memory, collective_device_bytes(p, run), "smaller --sizes");
    bc_open_result(run, collective_table(&collective),
                   strchr(p->types.text, ',') != NULL ? "type," : "");
    bc_memory_describe(run, collective.device);
    list_rows(&collective);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            visit->is_precise = collective_visit(&collective, visit->seconds, visit->row);
        else /* BC_WRITE */
            write_row(&collective, visit->row);
    return bc_memory_finish(run, collective.device);
}
