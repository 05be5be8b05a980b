/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of MPI_Psend_init: a rank sends its partner a message in parts, each marked ready
 * (MPI_Pready) after its part of the work, so that the library may send it while the work
 * continues. The blocking counterpart is one MPI_Send after all the work.
 *
 * Timed region, when, and how often: see iallreduce.c, with a row for each size and number of
 * partitions. Written: the same columns, with the key partitions.
 */
#include "common/mpi/large_count.h"
#include "common/operations/pairs.h"
#include "common/run/parse.h"
#include "overlap/engine/program.h"
#include "overlap/warnings.h"

struct partitioned_state {
    struct overlap_state overlap; /* first member: the engine uses it */
    struct bc_size_list partitions;
    bool lowered; /* on rank 0: the default didn't divide the sizes */
};

struct partitioned_result {
    struct overlap_result overlap; /* first */
    int64_t partitions;
};

#define DEFAULT_PARTITIONS "8"

static const struct bc_option own_options[] = {
    {"partitions", BC_SIZE_LIST, offsetof(struct partitioned_state, partitions), .argument = "LIST",
     .min = 1, .max = 65536, .help = "parts of the message, each marked ready after its work"},
};

static const struct bc_column own_keys[] = {
    BC_COLUMN("partitions", BC_KEY, 0, partitioned_result, partitions),
};

/* Returns the smallest number that all numbers of partitions divide, or 0 if it exceeds `max`. */
static int64_t common_multiple(const struct bc_size_list *partitions, int64_t max)
{
    int64_t multiple = 1;
    for (size_t i = 0; i < partitions->count; i++) {
        const int64_t before = multiple;
        while (multiple <= max && multiple % partitions->values[i] != 0)
            multiple += before;
    }
    return multiple <= max ? multiple : 0;
}

/* Returns a given size that `number` doesn't divide; 0: none. Sizes double from the smallest, so it
   suffices to look at both ends. */
static int64_t size_not_divided(const struct overlap_parameters *p, const struct bc_run *run,
                                int64_t number)
{
    for (int i = 0; i < p->elements_count; i++)
        if (p->elements[i] % number != 0)
            return p->elements[i];
    if (bc_option_given(&run->options, "min-num-elts") && p->min_elements % number != 0)
        return p->min_elements;
    return bc_option_given(&run->options, "max-num-elts") && p->max_elements % number != 0
               ? p->max_elements
               : 0;
}

/* Lowers the default to the largest number that divides the given sizes. */
static void lower_default(struct partitioned_state *state, const struct bc_run *run)
{
    int64_t *const partitions = state->partitions.values;
    if (bc_option_given(&run->options, "partitions"))
        return;
    while (size_not_divided(&state->overlap.parameters, run, *partitions) > 0) {
        --*partitions;
        state->lowered = true;
    }
}

/* Changes sizes that weren't given so that all numbers of partitions divide them. */
static bool fit_partitions(struct partitioned_state *state, const struct bc_run *run,
                           struct bc_error *error)
{
    struct overlap_parameters *const p = &state->overlap.parameters;
    const int64_t multiple = common_multiple(&state->partitions, p->max_elements);
    if (multiple == 0)
        return bc_error_set(error,
                            "--partitions: messages of at most %lld elements can't be cut into "
                            "parts of all these numbers: use fewer, or larger sizes",
                            (long long)p->max_elements);
    const int64_t wrong = size_not_divided(p, run, multiple);
    if (wrong > 0)
        return bc_error_set(error,
                            "--partitions: %lld elements can't be cut into equal parts: use sizes "
                            "that are multiples of %lld elements of 8 bytes",
                            (long long)wrong, (long long)multiple);
    p->min_elements = (p->min_elements + multiple - 1) / multiple * multiple;
    p->max_elements -= p->max_elements % multiple;
    return true;
}

static bool fit(void *memory, struct bc_run *run, struct bc_error *error)
{
    struct partitioned_state *const state = memory;
    const struct overlap_parameters *const p = &state->overlap.parameters;
    if (p->test_calls_count != 1 || p->test_calls[0] != 0)
        return bc_error_set(error, "--test-calls: parts of the work mark parts of the message "
                                   "ready here, without tests: use --partitions");
    if (p->work == OVERLAP_WORK_DEVICE)
        return bc_error_set(error,
                            "--work: parts of the processor's work mark parts of the message "
                            "ready here: use --work=host");
    if (p->buffers == BC_BUFFERS_NEW)
        return bc_error_set(error, "--buffers=new: the message's request keeps its buffer: use "
                                   "--buffers=reused");
    if (!bc_is_count(p->max_elements))
        return bc_error_set(error,
                            "--max-num-elts: %lld is more than one message's parts can "
                            "count: use at most %lld",
                            (long long)p->max_elements, (long long)BC_COUNT_MAX);
    if (!overlap_fit(memory, run, error))
        return false;
    lower_default(state, run);
    return fit_partitions(state, run, error);
}

/* Probes the cuts; too fine cuts are noted if only the default asks for them. */
static bool probe(struct partitioned_state *state, struct bc_run *run, struct bc_error *error)
{
    struct overlap_state *const overlap = &state->overlap;
    overlap->parts_option = "--partitions";
    overlap->max_parts = bc_size_list_max(&state->partitions);
    return overlap_check_cuts(overlap, run, 1, &overlap->max_parts, 0, "partitions", error);
}

static void open_partitioned(struct partitioned_state *state, struct bc_run *run)
{
    overlap_open(&state->overlap, run);
    if (state->lowered)
        bc_output_remark(run->output, OVERLAP_NOTE_PARTITIONS, (long long)*state->partitions.values,
                         *state->partitions.values == 1 ? "" : "s");
}

static void write_row(struct partitioned_state *state, struct overlap_row *row)
{
    struct partitioned_result result = {0};
    overlap_conclude(&state->overlap, row, &result.overlap);
    result.partitions = *(const int64_t *)row->choice.variant;
    bc_write_row(state->overlap.run, &result);
}

const struct bc_program overlap_partitioned_program = {
    .name = "overlap_partitioned",
    .summary = "Measures what it gains to send a message in parts, each as soon as the work that\n"
               "makes it is done (MPI_Psend_init, MPI_Pready), against one MPI_Send after the\n"
               "work.\nNeeds at least 2 processes.",
    .placement = BC_PLACED,
    .has_buffers = true,
    .own_options = {own_options, sizeof own_options / sizeof *own_options},
    .defaults = &(const struct partitioned_state){.overlap.parameters = {OVERLAP_DEFAULTS,
                                                                         .name = "partitioned",
                                                                         .kind = &op_partitioned},
                                                  .partitions.text = DEFAULT_PARTITIONS},
    .defaults_bytes = sizeof(struct partitioned_state),
    .state_bytes = sizeof(struct partitioned_state),
    .complete = overlap_parameters_complete,
    .fit = fit,
    OVERLAP_PROGRAM,
};

int main(int argc, char **argv)
{
    struct partitioned_state state;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(&overlap_partitioned_program, &state, argc, argv);
    overlap_open_memory(&state.overlap, run);
    const bool good = probe(&state, run, &error);
    bc_require(run, good, &error);
    overlap_find_size(&state.overlap, run, state.partitions.values);
    overlap_open_result(run, &state.overlap, own_keys, sizeof own_keys / sizeof *own_keys,
                        "partitions,size_bytes," OVERLAP_MAIN_VALUES);
    open_partitioned(&state, run);
    overlap_list_rows(&state.overlap, state.partitions.count, state.partitions.values,
                      sizeof *state.partitions.values);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            overlap_measure(&state.overlap, visit);
        else
            write_row(&state, visit->row);
    overlap_close(&state.overlap);
    return bc_finish(run);
}
