#include "common/run/run_files.h"

#include "common/run/benchmark.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Whether two paths, which may be NULL, are of one file: by their names if there is none yet. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (a == NULL || b == NULL)
        return false;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static bool check_two_files(const struct bc_settings *s, struct bc_error *error)
{
    return !is_same_file(s->output, s->dump_samples) ||
           bc_error_set(error, "--dump-samples: '%.200s' is --output, too: use another file",
                        s->dump_samples);
}

static bool cannot_write(const char *option, const char *path, struct bc_error *error)
{
    return bc_error_set(error, "%s: cannot write '%.200s': %s: use a file that can be written",
                        option, path, strerror(errno));
}

/* Opens what --dump-samples writes; before the result, since an error must not have
   emptied an old one. */
static bool open_dump(struct bc_run *run, struct bc_error *error)
{
    const struct bc_settings *const s = &run->settings;
    if (s->dump_samples == NULL)
        return true;
    if (!check_two_files(s, error))
        return false;
    run->dump = fopen(s->dump_samples, "w");
    if (run->dump == NULL)
        return cannot_write("--dump-samples", s->dump_samples, error);
    fputs("row\tquantity\tsample\tvalue_ns\n", run->dump);
    /* Again, now that there is a file. */
    return check_two_files(s, error);
}

struct bc_output *bc_settings_open(const struct bc_settings *settings, const char *program,
                                   const struct bc_table *table, struct bc_error *error)
{
    struct bc_style style = {.format = (enum bc_format)settings->format, .program = program};
    if (settings->no_header)
        style.content = BC_ROWS_ONLY;
    else
        style.content = settings->no_metadata ? BC_WITH_HEADER : BC_WITH_METADATA;
    struct bc_output *const output = bc_output_open(settings->output, &style, table);
    if (output == NULL)
        cannot_write("--output", settings->output != NULL ? settings->output : "stdout", error);
    return output;
}

bool bc_run_open_files(struct bc_run *run, struct bc_error *error)
{
    if (open_dump(run, error))
        run->output = bc_settings_open(&run->settings, run->benchmark->name, &run->table, error);
    if (run->output == NULL && run->dump != NULL)
        fclose(run->dump);
    return run->output != NULL;
}

/* ---- what was lost --------------------------------------------------------------------------- */

bool bc_run_files_good(struct bc_run *run)
{
    /* What failed first says more. */
    if (run->dump != NULL && run->dump_problem == 0)
        run->dump_problem = bc_stream_problem(run->dump);
    return bc_output_good(run->output) && run->dump_problem == 0;
}

/* Says that a file was lost; the path is NULL for stdout. */
static void report_loss(const struct bc_run *run, const char *path, int problem)
{
    fprintf(stderr, "%s: output was lost: cannot write %s: %s\n", run->benchmark->name,
            path != NULL ? path : "stdout",
            problem == ENOENT ? "it was removed" : strerror(problem));
}

int bc_run_close_files(struct bc_run *run, int status)
{
    (void)bc_run_files_good(run);
    if (run->dump != NULL && fclose(run->dump) != 0 && run->dump_problem == 0)
        run->dump_problem = errno;
    if (run->dump_problem != 0) {
        report_loss(run, run->settings.dump_samples, run->dump_problem);
        status = BC_EXIT_FAILED;
    }
    bc_output_end(run->output, status);
    if (!bc_output_close(run->output)) {
        report_loss(run, run->settings.output, errno);
        status = BC_EXIT_FAILED;
    }
    return status;
}
