#include "monitor/lib/report/report.h"

#include "common/job/job.h"
#include "common/job/metadata.h"
#include "common/mpi/mpi_check.h"
#include "common/result/writer.h"
#include "monitor/lib/count/handles.h"
#include "monitor/lib/count/own_comm.h"
#include "monitor/lib/count/requests.h"
#include "monitor/lib/count/windows.h"
#include "monitor/lib/flags.h"
#include "monitor/lib/report/columns.h"
#include "monitor/lib/report/common_clock.h"
#include "monitor/lib/report/gather.h"
#include "monitor/lib/report/tool_before.h"
#include "monitor/lib/report/waiting.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Writes rows, with what the output takes for NA instead of MPIX_MONITOR_NA. */
static void write_rows(struct bc_output *output, const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        MPIX_Monitor_row row = rows->rows[i].row;
        for (size_t k = 0; k < monitor_report_table.count; k++) {
            const struct bc_column *const column = &monitor_report_table.columns[k];
            void *const at = (char *)&row + column->at;
            if (column->cell == BC_CELL_INT && *(int *)at == MPIX_MONITOR_NA)
                *(int *)at = BC_NO_INT;
            if (column->cell == BC_CELL_INTEGER && *(int64_t *)at == MPIX_MONITOR_NA)
                *(int64_t *)at = BC_NO_INTEGER;
        }
        bc_output_row(output, &row);
    }
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* Adds a warning, unless it is about nothing: there are no `cases` of it. */
__attribute__((format(printf, 4, 5))) static void warn(struct warnings *warnings, int code,
                                                       int64_t cases, const char *format, ...)
{
    if (cases == 0)
        return;
    MPIX_Monitor_warning *const warning = &warnings->warning[warnings->count++];
    *warning = (MPIX_Monitor_warning){.code = code};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
}

void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings)
{
    const bool asks = any_flag(handle);
    warn(warnings, MPIX_MONITOR_WARNING_OFF, asks && !handle->profile,
         "nothing is monitored: the handle's profile is 0, without which its other flags mean "
         "nothing: set it to 1");
    warn(warnings, MPIX_MONITOR_WARNING_NOTHING, handle->profile && !asks,
         "nothing is monitored: profile is the handle's only flag: "
         "set " MONITOR_FLAGS_TEXT ", too");
}

void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    const char *const services = snapshot->services.warning;
    const int64_t *const cases = rows->cases;
    warnings->count = 0;
    warn_of_handle(asked, warnings);
    warn(warnings, MPIX_MONITOR_WARNING_UNTRACKED, cases[MPIX_MONITOR_WARNING_UNTRACKED],
         "the end of %lld operations could not be followed, for want of room or since a call "
         "around the monitor (PMPI_) completed them: they count as calls, but not as completed",
         (long long)cases[MPIX_MONITOR_WARNING_UNTRACKED]);
    warn(warnings, MPIX_MONITOR_WARNING_UNTOLD, cases[MPIX_MONITOR_WARNING_UNTOLD],
         "whether %lld one-sided operations took longer than the timeout could not be told, "
         "for want of room: they are not in the timeouts",
         (long long)cases[MPIX_MONITOR_WARNING_UNTOLD]);
    warn(warnings, MPIX_MONITOR_WARNING_UNKNOWN, cases[MPIX_MONITOR_WARNING_UNKNOWN],
         "%lld windows or persistent requests found no room (%d and %d fit at a time): their "
         "operations can't be followed",
         (long long)cases[MPIX_MONITOR_WARNING_UNKNOWN], WINDOWS_MAX, PERSISTENT_MAX);
    warn(warnings, MPIX_MONITOR_WARNING_UNPLACED, cases[MPIX_MONITOR_WARNING_UNPLACED],
         "%lld operations are on communicators (of which %d fit), windows or messages that "
         "found no room: they count for '%s'",
         (long long)cases[MPIX_MONITOR_WARNING_UNPLACED], COMMUNICATORS_MAX - COMMUNICATORS_FIRST,
         communicators[OTHER_COMMUNICATORS].name);
    warn(warnings, MPIX_MONITOR_WARNING_UNKEPT, cases[MPIX_MONITOR_WARNING_UNKEPT],
         "what ranks waited in %lld collective calls is not known: times of %d functions and "
         "communicators fit",
         (long long)cases[MPIX_MONITOR_WARNING_UNKEPT], LATE_SERIES_MAX);
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK,
         asked->profile && asked->clock && (!asked->coll || snapshot->file == NULL),
         "clock means nothing %s: it is for waiting in rooted collectives",
         asked->coll ? "without a report" : "without coll, which the handle has off");
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK, asked->coll && rows->clock_comparisons == 1,
         "the clocks of ranks were compared at the end only, which leaves waiting in rooted "
         "collectives uncertain: have clock in MPIRT_MONITOR, too, to compare them in MPI_Init");
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK,
         asked->profile && asked->coll && asked->clock && snapshot->file != NULL &&
             rows->clock_comparisons == 0,
         "waiting in rooted collectives is not known: the program has all communicators of MPI, of "
         "which comparing clocks takes some");
    warn(warnings, MPIX_MONITOR_WARNING_ROOTED, rows->untold_rooted,
         "what ranks waited in %lld calls of rooted collectives is not known: they are between two "
         "groups, with processes of other jobs, or ranks have counted other calls",
         (long long)rows->untold_rooted);
    warn(warnings, MPIX_MONITOR_WARNING_UNSIZED, cases[MPIX_MONITOR_WARNING_UNSIZED],
         "%lld operations are in no row of their size: the %d rows that a process has room for are "
         "taken",
         (long long)cases[MPIX_MONITOR_WARNING_UNSIZED], SIZE_COUNTS_MAX);
    warn(warnings, MPIX_MONITOR_WARNING_SERVICES,
         asked->profile && asked->other && services != NULL, "%s", services);
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Writes the command line of this process: no arguments if it can't be read. */
static void write_program(struct bc_output *output)
{
    char **argv = NULL, *argument = NULL;
    size_t size = 0;
    int arguments = 0;
    FILE *const file = fopen("/proc/self/cmdline", "re");
    while (file != NULL && getdelim(&argument, &size, '\0', file) > 0) {
        char **const larger = realloc(argv, ((size_t)arguments + 1) * sizeof *argv);
        if (larger == NULL)
            break;
        argv = larger;
        argv[arguments++] = argument;
        argument = NULL;
    }
    free(argument);
    if (file != NULL)
        fclose(file);
    bc_metadata_write_program(output, "mpirtmon", arguments, argv);
    for (int i = 0; i < arguments; i++)
        free(argv[i]);
    free(argv);
}

static void write_request(struct bc_output *output, const struct snapshot *snapshot,
                          const struct rows *rows)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    char words[128] = "";
#define ADD_WORD(Flag)                                                                             \
    if (asked->profile && asked->Flag)                                                             \
        strcat(strcat(words, words[0] != '\0' ? "," : ""), #Flag);
    MONITOR_FLAGS(ADD_WORD)
#undef ADD_WORD
    bc_output_meta(output, "monitored", "%s", words[0] != '\0' ? words : "NA");
    bc_output_meta(output, "snapshot", "%lld", (long long)snapshot->serial);
    bc_output_meta(output, "snapshot_s", "%.9f", rows->seconds);
    bc_output_meta(output, "clock", "%s", ticks_clock());
    bc_output_meta(output, "clock_cost_ns", "%.1f", (double)ticks_cost() * ticks_ns());
    bc_output_meta(output, "computing_from_ns", "%.1f", (double)inside_own.gap * ticks_ns());
    bc_output_meta(output, "large_bytes", "%lld", (long long)asked->large_bytes);
    if (asked->timeout_us > 0.0)
        bc_output_meta(output, "timeout_us", "%.3f", asked->timeout_us);
    else
        bc_output_meta(output, "timeout_us", "none");
    bc_output_meta(output, "per_rank", "%s", asked->per_rank ? "yes" : "no");
    if (rows->clock_comparisons > 0)
        bc_output_meta(output, "common_clock_error_ns", "%.1f", rows->clock_error_ns);
}

static void write_remarks(struct bc_output *output, const struct snapshot *snapshot,
                          const struct rows *rows)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    struct warnings warnings;
    warnings_of_snapshot(snapshot, rows, &warnings);
    for (int i = 0; i < warnings.count; i++)
        bc_output_remark(output, "warning", "%s", warnings.warning[i].text);
    const struct tool_before before = tool_before();
    if (before.functions > 0)
        bc_output_remark(output, "note",
                         "%.100s comes before the monitor for %d functions, %s among them: calls "
                         "that it doesn't pass on are not in this report",
                         before.name, before.functions, before.function);
    if (!asked->profile)
        return;
    if (asked->other)
        bc_output_remark(output, "note",
                         "other services count for the whole process, not only for MPI");
    if (asked->coll || asked->comm)
        bc_output_remark(
            output, "note",
            "the point-to-point messages inside collectives can't be seen from outside of the MPI "
            "library: a collective counts as one operation");
}

static void write_head(struct bc_output *output, const struct snapshot *snapshot,
                       const struct rows *rows, const struct bc_job *job)
{
    int thread_level;
    BC_MPI(PMPI_Query_thread(&thread_level));
    write_program(output);
    bc_metadata_write(output, job, thread_level);
    write_request(output, snapshot, rows);
    write_remarks(output, snapshot, rows);
    bc_output_header(output);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Returns rank 0's value. Collective. */
static int agreed(int value)
{
    BC_MPI(PMPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return value;
}

/* Sends the rows of one rank after the other to rank 0, which writes them and adds them to `rows`.
   `own` are this rank's rows. Collective. False on rank 0 if there is no memory for all of them. */
static bool write_each_rank(struct bc_output *output, struct rows *own, struct rows *rows,
                            const struct bc_job *job, MPI_Comm comm)
{
    if (job->rank != 0)
        return rows_fetch(own, job->rank, comm);
    write_rows(output, own);
    bool good = rows_append(rows, own);
    for (int rank = 1; rank < job->ranks; rank++) {
        struct rows more;
        good = rows_fetch(&more, rank, comm) && good;
        write_rows(output, &more);
        good = rows_append(rows, &more) && good;
        rows_free(&more);
    }
    return good;
}

static void free_node_comm(struct bc_job *job)
{
    if (job->node_comm != MPI_COMM_NULL)
        BC_MPI(PMPI_Comm_free(&job->node_comm));
}

static FILE *replaced;

void report_replaces(FILE *file) { replaced = file; }

static struct bc_output *begin_output(FILE *file)
{
    const struct bc_style style = {.format = BC_FORMAT_TSV, .content = BC_WITH_METADATA};
    struct bc_output *const output = bc_output_attach(file, &style, &monitor_report_table);
    if (output == NULL || file != replaced)
        return output;
    rewind(file);
    /* A pipe can't be truncated and keeps its line. */
    (void)!ftruncate(fileno(file), 0);
    return output;
}

/* True, on all ranks of `comm`, if MPI has room for the communicators that other modules make for a
   report at a time: those of the job's nodes and of the common clock. Collective. */
static bool has_room(MPI_Comm comm)
{
    enum { MADE_MAX = 3 };
    MPI_Comm made[MADE_MAX];
    int count = 0;
    while (count < MADE_MAX && (made[count] = own_comm_make(comm)) != MPI_COMM_NULL)
        count++;
    for (int i = 0; i < count; i++)
        BC_MPI(PMPI_Comm_free(&made[i]));
    return count == MADE_MAX;
}

/* Finds the waiting of ranks. Without room the clocks can't be compared, which rooted collectives
   need. Collective. */
static void find_late(struct rows *rows, const struct snapshot *snapshot, struct bc_job *job,
                      MPI_Comm comm)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    const bool compares = agreed(asked->profile && asked->coll && asked->clock) != 0 &&
                          comm != MPI_COMM_WORLD && has_room(comm);
    if (compares)
        BC_MPI(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL,
                                    &job->node_comm));
    rows_find_late(rows, snapshot, compares ? job : NULL, comm);
    free_node_comm(job);
}

/* Collective; only the code of rank 0 counts. */
static int write_all(const struct snapshot *snapshot, struct rows *rows, struct bc_job *job,
                     MPI_Comm comm)
{
    const bool root = job->rank == 0;
    const bool per_rank = agreed(snapshot->asked.per_rank != 0);
    struct rows own = {0};
    struct bc_output *output = NULL;
    find_late(rows, snapshot, job, comm);
    bool good = !root || !per_rank || rows_append(&own, rows);
    /* Where each rank has rows of its own its total is among them. */
    good = rows_gather(rows, !per_rank, comm) && good;
    if (root && good)
        output = begin_output(snapshot->file);
    good = agreed(good && output != NULL);
    if (good && root) {
        write_head(output, snapshot, rows, job);
        write_rows(output, rows);
    }
    if (good && per_rank)
        good = write_each_rank(output, root ? &own : rows, rows, job, comm);
    rows_free(&own);
    if (good)
        bc_output_end(output, 0);
    const bool written = bc_output_close(output);
    return !good      ? MPIX_MONITOR_ERR_MEMORY
           : !written ? MPIX_MONITOR_ERR_OUTPUT
                      : MPIX_MONITOR_SUCCESS;
}

/* The means of reports: a communicator, and the job as it is. Made in MPI_Init, when the program
   can't have taken all communicators yet, and kept; else made for one report. */
static struct {
    MPI_Comm comm; /* MPI_COMM_NULL: not made, or given up */
    bool is_used;  /* by a report that is being written; under the monitor's lock */
    struct bc_job job;
    bool is_kept, is_last; /* for further reports; the next one is the last of the run */
} means;

/* MPI's constants need not be constant expressions. */
__attribute__((constructor)) static void start_without(void) { means.comm = MPI_COMM_NULL; }

/* Makes the communicator if a rank has none, unless MPI has no room on some rank. Collective. */
static void make_comm(void)
{
    int flags[2] = {means.comm != MPI_COMM_NULL, communicators_have_room(1)};
    BC_MPI(PMPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (flags[0] == 0 && means.comm != MPI_COMM_NULL)
        BC_MPI(PMPI_Comm_free(&means.comm));
    if (flags[0] == 0 && flags[1] != 0)
        means.comm = own_comm_make(MPI_COMM_WORLD);
}

/* Makes the means of a report. False, on all ranks, without room for them. Collective. */
static bool make_means(void)
{
    make_comm();
    if (means.comm == MPI_COMM_NULL)
        return false;
    if (!has_room(means.comm)) {
        BC_MPI(PMPI_Comm_free(&means.comm));
        return false;
    }
    bc_job_describe(&means.job);
    return true;
}

static void free_means(void)
{
    if (means.comm != MPI_COMM_NULL)
        BC_MPI(PMPI_Comm_free(&means.comm));
    bc_job_free(&means.job);
    means.is_last = false;
}

bool report_prepare(bool compares_clocks)
{
    means.is_kept = make_means();
    if (means.is_kept && compares_clocks)
        (void)common_clock_compare(&means.job);
    if (means.is_kept)
        free_node_comm(&means.job);
    return means.is_kept;
}

void report_give_up_comm(void)
{
    MPI_Comm given_up = MPI_COMM_NULL;
    monitor_lock();
    if (!means.is_used) {
        given_up = means.comm;
        means.comm = MPI_COMM_NULL;
    }
    monitor_unlock();
    if (given_up != MPI_COMM_NULL)
        BC_MPI(PMPI_Comm_free(&given_up));
}

/* Notes that the means are used: then no thread gives up the communicator. */
static void set_used(bool is_used)
{
    monitor_lock();
    means.is_used = is_used;
    monitor_unlock();
}

void report_is_last(void)
{
    means.is_last = means.is_kept;
    means.is_kept = false;
}

static int write_with_means(const struct snapshot *snapshot, struct rows *rows)
{
    const bool was_made = means.is_kept || means.is_last;
    if (was_made)
        make_comm();
    const bool has_means = was_made ? means.comm != MPI_COMM_NULL : make_means();
    if (!has_means && !means.is_last)
        return MPIX_MONITOR_ERR_COMMUNICATORS;
    /* In MPI_Finalize none of the program's messages is under way any more. */
    const MPI_Comm comm = has_means ? means.comm : MPI_COMM_WORLD;
    /* The locale of this thread only, until the report is written. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t usual = uselocale(plain);
    free_node_comm(&means.job);
    const int code = agreed(write_all(snapshot, rows, &means.job, comm));
    if (!means.is_kept)
        free_means();
    (void)uselocale(usual);
    if (plain != (locale_t)0)
        freelocale(plain);
    return code;
}

int report_write(const struct snapshot *snapshot, struct rows *rows)
{
    set_used(true);
    const int code = write_with_means(snapshot, rows);
    set_used(false);
    return code;
}
