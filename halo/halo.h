/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of halo, its row, and the timed loop. */
#pragma once

#include "common/coarray/transfers.h"
#include "common/device/memory.h"
#include "common/run/options.h"
#include "common/halo_swap/box_list.h"
#include "common/halo_swap/methods.h"

/* ---- options (parameters.c) ------------------------------------------------------------------ */

struct halo_parameters {
    const char *dims_text;
    struct halo_box_list local;
    struct bc_names methods;
    int sync;                        /* enum bc_coarray_sync; BC_SYNC_NONE: both */
    struct bc_memory_options memory; /* of the lower and the upper half of the ranks */

    /* Parsed from the texts. */
    int dims[HALO_DIRECTIONS];        /* 0 lets MPI_Dims_create choose */
    bool method_chosen[HALO_METHODS]; /* by name and synchronisation */
    bool packs, in_window;            /* true of at least one chosen method */
};

extern const struct halo_parameters halo_default_parameters;
enum { HALO_OPTIONS = 6 };
extern const struct bc_option halo_options[HALO_OPTIONS];

/* Parse the texts of a state that begins with the parameters, and check them against ranks and
   memory. Return false with the error set. Local. */
bool halo_parameters_complete(void *state, struct bc_error *error);
bool halo_parameters_fit(void *state, struct bc_run *run, struct bc_error *error);

/* ---- a row (columns.c) ----------------------------------------------------------------------- */

struct halo_result {
    const char *method, *sync;
    char dims[BC_CELL_LENGTH], local[BC_CELL_LENGTH];
    int64_t ndata;
    struct bc_transfer_result swaps;
    struct bc_staged staged;
};

extern const struct bc_table halo_table;

/* ---- the timed loop (kernel.c) --------------------------------------------------------------- */

/* Times `repetitions` exchanges. Collective. */
struct bc_span halo_time_swaps(const struct halo_exchange *exchange, int64_t repetitions);
