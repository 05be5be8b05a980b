/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/loaded_object.h"

#include <link.h>
#include <stdio.h>

struct search {
    uintptr_t address;
    struct loaded_object *object;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct search *const search = data;
    struct loaded_object *const object = search->object;
    bool found = false;
    (void)size;
    object->start = UINTPTR_MAX;
    object->end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        found = found || (search->address >= start && search->address < end);
        object->start = start < object->start ? start : object->start;
        object->end = end > object->end ? end : object->end;
    }
    if (!found)
        return 0;
    object->base = info->dlpi_addr;
    (void)snprintf(object->path, sizeof object->path, "%s", info->dlpi_name);
    return 1;
}

bool loaded_object_find(uintptr_t address, struct loaded_object *object)
{
    struct search search = {address, object};
    return dl_iterate_phdr(search_object, &search) != 0;
}
