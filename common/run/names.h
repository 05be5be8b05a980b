/*
 * Names in options: one of a table's rows, or several, as people write them.
 */
#ifndef COMMCOST_COMMON_RUN_NAMES_H
#define COMMCOST_COMMON_RUN_NAMES_H

#include "common/run/options.h"

#include <stdbool.h>

/* The name of row `i` of a table. */
typedef const char *bc_name_fn(int i);

/*
 * Marks the rows that a text names: names separated by commas, or `all`. Case and
 * the characters space, `-` and `_` don't count, so "many-put" is "many put". All
 * `count` entries of `chosen` are set. False with the error set, which names
 * --`option`, if a name is none of the table's. Local.
 */
bool bc_names_choose(const char *option, const char *text, bc_name_fn *name_of, bool *chosen,
                     int count, struct bc_error *error);

#endif
