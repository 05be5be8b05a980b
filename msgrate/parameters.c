/* SPDX-License-Identifier: BSD-3-Clause */
#include "msgrate/bench.h"

#include "common/job/job.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Approximate memory of the library per request. */
#define REQUEST_BYTES 512.0

/* More than any node has. */
#define THREADS_MAX 1024

/* ---- tables ---------------------------------------------------------------------------------- */

const struct msgrate_parameters msgrate_default_parameters = {
    .peers = 6,
    .messages = 128,
    .sizes = {.text = "8"},
    .cache_text = "16M",
    .memory = BC_MEMORY_DEFAULTS,
    .threads = 1,
};

#define AT(member) offsetof(struct msgrate_parameters, member)

const struct bc_option msgrate_options[MSGRATE_OPTIONS] = {
#include "msgrate/shared_options.def"
    {"machine-readable", BC_FLAG, AT(machine_readable), .short_name = 'o',
     .help = "one line of values a size, ending with the four rates"},
    BC_MEMORY_OPTIONS(AT(memory)),
    BC_BUFFERS_OPTION(AT(buffers)),
};

const struct bc_option msgrate_rma_options[MSGRATE_RMA_OPTIONS] = {
#include "msgrate/shared_options.def"
    {"transfer", BC_CHOICE, AT(transfer), .short_name = 'u', .choices = "put|get",
     .help = "MPI_Put or MPI_Get"},
    {"sync", BC_CHOICE, AT(sync), .short_name = 'r', .choices = "all|fence|lock|pscw|flush",
     .help = "synchronisation; flush: inside one lock_all"},
    {"threads", BC_INTEGER, AT(threads), .short_name = 't', .argument = "N", .min = 1,
     .max = THREADS_MAX, .help = "threads of a process that transfer messages at the same time"},
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool flushes_llc(const struct msgrate_parameters *p)
{
    return strcmp(p->cache_text, "llc") == 0;
}

bool msgrate_complete(void *state, struct bc_error *error)
{
    struct msgrate_parameters *const p = state;
    if (bc_memory_is_asked(&p->memory) && !bc_memory_complete(&p->memory, error))
        return false;
    if (flushes_llc(p)) {
        p->cache_bytes = (int64_t)bc_llc_flush_bytes();
        return true;
    }
    return bc_parse_size(p->cache_text, &p->cache_bytes) ||
           bc_error_set(error, "--cache: '%.80s' is neither a size nor llc: use 0, 16M, ... or llc",
                        p->cache_text);
}

/* ---- against the job ------------------------------------------------------------------------- */

/* Lowers the default number of peers to the job's: fewer than ranks, and all different. */
static void lower_peers(struct msgrate_parameters *p, int ranks)
{
    if (p->peers >= ranks)
        p->peers = ranks - 1;
    while (p->stride != 0 && p->peers > 1 &&
           !msgrate_peers_distinct(ranks, (int)p->peers, (int)p->stride))
        p->peers--;
    p->lowers_peers = p->peers < msgrate_default_parameters.peers;
}

static bool fit_peers(const struct msgrate_parameters *p, int ranks, struct bc_error *error)
{
    if (ranks < 2)
        return bc_error_set(error, "messages need at least 2 processes, got 1: use mpirun -np 2, "
                                   "or 7 for 6 peers" BC_LAUNCHER_HINT);
    if (p->peers >= ranks)
        return bc_error_set(error,
                            "%lld peers need at least %lld processes, got %d: use -p %d or more "
                            "processes",
                            (long long)p->peers, (long long)p->peers + 1, ranks, ranks - 1);
    return p->stride == 0 || msgrate_peers_distinct(ranks, (int)p->peers, (int)p->stride) ||
           bc_error_set(
               error,
               "--ppn: %d processes have too few peers that are %lld ranks apart: leave -n "
               "out, or use fewer peers",
               ranks, (long long)p->stride);
}

/* Returns the number of buffers that a rank has at the same time: one to send from, and one to
   receive into, or two with --check or --buffers=new. */
static int buffers_of(const struct msgrate_parameters *p, const struct bc_run *run)
{
    return run->settings.check || p->buffers == BC_BUFFERS_NEW ? 3 : 2;
}

double msgrate_device_bytes(const struct msgrate_parameters *p, const struct bc_run *run)
{
    /* Each buffer and its contents; --buffers=new allocates a buffer before it frees the old one.
     */
    const int buffers = 2 * buffers_of(p, run) + (p->buffers == BC_BUFFERS_NEW);
    return (double)buffers * (double)p->peers * (double)p->messages *
           (double)bc_size_list_max(&p->sizes);
}

static bool fit_memory(const struct msgrate_parameters *p, const struct bc_run *run,
                       struct bc_error *error)
{
    const double messages = (double)p->peers * (double)p->messages;
    if (2.0 * messages > INT_MAX)
        return bc_error_set(error,
                            "--messages: %lld messages to each of %lld peers are more than MPI can "
                            "wait for: use at most %lld",
                            (long long)p->messages, (long long)p->peers,
                            INT_MAX / 2 / (long long)p->peers);
    const int64_t largest = bc_size_list_max(&p->sizes);
    /* With a GPU, includes the buffers of the staged counterpart. */
    const int buffers = buffers_of(p, run) * (strcmp(p->memory.words, "host") == 0 ? 1 : 2) +
                        (p->buffers == BC_BUFFERS_NEW);
    const double flush = (double)p->cache_bytes;
    const double max_bytes = bc_run_usable_bytes(run, BC_MEMORY_SHARE, false);
    const double bytes = messages * ((double)largest * buffers + 2 * REQUEST_BYTES) + flush;
    if (bytes <= max_bytes)
        return true;
    const double size = floor(((max_bytes - flush) / messages - 2 * REQUEST_BYTES) / buffers);
    struct bc_error advice;
    if (flush >= max_bytes)
        bc_error_set(&advice, "use a smaller flush");
    else if (size >= 1.0)
        bc_error_set(&advice, "use -s %.0f or less", size);
    else
        bc_error_set(&advice, "use fewer messages");
    return bc_error_set(error,
                        "--size, --messages, --peers, --cache: %lld messages of %lld bytes to each "
                        "of %lld peers and a flush of %lld bytes need %.0f MiB of memory, and %.0f "
                        "fit: %s",
                        (long long)p->messages, (long long)largest, (long long)p->peers,
                        (long long)p->cache_bytes, bytes / 1048576, max_bytes / 1048576,
                        advice.text);
}

bool msgrate_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct msgrate_parameters *const p = state;
    /* --samples by its name in the specification. */
    if (p->iterations > 0 && !bc_option_given(&run->options, "samples"))
        run->settings.samples = p->iterations;
    if (!bc_option_given(&run->options, "peers") && run->job.ranks > 1)
        lower_peers(p, run->job.ranks);
    if (!fit_peers(p, run->job.ranks, error))
        return false;
    if (flushes_llc(p) && p->cache_bytes == 0)
        return bc_error_set(error,
                            "--cache: llc: the last-level cache's size is unknown: use a size");
    return fit_memory(p, run, error);
}
