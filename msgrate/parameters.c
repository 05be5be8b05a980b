#include "msgrate/parameters.h"

#include "common/machine/cache.h"
#include "common/mpi/large_count.h"
#include "msgrate/peers.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

/* Of the memory that a rank may take, buffers may take this share. */
#define MEMORY_SHARE 0.5

/* What the library keeps for a request, roughly. */
#define REQUEST_BYTES 512.0

size_t msgrate_parameters_table(struct msgrate_parameters *parameters, struct bc_option *rows)
{
    struct msgrate_parameters *const p = parameters;
    *p = (struct msgrate_parameters){
        .peers = 6,
        .messages = 128,
        .cache_text = "16M",
    };
    bc_parse_size_list("8", &p->sizes);
    const struct bc_option table[] = {
        {.long_name = "peers",
         .short_name = 'p',
         .kind = BC_INTEGER,
         .value = &p->peers,
         .argument = "N",
         .min = 1,
         .max = INT_MAX,
         .help = "processes that a process sends to, and receives from"},
        {.long_name = "iterations",
         .short_name = 'i',
         .kind = BC_SIZE,
         .value = &p->iterations,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .zero = "adaptive",
         .help = "iterations of each pattern; the same as --samples"},
        {.long_name = "messages",
         .short_name = 'm',
         .kind = BC_SIZE,
         .value = &p->messages,
         .argument = "N",
         .min = 1,
         .max = INT_MAX,
         .help = "messages to each peer in an iteration"},
        {.long_name = "size",
         .short_name = 's',
         .kind = BC_SIZE_LIST,
         .value = &p->sizes,
         .argument = "SIZES",
         .min = 0,
         .max = BC_ELEMENTS_MAX,
         .help = "bytes of a message: one size, a list (0,8,1K), a range "
                 "(1:4M, doubling) or both"},
        {.long_name = "cache",
         .short_name = 'c',
         .kind = BC_TEXT,
         .value = &p->cache_text,
         .argument = "SIZE|llc",
         .help = "flush the caches with so many bytes before each iteration; "
                 "llc: with half as many again as the last-level cache has; 0: "
                 "don't"},
        {.long_name = "ppn",
         .short_name = 'n',
         .kind = BC_INTEGER,
         .value = &p->stride,
         .argument = "N",
         .min = 1,
         .max = INT_MAX,
         .zero = "the smallest with the most peers on other nodes",
         .help = "processes per node: the distance between peers, in ranks "
                 "ordered by node; refused where peers would not all be "
                 "different ranks"},
    };
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}

int64_t msgrate_largest(const struct msgrate_parameters *parameters)
{
    int64_t largest = 0;
    for (size_t i = 0; i < parameters->sizes.count; i++)
        if (parameters->sizes.values[i] > largest)
            largest = parameters->sizes.values[i];
    return largest;
}

bool msgrate_cache_bytes(const struct msgrate_parameters *parameters, int64_t *bytes)
{
    if (strcmp(parameters->cache_text, "llc") != 0)
        return bc_parse_size(parameters->cache_text, bytes) && *bytes >= 0;
    *bytes = (int64_t)bc_cache_llc_flush_bytes();
    return *bytes > 0;
}

static bool validate_cache(const struct msgrate_parameters *p, int64_t *bytes,
                           struct bc_error *error)
{
    if (msgrate_cache_bytes(p, bytes))
        return true;
    if (strcmp(p->cache_text, "llc") == 0)
        return bc_error_set(error, "--cache: llc: this system doesn't say how "
                                   "large the last-level cache is: use a size");
    return bc_error_set(error,
                        "--cache: '%.80s' is neither a size nor llc: use "
                        "0, 16M, ... or llc",
                        p->cache_text);
}

static bool validate_peers(const struct msgrate_parameters *p, int ranks, struct bc_error *error)
{
    if (ranks < 2)
        return bc_error_set(error, "messages need at least 2 processes, got 1: "
                                   "use mpirun -np 7, or 2 with -p 1" BC_LAUNCHER_HINT);
    if (p->peers >= ranks)
        return bc_error_set(error,
                            "%lld peers need at least %lld processes, "
                            "got %d: use -p %d or more processes",
                            (long long)p->peers, (long long)p->peers + 1, ranks, ranks - 1);
    if (p->stride > 0 && !msgrate_peers_distinct(ranks, (int)p->peers, (int)p->stride))
        return bc_error_set(error,
                            "--ppn: among %d processes, %lld peers that "
                            "are %lld ranks apart are not all "
                            "different: use -n 1 or fewer peers",
                            ranks, (long long)p->peers, (long long)p->stride);
    return true;
}

/* What would do where messages need more than so many bytes. */
static struct bc_error advice_of(double messages, int buffers, double most_bytes)
{
    const double size = floor((most_bytes / messages - 2 * REQUEST_BYTES) / buffers);
    struct bc_error advice;
    if (size >= 1.0)
        bc_error_set(&advice, "use -s %.0f or less", size);
    else
        bc_error_set(&advice, "use fewer messages");
    return advice;
}

static bool validate_memory(const struct msgrate_parameters *p, const struct bc_run *run,
                            int buffers, int64_t cache_bytes, struct bc_error *error)
{
    const double messages = (double)p->peers * (double)p->messages;
    if (2.0 * messages > INT_MAX)
        return bc_error_set(error,
                            "--messages: %lld messages to each of %lld "
                            "peers are more than MPI can wait for: use "
                            "at most %lld",
                            (long long)p->messages, (long long)p->peers,
                            INT_MAX / 2 / (long long)p->peers);
    const double most = MEMORY_SHARE * (double)run->memory_per_rank;
    const double bytes =
        messages * ((double)msgrate_largest(p) * buffers + 2 * REQUEST_BYTES) + (double)cache_bytes;
    if (bytes > most)
        return bc_error_set(error,
                            "--size, --messages, --peers, --cache: %lld "
                            "messages of %lld bytes to each of %lld "
                            "peers and a flush of %lld bytes need %.0f "
                            "MiB of memory, and %.0f fit: %s",
                            (long long)p->messages, (long long)msgrate_largest(p),
                            (long long)p->peers, (long long)cache_bytes, bytes / 1048576,
                            most / 1048576,
                            (double)cache_bytes >= most
                                ? "use a smaller flush"
                                : advice_of(messages, buffers, most - (double)cache_bytes).text);
    return true;
}

bool msgrate_parameters_validate(struct msgrate_parameters *parameters, struct bc_run *run,
                                 int buffers, struct bc_error *error)
{
    int64_t cache_bytes;
    if (parameters->iterations > 0 && !bc_option_given(&run->options, "samples"))
        run->settings.samples = parameters->iterations;
    return validate_peers(parameters, run->job.ranks, error) &&
           validate_cache(parameters, &cache_bytes, error) &&
           validate_memory(parameters, run, buffers, cache_bytes, error);
}
