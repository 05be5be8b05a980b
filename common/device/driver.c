/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/device/driver.h"

#include "common/device/kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The error for a missing function, in both libraries. */
enum { NOT_FOUND = 500 };

/* ---- loading --------------------------------------------------------------------------------- */

struct name {
    const char *name; /* NULL: the library has no such function */
    size_t at;        /* offsetof the pointer to it */
};

#define AT(member) offsetof(struct bc_driver, member)

static const struct name cuda_names[] = {
#define SHARED_ROW(member, cuda, hip, arguments) {cuda, AT(member)},
#define OWN_ROW(member, name, result, arguments) {name, AT(member)},
    BC_DRIVER_FUNCTIONS(SHARED_ROW) BC_CUDA_FUNCTIONS(OWN_ROW)
#undef SHARED_ROW
};

static const struct name hip_names[] = {
#define SHARED_ROW(member, cuda, hip, arguments) {hip, AT(member)},
    BC_DRIVER_FUNCTIONS(SHARED_ROW) BC_HIP_FUNCTIONS(OWN_ROW)
#undef SHARED_ROW
#undef OWN_ROW
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Fills in the pointers of `functions`. Returns the first missing name, or NULL. */
static const char *look_up(void *handle, const struct name *names, size_t count, void *functions)
{
    for (size_t i = 0; i < count; i++) {
        void *const symbol = dlsym(handle, names[i].name);
        if (symbol == NULL)
            return names[i].name;
        memcpy((char *)functions + names[i].at, &symbol, sizeof symbol);
    }
    return NULL;
}

static bool is_cuda(const struct bc_driver *driver) { return driver->cuda_use != NULL; }

/* True, with the reason, if no device of the library can be used. */
static bool refuses(struct bc_driver *driver, const char *missing, char *reason, size_t length)
{
    int error = 0, devices = 0;
    if (missing != NULL)
        snprintf(reason, length, "the %s driver has no function %s: install a newer one",
                 driver->library, missing);
    else if ((error = driver->start(0)) != 0 || (error = driver->count(&devices)) != 0)
        snprintf(reason, length, "the %s driver reports %s (%d)", driver->library,
                 bc_driver_error(driver, error), error);
    else if (devices == 0)
        snprintf(reason, length, "the %s driver has no device", driver->library);
    return missing != NULL || error != 0 || devices == 0;
}

bool bc_driver_open(struct bc_driver *driver, char *reason, size_t length)
{
    static const struct {
        const char *library, *file;
        const struct name *names;
        size_t count;
    } libraries[] = {{"CUDA", "libcuda.so.1", cuda_names, COUNT(cuda_names)},
                     {"HIP", "libamdhip64.so", hip_names, COUNT(hip_names)},
                     {"HIP", "libamdhip64.so.7", hip_names, COUNT(hip_names)},
                     {"HIP", "libamdhip64.so.6", hip_names, COUNT(hip_names)}};
    snprintf(reason, length, "no driver of a GPU: there is no libcuda.so.1 and no libamdhip64.so");
    for (size_t i = 0; i < COUNT(libraries); i++) {
        *driver = (struct bc_driver){.library = libraries[i].library,
                                     .handle = dlopen(libraries[i].file, RTLD_NOW)};
        if (driver->handle == NULL)
            continue;
        const char *const missing =
            look_up(driver->handle, libraries[i].names, libraries[i].count, driver);
        if (!refuses(driver, missing, reason, length))
            return true;
        bc_driver_close(driver);
    }
    return false;
}

void bc_driver_close(struct bc_driver *driver)
{
    if (driver->handle != NULL)
        dlclose(driver->handle);
    driver->handle = NULL;
}

/* ---- differences between the libraries ------------------------------------------------------- */

int bc_driver_use(const struct bc_driver *driver, int device)
{
    void *context = NULL;
    if (!is_cuda(driver))
        return driver->hip_use(device);
    const int error = driver->cuda_retain(&context, device);
    return error != 0 ? error : driver->cuda_use(context);
}

void bc_driver_release(const struct bc_driver *driver, int device)
{
    if (is_cuda(driver))
        driver->cuda_release(device);
}

enum { ANY_KIND = 4 }; /* HIP finds out where both ends lie */

int bc_driver_copy(const struct bc_driver *driver, void *to, const void *from, size_t bytes)
{
    return is_cuda(driver) ? driver->cuda_copy(to, from, bytes)
                           : driver->hip_copy(to, from, bytes, ANY_KIND);
}

int bc_driver_copy_later(const struct bc_driver *driver, void *to, const void *from, size_t bytes,
                         void *stream)
{
    return is_cuda(driver) ? driver->cuda_copy_later(to, from, bytes, stream)
                           : driver->hip_copy_later(to, from, bytes, ANY_KIND, stream);
}

const char *bc_driver_error(const struct bc_driver *driver, int error)
{
    const char *text = NULL;
    if (!is_cuda(driver) && driver->hip_error != NULL)
        text = driver->hip_error(error);
    else if (is_cuda(driver) && driver->cuda_error(error, &text) != 0)
        text = NULL;
    return text != NULL ? text : "an error";
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct compiler {
#define MEMBER(member, name, result, arguments) result(*member) arguments;
    BC_HIPRTC_FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct name compiler_names[] = {
#define ROW(member, name, result, arguments) {name, offsetof(struct compiler, member)},
    BC_HIPRTC_FUNCTIONS(ROW)
#undef ROW
};

/* Compiles bc_kernels_hip; the caller frees the code. Returns NULL with the error if it fails. */
static char *compile(const struct compiler *compiler, int *error)
{
    void *program = NULL;
    size_t bytes = 0;
    char *code = NULL;
    *error = compiler->create(&program, bc_kernels_hip, "commcost", 0, NULL, NULL);
    if (*error == 0)
        *error = compiler->compile(program, 0, NULL);
    if (*error == 0)
        *error = compiler->code_size(program, &bytes);
    if (*error == 0 && (code = malloc(bytes)) != NULL)
        *error = compiler->code(program, code);
    if (program != NULL)
        compiler->destroy(&program);
    return code;
}

static int load_hip(const struct bc_driver *driver, void **module)
{
    struct compiler compiler;
    static const char *const files[] = {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6"};
    void *handle = NULL;
    for (size_t i = 0; i < COUNT(files) && handle == NULL; i++)
        handle = dlopen(files[i], RTLD_NOW);
    if (handle == NULL || look_up(handle, compiler_names, COUNT(compiler_names), &compiler) != NULL)
        return NOT_FOUND;
    int error = 0;
    char *const code = compile(&compiler, &error);
    if (error == 0)
        error = code != NULL ? driver->load(module, code) : NOT_FOUND;
    free(code);
    dlclose(handle);
    return error;
}

int bc_driver_load_kernels(const struct bc_driver *driver, void **module)
{
    return is_cuda(driver) ? driver->load(module, bc_kernels_ptx) : load_hip(driver, module);
}
