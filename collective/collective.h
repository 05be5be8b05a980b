/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of collective, its operations, the timed region, and a row. */
#pragma once

#include "collective/guidelines.h"
#include "common/device/memory.h"
#include "common/measure/rounds.h"
#include "common/operations/collectives.h"
#include "common/run/parse.h"
#include "common/run/program.h"

/* ---- options (parameters.c) ------------------------------------------------------------------ */

#define COLLECTIVE_ROTATE (-1)

struct collective_parameters {
    struct bc_names operations;
    struct bc_size_list sizes; /* bytes of a block */
    struct bc_names types;
    int reduction; /* enum op_reduction */
    bool in_place;
    int64_t root;    /* or COLLECTIVE_ROTATE */
    bool guidelines; /* a row for each guideline instead of one for each operation */
    struct bc_memory_options memory;
    int buffers; /* enum bc_buffers */
};

extern const struct collective_parameters collective_default_parameters;
enum { COLLECTIVE_OPTIONS = 10 };
extern const struct bc_option collective_options[COLLECTIVE_OPTIONS];

/* Parse the texts of the options into `state`, whose first member is the parameters, and check them
   against ranks and memory. */
bool collective_complete(void *state, struct bc_error *error);
bool collective_fit(void *state, struct bc_run *run, struct bc_error *error);

/* ---- operations (kinds.c) -------------------------------------------------------------------- */

#if COMMCOST_NEIGHBOR_COLLECTIVES
enum { COLLECTIVE_KINDS = 19 };
#else
enum { COLLECTIVE_KINDS = 17 };
#endif
const struct op_kind *collective_kind(int i);
const char *collective_kind_name(int i);

bool collective_is_rooted(const struct op_kind *kind);
bool collective_reduces(const struct op_kind *kind);

/* Returns why an operation has no rows, or NULL if it has any. Local, the same on all ranks. */
const char *collective_why_missing(const struct op_kind *kind,
                                   const struct collective_parameters *p);

/* Returns the limit that blocks of `bytes` bytes exceed, or NULL if they fit. Local, the same on
   all ranks. */
const char *collective_why_too_large(const struct op_kind *kind, enum op_type type, int64_t bytes,
                                     const struct collective_parameters *p,
                                     const struct bc_run *run);

/* Returns the bytes of device memory that a rank needs for the largest operation. Local, the same
   on all ranks. */
double collective_device_bytes(const struct collective_parameters *p, const struct bc_run *run);

/* ---- the timed region (kernel.c) ------------------------------------------------------------- */

/* Times the operation once. Collective. */
struct bc_span collective_time(struct op_instance *operation);

/* Times the staged counterpart: copy to pinned memory, operation, copy back. Collective. */
struct bc_span collective_time_staged(struct op_instance *operation, struct op_instance *staged);

/* Times the alternative once. Collective. */
struct bc_span collective_time_alternative(struct collective_alternative *alternative);

/* ---- a row (row.c, columns.c) ---------------------------------------------------------------- */

struct collective {
    struct collective_parameters parameters; /* first member: options are read into it */
    struct bc_run *run;
    struct bc_device *device; /* NULL if all buffers are in host memory */
};

/* The quantities of a round. */
enum collective_quantity {
    COLLECTIVE_TIME,        /* from the first start to the last end */
    COLLECTIVE_OWN,         /* the mean of the ranks' own times */
    COLLECTIVE_SKEW,        /* the longest minus the shortest own time */
    COLLECTIVE_COUNTERPART, /* COLLECTIVE_TIME of the staged counterpart or the alternative */
    COLLECTIVE_QUANTITIES
};

/* Rows without a counterpart use only the quantities before COLLECTIVE_COUNTERPART. */
extern const struct bc_quantities collective_quantities;

/* A row: its keys, and state kept between visits. */
struct collective_row {
    const struct op_kind *kind;
    enum op_type type;
    int64_t elements;
    const struct collective_guideline *guideline; /* NULL: none */
    double size_bytes;                            /* of a block; the mean if blocks differ */
    struct bc_store store;
    int64_t operations; /* so far, including warm-up */
    int64_t wrong;      /* operations with wrong data on this rank */
};

/* An operation beside its alternative; times in ns. */
struct collective_comparison {
    const char *alternative;
    struct bc_summary time;       /* of the alternative */
    struct bc_summary slower_pct; /* time that the operation takes beyond that, as a share of it */
    const char *guideline;        /* "kept", "violated" or "not clear"; NULL: no interval */
};

/* Times are in ns, those of rank 0. */
struct collective_result {
    const char *operation, *type, *op, *in_place;
    char root[BC_CELL_LENGTH];
    int64_t elements;
    double size_bytes;
    struct bc_summary time, own, skew;
    const char *buffers;
    struct bc_staged staged;                 /* if buffers are on a device */
    struct collective_comparison comparison; /* with --guidelines */
    const char *check;
    struct bc_outcome outcome;
};

/* Returns the table for the run's options. Local. */
const struct bc_table *collective_table(const struct collective *collective);

/* Computes the result of all visits on rank 0, and frees the samples. Collective. */
void collective_conclude(const struct collective *collective, struct collective_row *row,
                         struct collective_result *result);
