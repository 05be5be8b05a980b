/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/unknown_layer.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

const char *const layer_names[] = {"mpi_init_", "mpi_init__", "MPI_INIT", "mpi_init_f08_", NULL};

bool is_layer_name(const char *path)
{
    static const char *const parts[] = {"fort", "mpifh", "usempi"};
    const char *const slash = strrchr(path, '/'), *const file = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(file, "libmpi", 6) == 0 && strstr(file, parts[i]) != NULL)
            return true;
    return false;
}

/* True if a library, or one that it needs, has a name of MPI_Init that the monitor wraps. */
static bool is_known(const char *path)
{
    bool found = false;
    void *const layer = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; layer != NULL && layer_names[i] != NULL; i++)
        found = found || dlsym(layer, layer_names[i]) != NULL;
    if (layer != NULL)
        (void)dlclose(layer);
    return found;
}

/* A layer may have several libraries, of which one has the names. */
const char *unknown_layer(void)
{
    const char *unknown = NULL;
    struct link_map *object = NULL;
    void *const program = dlopen(NULL, RTLD_LAZY);
    if (program != NULL) {
        (void)dlinfo(program, RTLD_DI_LINKMAP, &object);
        (void)dlclose(program);
    }
    for (; object != NULL; object = object->l_next) {
        if (!is_layer_name(object->l_name))
            continue;
        if (is_known(object->l_name))
            return NULL;
        unknown = object->l_name;
    }
    return unknown;
}
