/* The options of halo. */
#pragma once

#include "common/run/options.h"
#include "halo/swap/box_list.h"
#include "halo/swap/methods.h"

/* Each box larger than the one before it. */
#define HALO_DEFAULT_LOCAL "10,50,100,150"

struct halo_parameters {
    const char *dims_text, *local_text;
    struct bc_names methods;
    int sync; /* enum halo_sync of puts and gets; HALO_SYNC_NONE: both */

    /* From the texts. */
    int dims[HALO_DIRECTIONS]; /* 0: MPI_Dims_create chooses */
    struct halo_box boxes[HALO_BOXES_MAX];
    int box_count;
    bool method_chosen[HALO_METHODS]; /* by name and synchronisation */
    bool packs, in_window;            /* a chosen method does; see struct halo_method */

    char shortened_local[sizeof HALO_DEFAULT_LOCAL];
    const char *left_out; /* the boxes that halo_parameters_shorten left out, or NULL */
};

extern const struct halo_parameters halo_default_parameters;
enum { HALO_OPTIONS = 4 };
extern const struct bc_option halo_options[HALO_OPTIONS];

/* Parses the texts of a state that begins with the parameters. False with the error set. Local. */
bool halo_parameters_complete(void *state, struct bc_error *error);

/* Whether `ranks` processes make the grid of --dims. False with the error set. Local. */
bool halo_parameters_fit(const struct halo_parameters *parameters, int ranks,
                         struct bc_error *error);

/* Leaves boxes that need more than `bytes` out of the default list, but for the first one, and
   makes `local_text` what is left. Local, after halo_parameters_complete. */
void halo_parameters_shorten(struct halo_parameters *parameters, double bytes);
