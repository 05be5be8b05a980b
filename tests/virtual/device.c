/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of a GPU: a driver's library on host memory, whose copies and kernels take virtual time.
 *
 * Made twice, as libcuda.so.1 and (MODEL_HIP) as libamdhip64.so with libhiprtc.so, with the names
 * and arguments that common/device/driver.h has. Kernels run one after the other, beside the host;
 * what they write is there when they have ended, not before: whoever reads earlier gets old data.
 * Copies wait for no kernel, as for streams of their own. Costs: parameters.def.
 */
#include "common/device/driver.h"
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MODEL_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

enum { OK, BAD_VALUE = 1, NO_MEMORY = 2, NO_DEVICE = 100, NOT_FOUND = 500 };

/* ---- kernels --------------------------------------------------------------------------------- */

enum kernel { MOVE, COMPARE, GATHER, SCATTER, COMPUTE, KERNELS, COPY = KERNELS };

/* One that was launched, with its arguments; or a copy on the stream, of bytes. */
struct run {
    enum kernel kernel;
    int64_t end_ns;
    union {
        uint64_t number;
        uint64_t *pointer;
    } arguments[4];
};

static struct run *runs; /* that have not ended, in order */
static size_t run_count;
static int64_t free_at_ns; /* when the last kernel ends */

static void finish(const struct run *run)
{
    uint64_t *const a = run->arguments[0].pointer, *const b = run->arguments[1].pointer;
    const uint64_t *const places = run->arguments[2].pointer;
    const uint64_t count = run->arguments[2].number, listed = run->arguments[3].number;
    switch (run->kernel) {
    case MOVE:
        memcpy(a, b, count * sizeof *a);
        break;
    case COMPARE:
        if (memcmp(a, b, count * sizeof *a) != 0)
            *run->arguments[3].pointer = 1;
        break;
    case GATHER:
        for (uint64_t i = 0; i < listed; i++)
            a[i] = b[places[i]];
        break;
    case SCATTER:
        for (uint64_t i = 0; i < listed; i++)
            a[places[i]] = b[i];
        break;
    case COMPUTE:
        break;
    case COPY:
        memcpy(a, b, count);
        break;
    }
}

/* Writes what kernels have written by now. */
static void settle(void)
{
    size_t ended = 0;
    while (ended < run_count && runs[ended].end_ns <= world_now_ns)
        finish(&runs[ended++]);
    run_count -= ended;
    memmove(runs, runs + ended, run_count * sizeof *runs);
}

static double duration_ns(const struct run *run)
{
    const bool lists = run->kernel == GATHER || run->kernel == SCATTER;
    const double count = (double)run->arguments[lists ? 3 : 2].number;
    if (run->kernel == COPY)
        return parameters.copy_ns + count * parameters.copy_byte_ns;
    if (run->kernel == COMPUTE)
        return parameters.kernel_ns + (double)run->arguments[1].number * parameters.step_ns;
    return parameters.kernel_ns + 8.0 * count * parameters.kernel_byte_ns;
}

/* A place in the queue for what the caller fills in; `enqueue` starts it when all before has ended.
 */
static struct run *next_run(void)
{
    clock_spend(parameters.launch_ns);
    settle();
    runs = world_grow(runs, run_count + 1, sizeof *runs);
    return &runs[run_count++];
}

static int enqueue(struct run *run)
{
    const int64_t start_ns = free_at_ns > world_now_ns ? free_at_ns : world_now_ns;
    run->end_ns = free_at_ns = start_ns + (int64_t)(duration_ns(run) + 0.5);
    return OK;
}

/* ---- the library ----------------------------------------------------------------------------- */

#define DECLARE(member, cuda, hip, arguments) int model_##member arguments __asm__(NAME(cuda, hip));
BC_DRIVER_FUNCTIONS(DECLARE)
#define DECLARE_OWN(member, name, result, arguments) result model_##member arguments __asm__(name);
#ifdef MODEL_HIP
BC_HIP_FUNCTIONS(DECLARE_OWN)
BC_HIPRTC_FUNCTIONS(DECLARE_OWN)
#else
BC_CUDA_FUNCTIONS(DECLARE_OWN)
#endif

static bool reach(const void *buffer, int64_t bytes);
static bool is_stale(const void *memory);

__attribute__((destructor)) static void unload(void)
{
    data_device = NULL;
    data_is_stale = NULL;
}

int model_start(unsigned flags)
{
    if (parameters.devices == 0.0) /* before MPI_Init */
        parameters_read();
    data_device = reach;
    data_is_stale = is_stale;
    return flags == 0 ? OK : BAD_VALUE;
}

int model_version(int *version)
{
    *version = 13000;
    return OK;
}

int model_count(int *devices)
{
    *devices = (int)parameters.devices;
    return *devices > 0 ? OK : NO_DEVICE;
}

int model_get(int *device, int number)
{
    *device = number;
    return number < (int)parameters.devices ? OK : NO_DEVICE;
}

int model_name(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "Model %d", device);
    return OK;
}

int model_pci(char *id, int length, int device)
{
    snprintf(id, (size_t)length, "0000:%02X:00.0", device + 1);
    return OK;
}

int model_room(size_t *free_bytes, size_t *all_bytes)
{
    *free_bytes = *all_bytes = (size_t)parameters.device_bytes;
    return OK;
}

/* ---- memory ---- */

/* Of the device alone. */
static struct piece {
    char *start;
    size_t bytes;
} * pieces;
static size_t piece_count;

static int allocate(void **start, size_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    const size_t pages = bytes / PAGE_BYTES + 1;
    if ((double)bytes > parameters.device_bytes ||
        (*start = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES)) == NULL)
        return NO_MEMORY;
    memset(*start, 0xA5, bytes);
    return OK;
}

int model_allocate(void **start, size_t bytes)
{
    const int error = allocate(start, bytes);
    if (error != OK)
        return error;
    pieces = world_grow(pieces, piece_count + 1, sizeof *pieces);
    pieces[piece_count++] = (struct piece){*start, bytes};
    return OK;
}

static bool is_on_device(const char *at)
{
    size_t i = 0;
    while (i < piece_count && (at < pieces[i].start || at >= pieces[i].start + pieces[i].bytes))
        i++;
    return i < piece_count;
}

static bool is_stale(const void *memory)
{
    return parameters.device_stale != 0.0 && is_on_device(memory);
}

/* Takes the model MPI's time to reach a buffer. False: data isn't there when a call returns.
 */
static bool reach(const void *buffer, int64_t bytes)
{
    settle();
    if (!is_on_device(buffer))
        return true;
    if (parameters.device_crash != 0.0)
        raise(SIGSEGV);
    clock_spend(parameters.reach_ns + (double)bytes * parameters.reach_byte_ns);
    return parameters.device_stale == 0.0;
}

int model_allocate_managed(void **start, size_t bytes, unsigned flags)
{
    return flags == 1 ? allocate(start, bytes) : BAD_VALUE;
}

int model_allocate_pinned(void **start, size_t bytes, unsigned flags)
{
    return flags <= 1 ? allocate(start, bytes) : BAD_VALUE;
}

int model_release(void *start)
{
    for (size_t i = 0; i < piece_count; i++)
        if (pieces[i].start == start)
            pieces[i] = pieces[--piece_count];
    data_forget(start, malloc_usable_size(start));
    free(start);
    return OK;
}

int model_release_pinned(void *start) { return model_release(start); }

static int copy(void *to, const void *from, size_t bytes)
{
    clock_spend(parameters.copy_ns);
    clock_until(world_now_ns + (int64_t)((double)bytes * parameters.copy_byte_ns));
    settle();
    memcpy(to, from, bytes);
    return OK;
}

/* ---- streams, of which all kernels' are one ---- */

int model_create_stream(void **stream, unsigned flags)
{
    static char only;
    *stream = &only;
    return flags <= 1 ? OK : BAD_VALUE;
}

int model_destroy_stream(void *stream) { return stream != NULL ? OK : BAD_VALUE; }

int model_synchronize(void *stream)
{
    if (stream != NULL) /* else copies', which have ended */
        clock_until(free_at_ns);
    clock_spend(parameters.device_sync_ns);
    settle();
    return OK;
}

/* ---- kernels ---- */

static const char *const kernel_names[KERNELS] = {
    "commcost_move", "commcost_compare", "commcost_gather", "commcost_scatter", "commcost_compute"};

int model_load(void **module, const void *image)
{
    *module = strdup(image);
    return *module != NULL ? OK : NO_MEMORY;
}

int model_unload(void *module) { return model_release(module); }

int model_find(void **function, void *module, const char *name)
{
    for (size_t i = 0; i < KERNELS && strstr(module, name) != NULL; i++)
        if (strcmp(name, kernel_names[i]) == 0) {
            *function = (void *)&kernel_names[i];
            return OK;
        }
    return NOT_FOUND;
}

int model_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 void *stream, void **arguments, void **extra)
{
    static const size_t counts[KERNELS] = {3, 4, 4, 4, 2};
    if (grid_x * grid_y * grid_z * block_x * block_y * block_z == 0 || shared_bytes != 0 ||
        stream == NULL || extra != NULL)
        return BAD_VALUE;
    struct run *const run = next_run();
    run->kernel = (enum kernel)((const char *const *)function - kernel_names);
    for (size_t i = 0; i < counts[run->kernel]; i++)
        memcpy(&run->arguments[i], arguments[i], sizeof run->arguments[i]);
    return enqueue(run);
}

/* ---- events: when the device comes to them ---- */

int model_create_event(void **event, unsigned flags)
{
    *event = calloc(1, sizeof(int64_t));
    return flags == 0 ? OK : BAD_VALUE;
}

int model_destroy_event(void *event)
{
    free(event);
    return OK;
}

int model_record(void *event, void *stream)
{
    clock_spend(parameters.record_ns);
    *(int64_t *)event = free_at_ns > world_now_ns ? free_at_ns : world_now_ns;
    return stream != NULL ? OK : BAD_VALUE;
}

int model_elapsed(float *ms, void *from, void *to)
{
    *ms = (float)(1e-6 * (double)(*(int64_t *)to - *(int64_t *)from));
    return *(int64_t *)to <= world_now_ns ? OK : BAD_VALUE;
}

/* ---- copies on the stream ---- */

static int copy_later(void *to, const void *from, size_t bytes, const void *stream)
{
    struct run *const run = next_run();
    run->kernel = COPY;
    run->arguments[0].pointer = to;
    run->arguments[1].number = (uint64_t)(uintptr_t)from;
    run->arguments[2].number = bytes;
    return stream != NULL ? enqueue(run) : BAD_VALUE;
}

/* ---- what differs ---- */

#ifdef MODEL_HIP

int model_hip_use(int device) { return device < (int)parameters.devices ? OK : NO_DEVICE; }

int model_hip_copy(void *to, const void *from, size_t bytes, int kind)
{
    return kind == 4 ? copy(to, from, bytes) : BAD_VALUE;
}

int model_hip_copy_later(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return kind == 4 ? copy_later(to, from, bytes, stream) : BAD_VALUE;
}

const char *model_hip_error(int error) { return error == NO_MEMORY ? "out of memory" : "model"; }

/* A program is its source, and so is its code. */
int model_create(void **program, const char *source, const char *name, int headers,
                 const char **header_texts, const char **header_names)
{
    if (name == NULL || headers != 0 || header_texts != NULL || header_names != NULL)
        return BAD_VALUE;
    *program = strdup(source);
    return OK;
}

int model_compile(void *program, int options, const char **option_texts)
{
    return program != NULL && options == 0 && option_texts == NULL ? OK : BAD_VALUE;
}

int model_code_size(void *program, size_t *bytes)
{
    *bytes = strlen(program) + 1;
    return OK;
}

int model_code(void *program, char *code)
{
    strcpy(code, program);
    return OK;
}

int model_destroy(void **program) { return model_release(*program); }

#else

static int context_of_device;

int model_cuda_retain(void **context, int device)
{
    *context = &context_of_device;
    return device < (int)parameters.devices ? OK : NO_DEVICE;
}

int model_cuda_release(int device) { return device < (int)parameters.devices ? OK : NO_DEVICE; }

int model_cuda_use(void *context) { return context == &context_of_device ? OK : BAD_VALUE; }

int model_cuda_copy(void *to, const void *from, size_t bytes) { return copy(to, from, bytes); }

int model_cuda_copy_later(void *to, const void *from, size_t bytes, void *stream)
{
    return copy_later(to, from, bytes, stream);
}

int model_cuda_error(int error, const char **text)
{
    *text = error == NO_MEMORY ? "out of memory" : "model";
    return OK;
}

#endif
