#include "pingpong/pingpong.h"

const struct pingpong_parameters pingpong_default_parameters = {
    .patterns = {.text = "all"},
    .arrangements = {.text = "all"},
    .sync = BC_SYNC_NONE,
    .limits = {.min_ndata = 1, .max_stride = 128},
    .memory = BC_MEMORY_DEFAULTS,
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
     .help = "synchronisation of puts and gets: of all processes, of the two, or first one, "
             "then the other"},
    {"arrangements", BC_NAMES, AT(arrangements), .argument = "NAMES",
     .name_at = pingpong_arrangement_name, .name_count = PINGPONG_ARRANGEMENTS,
     .help = "arrangements"},
    {"min-ndata", BC_SIZE, AT(limits.min_ndata), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .help = "the smallest number of values in one piece; a power of two"},
    {"max-ndata", BC_SIZE, AT(limits.max_ndata), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .zero = "256K, or 4M with --full",
     .help = "the largest number of values (doubles of 8 bytes); a power of two"},
    {"max-stride", BC_SIZE, AT(limits.max_stride), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .help = "the greatest stride, in values; a power of two"},
    {"max-blocks", BC_SIZE, AT(limits.max_blocks), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .zero = "4096, or 512 on shared processors; max-ndata with --full",
     .help = "the largest number of blocks in the many patterns; a power of two"},
    {"full", BC_FLAG, AT(full),
     .help = "every size, doubling, up to 4M values, and --max-time for every row, so 10 minutes "
             "and more; else every third size, up to 256K, in 15 s"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
};

static bool is_power_of_two(const char *option, int64_t value, struct bc_error *error)
{
    return (value & (value - 1)) == 0 ||
           bc_error_set(error, "--%s: %lld is no power of two: use 1, 2, 4 ...", option,
                        (long long)value);
}

bool pingpong_parameters_complete(void *parameters, struct bc_error *error)
{
    struct pingpong_parameters *const p = parameters;
    struct pingpong_limits *const limits = &p->limits;
    if (!is_power_of_two("min-ndata", limits->min_ndata, error) ||
        !is_power_of_two("max-ndata", limits->max_ndata, error) ||
        !is_power_of_two("max-stride", limits->max_stride, error) ||
        !is_power_of_two("max-blocks", limits->max_blocks, error))
        return false;
    if (limits->max_ndata == 0)
        limits->max_ndata = p->full ? INT64_C(4) << 20 : INT64_C(256) << 10;
    limits->step = p->full ? 2 : 8;
    if (limits->min_ndata > limits->max_ndata)
        return bc_error_set(error,
                            "--min-ndata: %lld is more than --max-ndata, %lld: lower the one or "
                            "raise the other",
                            (long long)limits->min_ndata, (long long)limits->max_ndata);
    return bc_memory_complete(&p->memory, error);
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
