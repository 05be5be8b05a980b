/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded objects: the program and its shared objects. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct loaded_object {
    uintptr_t base;       /* difference between addresses in memory and in the file */
    uintptr_t start, end; /* of its segments in memory */
    char path[4096];      /* empty: the program */
};

/* Finds the object that has an address. False if there is none. Local. */
bool loaded_object_find(uintptr_t address, struct loaded_object *object);
