/*
 * A rank's GPU: memory that buffers may lie in, copies, kernels that fill and compare, and what is
 * known of it. The driver's library is loaded at run time (driver.h).
 *
 * All functions are local. An error of the driver ends the job with the function, the rank and the
 * driver's text, but for bc_device_open and bc_device_allocate.
 */
#pragma once

#include "common/memory/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a device. */
struct bc_device_facts {
    const char *library; /* "CUDA" or "HIP" */
    int version;         /* of the driver, as the library numbers it */
    char name[128];
    char pci[32];      /* "0000:3b:00.0" */
    int numa_node;     /* -1: not known */
    int number;        /* 0 to devices - 1 */
    int devices;       /* that this process sees */
    size_t free_bytes; /* of its memory, when it was opened */
};

#define BC_DEVICE_REASON_LENGTH 256

/* Loads the driver and makes device `number` this process's. NULL with a reason of at most
   BC_DEVICE_REASON_LENGTH characters: no driver, no device of this number, or what the driver says.
   number = -1: device `node_rank` modulo the devices. */
struct bc_device *bc_device_open(int number, int node_rank, char *reason);

/* After MPI_Finalize: an MPI library may use the same context until then. */
void bc_device_close(struct bc_device *device);

const struct bc_device_facts *bc_device_facts(const struct bc_device *device);

/* Memory of one of the kinds but BC_MEMORY_HOST, which isn't set; NULL without room. Free with the
   same kind. */
void *bc_device_allocate(struct bc_device *device, enum bc_memory memory, size_t bytes);
void bc_device_free(struct bc_device *device, enum bc_memory memory, void *start);

/* Copies between memory of any kinds. On return the source may be written, and a destination on the
   host read; kernels that are started afterwards see the copy, MPI after bc_device_wait. */
void bc_device_copy(struct bc_device *device, void *to, const void *from, size_t bytes);

/* Starts a kernel that copies `count` doubles between memory of any kinds but BC_MEMORY_HOST. */
void bc_device_move(struct bc_device *device, double *to, const double *from, size_t count);

/* Whether `count` doubles are the same in every bit, by a kernel. Waits for all kernels. */
bool bc_device_is_equal(struct bc_device *device, const double *a, const double *b, size_t count);

/* Returns when all kernels and copies have ended. */
void bc_device_wait(struct bc_device *device);

/* ---- for timed regions: one call of the driver each ------------------------------------------
 *
 * These start on the device, which runs them one after the other beside the host. What
 * bc_device_copy brought must have been waited for by bc_device_wait. */

/* Kernels of `count` doubles: to[i] = from[places[i]], and to[places[i]] = from[i]. All memory is
   of any kind but BC_MEMORY_HOST. */
void bc_device_gather(struct bc_device *device, double *to, const double *from,
                      const int64_t *places, size_t count);
void bc_device_scatter(struct bc_device *device, double *to, const double *from,
                       const int64_t *places, size_t count);

/* A kernel that computes in one thread, in a time linear in `steps`. */
void bc_device_compute(struct bc_device *device, uint64_t steps);

/* A copy, of any memory but BC_MEMORY_HOST. */
void bc_device_copy_later(struct bc_device *device, void *to, const void *from, size_t bytes);

/* Returns when all that these and bc_device_move have started has ended. */
void bc_device_synchronize(struct bc_device *device);

/* The time of the kernel bc_device_compute alone in ns, by the device's events: to half a
   microsecond, as the drivers say. A kernel of `lead_steps` runs before it and keeps the device
   busy until the host has started all, so that the time to start a kernel doesn't count. Returns
   when all has ended. */
double bc_device_compute_alone_ns(struct bc_device *device, uint64_t lead_steps, uint64_t steps);
