/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/device/device.h"

#include "common/device/driver.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, GROUPS_MAX = 1024 }; /* enough for any device */

struct bc_device {
    struct bc_driver driver;
    struct bc_device_facts facts;
    int handle;   /* the driver's handle of the device */
    bool is_used; /* must be released */
    void *module;
    void *move, *compare, *gather, *scatter, *compute; /* the kernels */
    void *stream;                                      /* all kernels run on it */
    void *begin, *end;                                 /* events */
    void *scratch; /* 8 bytes on the device: the result of a comparison or a computation */
};

/* ---- errors ---------------------------------------------------------------------------------- */

#define CHECK(device, call) check(device, call, #call)

static void check(const struct bc_device *device, int error, const char *call)
{
    if (error != 0)
        bc_abort("%s on %s failed: %s (%d)", call, device->facts.name,
                 bc_driver_error(&device->driver, error), error);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Returns the NUMA node next to the device, from the system's files. */
static int numa_node_of(const char *pci)
{
    char path[128], line[32] = "-1";
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", pci);
    for (char *c = path; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c); /* the driver uses capitals */
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    return line[0] != '\0' ? (int)strtol(line, NULL, 10) : -1;
}

static int describe(struct bc_device *device)
{
    const struct bc_driver *const driver = &device->driver;
    struct bc_device_facts *const facts = &device->facts;
    size_t all_bytes;
    int error = driver->version(&facts->version);
    if (error == 0)
        error = driver->name(facts->name, sizeof facts->name, device->handle);
    if (error == 0)
        error = driver->pci(facts->pci, sizeof facts->pci, device->handle);
    if (error == 0)
        error = driver->room(&facts->free_bytes, &all_bytes);
    facts->numa_node = numa_node_of(facts->pci);
    return error;
}

static int make_kernels(struct bc_device *device)
{
    const struct bc_driver *const driver = &device->driver;
    const struct {
        void **kernel;
        const char *name;
    } kernels[] = {
        {&device->move, "commcost_move"},       {&device->compare, "commcost_compare"},
        {&device->gather, "commcost_gather"},   {&device->scatter, "commcost_scatter"},
        {&device->compute, "commcost_compute"},
    };
    int error = bc_driver_load_kernels(driver, &device->module);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels && error == 0; i++)
        error = driver->find(kernels[i].kernel, device->module, kernels[i].name);
    return error;
}

static int make_stream(struct bc_device *device)
{
    enum { NON_BLOCKING = 1 }; /* independent of the default stream */
    const struct bc_driver *const driver = &device->driver;
    int error = driver->create_stream(&device->stream, NON_BLOCKING);
    if (error == 0)
        error = driver->create_event(&device->begin, 0);
    if (error == 0)
        error = driver->create_event(&device->end, 0);
    if (error == 0)
        error = driver->allocate(&device->scratch, sizeof(uint64_t));
    return error;
}

/* Opens device `number` for this process. Returns false with the reason if it can't. */
static bool choose(struct bc_device *device, int number, int node_rank, char *reason)
{
    struct bc_device_facts *const facts = &device->facts;
    const struct bc_driver *const driver = &device->driver;
    facts->library = driver->library;
    int error = driver->count(&facts->devices);
    facts->number = number < 0 && facts->devices > 0 ? node_rank % facts->devices : number;
    if (error == 0 && facts->number >= facts->devices) {
        snprintf(reason, BC_DEVICE_REASON_LENGTH, "there is no device %d: use 0 to %d", number,
                 facts->devices - 1);
        return false;
    }
    if (error == 0)
        error = driver->get(&device->handle, facts->number);
    if (error == 0)
        error = bc_driver_use(driver, device->handle);
    device->is_used = error == 0;
    if (error == 0)
        error = describe(device);
    if (error == 0)
        error = make_kernels(device);
    if (error == 0)
        error = make_stream(device);
    if (error != 0)
        snprintf(reason, BC_DEVICE_REASON_LENGTH, "device %d: the %s driver reports %s (%d)",
                 facts->number, driver->library, bc_driver_error(driver, error), error);
    return error == 0;
}

struct bc_device *bc_device_open(int number, int node_rank, char *reason)
{
    struct bc_device *const device = bc_allocate(1, sizeof *device, "no memory for a device");
    if (!bc_driver_open(&device->driver, reason, BC_DEVICE_REASON_LENGTH)) {
        free(device);
        return NULL;
    }
    if (choose(device, number, node_rank, reason))
        return device;
    bc_device_close(device);
    return NULL;
}

void bc_device_close(struct bc_device *device)
{
    const struct bc_driver *const driver = &device->driver;
    if (device->scratch != NULL)
        driver->release(device->scratch);
    if (device->begin != NULL)
        driver->destroy_event(device->begin);
    if (device->end != NULL)
        driver->destroy_event(device->end);
    if (device->stream != NULL)
        driver->destroy_stream(device->stream);
    if (device->module != NULL)
        driver->unload(device->module);
    if (device->is_used)
        bc_driver_release(driver, device->handle);
    bc_driver_close(&device->driver);
    free(device);
}

const struct bc_device_facts *bc_device_facts(const struct bc_device *device)
{
    return &device->facts;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *bc_device_allocate(struct bc_device *device, enum bc_memory memory, size_t bytes)
{
    enum { FOR_ALL = 1 }; /* contexts, and streams */
    void *start = NULL;
    int error;
    if (memory == BC_MEMORY_PINNED)
        error = device->driver.allocate_pinned(&start, bytes, FOR_ALL);
    else if (memory == BC_MEMORY_DEVICE)
        error = device->driver.allocate(&start, bytes);
    else
        error = device->driver.allocate_managed(&start, bytes, FOR_ALL);
    return error == 0 ? start : NULL;
}

void bc_device_free(struct bc_device *device, enum bc_memory memory, void *start)
{
    if (memory == BC_MEMORY_PINNED)
        CHECK(device, device->driver.release_pinned(start));
    else
        CHECK(device, device->driver.release(start));
}

void bc_device_copy(struct bc_device *device, void *to, const void *from, size_t bytes)
{
    CHECK(device, bc_driver_copy(&device->driver, to, from, bytes));
}

/* Waits for copies, which run on the driver's default stream (NULL). A copy from unpinned memory
   may return early, and kernels on another stream would read old data. */
static void wait_for_copies(const struct bc_device *device)
{
    CHECK(device, device->driver.synchronize(NULL));
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void launch(struct bc_device *device, void *kernel, unsigned groups, unsigned threads,
                   void **arguments)
{
    CHECK(device, device->driver.launch(kernel, groups, 1, 1, threads, 1, 1, 0, device->stream,
                                        arguments, NULL));
}

/* Launches one thread per value, or fewer threads with several values each. */
static void launch_for(struct bc_device *device, void *kernel, size_t count, void **arguments)
{
    const size_t groups = (count + THREADS - 1) / THREADS;
    if (count > 0)
        launch(device, kernel, groups < GROUPS_MAX ? (unsigned)groups : GROUPS_MAX, THREADS,
               arguments);
}

void bc_device_move(struct bc_device *device, double *to, const double *from, size_t count)
{
    uint64_t values = count;
    wait_for_copies(device);
    launch_for(device, device->move, count, (void *[]){&to, &from, &values});
}

bool bc_device_is_equal(struct bc_device *device, const double *a, const double *b, size_t count)
{
    uint64_t values = count, differ = 0;
    bc_device_wait(device);
    bc_device_copy(device, device->scratch, &differ, sizeof differ);
    wait_for_copies(device);
    launch_for(device, device->compare, count, (void *[]){&a, &b, &values, &device->scratch});
    bc_device_wait(device);
    bc_device_copy(device, &differ, device->scratch, sizeof differ);
    return differ == 0;
}

void bc_device_wait(struct bc_device *device)
{
    wait_for_copies(device);
    bc_device_synchronize(device);
}

/* ---- for timed regions ----------------------------------------------------------------------- */

void bc_device_gather(struct bc_device *device, double *to, const double *from,
                      const int64_t *places, size_t count)
{
    uint64_t values = count;
    launch_for(device, device->gather, count, (void *[]){&to, &from, &places, &values});
}

void bc_device_scatter(struct bc_device *device, double *to, const double *from,
                       const int64_t *places, size_t count)
{
    uint64_t values = count;
    launch_for(device, device->scatter, count, (void *[]){&to, &from, &places, &values});
}

void bc_device_copy_later(struct bc_device *device, void *to, const void *from, size_t bytes)
{
    CHECK(device, bc_driver_copy_later(&device->driver, to, from, bytes, device->stream));
}

void bc_device_synchronize(struct bc_device *device)
{
    CHECK(device, device->driver.synchronize(device->stream));
}

void bc_device_compute(struct bc_device *device, uint64_t steps)
{
    launch(device, device->compute, 1, 1, (void *[]){&device->scratch, &steps});
}

double bc_device_compute_alone_ns(struct bc_device *device, uint64_t lead_steps, uint64_t steps)
{
    const struct bc_driver *const driver = &device->driver;
    float ms = 0.0F;
    bc_device_compute(device, lead_steps);
    CHECK(device, driver->record(device->begin, device->stream));
    bc_device_compute(device, steps);
    CHECK(device, driver->record(device->end, device->stream));
    bc_device_synchronize(device);
    CHECK(device, driver->elapsed(&ms, device->begin, device->end));
    return 1e6 * (double)ms;
}
