#include "common/result/internal.h"

#include "common/result/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[BC_STATUSES] = {
    [BC_OK] = "ok",           [BC_BUDGET] = "budget",
    [BC_NO_KNEE] = "no-knee", [BC_MAX_SIZE] = "max-size",
    [BC_FAIL] = "FAIL",
};

static void format_text(char *cell, const char *text)
{
    snprintf(cell, BC_CELL_LENGTH, "%s", text);
    bc_make_plain_text(cell, '_');
    for (char *c = cell; *c != '\0'; c++)
        if (*c == '#' || *c == '"')
            *c = '_';
}

static void format_integer(char *cell, int64_t value)
{
    snprintf(cell, BC_CELL_LENGTH, "%" PRId64, value);
}

static void format_real(char *cell, const struct bc_column *column, double value)
{
    if (column->cell == BC_CELL_US || column->cell == BC_CELL_TIME)
        value *= 1e-3;
    /* An operation that the clock can't see took no time, not less. */
    if (column->cell == BC_CELL_TIME && value < 0.0)
        value = 0.0;
    if (!isfinite(value))
        return;
    const bool whole = column->cell == BC_CELL_AMOUNT && value == floor(value);
    snprintf(cell, BC_CELL_LENGTH, fabs(value) < 1e15 ? "%.*f" : "%.*e", whole ? 0 : column->places,
             value);
    /* A tiny negative number that rounds to nothing is not "-0.00". */
    if (cell[0] == '-' && strspn(cell, "-0.") == strlen(cell))
        memmove(cell, cell + 1, strlen(cell));
}

void bc_cell_format(char *cell, const struct bc_column *column, const void *result)
{
    snprintf(cell, BC_CELL_LENGTH, "NA");
    const void *const at = (const char *)result + column->at;
    switch (column->cell) {
    case BC_CELL_TEXT:
        if (*(const char *const *)at != NULL)
            format_text(cell, *(const char *const *)at);
        break;
    case BC_CELL_CHARS:
        format_text(cell, at);
        break;
    case BC_CELL_INT:
        if (*(const int *)at != BC_NO_INT)
            format_integer(cell, *(const int *)at);
        break;
    case BC_CELL_INTEGER:
        if (*(const int64_t *)at != BC_NO_INTEGER)
            format_integer(cell, *(const int64_t *)at);
        break;
    case BC_CELL_STATUS:
        format_text(cell, status_names[*(const enum bc_status *)at]);
        break;
    default:
        format_real(cell, column, *(const double *)at);
    }
}
