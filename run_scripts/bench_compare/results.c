#include "run_scripts/bench_compare/results.h"

#include "common/result/output.h"
#include "common/run/parse.h"
#include "run_scripts/bench_compare/rank_test.h"
#include "common/stats/stats.h"
#include "run_scripts/bench_compare/head.h"
#include "run_scripts/bench_compare/lines.h"
#include "run_scripts/bench_compare/storage.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WARNINGS_MAX 50

/* ---- what is kept while reading -------------------------------------------------------------- */

/* A launch, as far as it must be told from others. */
struct launch {
    enum side side;
    size_t file;
    bool merged; /* one of several in its file */
    uint64_t rows_hash, file_hash;
    bool twice;      /* was read before: doesn't count */
    bool incomplete; /* rows may be missing: doesn't count */
};

/* What a launch's row said of a quantity. */
struct observation {
    size_t series, launch;
    double value; /* NAN: none */
    bool failed;
};

struct reading {
    struct launch *launches;
    size_t launch_count;
    struct observation *observations;
    size_t observation_count;
    char **paths; /* of the files */
    size_t file_count;
    struct dictionary series, launch_names;
    size_t left_out; /* warnings beyond WARNINGS_MAX */
};

struct results *results_create(void)
{
    struct results *const results = allocate(1, sizeof *results);
    results->reading = allocate(1, sizeof *results->reading);
    return results;
}

static void free_said(const struct said *said)
{
    free(said->text);
    free(said->path);
}

void results_free(struct results *results)
{
    struct reading *const reading = results->reading;
    for (size_t i = 0; i < results->series_count; i++) {
        struct series *const series = &results->series[i];
        free_texts(series->keys, results->schemas[series->schema].key_count);
        free(series->quantity);
        free(series->sides[BASE].values);
        free(series->sides[NEW].values);
    }
    for (size_t i = 0; i < results->schema_count; i++) {
        const struct schema *const schema = &results->schemas[i];
        free(schema->benchmark);
        free_texts(schema->keys, schema->key_count);
        free_said(&schema->ranks);
        for (size_t s = 0; s < SETTINGS; s++)
            free_said(&schema->settings[s]);
    }
    free(results->series);
    free(results->schemas);
    free_texts(results->warnings, results->warning_count);
    free(reading->launches);
    free(reading->observations);
    free_texts(reading->paths, reading->file_count);
    free_dictionary(&reading->series);
    free_dictionary(&reading->launch_names);
    free(reading);
    free(results);
}

__attribute__((format(printf, 2, 3))) static void warn(struct results *results, const char *format,
                                                       ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (results->warning_count == WARNINGS_MAX) {
        results->reading->left_out++;
        return;
    }
    make_room(&results->warnings, results->warning_count, sizeof *results->warnings);
    results->warnings[results->warning_count++] = copy_text(text);
}

/* The cells of a row, or of the header row if NULL, that are keys. Freed with free_texts. */
static char **copy_keys(const struct head *head, char *const *cells)
{
    char **const keys = allocate(head->key_count, sizeof *keys);
    for (size_t i = 0; i < head->key_count; i++) {
        const size_t cell = head->keys[i];
        keys[i] = copy_text(cells != NULL ? cells[cell] : head_cell_name(head, cell));
    }
    return keys;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static bool is_schema(const struct schema *schema, const struct head *head)
{
    if (strcmp(schema->benchmark, head->benchmark) != 0 || schema->key_count != head->key_count)
        return false;
    for (size_t i = 0; i < head->key_count; i++)
        if (strcmp(schema->keys[i], head_cell_name(head, head->keys[i])) != 0)
            return false;
    return true;
}

/* Whether this file says something else than the first one that says anything, which is kept. */
static bool differs(struct said *first, const char *text, const struct lines *lines)
{
    if (text != NULL && first->text == NULL)
        *first = (struct said){copy_text(text), copy_text(lines->path)};
    return text != NULL && strcmp(first->text, text) != 0;
}

/* Finds or makes the schema. Launches on other numbers of ranks are refused; those with other
   settings are compared, with a warning. */
static bool find_schema(struct results *results, struct head *head, const struct lines *lines,
                        struct bc_error *error)
{
    size_t number = 0;
    while (number < results->schema_count && !is_schema(&results->schemas[number], head))
        number++;
    head->schema = number;
    if (number == results->schema_count) {
        make_room(&results->schemas, number, sizeof *results->schemas);
        results->schemas[results->schema_count++] = (struct schema){
            copy_text(head->benchmark), copy_keys(head, NULL), .key_count = head->key_count};
    }
    struct schema *const schema = &results->schemas[number];
    if (differs(&schema->ranks, head->ranks, lines))
        return bc_error_set(
            error, "%.150s ran on %.20s ranks, %.150s on %.20s: compare launches of as many ranks",
            schema->ranks.path, schema->ranks.text, lines->path, head->ranks);
    for (size_t i = 0; i < SETTINGS; i++) {
        if (!differs(&schema->settings[i], head->settings[i], lines) || schema->differ[i])
            continue;
        warn(results,
             "%.200s was measured with --%s=%.40s, %.200s with --%s=%.40s: differences may come "
             "from that",
             schema->settings[i].path, setting_names[i], schema->settings[i].text, lines->path,
             setting_names[i], head->settings[i]);
        schema->differ[i] = true;
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The number of the series of a cell in a row, a new one if need be. */
static bool find_series(struct results *results, const struct head *head, char **cells, size_t cell,
                        char *name, const struct lines *lines, size_t *number,
                        struct bc_error *error)
{
    const char *const quantity = head_cell_name(head, cell);
    const bool more = head->columns[head->column_of[cell]].role == BC_MORE;
    /* No cell has a tab, so these texts are the same for the same series only. */
    size_t used = (size_t)sprintf(name, "%zu\t%s", head->schema, quantity);
    for (size_t i = 0; i < head->key_count; i++)
        used += (size_t)sprintf(name + used, "\t%s", cells[head->keys[i]]);
    struct entry *const entry = look_up(&results->reading->series, name);
    if (entry->number == SIZE_MAX) {
        make_room(&results->series, results->series_count, sizeof *results->series);
        entry->number = results->series_count++;
        results->series[entry->number] = (struct series){head->schema, copy_keys(head, cells),
                                                         copy_text(quantity), .more = more};
    }
    *number = entry->number;
    if (results->series[*number].more != more)
        return refuse(lines, error,
                      "%s: more is better here, and less is better in another result, or the other "
                      "way round",
                      quantity);
    return true;
}

static bool add_launch(struct results *results, enum side side, bool merged, size_t *number,
                       struct bc_error *error)
{
    struct reading *const reading = results->reading;
    if (reading->launch_count == RESULTS_LAUNCHES_MAX)
        return bc_error_set(error, "more than %d launches: compare fewer at a time",
                            RESULTS_LAUNCHES_MAX);
    make_room(&reading->launches, reading->launch_count, sizeof *reading->launches);
    *number = reading->launch_count;
    reading->launches[reading->launch_count++] = (struct launch){
        .side = side, .file = reading->file_count - 1, .merged = merged, .rows_hash = HASH_START};
    return true;
}

/* The launch of a row in a file that holds several. */
static bool find_launch(struct results *results, enum side side, const char *run, char *name,
                        size_t *number, struct bc_error *error)
{
    sprintf(name, "%zu\t%s", results->reading->file_count - 1, run);
    struct entry *const entry = look_up(&results->reading->launch_names, name);
    if (entry->number == SIZE_MAX && !add_launch(results, side, true, &entry->number, error))
        return false;
    *number = entry->number;
    return true;
}

static bool is_failed(const struct head *head, char **cells)
{
    return head->status != NO_COLUMN && strcmp(cells[head->status], "FAIL") == 0;
}

/* Takes in a row: `name` is room for its texts. */
static bool take_row(struct results *results, const struct head *head, const struct lines *lines,
                     char **cells, size_t launch, char *name, struct bc_error *error)
{
    struct reading *const reading = results->reading;
    struct launch *const of = &reading->launches[launch];
    of->rows_hash = hash_bytes(of->rows_hash, head->benchmark, strlen(head->benchmark) + 1);
    for (size_t cell = 0; cell < head->cell_count; cell++)
        if (cell != head->run)
            of->rows_hash = hash_bytes(of->rows_hash, cells[cell], strlen(cells[cell]) + 1);
    const bool failed = is_failed(head, cells);
    for (size_t cell = 0; cell < head->cell_count; cell++) {
        const enum bc_role role = head->columns[head->column_of[cell]].role;
        if (role != BC_LESS && role != BC_MORE)
            continue;
        struct observation seen = {.launch = launch, .value = NAN, .failed = failed};
        if (strcmp(cells[cell], "NA") != 0 && !bc_parse_real(cells[cell], &seen.value))
            return refuse(lines, error, "'%" SHOWN "' in the column %s is no number, and not NA",
                          cells[cell], head_cell_name(head, cell));
        if (reading->observation_count == RESULTS_VALUES_MAX)
            return bc_error_set(error, "more than %zu values: compare fewer files at a time",
                                RESULTS_VALUES_MAX);
        if (!find_series(results, head, cells, cell, name, lines, &seen.series, error))
            return false;
        make_room(&reading->observations, reading->observation_count,
                  sizeof *reading->observations);
        reading->observations[reading->observation_count++] = seen;
    }
    return true;
}

/* Sees to it that launches from the first one on don't count, and says why. */
static void leave_out(struct results *results, size_t first, const char *path, const char *why)
{
    warn(results, "%.200s %s. It doesn't count", path, why);
    struct reading *const reading = results->reading;
    for (size_t i = first; i < reading->launch_count; i++) {
        reading->launches[i].incomplete = true;
        results->incomplete[reading->launches[i].side]++;
    }
}

/* What the rows of a file, and the remarks among them, say of it as a whole. */
struct body {
    size_t rows, failed;
    bool interrupted;
    char end[64]; /* of `# end:`, where that is the last line; else empty */
};

/* Takes `12 rows, exit 0` to pieces. */
static bool parse_end(const char *end, unsigned long long *rows, long *status)
{
    char *rest;
    *rows = strtoull(end, &rest, 10);
    if (rest == end || strncmp(rest, " row", 4) != 0)
        return false;
    const char *const exits = strstr(rest, ", exit ");
    *status = exits != NULL ? strtol(exits + strlen(", exit "), NULL, 10) : 0;
    return true;
}

/* Sees to it that a launch counts only if its file has all that it found. */
static void check_body(struct results *results, const struct head *head, const struct body *body,
                       const char *path, size_t first)
{
    const bool merged = head->run != NO_COLUMN;
    unsigned long long said;
    long status;
    if (body->rows == 0)
        warn(results, "%.200s has no rows", path);
    if (body->interrupted && !merged) {
        leave_out(results, first, path, "was interrupted by a signal: rows may be missing");
        return;
    }
    if (!parse_end(body->end, &said, &status)) {
        if (head->has_end)
            leave_out(results, first, path,
                      "was cut off: it doesn't end with '# end:' (the program was killed, or there "
                      "was no space)");
        return;
    }
    if (said != body->rows)
        warn(results, "%.200s has %zu rows, and had %llu when it was written", path, body->rows,
             said);
    if (status != 0 && body->failed == 0 && !merged)
        leave_out(
            results, first, path,
            "ends with an exit status other than 0 and no row that failed: rows may be missing");
}

static void take_remark(struct body *body, const char *line)
{
    const char *const warning = meta_value(line, "warning");
    const char *const end = meta_value(line, "end");
    if (warning != NULL && strncmp(warning, "interrupted by ", 15) == 0)
        body->interrupted = true;
    snprintf(body->end, sizeof body->end, "%s", end != NULL ? end : "");
}

/* Reads what follows the header row. */
static bool read_rows(struct results *results, enum side side, const struct head *head,
                      struct lines *lines, char *name, struct bc_error *error)
{
    const bool merged = head->run != NO_COLUMN;
    const size_t first = results->reading->launch_count;
    struct body body = {.rows = 0};
    size_t launch = 0;
    if (!merged && !add_launch(results, side, false, &launch, error))
        return false;
    for (;;) {
        const enum next next = lines_next(lines, error);
        if (next == BAD)
            return false;
        if (next == END)
            break;
        if (lines->text[0] == '#') {
            if (meta_value(lines->text, "columns") != NULL ||
                meta_value(lines->text, "benchmark") != NULL)
                return refuse(lines, error,
                              "a second result begins: one launch a file, or a column 'run' that "
                              "tells them apart");
            take_remark(&body, lines->text);
            continue;
        }
        if (lines->length == 0)
            continue;
        body.end[0] = '\0';
        char *cells[RESULTS_COLUMNS_MAX];
        const size_t count = split(lines->text, cells, RESULTS_COLUMNS_MAX);
        if ((count != head->cell_count || head->has_end) && !lines->complete) {
            warn(results, "%.200s: line %zu was cut off and doesn't count", lines->path,
                 lines->number);
            continue;
        }
        if (count != head->cell_count)
            return refuse(lines, error, "%zu cells, where the header row has %zu", count,
                          head->cell_count);
        if ((merged && !find_launch(results, side, cells[head->run], name, &launch, error)) ||
            !take_row(results, head, lines, cells, launch, name, error))
            return false;
        body.rows++;
        body.failed += is_failed(head, cells);
    }
    check_body(results, head, &body, lines->path, first);
    for (size_t i = first; i < results->reading->launch_count; i++)
        results->reading->launches[i].file_hash = lines->hash;
    return true;
}

static bool add_file(struct results *results, enum side side, const char *path,
                     struct bc_error *error)
{
    struct reading *const reading = results->reading;
    struct lines lines;
    if (!lines_open(&lines, path, error))
        return false;
    make_room(&reading->paths, reading->file_count, sizeof *reading->paths);
    reading->paths[reading->file_count++] = copy_text(path);
    struct head *const head = allocate(1, sizeof *head);
    /* Room for a whole line, twice a number, and what is between them. */
    char *const name = allocate(RESULTS_LINE_MAX + 256, 1);
    const bool good = head_read(head, &lines, error) && find_schema(results, head, &lines, error) &&
                      read_rows(results, side, head, &lines, name, error);
    head_free(head);
    free(head);
    free(name);
    lines_close(&lines);
    return good;
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Allocated texts. */
struct paths {
    char **paths;
    size_t count;
};

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_tsv(const char *path)
{
    struct stat status;
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".tsv") == 0 && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

/* FOLDER/NAME; freed by the caller. */
static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *const path = allocate(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Adds the paths of a folder's entries, in order: its folders, or its files called *.tsv. Hidden
   ones are left out. A folder that can't be read has none. */
static void list(struct paths *found, const char *folder, bool folders)
{
    DIR *const stream = opendir(folder);
    const size_t before = found->count;
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char *const path = join(folder, entry->d_name);
        if (entry->d_name[0] != '.' && (folders ? is_folder(path) : is_tsv(path))) {
            make_room(&found->paths, found->count, sizeof *found->paths);
            found->paths[found->count++] = path;
        } else {
            free(path);
        }
    }
    if (stream != NULL)
        closedir(stream);
    if (found->count > before)
        qsort(found->paths + before, found->count - before, sizeof *found->paths, compare_texts);
}

enum kind { NO_RESULT, COMPARISON, ONE_LAUNCH, SEVERAL_LAUNCHES };

/* What a file in a folder is, by its metadata. */
static enum kind kind_of(const char *path)
{
    struct bc_error ignored;
    struct lines lines;
    enum kind kind = NO_RESULT;
    bool comparison = false;
    if (!lines_open(&lines, path, &ignored))
        return NO_RESULT;
    while (lines_next(&lines, &ignored) == LINE && (lines.text[0] == '#' || lines.length == 0)) {
        const char *const benchmark = meta_value(lines.text, "benchmark");
        const char *const columns = meta_value(lines.text, "columns");
        if (benchmark != NULL)
            comparison = strcmp(benchmark, "bench_compare") == 0;
        if (columns != NULL)
            kind = strncmp(columns, "run=key", 7) == 0 || strstr(columns, " run=key") != NULL
                       ? SEVERAL_LAUNCHES
                       : ONE_LAUNCH;
    }
    lines_close(&lines);
    return comparison ? COMPARISON : kind;
}

/* Adds those that hold several launches each; or, if they are not wanted, all. */
static bool add_files(struct results *results, enum side side, const struct paths *paths,
                      bool several, size_t *added, struct bc_error *error)
{
    const char *other = NULL;
    for (size_t i = 0; i < paths->count; i++) {
        const char *const path = paths->paths[i];
        const enum kind kind = kind_of(path);
        if (kind == NO_RESULT && !several)
            warn(results, "%.200s has no '# columns:': left out", path);
        if (kind == ONE_LAUNCH && several)
            other = path;
        if (kind != SEVERAL_LAUNCHES && (several || kind != ONE_LAUNCH))
            continue;
        if (!add_file(results, side, path, error))
            return false;
        ++*added;
    }
    if (*added > 0 && other != NULL)
        warn(results, "%.200s has no column 'run', as other files beside it have: left out", other);
    return true;
}

/* Adds the *.tsv files in each folder of a folder. */
static bool add_below(struct results *results, enum side side, const char *folder, size_t *added,
                      struct bc_error *error)
{
    struct paths folders = {NULL, 0}, files = {NULL, 0};
    list(&folders, folder, true);
    for (size_t i = 0; i < folders.count; i++)
        list(&files, folders.paths[i], false);
    const bool good = add_files(results, side, &files, false, added, error);
    free_texts(folders.paths, folders.count);
    free_texts(files.paths, files.count);
    return good;
}

static bool add_folder(struct results *results, enum side side, const char *path,
                       struct bc_error *error)
{
    struct paths own = {NULL, 0};
    size_t added = 0;
    char *const runs = join(path, "runs");
    list(&own, path, false);
    const bool good =
        add_files(results, side, &own, true, &added, error) &&
        (added > 0 || add_below(results, side, runs, &added, error)) &&
        (added > 0 || add_files(results, side, &own, false, &added, error)) &&
        (added > 0 || add_below(results, side, path, &added, error)) &&
        (added > 0 ||
         bc_error_set(error,
                      "'%.200s' has no results: no file PROGRAM.tsv with '# columns:' in it, "
                      "in runs/N or in its folders",
                      path));
    free_texts(own.paths, own.count);
    free(runs);
    return good;
}

bool results_add(struct results *results, enum side side, const char *path, struct bc_error *error)
{
    return is_folder(path) ? add_folder(results, side, path, error)
                           : add_file(results, side, path, error);
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* A launch that is among several and by itself, too, or in a copy of its file. */
static bool is_same(const struct launch *a, const struct launch *b)
{
    return a->side == b->side && a->file != b->file && a->rows_hash == b->rows_hash &&
           (a->merged != b->merged || a->file_hash == b->file_hash);
}

static void find_twice(struct results *results)
{
    struct reading *const reading = results->reading;
    size_t twice = 0;
    const char *path = NULL, *other = NULL;
    for (size_t i = 0; i < reading->launch_count; i++) {
        struct launch *const launch = &reading->launches[i];
        if (launch->incomplete)
            continue;
        for (size_t j = 0; j < i && !launch->twice; j++)
            if (!reading->launches[j].incomplete && is_same(launch, &reading->launches[j])) {
                launch->twice = true;
                path = reading->paths[launch->file];
                other = reading->paths[reading->launches[j].file];
                twice++;
            }
        if (!launch->twice)
            results->launches[launch->side]++;
    }
    if (twice > 0)
        warn(results, "%zu launches were read twice and count once (%.200s is also in %.200s)",
             twice, path, other);
}

static int compare_observations(const void *left, const void *right)
{
    const struct observation *const a = left, *const b = right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* Takes in what one launch saw of one series. */
static bool gather(struct results *results, const struct observation *seen, size_t count,
                   struct bc_error *error)
{
    struct series *const series = &results->series[seen->series];
    struct values *const side = &series->sides[results->reading->launches[seen->launch].side];
    double *const numbers = allocate(count, sizeof *numbers);
    size_t number_count = 0;
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        failed = failed || seen[i].failed;
        if (!isnan(seen[i].value))
            numbers[number_count++] = seen[i].value;
    }
    const double median = bc_median(numbers, number_count);
    free(numbers);
    side->launches++;
    side->failed += failed;
    if (failed || number_count == 0)
        return true;
    if (side->count == BC_RANK_MAX)
        return bc_error_set(error, "more than %d launches a side of a row of %.60s: compare fewer",
                            BC_RANK_MAX, results->schemas[series->schema].benchmark);
    make_room(&side->values, side->count, sizeof *side->values);
    side->values[side->count++] = median;
    return true;
}

bool results_finish(struct results *results, struct bc_error *error)
{
    struct reading *const reading = results->reading;
    find_twice(results);
    const size_t total = reading->observation_count;
    if (total > 0)
        qsort(reading->observations, total, sizeof *reading->observations, compare_observations);
    size_t repeated = 0;
    for (size_t begin = 0, count; begin < total; begin += count) {
        const struct observation *const seen = &reading->observations[begin];
        for (count = 1; begin + count < total && compare_observations(seen, seen + count) == 0;)
            count++;
        if (reading->launches[seen->launch].twice || reading->launches[seen->launch].incomplete)
            continue;
        repeated += count > 1;
        if (!gather(results, seen, count, error))
            return false;
    }
    if (repeated > 0)
        warn(results, "launches have rows more than once (%zu values): the median counts",
             repeated);
    if (reading->left_out > 0) {
        results->warning_count = WARNINGS_MAX - 1;
        free(results->warnings[WARNINGS_MAX - 1]);
        warn(results, "%zu more warnings", reading->left_out + 1);
    }
    return true;
}
