/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

#include "common/result/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Number of characters shown of an erroneous name. */
#define SHOWN_MAX 80

/* Sets the error that the file of an option can't be written, for the reason in errno. */
static bool cannot_write(const char *option, const char *path, struct bc_error *error)
{
    return bc_error_set(error, "%s: cannot write '%.200s': %s: use a file that can be written",
                        option, path, strerror(errno));
}

/* Returns false with the error set if result and samples are one file, or will be by their names.
 */
static bool check_two_files(const struct bc_settings *s, struct bc_error *error)
{
    struct stat a, b;
    const bool same =
        s->output != NULL && (strcmp(s->output, s->dump_samples) == 0 ||
                              (stat(s->output, &a) == 0 && stat(s->dump_samples, &b) == 0 &&
                               S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino));
    return !same ||
           bc_error_set(error, "--dump-samples: '%.200s' is --output, too: use another file",
                        s->dump_samples);
}

/* True if people read the result. */
static bool is_for_people(const struct bc_settings *s)
{
    return s->output == NULL && s->format != BC_FORMAT_JSON;
}

static enum bc_content content_of(const struct bc_settings *s)
{
    if (s->no_header)
        return BC_ROWS_ONLY;
    if (s->no_metadata || s->metadata == BC_METADATA_NONE)
        return BC_WITH_HEADER;
    /* JSON has no short head. */
    const bool is_full = s->metadata == BC_METADATA_FULL || s->format == BC_FORMAT_JSON ||
                         (s->metadata == BC_METADATA_AUTO && !is_for_people(s));
    return is_full ? BC_WITH_METADATA : BC_WITH_SHORT_METADATA;
}

/* Returns the names that --columns asks for, with the main columns in place of `main`. */
static char *named_columns(const struct bc_run *run, const char *asked)
{
    const char *const main = run->own->table->main;
    struct bc_text names = {0};
    for (;; asked++) {
        const size_t length = strcspn(asked, ",");
        if (main != NULL && length == 4 && strncmp(asked, "main", length) == 0)
            bc_text_append(&names, "%s%s", run->own->keys, main);
        else
            bc_text_append(&names, "%.*s", (int)length, asked);
        asked += length;
        if (*asked == '\0')
            return names.start;
        bc_text_append(&names, ",");
    }
}

/* Sets the shown columns. Returns false with the error set if --columns names an unknown column. */
static bool choose_columns(struct bc_run *run, struct bc_error *error)
{
    const struct bc_table *const table = run->own->table;
    const struct bc_settings *const s = &run->settings;
    const char *const usual = is_for_people(s) ? "main" : "all";
    const char *const asked = s->columns != NULL ? s->columns : usual;
    if (strcmp(asked, "all") == 0 || (strcmp(asked, "main") == 0 && table->main == NULL))
        return true;
    run->own->columns = named_columns(run, asked);
    run->own->spare = strcmp(asked, "main") == 0 ? table->spare : NULL;
    size_t length;
    const char *const lacks = bc_table_lacks(table, run->own->columns, &length);
    if (lacks == NULL)
        return true;
    const int shown = length < SHOWN_MAX ? (int)length : SHOWN_MAX;
    return bc_error_set(error,
                        "--columns: %s has no column '%.*s': use main, all, or names that "
                        "--columns=all shows, with commas in between",
                        run->program->name, shown, lacks);
}

static bool open_dump(struct bc_run *run, struct bc_error *error)
{
    const struct bc_settings *const s = &run->settings;
    if (!check_two_files(s, error))
        return false;
    run->own->dump = fopen(s->dump_samples, "w");
    if (run->own->dump == NULL)
        return cannot_write("--dump-samples", s->dump_samples, error);
    fputs("row\tquantity\tvisit\tsample\tvalue_ns\n", run->own->dump);
    /* Checks again, now that the file exists. */
    return check_two_files(s, error);
}

bool bc_files_open(struct bc_run *run, struct bc_error *error)
{
    const struct bc_settings *const s = &run->settings;
    /* Options and the dump come first, since their errors must not empty an old result. */
    if (choose_columns(run, error) && (s->dump_samples == NULL || open_dump(run, error))) {
        const struct bc_style style = {.format = (enum bc_format)s->format,
                                       .content = content_of(s),
                                       .program = run->program->name,
                                       .columns = run->own->columns,
                                       .spare = run->own->spare,
                                       .varying = run->own->keys};
        run->output = bc_output_open(s->output, &style, run->own->table);
        if (run->output == NULL)
            cannot_write("--output", s->output != NULL ? s->output : "stdout", error);
    }
    if (run->output == NULL && run->own->dump != NULL)
        fclose(run->own->dump);
    return run->output != NULL;
}

void bc_dump_check(struct bc_run *run)
{
    if (run->own->dump != NULL && run->own->dump_problem == 0) /* the first loss is kept */
        run->own->dump_problem = bc_stream_problem(run->own->dump);
}

void bc_dump_sample(const struct bc_run *run, const char *quantity, size_t visit, size_t sample,
                    double ns)
{
    struct bc_own_run *const own = run->own;
    if (own->dump == NULL)
        return;
    /* A full buffer is written here. If that fails, a later flush may not know the reason. */
    if (fprintf(own->dump, "%lld\t%s\t%zu\t%zu\t%.1f\n", (long long)run->rows + 1, quantity, visit,
                sample, ns) < 0 &&
        own->dump_problem == 0)
        own->dump_problem = errno;
}

/* Reports the loss of a file; the path is NULL for stdout. */
static void report_loss(const struct bc_run *run, const char *path, int problem)
{
    fprintf(stderr, "%s: output was lost: cannot write %s: %s\n", run->program->name,
            path != NULL ? path : "stdout",
            problem == ENOENT ? "it was removed" : strerror(problem));
}

int bc_files_close(struct bc_run *run, int status)
{
    bc_dump_check(run);
    if (run->own->dump != NULL && fclose(run->own->dump) != 0 && run->own->dump_problem == 0)
        run->own->dump_problem = errno;
    if (run->own->dump_problem != 0) {
        report_loss(run, run->settings.dump_samples, run->own->dump_problem);
        status = BC_EXIT_FAILED;
    }
    bc_output_end(run->output, status);
    if (!bc_output_close(run->output)) {
        report_loss(run, run->settings.output, errno);
        status = BC_EXIT_FAILED;
    }
    return status;
}
