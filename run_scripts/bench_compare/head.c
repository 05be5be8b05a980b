#include "run_scripts/bench_compare/head.h"

#include "common/result/metadata.h"
#include "common/run/parse.h"
#include "run_scripts/bench_compare/storage.h"

#include <stdlib.h>
#include <string.h>

/* A name in a file can't be longer: outputs have cells of this length. */
#define NAME_MAX_BYTES (BC_CELL_LENGTH - 1)

const char *const setting_names[SETTINGS] = {"start", "timer", "estimator"};

/* Takes `name=role name=role ...` to pieces. */
static bool parse_columns(struct head *head, const struct lines *lines, const char *text,
                          struct bc_error *error)
{
    if (head->columns_line != NULL)
        return refuse(lines, error,
                      "a second '# columns:': one launch a file, or a column 'run' that tells them "
                      "apart");
    keep_text(&head->columns_line, text);
    char *position = NULL;
    for (char *word = strtok_r(head->columns_line, " ", &position); word != NULL;
         word = strtok_r(NULL, " ", &position)) {
        char *const sign = strrchr(word, '=');
        size_t role = sign != NULL && sign > word ? 0 : BC_ROLES;
        while (role < BC_ROLES && strcmp(sign + 1, bc_role_names[role]) != 0)
            role++;
        if (role == BC_ROLES)
            return refuse(lines, error,
                          "'%" SHOWN
                          "' in '# columns:' isn't a name with '=key', '=less', '=more' or '=info'",
                          word);
        *sign = '\0';
        if (strlen(word) > NAME_MAX_BYTES)
            return refuse(lines, error, "the column '%" SHOWN "' has too long a name", word);
        if (head->column_count == RESULTS_COLUMNS_MAX)
            return refuse(lines, error, "more than %d columns", RESULTS_COLUMNS_MAX);
        for (size_t i = 0; i < head->column_count; i++)
            if (strcmp(head->columns[i].name, word) == 0)
                return refuse(lines, error, "'# columns:' has '%" SHOWN "' twice", word);
        head->columns[head->column_count].name = word;
        head->columns[head->column_count++].role = (enum bc_role)role;
    }
    return true;
}

static bool take_comment(struct head *head, const struct lines *lines, struct bc_error *error)
{
    const char *value;
    if ((value = meta_value(lines->text, "columns")) != NULL)
        return parse_columns(head, lines, value, error);
    if ((value = meta_value(lines->text, "benchmark")) != NULL) {
        if (head->benchmark != NULL)
            return refuse(lines, error,
                          "a second '# benchmark:': one launch a file, or a column 'run' that "
                          "tells them apart");
        keep_text(&head->benchmark, value);
    }
    if ((value = meta_value(lines->text, "ranks")) != NULL)
        keep_text(&head->ranks, value);
    for (size_t i = 0; i < SETTINGS; i++)
        if ((value = meta_value(lines->text, setting_names[i])) != NULL)
            keep_text(&head->settings[i], value);
    if ((value = meta_value(lines->text, "schema")) != NULL) {
        int64_t schema;
        if (!bc_parse_integer(value, &schema) || schema < 1 || schema > BC_OUTPUT_SCHEMA)
            return refuse(lines, error,
                          "output schema '%" SHOWN
                          "': this program reads up to %d: use the one that belongs to the results",
                          value, BC_OUTPUT_SCHEMA);
        head->has_end = schema >= 2;
    }
    return true;
}

/* Finds the columns of the header row among those of `# columns:`. */
static bool take_header(struct head *head, const struct lines *lines, struct bc_error *error)
{
    if (head->columns_line == NULL || head->benchmark == NULL)
        return refuse(lines, error,
                      "no '# %s:' before the first row: compare results with their metadata, "
                      "without --no-header and --no-metadata",
                      head->columns_line == NULL ? "columns" : "benchmark");
    char *cells[RESULTS_COLUMNS_MAX];
    head->cell_count = split(lines->text, cells, RESULTS_COLUMNS_MAX);
    if (head->cell_count > RESULTS_COLUMNS_MAX)
        return refuse(lines, error, "more than %d columns", RESULTS_COLUMNS_MAX);
    size_t cell_of[RESULTS_COLUMNS_MAX]; /* of each column */
    for (size_t column = 0; column < head->column_count; column++)
        cell_of[column] = NO_COLUMN;
    head->run = head->status = NO_COLUMN;
    for (size_t cell = 0; cell < head->cell_count; cell++) {
        size_t column = 0;
        while (column < head->column_count && strcmp(head->columns[column].name, cells[cell]) != 0)
            column++;
        if (column == head->column_count)
            return refuse(lines, error, "'%" SHOWN "' in the header row isn't in '# columns:'",
                          cells[cell]);
        if (cell_of[column] != NO_COLUMN)
            return refuse(lines, error, "the header row has '%" SHOWN "' twice", cells[cell]);
        cell_of[column] = cell;
        head->column_of[cell] = column;
        if (strcmp(cells[cell], "status") == 0)
            head->status = cell;
    }
    for (size_t column = 0; column < head->column_count; column++) {
        const char *const name = head->columns[column].name;
        if (head->columns[column].role != BC_KEY)
            continue;
        if (cell_of[column] == NO_COLUMN)
            return refuse(lines, error, "the header row lacks the key '%" SHOWN "'", name);
        if (strcmp(name, "run") == 0)
            head->run = cell_of[column];
        else
            head->keys[head->key_count++] = cell_of[column];
    }
    return true;
}

const char *head_cell_name(const struct head *head, size_t cell)
{
    return head->columns[head->column_of[cell]].name;
}

bool head_read(struct head *head, struct lines *lines, struct bc_error *error)
{
    for (;;) {
        const enum next next = lines_next(lines, error);
        if (next == BAD)
            return false;
        if (next == END)
            return bc_error_set(error,
                                "%.200s: no header row: the program ended before it had a result, "
                                "or this is none",
                                lines->path);
        if (lines->length > 0 && lines->text[0] != '#')
            return take_header(head, lines, error);
        if (lines->text[0] == '#' && !take_comment(head, lines, error))
            return false;
    }
}

void head_free(struct head *head)
{
    free(head->columns_line);
    free(head->benchmark);
    free(head->ranks);
    for (size_t i = 0; i < SETTINGS; i++)
        free(head->settings[i]);
}
