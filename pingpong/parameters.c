#include "pingpong/parameters.h"

#include "common/mpi/large_count.h"

/* The largest number of values; the specification's, and a thinned sweep's. */
#define FULL_NDATA ((int64_t)4 << 20)
#define THINNED_NDATA ((int64_t)256 << 10)

enum { SYNC_BOTH = PINGPONG_SYNC_NONE };

const struct pingpong_parameters pingpong_default_parameters = {
    .patterns = {.text = "all"},
    .arrangements = {.text = "all"},
    .sync = SYNC_BOTH,
    .limits = {.max_stride = 128},
};

static const char *pattern_name(int i)
{
    return pingpong_patterns[i].name;
}

static const char *arrangement_name(int i)
{
    return pingpong_arrangement_names[i];
}

#define AT(member) offsetof(struct pingpong_parameters, member)

const struct bc_option pingpong_options[PINGPONG_OPTIONS] = {
    {"patterns", BC_NAMES, AT(patterns), .argument = "NAMES", .name_at = pattern_name,
     .name_count = PINGPONG_PATTERNS, .help = "patterns"},
    {"coarray-sync", BC_CHOICE, AT(sync), .choices = "all|images|both",
     .help = "synchronisation of puts and gets: of all processes, of the two, or both after each "
             "other"},
    {"arrangements", BC_NAMES, AT(arrangements), .argument = "NAMES", .name_at = arrangement_name,
     .name_count = PINGPONG_ARRANGEMENTS, .help = "arrangements"},
    {"max-ndata", BC_SIZE, AT(limits.max_ndata), .argument = "N", .min = 1, .max = BC_ELEMENTS_MAX,
     .zero = "256K, or 4M with --full",
     .help = "the largest number of values (doubles); a power of two"},
    {"max-stride", BC_SIZE, AT(limits.max_stride), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .help = "the greatest stride, in values; a power of two"},
    {"max-blocks", BC_SIZE, AT(limits.max_blocks), .argument = "N", .min = 1,
     .max = BC_ELEMENTS_MAX, .zero = "max-ndata; without --full 512 where ranks share processors",
     .help = "the largest number of blocks in the many patterns; a power of two"},
    {"full", BC_FLAG, AT(full),
     .help = "every size, doubling, up to 4M values, and --max-time for every row, so 10 minutes "
             "and more; else every third size, up to 256K, in less than a minute"},
};

int64_t pingpong_default_ndata(const struct pingpong_parameters *parameters)
{
    return parameters->full ? FULL_NDATA : THINNED_NDATA;
}

static bool is_power_of_two(const char *option, int64_t value, struct bc_error *error)
{
    return (value & (value - 1)) == 0 ||
           bc_error_set(error, "--%s: %lld is no power of two: use 1, 2, 4 ...", option,
                        (long long)value);
}

bool pingpong_parameters_complete(struct pingpong_parameters *parameters, struct bc_error *error)
{
    struct pingpong_limits *const limits = &parameters->limits;
    if (!is_power_of_two("max-ndata", limits->max_ndata, error) ||
        !is_power_of_two("max-stride", limits->max_stride, error) ||
        !is_power_of_two("max-blocks", limits->max_blocks, error))
        return false;
    if (limits->max_ndata == 0)
        limits->max_ndata = pingpong_default_ndata(parameters);
    limits->step = parameters->full ? 2 : 8;
    return true;
}
