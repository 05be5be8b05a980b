/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's GPU: its memory, copies, kernels that fill and compare, and its properties. The driver's
 * library is loaded at run time (driver.h).
 *
 * All functions are local. A driver error ends the job with the function, the rank and the driver's
 * text, except in bc_device_open and bc_device_allocate.
 */
#pragma once

#include "common/memory/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Properties of a device. */
struct bc_device_facts {
    const char *library; /* "CUDA" or "HIP" */
    int version;         /* driver version as the library numbers it */
    char name[128];
    char pci[32];      /* "0000:3b:00.0" */
    int numa_node;     /* -1: not known */
    int number;        /* 0 to devices - 1 */
    int devices;       /* number of devices that this process sees */
    size_t free_bytes; /* free device memory when the device was opened */
};

#define BC_DEVICE_REASON_LENGTH 256

/* Loads the driver and opens device `number` (-1: device `node_rank` modulo the devices) for this
   process. Returns NULL on failure, with a reason of at most BC_DEVICE_REASON_LENGTH characters. */
struct bc_device *bc_device_open(int number, int node_rank, char *reason);

/* Closes the device. Call it after MPI_Finalize: until then an MPI library may use its context. */
void bc_device_close(struct bc_device *device);

const struct bc_device_facts *bc_device_facts(const struct bc_device *device);

/* Allocates memory of any kind except BC_MEMORY_HOST, not cleared. Returns NULL if there is none
   left. Free it as the same kind. */
void *bc_device_allocate(struct bc_device *device, enum bc_memory memory, size_t bytes);
void bc_device_free(struct bc_device *device, enum bc_memory memory, void *start);

/* Copies between any memory. On return the host may reuse the source and read the destination;
   later bc_device_move and bc_device_is_equal see the copy; MPI, and the calls for timed regions,
   see it after bc_device_wait. */
void bc_device_copy(struct bc_device *device, void *to, const void *from, size_t bytes);

/* Starts a kernel that copies `count` doubles between memory of any kind except BC_MEMORY_HOST. */
void bc_device_move(struct bc_device *device, double *to, const double *from, size_t count);

/* True if `count` doubles are the same in every bit, by a kernel. Waits for all kernels. */
bool bc_device_is_equal(struct bc_device *device, const double *a, const double *b, size_t count);

void bc_device_wait(struct bc_device *device);

/* ---- for timed regions: one call of the driver each ------------------------------------------
   The device runs these calls in order, concurrently with the host. If they use data from
   bc_device_copy, call bc_device_wait first. */

/* Kernels of `count` doubles: to[i] = from[places[i]], and to[places[i]] = from[i]. Memory is of
   any kind except BC_MEMORY_HOST. */
void bc_device_gather(struct bc_device *device, double *to, const double *from,
                      const int64_t *places, size_t count);
void bc_device_scatter(struct bc_device *device, double *to, const double *from,
                       const int64_t *places, size_t count);

/* Starts a kernel that computes in one thread, in a time linear in `steps`. */
void bc_device_compute(struct bc_device *device, uint64_t steps);

/* Starts a copy between memory of any kind except BC_MEMORY_HOST. */
void bc_device_copy_later(struct bc_device *device, void *to, const void *from, size_t bytes);

/* Returns when all started kernels and copies have ended, except those of bc_device_copy. */
void bc_device_synchronize(struct bc_device *device);

/* Returns the time of the kernel of bc_device_compute alone in ns, by the device's events, whose
   resolution is half a microsecond. A kernel of `lead_steps` keeps the device busy until the host
   has started all, so the launch of a kernel isn't part of the time. Waits for all kernels. */
double bc_device_compute_alone_ns(struct bc_device *device, uint64_t lead_steps, uint64_t steps);
