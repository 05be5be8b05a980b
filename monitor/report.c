#include "monitor/report.h"

#include "common/machine/job.h"
#include "common/mpi/mpi_check.h"
#include "common/machine/metadata.h"
#include "common/result/output.h"
#include "monitor/flags.h"
#include "monitor/gather.h"
#include "monitor/requests.h"
#include "monitor/own_comm.h"
#include "monitor/tools.h"
#include "monitor/waiting.h"
#include "monitor/windows.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define COLUMN(name, role, decimals) BC_COLUMN(#name, role, decimals, MPIX_Monitor_row, name)

static const struct bc_column columns[] = {
    COLUMN(kind, BC_KEY, 0),
    COLUMN(comm, BC_KEY, 0),
    COLUMN(operation, BC_KEY, 0),
    COLUMN(ranks, BC_KEY, 0),
    COLUMN(calls, BC_INFO, 0),
    COLUMN(completed, BC_INFO, 0),
    COLUMN(timeouts, BC_LESS, 0),
    COLUMN(total_s, BC_LESS, 9),
    COLUMN(mean_us, BC_INFO, 3),
    COLUMN(max_us, BC_INFO, 3),
    COLUMN(max_rank, BC_INFO, 0),
    COLUMN(bytes, BC_INFO, 0),
    COLUMN(small, BC_INFO, 0),
    COLUMN(large, BC_INFO, 0),
    COLUMN(small_per_s, BC_INFO, 3),
    COLUMN(large_per_s, BC_INFO, 3),
    COLUMN(small_bytes, BC_INFO, 0),
    COLUMN(large_bytes, BC_INFO, 0),
    COLUMN(members, BC_KEY, 0),
    COLUMN(rank, BC_KEY, 0),
    COLUMN(slowest_s, BC_INFO, 9),
    COLUMN(slowest_rank, BC_INFO, 0),
    COLUMN(in_calls_s, BC_LESS, 9),
    COLUMN(computed_s, BC_INFO, 9),
    COLUMN(size_bytes, BC_KEY, 0),
    COLUMN(waited_s, BC_LESS, 9),
    COLUMN(waited_lo_s, BC_INFO, 9),
    COLUMN(waited_hi_s, BC_INFO, 9),
    COLUMN(last_calls, BC_INFO, 0),
    COLUMN(last_rank, BC_INFO, 0),
    COLUMN(callers, BC_INFO, 0),
    COLUMN(computed_after_s, BC_INFO, 9),
    COLUMN(joinable, BC_INFO, 0),
    COLUMN(neighbours, BC_INFO, 0),
    COLUMN(least_waited_s, BC_INFO, 9),
};
static const struct bc_table table = {.columns = columns,
                                      .count = sizeof columns / sizeof *columns};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Writes rows, with what the output takes for NA instead of MPIX_MONITOR_NA. */
static void write_rows(struct bc_output *output, const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        MPIX_Monitor_row row = rows->rows[i].row;
        for (size_t k = 0; k < table.count; k++) {
            void *const at = (char *)&row + columns[k].at;
            if (columns[k].cell == BC_CELL_INT && *(int *)at == MPIX_MONITOR_NA)
                *(int *)at = BC_NO_INT;
            if (columns[k].cell == BC_CELL_INTEGER && *(int64_t *)at == MPIX_MONITOR_NA)
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
         "nothing is monitored: profile is the handle's only flag: set pttopt, coll, calls, sizes, "
         "comm, msgsize, traffic or other, too");
}

void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    const char *const services = snapshot->services.warning;
    warnings->count = 0;
    warn_of_handle(asked, warnings);
    warn(warnings, MPIX_MONITOR_WARNING_UNTRACKED, rows->untracked,
         "the end of %lld operations could not be followed, for want of room or since a call "
         "around the monitor (PMPI_) completed them: they count as calls, but not as completed",
         (long long)rows->untracked);
    warn(warnings, MPIX_MONITOR_WARNING_UNTOLD, rows->untold,
         "whether %lld one-sided operations took longer than the timeout could not be told, "
         "for want of room: they are not in the timeouts",
         (long long)rows->untold);
    warn(warnings, MPIX_MONITOR_WARNING_UNKNOWN, rows->unknown,
         "%lld windows or persistent requests found no room (%d and %d fit at a time): their "
         "operations can't be followed",
         (long long)rows->unknown, WINDOWS_MAX, PERSISTENT_MAX);
    warn(warnings, MPIX_MONITOR_WARNING_UNPLACED, rows->unplaced,
         "%lld operations are on communicators (of which %d fit), windows or messages that "
         "found no room: they count for '%s'",
         (long long)rows->unplaced, COMMUNICATORS_MAX - COMMUNICATORS_FIRST,
         communicators[OTHER_COMMUNICATORS].name);
    warn(warnings, MPIX_MONITOR_WARNING_UNKEPT, rows->unkept,
         "what ranks waited in %lld collective calls is not known: times of %d functions and "
         "communicators fit",
         (long long)rows->unkept, LATE_SERIES_MAX);
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK,
         asked->profile && asked->clock && (!asked->coll || snapshot->file == NULL),
         "clock means nothing %s: it is for waiting in rooted collectives",
         asked->coll ? "without a report" : "without coll, which the handle has off");
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK, asked->coll && rows->clock_comparisons == 1,
         "the clocks of ranks were compared at the end only, which leaves waiting in rooted "
         "collectives uncertain: have clock in MPIRT_MONITOR, too, to compare them in MPI_Init");
    warn(warnings, MPIX_MONITOR_WARNING_ROOTED, rows->untold_rooted,
         "what ranks waited in %lld calls of rooted collectives is not known: they are between two "
         "groups, with processes of other jobs, or ranks have counted other calls",
         (long long)rows->untold_rooted);
    warn(warnings, MPIX_MONITOR_WARNING_UNSIZED, rows->unsized,
         "%lld operations are in no row of their size: the %d rows that a process has room for are "
         "taken",
         (long long)rows->unsized, SIZE_COUNTS_MAX);
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

/* Rank 0's value. Collective. */
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

static FILE *replaced;

void report_replaces(FILE *file) { replaced = file; }

static struct bc_output *begin_output(FILE *file)
{
    const struct bc_style style = {.format = BC_FORMAT_TSV, .content = BC_WITH_METADATA};
    struct bc_output *const output = bc_output_attach(file, &style, &table);
    if (output == NULL || file != replaced)
        return output;
    rewind(file);
    /* A pipe can't be truncated and keeps its line. */
    (void)!ftruncate(fileno(file), 0);
    return output;
}

/* Collective; only the code of rank 0 counts. */
static int write_all(const struct snapshot *snapshot, struct rows *rows, const struct bc_job *job,
                     MPI_Comm comm)
{
    const bool root = job->rank == 0;
    const bool per_rank = agreed(snapshot->asked.per_rank != 0);
    struct rows own = {0};
    struct bc_output *output = NULL;
    rows_find_late(rows, snapshot,
                   agreed(snapshot->asked.profile && snapshot->asked.coll && snapshot->asked.clock),
                   comm);
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

/* The report's own communicator, and room for those that other modules make for it at a time. */
enum { RESERVED = 3 };
static MPI_Comm own, reserved[RESERVED];
static bool is_reserved, is_kept;

static void free_reserved(int count)
{
    for (int i = 0; i < count; i++)
        BC_MPI(PMPI_Comm_free(&reserved[i]));
}

static void free_all(int count)
{
    free_reserved(count);
    BC_MPI(PMPI_Comm_free(&own));
    is_reserved = false;
}

/* Makes the room, with the own communicator. False, on all ranks, if there is none in MPI. */
static bool reserve(void)
{
    int rank, count = 0;
    BC_MPI(PMPI_Comm_rank(own, &rank));
    while (count < RESERVED && PMPI_Comm_split(own, 0, rank, &reserved[count]) == MPI_SUCCESS)
        count++;
    is_reserved = count == RESERVED;
    if (!is_reserved)
        free_all(count);
    return is_reserved;
}

static bool make_all(void)
{
    own = own_comm_make(MPI_COMM_WORLD);
    return own != MPI_COMM_NULL && reserve();
}

bool report_reserve(void)
{
    is_kept = make_all();
    return is_kept;
}

void report_is_last(void) { is_kept = false; }

int report_write(const struct snapshot *snapshot, struct rows *rows)
{
    if (!is_reserved && !make_all())
        return MPIX_MONITOR_ERR_COMMUNICATORS;
    free_reserved(RESERVED);
    /* The locale of this thread only, until the report is written. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t usual = uselocale(plain);
    struct bc_job job;
    bc_job_describe(&job);
    const int code = agreed(write_all(snapshot, rows, &job, own));
    bc_job_free(&job);
    if (is_kept)
        (void)reserve();
    else
        free_all(0);
    (void)uselocale(usual);
    if (plain != (locale_t)0)
        freelocale(plain);
    return code;
}
