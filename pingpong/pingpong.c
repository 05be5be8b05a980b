/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency and bandwidth between two processes: puts and gets in many patterns, and MPI_Send,
 * including synchronisation.
 *
 * Method: the point-to-point part of the EPCC Fortran coarray micro-benchmark suite (pingpong.h).
 * Coarrays are MPI-3 windows (common/coarray/coarray.h).
 *
 * Timed region: on each rank, a batch of repetitions (round trips) between two readings of the
 * clock (kernel.c). A sample is a rank's time divided by the number of repetitions. Each batch is
 * preceded by a barrier and one untimed repetition, which ranks leave at different times, so the
 * sample is that of the rank that is usually the slowest (common/measure/rounds.h). For p99 and
 * max, single repetitions are timed between batches. With --check a batch is one repetition, whose
 * halves are timed separately, with data prepared before and verified after each. With
 * --buffers=new a batch is one repetition in new buffers.
 *
 * When: a row is an arrangement, a pattern, a synchronisation and a shape of data. Rows are
 * measured alternately, in visits with new windows.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left. The first
 * visit chooses batches that are long compared with a reading of the clock. A visit ends when its
 * median is known to 2 % (--precision), or when its time is up.
 *
 * Buffers on a device: the staged counterpart, timed alternately, copies from the device to pinned
 * memory before a transfer, and back after it.
 *
 * Expected rate: from 4 KiB on, memcpy between the two ranks before a visit's batches, or the rate
 * of the nodes' network ports (common/expected/expected.h).
 *
 * Written: one line per row, after its last visit (columns.c): half the mean of visits' medians.
 */
#include "common/job/node_order.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "pingpong/pingpong.h"
#include "pingpong/protocols.h"
#include "pingpong/warnings.h"

/* Main columns with buffers on a device. */
#define MEMORY_COLUMNS                                                                             \
    "pattern,sync,blksize,latency_us,staged_us,direct_gain_pct,direct_gain_lo_pct,"                \
    "direct_gain_hi_pct,direct_verdict,status"

/* Remedy if buffers don't fit into a GPU's memory. */
#define MEMORY_ADVICE "a smaller --max-ndata"

/* A coarray and the buffer of its values. If this is on a device, also a coarray and a buffer in
   pinned memory for the staged counterpart. */
struct part {
    struct bc_coarray coarray, stage;
    struct bc_buffer values, stage_values;
};

struct pingpong {
    struct pingpong_parameters parameters;
    struct bc_run *run;
    struct bc_node_order by_node;
    struct bc_device *device; /* NULL if all buffers are in host memory */
    enum bc_memory memory;    /* of this rank's values */
    struct part whole;        /* has the largest extent */
    /* Of exactly the data's size, one per size. Kept for later rows: with 8 ranks on 2 processors
       MPICH takes 0.4 s to make one. */
    struct part exact[PINGPONG_SIZES_MAX];
    int exact_count;
    struct bc_expected expected;
    double link_mbs[PINGPONG_ARRANGEMENTS]; /* of this rank's pair (pingpong_link_mbs) */
    MPI_Comm pair; /* the two ranks of PINGPONG_SINGLE; MPI_COMM_NULL elsewhere */
};

struct pingpong_row {
    int arrangement; /* enum pingpong_arrangement */
    const struct pingpong_pattern *pattern;
    enum bc_coarray_sync sync;
    struct pingpong_shape shape;
    struct bc_store repetitions;
    struct pingpong_expected expected;
    int64_t wrong; /* halves of repetitions with wrong data on this rank */
};

union any_row {
    struct pingpong_row row;
    struct protocols_row protocols_row; /* with --protocols */
};

enum { DIRECT, STAGED, QUANTITIES };

/* ---- shared by all rows ---------------------------------------------------------------------- */

/* Returns this rank's part, with its partner as a rank of MPI_COMM_WORLD. Local. */
static struct pingpong_part find_part(const struct pingpong *pingpong, int arrangement)
{
    struct pingpong_part part =
        pingpong_part_of(arrangement, pingpong->by_node.place, pingpong->run->job.ranks);
    part.partner = bc_node_order_rank(&pingpong->by_node, part.partner);
    return part;
}

/* True if a pattern with many blocks was chosen. */
static bool has_many(const struct pingpong_parameters *p)
{
    bool has = false;
    for (int i = 0; i < PINGPONG_PATTERNS; i++)
        has =
            has || (p->patterns.chosen[i] && (pingpong_patterns[i].sweep == PINGPONG_MANY ||
                                              pingpong_patterns[i].sweep == PINGPONG_STRIDED_MANY));
    return has;
}

/* Prints notes on the shapes that a run with these options leaves out. */
static void note_limits(const struct pingpong_parameters *p, const struct bc_run *run)
{
    const struct pingpong_limits *const limits = &p->limits;
    if (p->lowered)
        bc_output_remark(run->output, PINGPONG_NOTE_MAX_NDATA, (long long)limits->max_ndata);
    if (has_many(p) && limits->max_blocks < limits->max_ndata &&
        !bc_option_given(&run->options, "max-blocks"))
        bc_output_remark(run->output, PINGPONG_NOTE_MAX_BLOCKS, (long long)limits->max_blocks,
                         run->job.shares_processors ? ", since ranks share processors" : "");
}

/* Creates a coarray of zeros in memory of one kind. Collective. */
static void create_on(struct pingpong *pingpong, enum bc_memory memory, int64_t count,
                      struct bc_coarray *coarray, struct bc_buffer *values)
{
    bc_buffer_create(values, pingpong->device, memory, (size_t)bc_window_bytes(count),
                     pingpong->run->settings.check, MEMORY_ADVICE);
    bc_coarray_create_on(coarray, MPI_COMM_WORLD, count, values->start);
}

/* Collective. */
static void create_part(struct pingpong *pingpong, int64_t count, struct part *part)
{
    if (pingpong->device == NULL) {
        bc_coarray_create(&part->coarray, MPI_COMM_WORLD, count);
        part->values = bc_buffer_in(part->coarray.values, (size_t)count * sizeof(double));
        return;
    }
    create_on(pingpong, pingpong->memory, count, &part->coarray, &part->values);
    create_on(pingpong, BC_MEMORY_PINNED, count, &part->stage, &part->stage_values);
}

static void destroy_part(struct pingpong *pingpong, struct part *part)
{
    bc_coarray_destroy(&part->coarray);
    if (pingpong->device == NULL)
        return;
    bc_coarray_destroy(&part->stage);
    bc_buffer_destroy(&part->values);
    bc_buffer_destroy(&part->stage_values);
}

static void create_coarray(struct pingpong *pingpong)
{
    const struct pingpong_parameters *const p = &pingpong->parameters;
    create_part(pingpong, pingpong_largest_extent(p, &p->limits), &pingpong->whole);
}

static void destroy_coarrays(struct pingpong *pingpong)
{
    for (int i = 0; i < pingpong->exact_count; i++)
        destroy_part(pingpong, &pingpong->exact[i]);
    pingpong->exact_count = 0;
    destroy_part(pingpong, &pingpong->whole);
}

/* Makes new windows, unless ranks outnumber processors: then it takes longer than most rows. */
static void renew(struct pingpong *pingpong)
{
    if (pingpong->run->job.oversubscribed)
        return;
    destroy_coarrays(pingpong);
    create_coarray(pingpong);
}

/* Prepares expected rates, unless all messages are small. */
static void open_expected(struct pingpong *pingpong)
{
    const struct pingpong_parameters *const p = &pingpong->parameters;
    const struct bc_run *const run = pingpong->run;
    const size_t bytes = (size_t)p->limits.max_ndata * sizeof(double);
    bool copies = false;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++) {
        const int partner = find_part(pingpong, a).partner;
        copies = copies || (pingpong_is_arranged(p, a, run->job.ranks) && partner >= 0 &&
                            !bc_crosses_nodes(&run->job, partner));
    }
    if (bytes >= BC_EXPECTED_BYTES_MIN)
        bc_expected_open(&pingpong->expected, run, p->link_gbits,
                         copies && bc_memory_is_host(p->memory.of) ? bytes : 0);
    for (int a = 0; pingpong->expected.is_known && a < PINGPONG_ARRANGEMENTS; a++)
        if (pingpong_is_arranged(p, a, run->job.ranks))
            pingpong->link_mbs[a] =
                pingpong_link_mbs(&pingpong->expected, &run->job, find_part(pingpong, a));
}

static void open_pingpong(struct pingpong *pingpong, struct bc_run *run)
{
    const struct pingpong_parameters *const p = &pingpong->parameters;
    pingpong->run = run;
    bc_node_order_create(&pingpong->by_node, &run->job);
    pingpong->memory = p->memory.of[pingpong->by_node.place >= run->job.ranks / 2];
    create_coarray(pingpong);
    const bool idle = find_part(pingpong, PINGPONG_SINGLE).partner < 0;
    BC_MPI(
        MPI_Comm_split(MPI_COMM_WORLD, idle ? MPI_UNDEFINED : 0, run->job.rank, &pingpong->pair));
    if (pingpong->device != NULL)
        bc_memory_describe(run, pingpong->device);
    note_limits(p, run);
    open_expected(pingpong);
}

/* True if a row has buffers of its own: with --buffers=new, and of messages in host memory. */
static bool has_own_buffers(const struct pingpong *pingpong, const struct pingpong_row *row)
{
    return pingpong->parameters.buffers == BC_BUFFERS_NEW ||
           (row->pattern->move == NULL && pingpong->device == NULL);
}

static void list_arranged(const struct pingpong *pingpong, int arrangement)
{
    const struct pingpong_parameters *const p = &pingpong->parameters;
    for (int i = 0; i < PINGPONG_PATTERNS; i++)
        for (int s = 0; p->patterns.chosen[i] && s < BC_SYNCS; s++) {
            struct pingpong_row row = {.arrangement = arrangement,
                                       .pattern = &pingpong_patterns[i],
                                       .sync = (enum bc_coarray_sync)s};
            const bool message = row.pattern->move == NULL;
            if (message != (s == BC_SYNC_NONE) ||
                (!message && p->sync != BC_SYNC_NONE && p->sync != s))
                continue;
            for (int n = 0; pingpong_shape_at(row.pattern->sweep, &p->limits, n, &row.shape); n++)
                *(struct pingpong_row *)(has_own_buffers(pingpong, &row)
                                             ? bc_add_row
                                             : bc_add_window_row)(pingpong->run) = row;
        }
}

/* Lists rows. Prints notes on arrangements left out, and on pairs across nodes. Collective. */
static void list_rows(const struct pingpong *pingpong)
{
    const struct bc_run *const run = pingpong->run;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++) {
        const char *const name = pingpong_arrangement_name(a);
        if (pingpong_is_arranged(&pingpong->parameters, a, run->job.ranks)) {
            bc_crossing_note(&run->job, run->output, name, find_part(pingpong, a).partner);
            list_arranged(pingpong, a);
        } else if (pingpong->parameters.arrangements.chosen[a]) {
            bc_output_remark(run->output, PINGPONG_NOTE_LEFT_OUT, name, run->job.ranks);
        }
    }
}

static void close_pingpong(struct pingpong *pingpong)
{
    if (pingpong->pair != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&pingpong->pair));
    bc_expected_close(&pingpong->expected);
    destroy_coarrays(pingpong);
    bc_node_order_destroy(&pingpong->by_node);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Returns the memory of a row. Creates memory of an exact size if there is none yet. Collective. */
static struct part *part_of(struct pingpong *pingpong, const struct pingpong_row *row)
{
    const int64_t count = pingpong_ndata(&row->shape);
    if (!row->pattern->exact)
        return &pingpong->whole;
    for (int i = 0; i < pingpong->exact_count; i++)
        if (pingpong->exact[i].coarray.count == count)
            return &pingpong->exact[i];
    struct part *const made = &pingpong->exact[pingpong->exact_count++];
    create_part(pingpong, count, made);
    return made;
}

/* Collective. */
static void create_game(struct pingpong *pingpong, const struct pingpong_row *row,
                        struct part *memory, struct pingpong_game *game)
{
    const struct pingpong_pattern *const pattern = row->pattern;
    const struct pingpong_shape *const shape = &row->shape;
    const struct pingpong_part part = find_part(pingpong, row->arrangement);
    *game = (struct pingpong_game){
        .pattern = pattern,
        .sync = row->sync,
        .coarray = &memory->coarray,
        .origin = memory->coarray.values,
        .landing = memory->coarray.values,
        .values = &memory->values,
        .shape = *shape,
        .partner = part.partner,
        .starts = part.starts,
    };
    if (pattern->sweep == PINGPONG_STRIDED) {
        game->section =
            bc_type_repeat(shape->count, shape->stride * (MPI_Aint)sizeof(double), MPI_DOUBLE);
        BC_MPI(MPI_Type_commit(&game->section));
    }
    bc_amount_create(&game->message, shape->blksize, MPI_DOUBLE);
    bc_images_create(&game->partners, game->coarray->comm, &game->partner, game->partner >= 0);
}

static void destroy_game(struct pingpong_game *game)
{
    bc_images_destroy(&game->partners);
    if (game->pattern->sweep == PINGPONG_STRIDED)
        BC_MPI(MPI_Type_free(&game->section));
    bc_amount_destroy(&game->message);
}

/* Returns the staged counterpart, which goes through pinned memory. */
static struct pingpong_game staged_game(const struct pingpong *pingpong, struct part *memory,
                                        const struct pingpong_game *game)
{
    struct pingpong_game staged = *game;
    staged.is_counterpart = true;
    staged.coarray = &memory->stage;
    staged.origin = staged.landing = memory->stage.values;
    staged.staged = bc_memory_needs_copy(pingpong->memory);
    if (!staged.staged)
        staged.values = &memory->stage_values;
    return staged;
}

static void create_own(const struct pingpong *pingpong, struct pingpong_game *game,
                       struct bc_buffer own[2])
{
    const size_t bytes = (size_t)pingpong_checked(game) * sizeof(double);
    for (int i = 0; i < 2; i++)
        bc_buffer_create(&own[i], pingpong->device, pingpong->memory, bytes,
                         pingpong->run->settings.check, MEMORY_ADVICE);
    game->own = own;
    game->origin = own[0].start;
    game->landing = own[1].start;
}

/* Replaces the buffers by newly allocated ones. */
static void renew_own(struct pingpong_game *game)
{
    for (int i = 0; i < 2; i++)
        bc_buffer_renew(&game->own[i]);
    game->origin = game->own[0].start;
    game->landing = game->own[1].start;
}

/* Returns the ranks that start together. If ranks share processors, idle ranks that no
   synchronisation needs leave theirs to the pair. */
static MPI_Comm starting_ranks(const struct pingpong *pingpong, const struct pingpong_row *row)
{
    const struct bc_run *const run = pingpong->run;
    const bool pair_alone = run->job.oversubscribed && row->arrangement == PINGPONG_SINGLE &&
                            row->sync != BC_SYNC_ALL && !run->settings.check;
    return pair_alone ? pingpong->pair : MPI_COMM_WORLD;
}

static struct bc_quantities quantities_of(const struct pingpong *pingpong)
{
    const bool check = pingpong->run->settings.check;
    const bool single = check || pingpong->parameters.buffers == BC_BUFFERS_NEW;
    return (struct bc_quantities){
        .count = pingpong->device != NULL ? QUANTITIES : 1,
        .clock_readings = check ? 2.0 : 1.0, /* per sample: around each half, or around a batch */
        .batching = BC_BATCHES,
        .repetitions = single ? 1 : 0, /* 0: chosen in the first visit */
    };
}

static size_t bytes_of(const struct pingpong_row *row)
{
    return (size_t)pingpong_ndata(&row->shape) * sizeof(double);
}

static void measure(struct pingpong *pingpong, struct bc_visit *visit)
{
    const struct bc_run *const run = pingpong->run;
    struct pingpong_row *const row = visit->row;
    const struct bc_quantities quantities = quantities_of(pingpong);
    const MPI_Comm starting = starting_ranks(pingpong, row);
    struct part *const memory = part_of(pingpong, row);
    struct pingpong_game games[QUANTITIES];
    struct bc_buffer own[2];
    create_game(pingpong, row, memory, &games[DIRECT]);
    games[STAGED] = staged_game(pingpong, memory, &games[DIRECT]);
    if (has_own_buffers(pingpong, row))
        create_own(pingpong, &games[DIRECT], own);
    pingpong_expect(&row->expected, &pingpong->expected, find_part(pingpong, row->arrangement),
                    pingpong->link_mbs[row->arrangement], bytes_of(row));
    struct bc_rounds *const rounds =
        bc_rounds_of(run, &quantities, visit->seconds, &row->repetitions);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;)
        for (int q = 0; bc_round_wants(round, q); q++) {
            struct pingpong_game *const game = &games[q];
            if (pingpong->parameters.buffers == BC_BUFFERS_NEW)
                renew_own(&games[DIRECT]);
            bc_round_release(round, starting);
            if (round->lead_in > 0)
                pingpong_play(game, round->lead_in);
            const double ns = run->settings.check
                                  ? pingpong_play_checked(game)
                                  : bc_round_ns(round, q, pingpong_play(game, round->repetitions));
            if (game->partner >= 0)
                bc_round_value(round, q, ns);
        }
    visit->is_precise = bc_store_is_precise(run, &quantities, &row->repetitions);
    row->wrong += games[DIRECT].wrong + games[STAGED].wrong;
    for (int i = 0; i < 2 && games[DIRECT].own != NULL; i++)
        bc_buffer_destroy(&own[i]);
    destroy_game(&games[DIRECT]);
}

static void write_row(const struct pingpong *pingpong, struct pingpong_row *row)
{
    struct bc_run *const run = pingpong->run;
    struct pingpong_result result = {
        .arrangement = pingpong_arrangement_name(row->arrangement),
        .pattern = row->pattern->name,
        .sync = bc_sync_names[row->sync],
        .shape = row->shape,
        .ndata = pingpong_ndata(&row->shape),
        .nextent = pingpong_nextent(&row->shape),
        .buffers = bc_buffers_word(pingpong->parameters.buffers),
    };
    bc_transfer_conclude(run, &row->repetitions, "repetition", 2, result.ndata, row->wrong,
                         &result.transfers);
    result.expected =
        pingpong_expected_result(&row->expected, result.transfers.latency.value, bytes_of(row));
    if (pingpong->device != NULL)
        result.staged =
            bc_staged_of(&pingpong->parameters.memory, &result.transfers.measured.counterpart,
                         &result.transfers.measured.gain, 0.5);
    bc_write_row(run, &result);
}

const struct bc_program pingpong_program = {
    .name = "pingpong",
    .summary =
        "Measures latency and bandwidth between processes, by put, get and MPI_Send in many\n"
        "patterns, including synchronisation. Needs at least 2 processes.",
    .placement = "puts and gets: " BC_IN_WINDOWS "; MPI Send and --buffers=new: " BC_PLACED,
    .has_buffers = true,
    .options = {pingpong_options, PINGPONG_OPTIONS},
    .defaults = &pingpong_default_parameters,
    .defaults_bytes = sizeof pingpong_default_parameters,
    .state_bytes = sizeof(struct pingpong),
    .row_bytes = sizeof(union any_row),
    .budget_s = BC_BUDGET_S,
    .renews = true,
    .complete = pingpong_parameters_complete,
    .fit = pingpong_parameters_fit,
};

/* Reserves device memory. --check doubles it, for data to fill from and to compare with. */
static void open_memory(struct pingpong *pingpong, struct bc_run *run)
{
    const struct pingpong_parameters *const p = &pingpong->parameters;
    const double bytes = pingpong_needed_bytes(p, &p->limits) * (run->settings.check ? 2.0 : 1.0);
    if (bc_memory_is_asked(&p->memory))
        pingpong->device = bc_memory_open(run, &p->memory, bytes, MEMORY_ADVICE);
}

static const struct bc_table *table_of(const struct pingpong *pingpong)
{
    const struct bc_table *table = &pingpong_table;
    if (pingpong->device != NULL)
        table = bc_memory_table(table, offsetof(struct pingpong_result, staged), MEMORY_COLUMNS);
    if (pingpong->parameters.buffers == BC_BUFFERS_NEW)
        table = bc_table_with_key(table, pingpong_buffers_column);
    return table;
}

int main(int argc, char **argv)
{
    struct pingpong pingpong;
    struct bc_run *const run = bc_start(&pingpong_program, &pingpong, argc, argv);
    if (pingpong.parameters.protocols) {
        protocols_run(&pingpong.parameters, run);
        return bc_finish(run);
    }
    open_memory(&pingpong, run);
    const bool is_one = pingpong_arrangements(&pingpong.parameters, run->job.ranks) == 1;
    bc_open_result(run, table_of(&pingpong), is_one ? "" : "arrangement,");
    open_pingpong(&pingpong, run);
    list_rows(&pingpong);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_RENEW)
            renew(&pingpong);
        else if (visit->step == BC_MEASURE)
            measure(&pingpong, visit);
        else /* BC_WRITE */
            write_row(&pingpong, visit->row);
    close_pingpong(&pingpong);
    return bc_finish(run);
}
