/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/protocols.h"

#include <math.h>

/* Share of a rank's memory for windows that its coarrays may use. */
#define WINDOW_SHARE 0.8

/* Max blocks of a thinned sweep: putting 256K values one by one takes 0.1 s. If ranks share
   processors, a transfer that its target must serve waits until the target runs: MPICH over UCX
   needs 6 s for these values with 8 ranks on 2 processors. */
#define THINNED_MAX_BLOCKS 4096
#define SHARED_MAX_BLOCKS 512

const struct pingpong_parameters pingpong_default_parameters = {
    .patterns = {.text = "all"},
    .arrangements = {.text = "all"},
    .sync = BC_SYNC_NONE,
    .limits = {.min_ndata = 1, .max_stride = 128},
    .memory = BC_MEMORY_DEFAULTS,
    .operations = {.text = "all"},
};

const char *pingpong_arrangement_name(int arrangement)
{
    static const char *const names[] = {"single", "multiple", "crossing"};
    return names[arrangement];
}

static const char *pattern_name(int i) { return pingpong_patterns[i].name; }

#define AT(member) offsetof(struct pingpong_parameters, member)

const struct bc_option pingpong_options[PINGPONG_OPTIONS] = {
    {"patterns", BC_NAMES, AT(patterns), .argument = "NAMES", .name_at = pattern_name,
     .name_count = PINGPONG_PATTERNS, .help = "patterns"},
    {"coarray-sync", BC_CHOICE, AT(sync), .choices = "all|images|both",
     .help = "synchronisation of puts and gets: of all processes, of the pair, both"},
    {"arrangements", BC_NAMES, AT(arrangements), .argument = "NAMES",
     .name_at = pingpong_arrangement_name, .name_count = PINGPONG_ARRANGEMENTS,
     .help = "arrangements"},
    {"sizes", BC_SIZE_LIST, AT(limits.sizes), .argument = "LIST", .min = 8,
     .max = 8.0 * BC_ELEMENTS_MAX, .help = "bytes in one piece, instead of min-ndata to max-ndata"},
    {"min-ndata", BC_SIZE, AT(limits.min_ndata), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .help = "min values in one piece; a power of two"},
    {"max-ndata", BC_SIZE, AT(limits.max_ndata), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .zero = "256K, or 4M with --full", .help = "max values (doubles); a power of two"},
    {"max-stride", BC_SIZE, AT(limits.max_stride), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .help = "max stride, in values; a power of two"},
    {"max-blocks", BC_SIZE, AT(limits.max_blocks), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .zero = "4096, or 512 on shared processors; max-ndata with --full",
     .help = "max blocks in the many patterns; a power of two"},
    {"full", BC_FLAG, AT(full),
     .help = "every size, doubling, with --max-time a row: 10 minutes or more"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
    BC_LINK_RATE_OPTION(AT(link_gbits)),
    {"protocols", BC_FLAG, AT(protocols),
     .help = "find the sizes at which the library changes its protocol"},
    {"operations", BC_NAMES, AT(operations), .argument = "NAMES",
     .name_at = protocols_operation_name, .name_count = PROTOCOLS_OPERATIONS,
     .help = "operations of --protocols"},
};

static bool is_power_of_two(const char *option, int64_t value, struct bc_error *error)
{
    return (value & (value - 1)) == 0 ||
           bc_error_set(error, "--%s: %lld is no power of two: use 1, 2, 4 ...", option,
                        (long long)value);
}

/* Takes the limits from --sizes. */
static bool take_sizes(struct pingpong_limits *limits, struct bc_error *error)
{
    const int64_t bytes = (int64_t)sizeof(double);
    if (limits->sizes.count > PINGPONG_SIZES_MAX)
        return bc_error_set(error, "--sizes: %zu sizes are too many: use at most %d",
                            limits->sizes.count, PINGPONG_SIZES_MAX);
    for (size_t i = 0; i < limits->sizes.count; i++)
        if (limits->sizes.values[i] % bytes != 0)
            return bc_error_set(error,
                                "--sizes: %lld bytes are no whole number of doubles: use a "
                                "multiple of %lld",
                                (long long)limits->sizes.values[i], (long long)bytes);
    limits->max_ndata = bc_size_list_max(&limits->sizes) / bytes;
    return true;
}

/* With --sizes, leaves out the patterns that don't move data in one piece. */
static bool take_patterns(struct pingpong_parameters *p, struct bc_error *error)
{
    for (int i = 0; i < PINGPONG_PATTERNS; i++) {
        if (pingpong_patterns[i].sweep == PINGPONG_CONTIGUOUS || !p->patterns.chosen[i])
            continue;
        if (strcmp(p->patterns.text, pingpong_default_parameters.patterns.text) != 0)
            return bc_error_set(error,
                                "--sizes: %s isn't in one piece: use --max-ndata, or patterns "
                                "such as put and MPI Send",
                                pingpong_patterns[i].name);
        p->patterns.chosen[i] = false;
    }
    return true;
}

bool pingpong_parameters_complete(void *state, struct bc_error *error)
{
    struct pingpong_parameters *const p = state;
    struct pingpong_limits *const limits = &p->limits;
    if (!is_power_of_two("min-ndata", limits->min_ndata, error) ||
        !is_power_of_two("max-ndata", limits->max_ndata, error) ||
        !is_power_of_two("max-stride", limits->max_stride, error) ||
        !is_power_of_two("max-blocks", limits->max_blocks, error))
        return false;
    if (limits->sizes.count > 0 && (!take_sizes(limits, error) || !take_patterns(p, error)))
        return false;
    if (limits->max_ndata == 0)
        limits->max_ndata = p->full ? INT64_C(4) << 20 : INT64_C(256) << 10;
    limits->step = p->full ? 2 : 8;
    if (limits->min_ndata > limits->max_ndata)
        return bc_error_set(error,
                            "--min-ndata: %lld is more than --max-ndata, %lld: lower the one or "
                            "raise the other",
                            (long long)limits->min_ndata, (long long)limits->max_ndata);
    return !bc_memory_is_asked(&p->memory) || bc_memory_complete(&p->memory, error);
}

bool pingpong_can_arrange(int arrangement, int ranks)
{
    if (arrangement == PINGPONG_SINGLE)
        return ranks >= 2;
    return ranks >= 4 && ranks % 2 == 0;
}

struct pingpong_part pingpong_part_of(int arrangement, int rank, int ranks)
{
    if (arrangement == PINGPONG_SINGLE) {
        const bool plays = rank == 0 || rank == ranks - 1;
        return (struct pingpong_part){plays ? ranks - 1 - rank : -1, rank == 0};
    }
    const int half = ranks / 2;
    const bool lower = rank < half;
    const bool swapped = arrangement == PINGPONG_CROSSING && rank % half % 2 != 0;
    return (struct pingpong_part){lower ? rank + half : rank - half, lower != swapped};
}

/* ---- processes and memory -------------------------------------------------------------------- */

int64_t pingpong_largest_extent(const struct pingpong_parameters *p,
                                const struct pingpong_limits *limits)
{
    for (int i = 0; i < PINGPONG_PATTERNS; i++)
        if (p->patterns.chosen[i] && pingpong_patterns[i].sweep == PINGPONG_STRIDED_MANY)
            return 2 * limits->max_ndata;
    return limits->max_ndata + PINGPONG_GUARD_VALUES;
}

double pingpong_needed_bytes(const struct pingpong_parameters *p,
                             const struct pingpong_limits *limits)
{
    struct pingpong_shape shape;
    const double buffers = p->buffers == BC_BUFFERS_NEW ? 4.0 : 1.0;
    bool exact = false, sends = false;
    int64_t values = pingpong_largest_extent(p, limits);
    for (int i = 0; i < PINGPONG_PATTERNS; i++) {
        exact = exact || (p->patterns.chosen[i] && pingpong_patterns[i].exact);
        sends = sends || (p->patterns.chosen[i] && pingpong_patterns[i].move == NULL);
    }
    if (sends && p->buffers != BC_BUFFERS_NEW)
        values += 2 * limits->max_ndata;
    for (int i = 0; exact && pingpong_shape_at(PINGPONG_CONTIGUOUS, limits, i, &shape); i++)
        values += pingpong_ndata(&shape);
    return buffers * (double)sizeof(double) * (double)values;
}

/* Lowers max_ndata until the coarrays fit into memory, unless it or --sizes was given. */
static bool fit_memory(struct pingpong_parameters *p, const struct bc_run *run,
                       struct bc_error *error)
{
    const double max_bytes = bc_run_usable_bytes(run, WINDOW_SHARE, true);
    struct pingpong_limits fitting = p->limits;
    const double needed_bytes = pingpong_needed_bytes(p, &p->limits);
    if (p->limits.sizes.count > 0)
        return needed_bytes <= max_bytes ||
               bc_error_set(error,
                            "--sizes: coarrays need %.1f MiB a rank, and %.1f fit into memory or "
                            "/dev/shm: use smaller sizes",
                            needed_bytes / 1048576, max_bytes / 1048576);
    while (fitting.max_ndata > 0 && pingpong_needed_bytes(p, &fitting) > max_bytes)
        fitting.max_ndata /= 2;
    if (fitting.max_ndata == p->limits.max_ndata)
        return true;
    if (fitting.max_ndata >= fitting.min_ndata && !bc_option_given(&run->options, "max-ndata")) {
        p->limits = fitting;
        p->lowered = true;
        return true;
    }
    struct bc_error advice = {"use fewer processes a node"};
    if (fitting.max_ndata > 0)
        bc_error_set(&advice, "use --max-ndata=%lld or less", (long long)fitting.max_ndata);
    return bc_error_set(error,
                        "--max-ndata: coarrays for %lld values need %.1f MiB a rank, and %.1f fit "
                        "into memory or /dev/shm: %s",
                        (long long)p->limits.max_ndata, needed_bytes / 1048576, max_bytes / 1048576,
                        advice.text);
}

bool pingpong_is_arranged(const struct pingpong_parameters *p, int arrangement, int ranks)
{
    return p->arrangements.chosen[arrangement] && pingpong_can_arrange(arrangement, ranks);
}

int pingpong_arrangements(const struct pingpong_parameters *p, int ranks)
{
    int count = 0;
    for (int a = 0; a < PINGPONG_ARRANGEMENTS; a++)
        count += pingpong_is_arranged(p, a, ranks);
    return count;
}

/* Checks the options of --protocols, which has transfers, sizes and memory of its own. */
static bool fit_protocols(const struct pingpong_parameters *p, const struct bc_run *run,
                          struct bc_error *error)
{
    static const char *const others[] = {"patterns",   "coarray-sync", "arrangements", "sizes",
                                         "max-stride", "max-blocks",   "full",         "memory",
                                         "buffers",    "link-rate",    "check"};
    if (!p->protocols)
        return !bc_option_given(&run->options, "operations") ||
               bc_error_set(error, "--operations is for --protocols: use both, or --patterns");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (bc_option_given(&run->options, others[i]))
            return bc_error_set(error,
                                "--%s: not with --protocols: use --operations, --min-ndata and "
                                "--max-ndata",
                                others[i]);
    return (p->limits.max_ndata >= PROTOCOLS_RANGE_MIN * p->limits.min_ndata &&
            p->limits.max_ndata <= PROTOCOLS_NDATA_MAX) ||
           bc_error_set(
               error, "--max-ndata: %lld is not possible with --protocols: use %lld to %lld",
               (long long)p->limits.max_ndata, PROTOCOLS_RANGE_MIN * (long long)p->limits.min_ndata,
               (long long)PROTOCOLS_NDATA_MAX);
}

bool pingpong_parameters_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct pingpong_parameters *const p = state;
    const int ranks = run->job.ranks;
    if (ranks < 2)
        return bc_error_set(error, "a ping-pong " BC_NEEDS_2_RANKS);
    if (!fit_protocols(p, run, error))
        return false;
    if (pingpong_arrangements(p, ranks) == 0)
        return bc_error_set(error,
                            "--arrangements: %.80s can't be arranged with %d processes: use "
                            "single, or an even number of at least 4 processes",
                            p->arrangements.text, ranks);
    /* In the complete sweep each row has its full time. */
    if (p->full)
        run->budget_s = INFINITY;
    if (p->limits.sizes.count > 0 && (bc_option_given(&run->options, "min-ndata") ||
                                      bc_option_given(&run->options, "max-ndata")))
        return bc_error_set(error, "--sizes replaces --min-ndata and --max-ndata: use one of them");
    if (!fit_memory(p, run, error))
        return false;
    const int64_t thinned = run->job.shares_processors ? SHARED_MAX_BLOCKS : THINNED_MAX_BLOCKS;
    const bool limited = !p->full && p->limits.max_ndata > thinned;
    if (p->limits.max_blocks == 0)
        p->limits.max_blocks = limited ? thinned : p->limits.max_ndata;
    return true;
}
