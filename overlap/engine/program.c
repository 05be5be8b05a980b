/* SPDX-License-Identifier: BSD-3-Clause */
/* The main() of all programs except overlap_halo and overlap_partitioned. overlap/iallreduce.c
   describes the timed region, when, how often, and the result. */
#include "overlap/engine/program.h"

int overlap_main(const struct bc_program *program, int argc, char **argv)
{
    struct overlap_state overlap;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(program, &overlap, argc, argv);
    const struct overlap_parameters *const p = &overlap.parameters;
    overlap_open_memory(&overlap, run);
    const bool has_sizes = overlap_is_data_driven(p) && !p->kind->no_elements;
    const bool good =
        overlap_check_cuts(&overlap, run, 1, NULL, 0, has_sizes ? "min-num-elts" : NULL, &error);
    bc_require(run, good, &error);
    overlap_find_size(&overlap, run, NULL);
    overlap_open_result(run, &overlap, NULL, 0, "size_bytes," OVERLAP_MAIN_VALUES);
    overlap_open(&overlap, run);
    overlap_list_rows(&overlap, 1, NULL, 0);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;) {
        if (visit->step == BC_MEASURE) {
            overlap_measure(&overlap, visit);
        } else {
            struct overlap_result result = {0};
            overlap_conclude(&overlap, visit->row, &result);
            bc_write_row(run, &result);
        }
    }
    overlap_close(&overlap);
    return bc_finish(run);
}
