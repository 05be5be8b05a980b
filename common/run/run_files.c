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
           bc_error_set(error,
                        "--dump-samples: '%.200s' is --output, too: use "
                        "another file",
                        s->dump_samples);
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
        return bc_error_set(error,
                            "--dump-samples: cannot write '%.200s': %s: use a "
                            "file that can be written",
                            s->dump_samples, strerror(errno));
    fputs("row\tquantity\tsample\tvalue_ns\n", run->dump);
    /* Again, now that there is a file. */
    return check_two_files(s, error);
}

static struct bc_style style_of(const struct bc_run *run)
{
    const struct bc_settings *const s = &run->settings;
    return (struct bc_style){
        .format = (enum bc_format)s->format,
        .content = s->no_header     ? BC_ROWS_ONLY
                   : s->no_metadata ? BC_WITH_HEADER
                                    : BC_WITH_METADATA,
        .program = run->benchmark->name,
    };
}

bool bc_run_open_files(struct bc_run *run, struct bc_error *error)
{
    const struct bc_settings *const s = &run->settings;
    const struct bc_style style = style_of(run);
    bool good = open_dump(run, error);
    if (good) {
        run->output = bc_output_open(s->output, &style, &run->table);
        if (run->output == NULL)
            good = bc_error_set(error,
                                "--output: cannot write '%.200s': %s: use a "
                                "file that can be written",
                                s->output, strerror(errno));
    }
    if (!good && run->dump != NULL)
        fclose(run->dump);
    return good;
}

/* ---- what was lost --------------------------------------------------------------------------- */

bool bc_run_files_good(struct bc_run *run)
{
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
    if (run->dump != NULL) {
        int problem = bc_stream_problem(run->dump);
        if (fclose(run->dump) != 0 && problem == 0)
            problem = errno;
        /* What failed first says more. */
        if (run->dump_problem != 0)
            problem = run->dump_problem;
        if (problem != 0) {
            report_loss(run, run->settings.dump_samples, problem);
            status = BC_EXIT_FAILED;
        }
    }
    bc_output_end(run->output, status);
    if (!bc_output_close(run->output)) {
        report_loss(run, run->settings.output, errno);
        status = BC_EXIT_FAILED;
    }
    return status;
}
