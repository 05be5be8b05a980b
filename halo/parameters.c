/* SPDX-License-Identifier: BSD-3-Clause */
#include "halo/halo.h"

#include <limits.h>
#include <string.h>

const struct halo_parameters halo_default_parameters = {
    .dims_text = "0x0x0",
    .local = {.text = "10,50,100,150", .where = "memory or /dev/shm"},
    .methods = {.text = "all"},
    .sync = BC_SYNC_NONE,
    .memory = BC_MEMORY_DEFAULTS,
};

static const char *method_name(int i) { return halo_methods[i]->name; }

#define AT(member) offsetof(struct halo_parameters, member)

const struct bc_option halo_options[HALO_OPTIONS] = {
    {"dims", BC_TEXT, AT(dims_text), .argument = "AxBxC",
     .help = "processes in each direction, 0: chosen by MPI_Dims_create"},
    {"local", BC_TEXT, AT(local.text), .argument = "LIST",
     .help = "boxes without halo, in doubles, A for a cube or AxBxC"},
    {"methods", BC_NAMES, AT(methods), .argument = "NAMES", .name_at = method_name,
     .name_count = HALO_METHODS, .help = "methods"},
    {"coarray-sync", BC_CHOICE, AT(sync), .choices = "all|images|both",
     .help = "synchronisation of puts and gets: all ranks, neighbours, or both"},
    BC_MEMORY_OPTIONS(AT(memory)),
};

static bool complete_dims(struct halo_parameters *p, struct bc_error *error)
{
    int64_t dims[HALO_DIRECTIONS];
    if (halo_read_extents(p->dims_text, strlen(p->dims_text), dims) != HALO_DIRECTIONS)
        return bc_error_set(error,
                            "--dims: '%.*s' is no grid: use AxBxC, such as 2x2x1, or 0 for "
                            "MPI_Dims_create's choice",
                            HALO_ELEMENT_MAX, p->dims_text);
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        p->dims[d] = dims[d] > INT_MAX ? INT_MAX : (int)dims[d];
    return true;
}

bool halo_parameters_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct halo_parameters *const p = state;
    const int ranks = run->job.ranks;
    int64_t product = 1; /* of the given numbers */
    bool free = false;
    for (int d = 0; d < HALO_DIRECTIONS && product <= ranks; d++) {
        free = free || p->dims[d] == 0;
        if (p->dims[d] > 0)
            product *= p->dims[d];
    }
    if (free ? ranks % product == 0 : product == ranks)
        return halo_fit_boxes(&p->local, run, p->packs, p->in_window, error);
    return bc_error_set(error,
                        "--dims: %.*s does not make a grid of %d processes: use numbers whose "
                        "product is %d, or 0 for MPI_Dims_create's choice",
                        HALO_ELEMENT_MAX, p->dims_text, ranks, ranks);
}

static void choose_methods(struct halo_parameters *p)
{
    const bool in_host_memory = bc_memory_is_host(p->memory.of);
    p->packs = p->in_window = false;
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        const bool chosen =
            p->methods.chosen[i] && (method->sync == BC_SYNC_NONE || p->sync == BC_SYNC_NONE ||
                                     p->sync == (int)method->sync);
        p->method_chosen[i] = chosen;
        p->packs = p->packs || (chosen && method->packs);
        p->in_window = p->in_window || (chosen && method->in_window && in_host_memory);
    }
}

bool halo_parameters_complete(void *state, struct bc_error *error)
{
    struct halo_parameters *const p = state;
    if (bc_memory_is_asked(&p->memory) && !bc_memory_complete(&p->memory, error))
        return false;
    choose_methods(p);
    return complete_dims(p, error) && halo_read_boxes(&p->local, error);
}
