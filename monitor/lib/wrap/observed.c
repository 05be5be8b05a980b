/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/observed.h"

#include "monitor/lib/count/handles.h"
#include "monitor/lib/count/loaded_object.h"
#include "monitor/lib/report/unknown_layer.h"
#include "monitor/lib/wrap/next.h"

#include <dlfcn.h>
#include <link.h>

_Thread_local const void *observed_function;

/* Layers and tools that have called MPI. */
enum { LAYERS_MAX = 8 };
static struct {
    uintptr_t start, end;
} layers[LAYERS_MAX];
static int layers_used; /* atomic */

/* Names of the functions in `next`. */
static const char *const names[] = {
#define NEXT(Name) "MPI_" #Name,
#include "monitor/lib/count/next_functions.h"
#undef NEXT
};

static const char *name_of(const void *function)
{
    const size_t offset = (size_t)((const char *)function - (const char *)&next);
    return names[offset / sizeof(void (*)(void))];
}

/* True if the object itself defines the symbol. A program that takes the address of a function may
   have an undefined symbol with a value. */
static bool defines(void *library, const struct loaded_object *object, const char *symbol)
{
    Dl_info info;
    ElfW(Sym) *entry = NULL;
    void *const found = dlsym(library, symbol);
    return found != NULL && (uintptr_t)found >= object->start && (uintptr_t)found < object->end &&
           dladdr1(found, &info, (void **)&entry, RTLD_DL_SYMENT) != 0 && entry != NULL &&
           entry->st_shndx != SHN_UNDEF;
}

/* A layer has names of Fortran's MPI_Init. A tool has the C function. */
static bool is_layer(const struct loaded_object *object, const char *function)
{
    bool found = is_layer_name(object->path);
    void *const library =
        dlopen(object->path[0] != '\0' ? object->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return true; /* so the call doesn't count twice */
    for (int i = 0; !found && layer_names[i] != NULL; i++)
        found = defines(library, object, layer_names[i]);
    found = found || defines(library, object, function);
    (void)dlclose(library);
    return found;
}

static void keep(const struct loaded_object *object)
{
    monitor_lock();
    if (layers_used < LAYERS_MAX) {
        layers[layers_used].start = object->start;
        layers[layers_used].end = object->end;
        __atomic_store_n(&layers_used, layers_used + 1, __ATOMIC_RELEASE);
    }
    monitor_unlock();
}

/* Not inlined: the object's path is large. */
__attribute__((noinline)) static bool look_up(const void *function, uintptr_t address)
{
    struct loaded_object object;
    if (!loaded_object_find(address, &object))
        return true;
    const bool found = is_layer(&object, name_of(function));
    if (found)
        keep(&object);
    return found;
}

bool is_call_of_layer(const void *function, const void *return_address)
{
    const uintptr_t address = (uintptr_t)return_address;
    const int used = __atomic_load_n(&layers_used, __ATOMIC_ACQUIRE);
    for (int i = 0; i < used; i++)
        if (address >= layers[i].start && address < layers[i].end)
            return true;
    return look_up(function, address);
}
