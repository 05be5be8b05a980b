/*
 * A result as figures of merit: one line a quantity, which tools that watch performance read with
 * one expression.
 *
 *   syncbench/sync.MPI_barrier/neighbours.1/ranks.2/sync=0.613 us 0.601 0.622
 *
 * The name is the program's, the row's keys that have a value, and the quantity without its unit;
 * blanks, equals signs, colons and slashes in it are underscores. It is the same in every launch on
 * the same hosts, but for keys that a launch finds out. Then come the value, its unit, and the ends
 * of its interval, NA where it has none. Quantities are the columns that are better less or more;
 * one without a value has no line, nor has a row of wrong data.
 */
#include "common/result/internal.h"

#include <ctype.h>
#include <string.h>

/* The ends of column names, and the units that they stand for. */
static const struct unit {
    const char *end, *name;
} units[] = {
    {"_per_s", "1/s"}, {"_us", "us"}, {"_ns", "ns"},    {"_s", "s"},
    {"_pct", "%"},     {"(%)", "%"},  {"_mbs", "MB/s"}, {"_bytes", "B"},
};

static const struct unit us = {"", "us"}, number = {"", "1"};

/* How much of a column's name is the quantity's. Some specifications name times without a unit. */
static size_t split(const struct bc_column *column, const struct unit **unit)
{
    const size_t length = strlen(column->name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t end = strlen(units[i].end);
        if (length > end && strcmp(column->name + length - end, units[i].end) == 0) {
            *unit = &units[i];
            return length - end;
        }
    }
    *unit = column->cell == BC_CELL_US ? &us : &number;
    return length;
}

/* Writes a name's part, with underscores for what would end it. */
static void write_name(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool ends = isspace((unsigned char)text[i]) || strchr("=:/", text[i]) != NULL;
        fputc(ends ? '_' : text[i], stream);
    }
}

static void write_keys(FILE *stream, const struct bc_table *table, const void *result)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct bc_column *const column = &table->columns[i];
        char cell[BC_CELL_LENGTH];
        if (column->role != BC_KEY)
            continue;
        bc_cell_format(cell, column, result);
        if (strcmp(cell, "NA") == 0)
            continue;
        fputc('/', stream);
        write_name(stream, column->name, strlen(column->name));
        fputc('.', stream);
        write_name(stream, cell, strlen(cell));
    }
}

bool bc_column_is_end(const struct bc_column *column, const struct bc_column *of, const char *end)
{
    const struct unit *unit, *own;
    const size_t length = split(of, &unit), own_length = split(column, &own);
    return own_length == length + strlen(end) && strncmp(column->name, of->name, length) == 0 &&
           strncmp(column->name + length, end, strlen(end)) == 0 &&
           strcmp(own->name, unit->name) == 0;
}

/* Writes an end of a column's interval. */
static void write_end(FILE *stream, const struct bc_table *table, const struct bc_column *of,
                      const char *end, const void *result)
{
    char cell[BC_CELL_LENGTH] = "NA";
    for (size_t i = 0; i < table->count; i++)
        if (bc_column_is_end(&table->columns[i], of, end))
            bc_cell_format(cell, &table->columns[i], result);
    fprintf(stream, " %s", cell);
}

void bc_metrics_write(FILE *stream, const char *program, const struct bc_table *table,
                      const void *result)
{
    const bool is_wrong = bc_table_status(table, result) == BC_FAIL;
    for (size_t i = 0; !is_wrong && i < table->count; i++) {
        const struct bc_column *const column = &table->columns[i];
        const struct unit *unit;
        char cell[BC_CELL_LENGTH];
        if (column->role != BC_LESS && column->role != BC_MORE)
            continue;
        bc_cell_format(cell, column, result);
        if (strcmp(cell, "NA") == 0)
            continue;
        const size_t length = split(column, &unit);
        write_name(stream, program, strlen(program));
        write_keys(stream, table, result);
        fputc('/', stream);
        write_name(stream, column->name, length);
        fprintf(stream, "=%s %s", cell, unit->name);
        write_end(stream, table, column, "_lo", result);
        write_end(stream, table, column, "_hi", result);
        fputc('\n', stream);
    }
}
