/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/verdict.h"
#include "common/device/buffer.h"
#include "common/device/memory.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/warnings.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static const char *const kinds[] = {"host", "pinned", "device", "managed"};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns the kind that the first `length` characters name, or KINDS if there is none. */
static int kind_of(const char *word, size_t length)
{
    int kind = 0;
    while (kind < KINDS &&
           (strlen(kinds[kind]) != length || memcmp(kinds[kind], word, length) != 0))
        kind++;
    return kind;
}

bool bc_memory_complete(struct bc_memory_options *options, struct bc_error *error)
{
    const char *const words = options->words;
    const size_t length = strcspn(words, ":");
    const char *const second = words[length] == ':' ? words + length + 1 : words;
    const int of[2] = {kind_of(words, length),
                       kind_of(second, second == words ? length : strlen(second))};
    if (of[0] == KINDS || of[1] == KINDS)
        return bc_error_set(error,
                            "--memory=%.80s: no such memory: use host, pinned, device or managed, "
                            "or two of them with a colon",
                            words);
    options->of[0] = (enum bc_memory)of[0];
    options->of[1] = (enum bc_memory)of[1];
    return options->works || !bc_memory_is_host(options->of) || options->number < 0 ||
           bc_error_set(error,
                        "--device: all buffers lie in host memory: use --memory=device, too");
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Counts the ranks of the node that use this rank's device. Compares addresses on the bus, since
   ranks may see different devices. Collective. */
static int ranks_on_device(const struct bc_run *run, const struct bc_device *device)
{
    enum { LENGTH = sizeof bc_device_facts(device)->pci };
    const char *const own = device != NULL ? bc_device_facts(device)->pci : (char[LENGTH]){""};
    char *const all = bc_allocate((size_t)run->job.node_ranks, LENGTH, "no memory for ranks");
    int ranks = 0;
    BC_MPI(MPI_Allgather(own, LENGTH, MPI_CHAR, all, LENGTH, MPI_CHAR, run->job.node_comm));
    for (int rank = 0; rank < run->job.node_ranks; rank++)
        ranks += strncmp(all + (size_t)rank * LENGTH, own, LENGTH) == 0;
    free(all);
    return ranks;
}

/* Returns options that need no device. */
static const char *without_device(const struct bc_memory_options *options)
{
    if (!options->works)
        return "--memory=host";
    return bc_memory_is_host(options->of) ? "--work=host" : "--memory=host --work=host";
}

/* True, with the reason and the remedy, if this rank can't use its device. */
static bool is_refused(const struct bc_memory_options *options, const struct bc_device *device,
                       double bytes, const char *advice, const char *reason, char *text,
                       size_t length)
{
    const double free_bytes = device != NULL ? (double)bc_device_facts(device)->free_bytes : 0.0;
    if (device == NULL)
        snprintf(text, length, "%s: use another node, or %s", reason, without_device(options));
    else
        snprintf(text, length,
                 "buffers of its ranks need %.1f MiB on the GPU, and %.1f are free: use %s, or "
                 "--memory=host",
                 bytes / 1048576, free_bytes / 1048576, advice);
    return device == NULL || bytes > free_bytes;
}

static void close_device(void *device) { bc_device_close(device); }

/* Ends the run if --align or --pages is given and no buffer is in host memory. Collective. */
static void refuse_placement(struct bc_run *run, const enum bc_memory of[2])
{
    const bool is_placed =
        strcmp(run->settings.align, "malloc") != 0 || run->settings.pages != BC_PAGES_NORMAL;
    const struct bc_error error = {
        "--align, --pages: the driver places buffers on a device: leave them out"};
    bc_require(run, !is_placed || of[0] == BC_MEMORY_HOST || of[1] == BC_MEMORY_HOST, &error);
}

struct bc_device *bc_memory_open(struct bc_run *run, const struct bc_memory_options *options,
                                 double bytes, const char *advice)
{
    char reason[BC_DEVICE_REASON_LENGTH] = "", text[BC_DEVICE_REASON_LENGTH + 64] = "";
    struct bc_error error = {""};
    const bool is_host = bc_memory_is_host(options->of);
    if (is_host && !options->works)
        return NULL;
    refuse_placement(run, options->of);
    struct bc_device *const device =
        bc_device_open((int)options->number, run->job.node_rank, reason);
    bytes *= ranks_on_device(run, device);
    const bool refused = is_refused(options, device, bytes, advice, reason, text, sizeof text);
    int failing = refused ? run->job.rank : run->job.ranks;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (failing == run->job.ranks) {
        bc_buffer_set_functions(&bc_device_buffer_functions);
        bc_run_at_end(run, close_device, device);
        return device;
    }
    BC_MPI(MPI_Bcast(text, (int)sizeof text, MPI_CHAR, failing, MPI_COMM_WORLD));
    bc_error_set(&error, "%s%.80s: rank %d: %s",
                 is_host ? "--work=" : "--memory=", is_host ? "device" : options->words, failing,
                 text);
    bc_require(run, false, &error);
    return NULL;
}

/* ---- the staged counterpart ------------------------------------------------------------------ */

/* Smaller gains and losses (in percent) are treated as none. */
#define THRESHOLD_PCT 2.0

struct bc_staged bc_staged_of(const struct bc_memory_options *options,
                              const struct bc_summary *staged, const struct bc_summary *gain,
                              double scale)
{
    static const struct bc_summary none = {
        .value = NAN, .sd = NAN, .interval = {NAN, NAN}, .p99 = NAN, .max = NAN};
    struct bc_staged result = {.memory = options->words, .staged = none, .gain_pct = none};
    if (staged == NULL)
        return result;
    result.staged = *staged;
    result.gain_pct = *gain;
    bc_summary_scale(&result.staged, scale);
    bc_summary_scale(&result.gain_pct, staged->value > 0.0 ? 100.0 / staged->value : NAN);
    result.verdict = bc_verdict(&result.gain_pct, THRESHOLD_PCT);
    return result;
}

/* ---- columns --------------------------------------------------------------------------------- */

static const struct bc_column memory_column = BC_COLUMN("memory", BC_RUN_KEY, 7, bc_staged, memory);

static const struct bc_column staged_columns[] = {
    BC_US_COLUMNS(BC_CELL_TIME, "staged", BC_LESS, 3, bc_staged, staged),
    BC_COLUMN("direct_gain_pct", BC_INFO, 1, bc_staged, gain_pct.value),
    BC_COLUMN("direct_gain_lo_pct", BC_INFO, 1, bc_staged, gain_pct.interval.lo),
    BC_COLUMN("direct_gain_hi_pct", BC_INFO, 1, bc_staged, gain_pct.interval.hi),
    BC_COLUMN("direct_verdict", BC_INFO, 9, bc_staged, verdict),
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

const struct bc_table *bc_memory_table(const struct bc_table *own, size_t at, const char *main)
{
    struct bc_column memory = memory_column;
    memory.at += at;
    return bc_table_with_key(
        bc_table_with_columns(own, staged_columns, COUNT(staged_columns), at, main, NULL), memory);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Sets `function` to the MPI library's function of this name. Returns false if there is none. */
static bool mpi_has(const char *name, void *function)
{
    void *const all = dlopen(NULL, RTLD_NOW);
    void *const symbol = all != NULL ? dlsym(all, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Returns the MPI library's claim about device memory, by extensions of Open MPI and MPICH. */
static const char *claim(const char *library)
{
    enum { MPICH_CUDA = 0, MPICH_HIP = 2 };
    const bool cuda = library[0] == 'C';
    int (*query)(void), (*query_type)(int type, int *supported), supported = 0;
    if (mpi_has(cuda ? "MPIX_Query_cuda_support" : "MPIX_Query_rocm_support", &query))
        return query() ? "claims to support GPU buffers (MPIX_Query_..._support)"
                       : "claims that it doesn't support GPU buffers (MPIX_Query_..._support)";
    if (mpi_has("MPIX_GPU_query_support", &query_type) &&
        query_type(cuda ? MPICH_CUDA : MPICH_HIP, &supported) == MPI_SUCCESS)
        return supported ? "claims to support GPU buffers (MPIX_GPU_query_support)"
                         : "claims that it doesn't support GPU buffers (MPIX_GPU_query_support)";
    return "claims nothing about GPU buffers";
}

/* Notes the kinds of memory that the library claims to take, by MPI 4.1's info key. */
static void note_kinds(struct bc_output *output)
{
#if MPI_VERSION >= 4
    char words[256] = "";
    int length = (int)sizeof words, found = 0;
    MPI_Info info;
    BC_MPI(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    BC_MPI(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, words, &found));
    BC_MPI(MPI_Info_free(&info));
    if (found)
        bc_output_remark(output, BC_NOTE_MEMORY_KINDS, words);
#else
    (void)output;
#endif
}

void bc_memory_describe(const struct bc_run *run, const struct bc_device *device)
{
    const struct bc_device_facts *const facts = bc_device_facts(device);
    int sharing = ranks_on_device(run, device);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &sharing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    if (run->output == NULL)
        return;
    char near[32] = "";
    if (facts->numa_node >= 0)
        snprintf(near, sizeof near, ", next to NUMA node %d", facts->numa_node);
    bc_output_remark(run->output, BC_NOTE_GPU, facts->number, facts->devices, facts->name,
                     facts->pci, near, facts->library, facts->version, claim(facts->library));
    note_kinds(run->output);
    if (sharing > 1)
        bc_output_remark(run->output, BC_WARNING_SHARED_GPU, sharing);
}
