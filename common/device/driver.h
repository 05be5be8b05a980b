/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU drivers: NVIDIA's CUDA driver API (libcuda.so.1), or AMD's HIP (libamdhip64.so, and
 * libhiprtc.so, which compiles kernels). The libraries are loaded at run time, by programs that use
 * a device.
 *
 * Both libraries have the same functions under different names, with the same arguments in
 * registers, so device addresses are pointers here. driver.c contains the differences. The
 * declarations follow "CUDA Driver API" (NVIDIA, version 13.0) and "HIP Runtime API Reference"
 * (AMD, version 6.4). Functions return 0 or the library's error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* FUNCTION(member, CUDA's name, HIP's name, arguments) */
#define BC_DRIVER_FUNCTIONS(FUNCTION)                                                              \
    FUNCTION(start, "cuInit", "hipInit", (unsigned flags))                                         \
    FUNCTION(version, "cuDriverGetVersion", "hipDriverGetVersion", (int *version))                 \
    FUNCTION(count, "cuDeviceGetCount", "hipGetDeviceCount", (int *devices))                       \
    FUNCTION(get, "cuDeviceGet", "hipDeviceGet", (int *device, int number))                        \
    FUNCTION(name, "cuDeviceGetName", "hipDeviceGetName", (char *name, int length, int device))    \
    FUNCTION(pci, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId",                                   \
             (char *id, int length, int device))                                                   \
    FUNCTION(room, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t * free_bytes, size_t * all_bytes))  \
    FUNCTION(allocate, "cuMemAlloc_v2", "hipMalloc", (void **start, size_t bytes))                 \
    FUNCTION(allocate_managed, "cuMemAllocManaged", "hipMallocManaged",                            \
             (void **start, size_t bytes, unsigned flags))                                         \
    FUNCTION(release, "cuMemFree_v2", "hipFree", (void *start))                                    \
    FUNCTION(allocate_pinned, "cuMemHostAlloc", "hipHostMalloc",                                   \
             (void **start, size_t bytes, unsigned flags))                                         \
    FUNCTION(release_pinned, "cuMemFreeHost", "hipHostFree", (void *start))                        \
    FUNCTION(create_stream, "cuStreamCreate", "hipStreamCreateWithFlags",                          \
             (void **stream, unsigned flags))                                                      \
    FUNCTION(destroy_stream, "cuStreamDestroy_v2", "hipStreamDestroy", (void *stream))             \
    FUNCTION(synchronize, "cuStreamSynchronize", "hipStreamSynchronize", (void *stream))           \
    FUNCTION(create_event, "cuEventCreate", "hipEventCreateWithFlags",                             \
             (void **event, unsigned flags))                                                       \
    FUNCTION(destroy_event, "cuEventDestroy_v2", "hipEventDestroy", (void *event))                 \
    FUNCTION(record, "cuEventRecord", "hipEventRecord", (void *event, void *stream))               \
    FUNCTION(elapsed, "cuEventElapsedTime", "hipEventElapsedTime",                                 \
             (float *ms, void *from, void *to))                                                    \
    FUNCTION(load, "cuModuleLoadData", "hipModuleLoadData", (void **module, const void *image))    \
    FUNCTION(unload, "cuModuleUnload", "hipModuleUnload", (void *module))                          \
    FUNCTION(find, "cuModuleGetFunction", "hipModuleGetFunction",                                  \
             (void **function, void *module, const char *name))                                    \
    FUNCTION(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                    \
             (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
              unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,             \
              void **arguments, void **extra))

/* FUNCTION(member, name, result, arguments) for the functions of one library only. */
#define BC_CUDA_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(cuda_retain, "cuDevicePrimaryCtxRetain", int, (void **context, int device))           \
    FUNCTION(cuda_release, "cuDevicePrimaryCtxRelease_v2", int, (int device))                      \
    FUNCTION(cuda_use, "cuCtxSetCurrent", int, (void *context))                                    \
    FUNCTION(cuda_copy, "cuMemcpy", int, (void *to, const void *from, size_t bytes))               \
    FUNCTION(cuda_copy_later, "cuMemcpyAsync", int,                                                \
             (void *to, const void *from, size_t bytes, void *stream))                             \
    FUNCTION(cuda_error, "cuGetErrorString", int, (int error, const char **text))

#define BC_HIP_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(hip_use, "hipSetDevice", int, (int device))                                           \
    FUNCTION(hip_copy, "hipMemcpy", int, (void *to, const void *from, size_t bytes, int kind))     \
    FUNCTION(hip_copy_later, "hipMemcpyAsync", int,                                                \
             (void *to, const void *from, size_t bytes, int kind, void *stream))                   \
    FUNCTION(hip_error, "hipGetErrorString", const char *, (int error))

/* Functions of libhiprtc.so. */
#define BC_HIPRTC_FUNCTIONS(FUNCTION)                                                              \
    FUNCTION(create, "hiprtcCreateProgram", int,                                                   \
             (void **program, const char *source, const char *name, int headers,                   \
              const char **header_texts, const char **header_names))                               \
    FUNCTION(compile, "hiprtcCompileProgram", int,                                                 \
             (void *program, int options, const char **option_texts))                              \
    FUNCTION(code_size, "hiprtcGetCodeSize", int, (void *program, size_t *bytes))                  \
    FUNCTION(code, "hiprtcGetCode", int, (void *program, char *code))                              \
    FUNCTION(destroy, "hiprtcDestroyProgram", int, (void **program))

struct bc_driver {
    const char *library; /* "CUDA" or "HIP" */
    void *handle;        /* from dlopen */
#define BC_DRIVER_MEMBER(member, cuda, hip, arguments) int(*member) arguments;
    BC_DRIVER_FUNCTIONS(BC_DRIVER_MEMBER)
#undef BC_DRIVER_MEMBER
    /* Functions of the other library are NULL. */
#define BC_DRIVER_MEMBER(member, name, result, arguments) result(*member) arguments;
    BC_CUDA_FUNCTIONS(BC_DRIVER_MEMBER)
    BC_HIP_FUNCTIONS(BC_DRIVER_MEMBER)
#undef BC_DRIVER_MEMBER
};

/* Loads and starts the first library found. Returns false, with a reason of at most `length`
   characters, if there is none. Local. */
bool bc_driver_open(struct bc_driver *driver, char *reason, size_t length);
void bc_driver_close(struct bc_driver *driver);

/* Selects the device for the calling thread, with CUDA by its primary context, which an MPI library
   shares. bc_driver_release gives the context back. Local. */
int bc_driver_use(const struct bc_driver *driver, int device);
void bc_driver_release(const struct bc_driver *driver, int device);

/* Copies between any memory. On return the host may reuse the source and read the destination.
   Local. */
int bc_driver_copy(const struct bc_driver *driver, void *to, const void *from, size_t bytes);

/* Starts a copy on a stream. With unpinned host memory it may block until the copy ends. */
int bc_driver_copy_later(const struct bc_driver *driver, void *to, const void *from, size_t bytes,
                         void *stream);

/* Makes the module of kernels.h. */
int bc_driver_load_kernels(const struct bc_driver *driver, void **module);

/* Returns the library's text of an error; valid until the driver is closed. */
const char *bc_driver_error(const struct bc_driver *driver, int error);
