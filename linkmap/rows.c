#include "linkmap/rows.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "linkmap/times.h"
#include "linkmap/wrong.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What timing the suspects of all sizes again may take, as a share of the time until the first of
   them, and at least. */
#define AGAIN_SHARE 0.5
#define AGAIN_MIN_S 20.0

/* Of fewer visits a warning says that verdicts are of a moment. */
enum { VISITS_MIN = 3 };

/* A note says by how much longer a link must take to be suspected where it is more than this. */
#define COARSE 1.0

#define BANDWIDTH_COLUMNS(name, way)                                                               \
    BC_COLUMN(name "_mbs", BC_MORE, 3, linkmap_result, ways[way].value),                           \
        BC_COLUMN(name "_lo_mbs", BC_INFO, 3, linkmap_result, ways[way].interval.lo),              \
        BC_COLUMN(name "_hi_mbs", BC_INFO, 3, linkmap_result, ways[way].interval.hi)

const struct bc_column linkmap_columns[LINKMAP_COLUMNS] = {
    BC_COLUMN("scope", BC_KEY, 0, linkmap_result, scope),
    {"a", BC_KEY, 0, BC_CELL_CHARS, offsetof(struct linkmap_result, a)},
    {"b", BC_KEY, 0, BC_CELL_CHARS, offsetof(struct linkmap_result, b)},
    BC_COLUMN("nbytes", BC_KEY, 0, linkmap_result, bytes),
    BC_COLUMN_AS(BC_CELL_TIME, "time_us", BC_LESS, 3, linkmap_result, time.value),
    BC_COLUMN_AS(BC_CELL_TIME, "time_lo_us", BC_INFO, 3, linkmap_result, time.interval.lo),
    BC_COLUMN_AS(BC_CELL_TIME, "time_hi_us", BC_INFO, 3, linkmap_result, time.interval.hi),
    BANDWIDTH_COLUMNS("out", LINKMAP_OUT),
    BANDWIDTH_COLUMNS("in", LINKMAP_IN),
    BC_COLUMN("alone_pct", BC_INFO, 1, linkmap_result, alone_pct),
    BC_COLUMN("verdict", BC_INFO, 0, linkmap_result, verdict),
    BC_COLUMN("group", BC_INFO, 0, linkmap_result, group),
    BC_OUTCOME_COLUMNS(linkmap_result, outcome),
};

static bool is_point(const struct linkmap *state) { return state->points.own >= 0; }

/* ---- a result -------------------------------------------------------------------------------- */

/* What all rows of a size have. */
static void begin_result(const struct linkmap *state, const struct linkmap_row *row,
                         const char *scope, struct linkmap_result *result)
{
    const struct bc_presence *const presence = &state->run->presence;
    const int64_t samples = (int64_t)row->links.visits * row->links.repetitions;
    result->scope = scope;
    snprintf(result->a, sizeof result->a, "NA");
    snprintf(result->b, sizeof result->b, "NA");
    result->bytes = row->links.bytes;
    result->alone_pct = NAN;
    result->group = BC_NO_INT;
    result->outcome =
        (struct bc_outcome){presence->visits, presence->lost_pct, samples, row->status, BC_NO_INT};
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* For this size's suspects: an equal share of what is left for those of all sizes. Collective over
   the points. */
static double seconds_again(struct linkmap *state)
{
    const double now_s = bc_elapsed_s();
    const size_t left = state->parameters.sizes.count - (size_t)state->judged;
    if (state->judged++ == 0)
        state->again_end_s = now_s + fmax(AGAIN_MIN_S, AGAIN_SHARE * (now_s - state->run->start_s));
    double seconds = fmax(0.0, state->again_end_s - now_s) / (double)left;
    BC_MPI(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, state->points.comm));
    return seconds;
}

static void judge(struct linkmap *state, struct linkmap_row *row)
{
    const struct linkmap_parameters *const p = &state->parameters;
    const struct linkmap_limits limits = {
        .alpha = p->alpha_pct / 100.0 / (double)p->sizes.count,
        .threshold = p->threshold_pct / 100.0,
        .seconds = seconds_again(state),
    };
    linkmap_map_make(&row->map, &row->links, &state->points, limits.threshold);
    linkmap_judge(&row->verdicts, &row->map, &row->links, &state->points, &limits);
}

/* What is said of all points and links together; rank 0. */
static const char *whole_verdict(const struct linkmap_row *row)
{
    bool unknown = row->verdicts.left_out > 0;
    for (int i = 0; i < row->verdicts.count; i++) {
        if (row->verdicts.suspects[i].named)
            return row->map.groups > 1 ? "two groups, out of line" : "out of line";
        unknown = unknown || !row->verdicts.suspects[i].timed;
    }
    if (row->map.groups > 1)
        return "two groups";
    return unknown ? NULL : "even";
}

static void note_verdicts(const struct linkmap *state, const struct linkmap_row *row)
{
    struct bc_output *const output = state->run->output;
    const struct linkmap_map *const map = &row->map;
    int left = row->verdicts.left_out;
    for (int i = 0; i < row->verdicts.count; i++)
        left += !row->verdicts.suspects[i].timed;
    if (map->groups > 1)
        bc_output_remark(output, "note",
                         "%d bytes: two groups: links take %.3f and %.3f us within them, %.3f and "
                         "%.3f from one to the other",
                         row->links.bytes, map->expected_ns[0][0] * 1e-3,
                         map->expected_ns[1][1] * 1e-3, map->expected_ns[0][1] * 1e-3,
                         map->expected_ns[1][0] * 1e-3);
    if (row->verdicts.resolution > COARSE)
        bc_output_remark(
            output, "note",
            "%d bytes: links differ by so much, as on routes of several lengths or where "
            "ranks wait for a processor, that a single one is suspected only if it takes "
            "%.0f %% longer",
            row->links.bytes, 100.0 * row->verdicts.resolution);
    if (row->links.visits < VISITS_MIN)
        bc_output_remark(output, "warning",
                         "%d bytes: verdicts rest on %d visit%s: what was slow for a moment is "
                         "taken for slow: use more --visits, --samples or --max-time",
                         row->links.bytes, row->links.visits, row->links.visits == 1 ? "" : "s");
    if (left > 0)
        bc_output_remark(output, "warning",
                         "%d bytes: %d suspects were not timed again, for want of time or of links "
                         "that nobody suspects: they have no verdict",
                         row->links.bytes, left);
}

static void set_name(const struct linkmap *state, int point, char name[BC_CELL_LENGTH])
{
    linkmap_place_name(&state->places[point], state->names_ranks, name);
}

/* ---- rows after the first -------------------------------------------------------------------- */

/* The pair after the last one that has a row. False if there is none. Points only. */
static bool next_pair(const struct linkmap *state, struct linkmap_row *row)
{
    if (state->parameters.pairs != LINKMAP_PAIRS_ALL)
        return linkmap_next_named(&row->verdicts, &row->from, &row->to);
    if (++row->to >= state->points.count) {
        row->from++;
        row->to = row->from + 1;
    }
    return row->to < state->points.count;
}

/* How many rows there are after the first one, on all ranks. Collective. */
static int64_t count_further(const struct linkmap *state, const struct linkmap_row *row)
{
    int64_t count = 0;
    if (state->points.own == 0) {
        struct linkmap_row counted = *row;
        count = state->points.count;
        while (next_pair(state, &counted))
            count++;
    }
    bc_harness_bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return count;
}

static void follow_point(struct linkmap *state, const struct linkmap_row *row, int point,
                         struct linkmap_result *result)
{
    struct linkmap_place *const place = &state->places[point];
    begin_result(state, row, state->per_rank ? "rank" : "node", result);
    set_name(state, point, result->a);
    linkmap_set_point_times(state, row, point, result);
    result->outcome.slowest_rank = place->rank;
    if (linkmap_has_wrong(row, point))
        result->outcome.status = BC_FAIL;
    if (!row->is_judged)
        return;
    const enum linkmap_fault fault =
        linkmap_fault_of_point(&row->verdicts, point, &result->alone_pct);
    result->verdict = linkmap_fault_name(fault);
    result->group = row->map.groups > 1 ? row->map.group[point] : BC_NO_INT;
    place->is_slow = place->is_slow || (fault != LINKMAP_EVEN && fault != LINKMAP_UNKNOWN);
}

/* Brings the times of the links of `row->from` to rank 0, which asks for them, so that they don't
   come from all points at once. Collective over the points. */
static void fetch_links(const struct linkmap *state, struct linkmap_row *row)
{
    const struct linkmap_points *const points = &state->points;
    const int count = row->links.visits * LINKMAP_WAYS * points->count;
    const int checks = row->links.wrong != NULL ? points->count : 0;
    if (points->own == 0) {
        free(row->fetched_ns);
        free(row->fetched_wrong);
        row->fetched_wrong =
            bc_allocate((size_t)checks, sizeof *row->fetched_wrong, "no memory for links");
        row->fetched_ns =
            bc_allocate((size_t)count, sizeof *row->fetched_ns, "no memory for links");
    }
    if (row->from == 0 && points->own == 0) {
        memcpy(row->fetched_ns, row->links.times_ns, (size_t)count * sizeof *row->fetched_ns);
        if (checks > 0)
            memcpy(row->fetched_wrong, row->links.wrong,
                   (size_t)checks * sizeof *row->fetched_wrong);
    } else if (points->own == 0) {
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, row->from, LINKMAP_TAG_ROW, points->comm));
        BC_MPI(MPI_Recv(row->fetched_ns, count, MPI_DOUBLE, row->from, LINKMAP_TAG_ROW,
                        points->comm, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Recv(row->fetched_wrong, checks, MPI_INT, row->from, LINKMAP_TAG_ROW,
                        points->comm, MPI_STATUS_IGNORE));
    } else if (points->own == row->from) {
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, LINKMAP_TAG_ROW, points->comm, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Send(row->links.times_ns, count, MPI_DOUBLE, 0, LINKMAP_TAG_ROW, points->comm));
        BC_MPI(MPI_Send(row->links.wrong, checks, MPI_INT, 0, LINKMAP_TAG_ROW, points->comm));
    }
}

/* The result of the pair; rank 0. */
static void set_pair(const struct linkmap *state, const struct linkmap_row *row,
                     struct linkmap_result *result)
{
    begin_result(state, row, "pair", result);
    set_name(state, row->from, result->a);
    set_name(state, row->to, result->b);
    linkmap_set_link_times(state, row, result);
    result->outcome.slowest_rank = state->places[row->from].rank;
    if (row->links.wrong != NULL && row->fetched_wrong[row->to] > 0)
        result->outcome.status = BC_FAIL;
    if (row->is_judged)
        result->verdict = linkmap_fault_name(
            linkmap_fault_of_link(&row->verdicts, row->from, row->to, &result->alone_pct));
}

static void free_row(struct linkmap_row *row)
{
    linkmap_links_free(&row->links);
    linkmap_map_free(&row->map);
    linkmap_verdicts_free(&row->verdicts);
    free(row->medians_ns);
    free(row->fetched_ns);
    free(row->fetched_wrong);
    free(row->wrong);
}

/* The row with this number behind the first. Collective over the points. */
static void set_further(struct linkmap *linkmap, struct linkmap_row *row, int64_t number,
                        struct linkmap_result *result)
{
    const int last_from = row->from;
    if (number < linkmap->points.count) {
        if (linkmap->points.own == 0)
            follow_point(linkmap, row, (int)number, result);
        return;
    }
    next_pair(linkmap, row);
    if (row->from != last_from)
        fetch_links(linkmap, row);
    if (linkmap->points.own == 0)
        set_pair(linkmap, row, result);
}

/* ---- the first row --------------------------------------------------------------------------- */

/* How the rows of the size ended; rank 0. One visit is what was asked for, and has no interval that
   could be precise. */
static enum bc_status status_of(const struct linkmap *state, const struct linkmap_row *row)
{
    const struct bc_run *const run = state->run;
    return run->settings.samples > 0 || run->visits == 1 || linkmap_all_is_precise(state, row)
               ? BC_OK
               : BC_BUDGET;
}

/* Judges, and fills in the row of all points. Collective; returns how many rows follow. */
static int64_t set_first(struct linkmap *linkmap, struct linkmap_row *row,
                         struct linkmap_result *result)
{
    const struct bc_run *const run = linkmap->run;
    row->is_judged =
        is_point(linkmap) && run->signal == 0 && linkmap->points.count >= LINKMAP_POINTS_MIN;
    if (row->is_judged)
        judge(linkmap, row);
    if (is_point(linkmap) && run->settings.check)
        linkmap_gather_wrong(linkmap, row);
    row->from = -1;
    row->to = linkmap->points.count;
    const int64_t further = count_further(linkmap, row);
    if (linkmap->points.own != 0)
        return further;
    row->status = status_of(linkmap, row);
    begin_result(linkmap, row, "whole", result);
    linkmap_set_all_times(linkmap, row, result);
    result->outcome.slowest_rank = linkmap->places[linkmap_slowest_point(linkmap, row)].rank;
    if (linkmap_has_any_wrong(linkmap, row))
        result->outcome.status = BC_FAIL;
    if (row->wrong != NULL)
        linkmap_warn_of_wrong(linkmap, row);
    if (row->is_judged) {
        result->verdict = whole_verdict(row);
        note_verdicts(linkmap, row);
    }
    return further;
}

/* ---- all rows -------------------------------------------------------------------------------- */

void linkmap_write_rows(struct linkmap *linkmap, struct linkmap_row *row)
{
    struct linkmap_result result = {0};
    const int64_t further = set_first(linkmap, row, &result);
    bc_write_row(linkmap->run, &result);
    for (int64_t number = 0; number < further; number++) {
        result = (struct linkmap_result){0};
        if (is_point(linkmap))
            set_further(linkmap, row, number, &result);
        bc_write_row(linkmap->run, &result);
    }
    free_row(row);
}
