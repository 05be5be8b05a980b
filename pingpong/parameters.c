#include "pingpong/parameters.h"

#include "common/mpi/large_count.h"
#include "common/run/names.h"

#include <string.h>

/* The largest number of values; the specification's, and a thinned sweep's. */
#define FULL_NDATA ((int64_t)4 << 20)
#define THINNED_NDATA ((int64_t)256 << 10)

enum { SYNC_BOTH = PINGPONG_SYNC_NONE };

size_t pingpong_parameters_table(struct pingpong_parameters *parameters, struct bc_option *rows)
{
    struct pingpong_parameters *const p = parameters;
    *p = (struct pingpong_parameters){
        .patterns_text = "all",
        .arrangements_text = "all",
        .sync = SYNC_BOTH,
        .limits = {.max_stride = 128},
    };
    const struct bc_option table[] = {
        {.long_name = "patterns",
         .kind = BC_TEXT,
         .value = &p->patterns_text,
         .argument = "NAMES",
         .help = "patterns, with commas: put, subput, simple subput, all put, "
                 "many put, sub manyput, many subput, strided put, strided "
                 "subput, strided many put, the same with get, MPI Send; or "
                 "all. Case, spaces and dashes don't count"},
        {.long_name = "coarray-sync",
         .kind = BC_CHOICE,
         .value = &p->sync,
         .choices = "all|images|both",
         .help = "synchronisation of puts and gets: of all processes, of the "
                 "two, or both after each other"},
        {.long_name = "arrangements",
         .kind = BC_TEXT,
         .value = &p->arrangements_text,
         .argument = "NAMES",
         .help = "single, multiple, crossing, with commas; or all"},
        {.long_name = "max-ndata",
         .kind = BC_SIZE,
         .value = &p->limits.max_ndata,
         .argument = "N",
         .min = 1,
         .max = BC_ELEMENTS_MAX,
         .zero = "256K, or 4M with --full",
         .help = "the largest number of values (doubles); a power of two"},
        {.long_name = "max-stride",
         .kind = BC_SIZE,
         .value = &p->limits.max_stride,
         .argument = "N",
         .min = 1,
         .max = BC_ELEMENTS_MAX,
         .help = "the greatest stride, in values; a power of two"},
        {.long_name = "max-blocks",
         .kind = BC_SIZE,
         .value = &p->limits.max_blocks,
         .argument = "N",
         .min = 1,
         .max = BC_ELEMENTS_MAX,
         .zero = "max-ndata; without --full 512 where ranks share processors",
         .help = "the largest number of blocks in the many patterns; a power "
                 "of two"},
        {.long_name = "full",
         .kind = BC_FLAG,
         .value = &p->full,
         .help = "every size, doubling, up to 4M values, and --max-time for "
                 "every row, so 10 minutes and more; else every third size, "
                 "up to 256K, in less than a minute"},
    };
    _Static_assert(sizeof table / sizeof *table <= PINGPONG_OPTIONS_MAX,
                   "make PINGPONG_OPTIONS_MAX larger");
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}

int64_t pingpong_default_ndata(const struct pingpong_parameters *parameters)
{
    return parameters->full ? FULL_NDATA : THINNED_NDATA;
}

static const char *pattern_name(int i)
{
    return pingpong_patterns[i].name;
}

static const char *arrangement_name(int i)
{
    return pingpong_arrangement_names[i];
}

static bool is_power_of_two(int64_t value)
{
    return (value & (value - 1)) == 0;
}

bool pingpong_parameters_complete(struct pingpong_parameters *parameters, struct bc_error *error)
{
    struct pingpong_parameters *const p = parameters;
    if (!bc_names_choose("patterns", p->patterns_text, pattern_name, p->pattern_chosen,
                         PINGPONG_PATTERNS, error) ||
        !bc_names_choose("arrangements", p->arrangements_text, arrangement_name,
                         p->arrangement_chosen, PINGPONG_ARRANGEMENTS, error))
        return false;
    if (!is_power_of_two(p->limits.max_ndata))
        return bc_error_set(error,
                            "--max-ndata: %lld is no power of two: use 1, "
                            "2, 4 ...",
                            (long long)p->limits.max_ndata);
    if (!is_power_of_two(p->limits.max_stride))
        return bc_error_set(error,
                            "--max-stride: %lld is no power of two: use "
                            "1, 2, 4 ...",
                            (long long)p->limits.max_stride);
    if (!is_power_of_two(p->limits.max_blocks))
        return bc_error_set(error,
                            "--max-blocks: %lld is no power of two: use "
                            "1, 2, 4 ...",
                            (long long)p->limits.max_blocks);
    if (p->limits.max_ndata == 0)
        p->limits.max_ndata = pingpong_default_ndata(p);
    p->limits.step = p->full ? 2 : 8;
    return true;
}

bool pingpong_sync_chosen(const struct pingpong_parameters *parameters, enum pingpong_sync sync)
{
    return parameters->sync == SYNC_BOTH || parameters->sync == (int)sync;
}
