/* The cells of a result: values as texts. All functions are local. */
#ifndef COMMCOST_COMMON_RESULT_CELLS_H
#define COMMCOST_COMMON_RESULT_CELLS_H

#include "common/result/output.h"

/* Writes the column's value in a result struct to a cell of BC_CELL_LENGTH characters: "NA" where
   there is none. Texts are made plain; in them tabs, line breaks, `#` and `"` become underscores.
 */
void bc_cell_format(char *cell, const struct bc_column *column, const void *result);

#endif
