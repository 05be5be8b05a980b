/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/parameters.h"

#include "common/mpi/large_count.h"
#include "common/run/parse.h"
#include "overlap/engine/sizes.h"

#include <string.h>

#define AT(member) offsetof(struct overlap_parameters, member)

const struct bc_option overlap_options[OVERLAP_OPTIONS] = {
    {"min-num-elts", BC_SIZE, AT(min_elements), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .variables = "OPENHPCA_OVERLAP_MIN_NUM_ELTS",
     .help = "min count argument, in elements of 8 bytes"},
    {"max-num-elts", BC_SIZE, AT(max_elements), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .variables = "OPENHPCA_OVERLAP_MAX_NUM_ELTS",
     .help = "max count argument, in elements of 8 bytes"},
    {"sizes", BC_TEXT, AT(sizes_text), .argument = "SIZES",
     .help = "sizes in bytes instead of elements, such as 8,1K,1M or 8:1M"},
    {"data-driven-execution", BC_FLAG, AT(data_driven), .alias = "data-driven",
     .variables = "OPENHPCA_DATA_DRIVEN_EXECUTION",
     .help = "measure all sizes instead of finding one by --cutoff-time"},
    {"cutoff-time", BC_REAL, AT(cutoff_ms), .argument = "MS", .min = 1e-6, .max = 1e6,
     .range_hint = "milliseconds above 0, such as 1", .variables = "OPENHPCA_OVERLAP_CUTOFF_TIME",
     .help = "min time of the operation in the time-driven model, in milliseconds"},
    {"acceptance-threshold", BC_PERCENT, AT(acceptance_pct), .argument = "PERCENT", .min = 0.001,
     .max = 100, .variables = "OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD",
     .help = "max distance between work that fits and work that doesn't"},
    {"validation-steps", BC_SIZE, AT(validation_steps), .argument = "N", .min = 0, .max = 1000,
     .variables = "OPENHPCA_OVERLAP_VALIDATION_STEPS",
     .help = "number of retries before an amount of work is rejected"},
    {"default-tdm-n-iters", BC_SIZE, AT(default_iterations), .argument = "N", .min = 1, .max = 1e9,
     .variables = "OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS OVERLAP_DEFAULT_TDM_N_ITERS_ENVVAR",
     .zero = "adaptive", .help = "operations for each amount of work"},
    {"max-tdm-iters", BC_SIZE, AT(max_iterations), .argument = "N", .min = 1, .max = 1e9,
     .variables = "OPENHPCA_OVERLAP_MAX_TDM_ITERS OVERLAP_MAX_TDM_ITERS_ENVVAR",
     .zero = "--max-samples", .help = "max operations for each amount of work"},
    {"root", BC_SIZE, AT(root), .argument = "RANK", .min = 0, .max = 2147483647.0,
     .help = "root of rooted operations"},
    {"test-calls", BC_TEXT, AT(test_calls_text), .argument = "N|LIST|auto",
     .help = "calls of MPI_Test during the work, auto: the best number"},
    {"form", BC_CHOICE, AT(form), .choices = "nonblocking|persistent|all",
     .help = "start by the non-blocking function, by MPI_Start, or both"},
    {"plenty", BC_REAL, AT(plenty), .argument = "FACTOR", .min = 0.01, .max = 1000,
     .help = "plenty of work for the exposed time, as multiple of the reference"},
    {"threshold", BC_PERCENT, AT(threshold_pct), .argument = "PERCENT", .min = 0, .max = 100,
     .help = "min gain or loss for a verdict, relative to the blocking call"},
    {"no-blocking", BC_FLAG, AT(no_blocking),
     .help = "leave out the blocking counterpart, the gain and the verdict"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
    {"work", BC_CHOICE, AT(work), .choices = "host|device",
     .help = "work by the processor, or by a kernel on the GPU"},
    {"verbose", BC_FLAG, AT(verbose), .short_name = 'v', .variables = "OPENHPCA_OVERLAP_VERBOSE",
     .help = "show each phase in comment lines"},
    {"debug", BC_FLAG, AT(debug), .variables = "OPENHPCA_OVERLAP_DEBUG",
     .help = "show each trial in comment lines"},
};

static bool has_elements(const struct overlap_parameters *p, int64_t elements)
{
    for (int i = 0; i < p->elements_count; i++)
        if (p->elements[i] == elements)
            return true;
    return false;
}

/* Takes the sizes as elements of a data-driven run. */
static void take_sizes(struct overlap_parameters *p, const struct bc_size_list *list)
{
    const int64_t bytes = sizeof(double);
    p->data_driven = true;
    p->min_elements = INT64_MAX;
    p->max_elements = p->elements_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const int64_t rest = list->values[i] % bytes != 0 || list->values[i] == 0;
        const int64_t elements = list->values[i] / bytes + rest;
        if (elements < p->min_elements)
            p->min_elements = elements;
        if (elements > p->max_elements)
            p->max_elements = elements;
        if (!has_elements(p, elements))
            p->elements[p->elements_count++] = elements;
    }
}

static bool read_sizes(struct overlap_parameters *p, struct bc_error *error)
{
    struct bc_size_list list = {0};
    if (p->sizes_text == NULL)
        return true;
    const bool good = bc_parse_size_list(p->sizes_text, &list) && list.count <= OVERLAP_SIZES_MAX &&
                      (double)bc_size_list_max(&list) <= BC_ELEMENTS_MAX;
    if (good)
        take_sizes(p, &list);
    bc_size_list_free(&list);
    return good || bc_error_set(error,
                                "--sizes: \"%.80s\" is no list of sizes: use at most %d of up to "
                                "1024G bytes, such as 8,1K,1M or 8:1M",
                                p->sizes_text, OVERLAP_SIZES_MAX);
}

static bool take_numbers(struct overlap_parameters *p, const struct bc_size_list *list,
                         struct bc_error *error)
{
    const char *const text = p->test_calls_text;
    if (list->count == 0 || bc_size_list_max(list) > OVERLAP_TEST_CALLS_LIMIT)
        return bc_error_set(error,
                            "--test-calls: \"%.80s\" is no list of calls: use whole numbers from 0 "
                            "to %d with commas, or auto alone",
                            text, OVERLAP_TEST_CALLS_LIMIT);
    if (list->count > OVERLAP_TEST_CALLS_MAX)
        return bc_error_set(error,
                            "--test-calls: \"%.80s\" are %zu numbers: use at most %d at a time",
                            text, list->count, OVERLAP_TEST_CALLS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        for (size_t before = 0; before < i; before++)
            if (list->values[before] == list->values[i])
                return bc_error_set(error,
                                    "--test-calls: \"%.80s\" has %lld twice: use each number once",
                                    text, (long long)list->values[i]);
        p->test_calls[i] = list->values[i];
    }
    p->test_calls_count = (int)list->count;
    return true;
}

/* Refuses --test-calls with --work=device: the processor is in MPI's wait. */
static bool check_work(const struct overlap_parameters *p, struct bc_error *error)
{
    return p->work == OVERLAP_WORK_HOST || (p->test_calls_count == 1 && p->test_calls[0] == 0) ||
           bc_error_set(error, "--test-calls: with --work=device the processor is in MPI's wait "
                               "while the kernel runs, and tests nothing: use 0");
}

bool overlap_parameters_complete(void *state, struct bc_error *error)
{
    struct overlap_parameters *const p = state;
    struct bc_size_list list = {0};
    p->memory.works = p->work == OVERLAP_WORK_DEVICE;
    if (bc_memory_is_asked(&p->memory) && !bc_memory_complete(&p->memory, error))
        return false;
    if (!read_sizes(p, error))
        return false;
    if (strcmp(p->test_calls_text, "auto") == 0) {
        p->test_calls[0] = OVERLAP_AUTO;
        p->test_calls_count = 1;
        return check_work(p, error);
    }
    if (!bc_parse_size_list(p->test_calls_text, &list))
        list.count = 0;
    const bool good = take_numbers(p, &list, error);
    bc_size_list_free(&list);
    return good && check_work(p, error);
}

/* ---- the job --------------------------------------------------------------------------------- */

static bool fit_form(struct overlap_state *overlap, struct bc_error *error)
{
    struct overlap_parameters *const p = &overlap->parameters;
    if (p->form == OP_NONBLOCKING || p->variants_have_forms || op_has_persistent(p->kind))
        return true;
    if (p->form == OP_FORMS) {
        p->form = OP_NONBLOCKING;
        overlap->lacks_persistent = true;
        return true;
    }
    if (p->kind->persistent_function == NULL)
        return bc_error_set(error, "--form: there is no persistent form of %s: use nonblocking",
                            p->name);
    return bc_error_set(error,
                        "--form: this MPI library has no %s that can be started again: use "
                        "nonblocking",
                        p->kind->persistent_function);
}

static bool fit_buffers(const struct overlap_parameters *p, struct bc_error *error)
{
    if (p->buffers == BC_BUFFERS_REUSED)
        return true;
    if (p->kind->send.extent == OP_NO_BUFFER)
        return bc_error_set(error, "--buffers=new: %s has no buffers that can be new: use reused",
                            p->name);
    return (p->form != OP_PERSISTENT && p->form != OP_FORMS) ||
           bc_error_set(error, "--buffers=new: a persistent request keeps its buffers: use "
                               "--form=nonblocking or --buffers=reused");
}

static void apply_iterations(const struct overlap_parameters *p, struct bc_run *run)
{
    struct bc_settings *const settings = &run->settings;
    if (p->default_iterations > 0 && !bc_option_given(&run->options, "samples"))
        settings->samples = p->default_iterations;
    if (p->max_iterations > 0) {
        settings->max_samples = p->max_iterations;
        if (settings->min_samples > settings->max_samples)
            settings->min_samples = settings->max_samples;
    }
}

bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct overlap_state *const overlap = state;
    const struct overlap_parameters *const p = &overlap->parameters;
    if (run->job.ranks < 2)
        return bc_error_set(error, "an operation " BC_NEEDS_2_RANKS);
    if (p->root >= run->job.ranks)
        return bc_error_set(error, "--root: %lld is not in the job: use 0 to %d",
                            (long long)p->root, run->job.ranks - 1);
    if (p->max_iterations > 0 && p->default_iterations > p->max_iterations)
        return bc_error_set(error,
                            "--default-tdm-n-iters: %lld is more than --max-tdm-iters, %lld: lower "
                            "the one or raise the other",
                            (long long)p->default_iterations, (long long)p->max_iterations);
    apply_iterations(p, run);
    return fit_form(overlap, error) && fit_buffers(p, error) &&
           overlap_fit_sizes(overlap, run, error);
}
