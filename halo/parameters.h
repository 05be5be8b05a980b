/*
 * The options of halo.
 */
#ifndef COMMCOST_HALO_PARAMETERS_H
#define COMMCOST_HALO_PARAMETERS_H

#include "common/run/options.h"
#include "halo/box.h"
#include "halo/methods.h"

#include <stdbool.h>
#include <stddef.h>

#define HALO_BOXES_MAX 256

/* Each box larger than the one before it. */
#define HALO_DEFAULT_LOCAL "10,50,100,150"

struct halo_parameters {
    const char *dims_text;
    const char *local_text;
    const char *methods_text; /* names with commas; or "all" */
    int sync;                 /* enum halo_sync; both after them */

    /* From the texts. */
    int dims[HALO_DIRECTIONS]; /* 0: MPI_Dims_create's choice; it has one */
    struct halo_box boxes[HALO_BOXES_MAX];
    int box_count;
    bool method_chosen[HALO_METHODS]; /* by name and synchronisation */

    char default_local[sizeof HALO_DEFAULT_LOCAL];
    const char *left_out; /* boxes that halo_parameters_shorten left out */
};

#define HALO_OPTIONS_MAX 8

size_t halo_parameters_table(struct halo_parameters *parameters, struct bc_option *rows);

/* Takes the texts apart, of a run of so many ranks. Local, on every rank; false
   with the error set. */
bool halo_parameters_complete(struct halo_parameters *parameters, int ranks,
                              struct bc_error *error);

/* Whether a method that was chosen packs faces into buffers. */
bool halo_packs(const struct halo_parameters *parameters);

/* Leaves the boxes that need more than so many bytes out of the default list, but
   for the first one; `local_text` becomes what is left. Local, after
   halo_parameters_complete and before `local_text` goes to the other ranks. */
void halo_parameters_shorten(struct halo_parameters *parameters, double bytes);

#endif
