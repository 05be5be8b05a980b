/* The columns of the overlap suite. */
#ifndef COMMCOST_OVERLAP_ENGINE_COLUMNS_H
#define COMMCOST_OVERLAP_ENGINE_COLUMNS_H

#include "common/run/program.h"

#include <stdbool.h>

#define OVERLAP_OWN_KEYS_MAX 2

/* Opens the result (bc_open_result) of a struct that begins with a struct overlap_result. Up to
   OVERLAP_OWN_KEYS_MAX keys of a program's own come after test_calls. Once a run. */
void overlap_open_result(struct bc_run *run, bool data_driven, const struct bc_column *own_keys,
                         size_t own_count);

#endif
