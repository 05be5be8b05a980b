/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/report.h"

#include "common/job/job.h"
#include "common/job/metadata.h"
#include "common/mpi/mpi_check.h"
#include "common/result/writer.h"
#include "monitor/lib/count/handles.h"
#include "monitor/lib/count/own_comm.h"
#include "monitor/lib/count/inside.h"
#include "monitor/lib/flags.h"
#include "monitor/lib/report/columns.h"
#include "monitor/lib/report/common_clock.h"
#include "monitor/lib/report/efficiency.h"
#include "monitor/lib/report/gather.h"
#include "monitor/lib/report/tool_before.h"
#include "monitor/lib/report/unknown_layer.h"
#include "monitor/lib/report/waiting.h"
#include "monitor/lib/count/languages.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_row(struct bc_output *output, MPIX_Monitor_row row)
{
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

static void write_rows(struct bc_output *output, const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        write_row(output, rows->rows[i].row);
}

static void write_pairs(struct bc_output *output, const struct pairs *pairs)
{
    MPIX_Monitor_row row;
    int place = 0;
    while (pairs_next_row(pairs, &place, &row))
        write_row(output, row);
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* Adds a warning, if there are cases of it. */
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

static void warn_of_cases(struct warnings *warnings, int code, int64_t cases, const char *text)
{
    warn(warnings, code, cases, "%lld %s", (long long)cases, text);
}

/* Texts of warnings by code, which follow the number of cases. */
static const char *const case_texts[] = {
    [MPIX_MONITOR_WARNING_UNTRACKED] = "operations count as not completed: their end was not seen",
    [MPIX_MONITOR_WARNING_UNTOLD] = "one-sided operations may be timeouts: they found no room",
    [MPIX_MONITOR_WARNING_UNKNOWN] =
        "windows or persistent requests found no room: their operations aren't followed",
    [MPIX_MONITOR_WARNING_UNPLACED] =
        "operations count for '(other communicators)': there are too many communicators",
    [MPIX_MONITOR_WARNING_UNKEPT] =
        "collective calls have no waiting time: there are too many functions and communicators",
    [MPIX_MONITOR_WARNING_SITES] =
        "calls count for '(other sites)': there are too many places that call MPI",
    [MPIX_MONITOR_WARNING_UNSIZED] =
        "operations are in no row of kind sizes: there are too many sizes",
};

void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings)
{
    const bool asks = any_flag(handle);
    warn(warnings, MPIX_MONITOR_WARNING_OFF, asks && !handle->profile,
         "nothing is monitored: the handle's profile is 0: set it to 1");
    warn(warnings, MPIX_MONITOR_WARNING_NOTHING, handle->profile && !asks,
         "nothing is monitored: the handle's only flag is profile: set " MONITOR_FLAGS_TEXT);
}

/* Adds the warnings of the clocks, which rooted collectives need. */
static void warn_of_clocks(const struct snapshot *snapshot, int comparisons,
                           struct warnings *warnings)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    const bool needs_clock = asked->profile && asked->clock, has_report = snapshot->file != NULL;
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK, needs_clock && !(asked->coll && has_report),
         "clock has no effect without %s", asked->coll ? "a report" : "coll");
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK, asked->coll && comparisons == 1,
         "waiting in rooted collectives is uncertain: add clock to MPIRT_MONITOR");
    warn(warnings, MPIX_MONITOR_WARNING_CLOCK,
         needs_clock && asked->coll && has_report && comparisons == 0,
         "waiting in rooted collectives is unknown: the program has all communicators of MPI");
}

void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    const char *const services = snapshot->services.warning;
    warnings->count = 0;
    warn_of_handle(asked, warnings);
    for (size_t i = 0; i < sizeof case_texts / sizeof *case_texts; i++)
        if (case_texts[i] != NULL)
            warn_of_cases(warnings, (int)i, rows->cases[i], case_texts[i]);
    warn_of_clocks(snapshot, rows->clock_comparisons, warnings);
    warn_of_cases(
        warnings, MPIX_MONITOR_WARNING_ROOTED, rows->unknown_rooted,
        "calls of rooted collectives have no waiting time: their ranks can't be compared");
    warn_of_cases(warnings, MPIX_MONITOR_WARNING_PEERS, rows->pairs.missed,
                  "bytes may be missing in a row of kind peer: a rank has more than 16,384 peers");
    const char *const layer = unknown_layer();
    warn(warnings, MPIX_MONITOR_WARNING_FORTRAN, has_large_integers,
         "Fortran calls may be missing: INTEGER has 8 bytes in this MPI library");
    warn(warnings, MPIX_MONITOR_WARNING_FORTRAN, layer != NULL && !has_large_integers,
         "Fortran calls through %.100s may be missing: its names are unknown", layer);
    warn(warnings, MPIX_MONITOR_WARNING_SERVICES,
         asked->profile && asked->other && services != NULL, "%s", services);
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Writes the command line of this process, without arguments if it can't be read. */
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

static void write_languages(struct bc_output *output, unsigned seen)
{
    static const char *const names[LANGUAGES] = {
        [LANGUAGE_C] = "C",
        [LANGUAGE_FORTRAN] = "Fortran",
        [LANGUAGE_FORTRAN_2008] = "Fortran (mpi_f08)",
    };
    char text[64] = "";
    for (int i = 0; i < LANGUAGES; i++)
        if ((seen & 1u << i) != 0)
            strcat(strcat(text, text[0] != '\0' ? ", " : ""), names[i]);
    bc_output_meta(output, "languages", "%s", text[0] != '\0' ? text : "NA");
}

static void write_request(struct bc_output *output, const struct snapshot *snapshot,
                          const struct rows *rows)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    char words[128] = "";
#define ADD_WORD(Flag)                                                                             \
    if (asked->profile && asked->Flag)                                                             \
        (void)snprintf(words + strlen(words), sizeof words - strlen(words),                        \
                       asked->Flag > 1 ? "%s" #Flag "=%d" : "%s" #Flag,                            \
                       words[0] != '\0' ? "," : "", asked->Flag);
    MONITOR_FLAGS(ADD_WORD)
    MONITOR_DETAIL_FLAGS(ADD_WORD)
#undef ADD_WORD
    bc_output_meta(output, "monitored", "%s", words[0] != '\0' ? words : "NA");
    write_languages(output, rows->languages);
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
    if (asked->profile && asked->peers)
        bc_output_meta(output, "peers_missed_bytes", "%lld", (long long)rows->pairs.missed);
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
                         "%.100s comes before the monitor for %d functions, such as %s",
                         before.name, before.functions, before.function);
    if (!asked->profile)
        return;
    if (asked->other)
        bc_output_remark(output, "note",
                         "other services count for the whole process, not only for MPI");
    if (asked->coll || asked->comm)
        bc_output_remark(
            output, "note",
            "the messages inside collectives can't be seen: a collective counts as one operation");
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

/* Sends the rows of each rank to rank 0, which writes them and adds them to `rows`. Collective.
   Returns false on rank 0 if memory runs out. */
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

static struct bc_output *begin_output(FILE *file, const MPIX_Monitor *asked)
{
    const struct bc_style style = {.format = BC_FORMAT_TSV, .content = BC_WITH_METADATA};
    struct bc_output *const output = bc_output_attach(
        file, &style,
        has_details(asked) ? &monitor_report_table : &monitor_report_table_without_details);
    if (output == NULL || file != replaced)
        return output;
    rewind(file);
    /* A pipe can't be truncated and keeps its line. */
    (void)!ftruncate(fileno(file), 0);
    return output;
}

/* True, on all ranks of `comm`, if MPI has room for the communicators of the nodes and of the
   common clock. Collective. */
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

/* Finds the waiting of ranks. If there is no room for communicators, the clocks can't be compared.
   Collective. */
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

/* Writes the report. Collective; only rank 0's code is significant. */
static int write_all(const struct snapshot *snapshot, struct rows *rows, struct bc_job *job,
                     MPI_Comm comm)
{
    const bool root = job->rank == 0;
    const bool per_rank = agreed(snapshot->asked.per_rank != 0);
    struct rows own = {0};
    struct bc_output *output = NULL;
    find_late(rows, snapshot, job, comm);
    efficiency_set_times(rows, snapshot);
    bool good = !root || !per_rank || rows_append(&own, rows);
    /* If each rank has rows of its own, its total is among them. */
    good = rows_gather(rows, !per_rank, comm) && good;
    if (root && good)
        output = begin_output(snapshot->file, &snapshot->asked);
    good = agreed(good && output != NULL);
    if (good && root) {
        write_head(output, snapshot, rows, job);
        write_rows(output, rows);
        write_pairs(output, &rows->pairs);
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

/* Means of reports: a communicator and the job. Made in MPI_Init and kept, or made for one
   report. */
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

/* Notes that the means are used: then no thread gives the communicator up. */
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
    /* In MPI_Finalize none of the program's messages is in flight. */
    const MPI_Comm comm = has_means ? means.comm : MPI_COMM_WORLD;
    /* Changes the locale of this thread only, until the report is written. */
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
