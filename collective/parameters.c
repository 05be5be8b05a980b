/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective.h"

const struct collective_parameters collective_default_parameters = {
    .operations = {.text = "all"},
    .sizes = {.text = "8,1K,64K,1M"},
    .types = {.text = "double"},
    .memory = BC_MEMORY_DEFAULTS,
};

/* Larger than any buffer. */
#define SIZE_MAX_BYTES 1099511627776.0

/* There are about 200 rows with defaults. */
#define GUIDELINES_BUDGET_S 60.0

#define AT(member) offsetof(struct collective_parameters, member)

static const char *type_name(int i) { return op_type_names[i]; }

const struct bc_option collective_options[COLLECTIVE_OPTIONS] = {
    {"operations", BC_NAMES, AT(operations), .argument = "NAMES", .name_at = collective_kind_name,
     .name_count = COLLECTIVE_KINDS, .help = "operations"},
    {"sizes", BC_SIZE_LIST, AT(sizes), .argument = "LIST", .min = 1, .max = SIZE_MAX_BYTES,
     .help = "bytes of a block"},
    {"types", BC_NAMES, AT(types), .argument = "NAMES", .name_at = type_name,
     .name_count = OP_TYPES, .help = "types of the elements"},
    {"op", BC_CHOICE, AT(reduction), .choices = "sum|max|min",
     .help = "reduction: MPI_SUM, MPI_MAX or MPI_MIN"},
    {"in-place", BC_FLAG, AT(in_place),
     .help = "call with MPI_IN_PLACE, leave out operations without that form"},
    {"root", BC_INTEGER, AT(root), .argument = "RANK", .min = 0, .max = 2147483647,
     .word = "rotate", .word_value = COLLECTIVE_ROTATE,
     .help = "root of rooted operations, rotate: another rank for each call"},
    {"guidelines", BC_FLAG, AT(guidelines),
     .help = "compare each operation with other calls that do its work"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
};

bool collective_complete(void *state, struct bc_error *error)
{
    struct collective_parameters *const p = state;
    if (p->guidelines && (p->in_place || bc_memory_is_asked(&p->memory)))
        return bc_error_set(error, "--guidelines: only in host memory and not in place: use it "
                                   "without --memory and --in-place");
    if (bc_memory_is_asked(&p->memory) && !bc_memory_complete(&p->memory, error))
        return false;
    return !p->in_place || p->memory.of[0] == p->memory.of[1] ||
           bc_error_set(error,
                        "--memory=%.80s: in place what is sent and received lies in one buffer: "
                        "use one kind",
                        p->memory.words);
}

/* Checks that blocks of `bytes` bytes are whole elements and, if --sizes is given, fit. */
static bool fit_size(const struct collective_parameters *p, const struct bc_run *run,
                     enum op_type type, int64_t bytes, struct bc_error *error)
{
    const int64_t unit = op_type_bytes(type);
    if (bytes % unit != 0)
        return bc_error_set(error,
                            "--sizes: %lld bytes are no whole number of elements of type %s: use a "
                            "multiple of %lld, or another of --types",
                            (long long)bytes, op_type_names[type], (long long)unit);
    for (int k = 0; k < COLLECTIVE_KINDS && bc_option_given(&run->options, "sizes"); k++) {
        const struct op_kind *const kind = collective_kind(k);
        const char *const obstacle = collective_why_too_large(kind, type, bytes, p, run);
        if (p->operations.chosen[k] && !kind->no_elements &&
            collective_why_missing(kind, p) == NULL && obstacle != NULL)
            return bc_error_set(error,
                                "--sizes: %s of %lld bytes with %d processes does not fit into %s: "
                                "use a smaller size",
                                kind->name, (long long)bytes, run->job.ranks, obstacle);
    }
    return true;
}

static bool fit_sizes(const struct collective_parameters *p, const struct bc_run *run,
                      struct bc_error *error)
{
    for (int type = 0; type < OP_TYPES; type++)
        for (size_t i = 0; i < p->sizes.count && p->types.chosen[type]; i++)
            if (!fit_size(p, run, (enum op_type)type, p->sizes.values[i], error))
                return false;
    return true;
}

bool collective_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct collective_parameters *const p = state;
    const char *lacks = NULL, *name = ""; /* of the last chosen operation */
    bool any = false, any_sized = false;  /* of the measured operations */
    if (run->job.ranks < 2)
        return bc_error_set(error, "a collective operation " BC_NEEDS_2_RANKS);
    if (p->guidelines)
        run->budget_s = GUIDELINES_BUDGET_S;
    if (p->root >= run->job.ranks)
        return bc_error_set(error, "--root: %lld is not in the job: use 0 to %d, or rotate",
                            (long long)p->root, run->job.ranks - 1);
    for (int k = 0; k < COLLECTIVE_KINDS; k++) {
        if (!p->operations.chosen[k])
            continue;
        name = collective_kind_name(k);
        lacks = collective_why_missing(collective_kind(k), p);
        any = any || lacks == NULL;
        any_sized = any_sized || (lacks == NULL && !collective_kind(k)->no_elements);
    }
    if (!any)
        return bc_error_set(error, "--operations=%.80s: no %s: %s: use another operation",
                            p->operations.text, name, lacks);
    if (p->guidelines && !any_sized)
        return bc_error_set(
            error, "--guidelines: no other calls do the work of %s: use another operation", name);
    return !any_sized || fit_sizes(p, run, error);
}
