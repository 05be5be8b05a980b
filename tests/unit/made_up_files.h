/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder of made-up system files, for tests of code that reads the system's own. Include it in
 * one source file of a program that link_made_up_files is called for (CMakeLists.txt).
 */
#ifndef COMMCOST_TESTS_MADE_UP_FILES_H
#define COMMCOST_TESTS_MADE_UP_FILES_H

#include "helpers.h"
#include "streams.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* The root of /proc and /sys for the code under test; "": the machine's own. */
static const char *system_root = folder;

/* Where a file of the system is. */
static inline const char *path_of(const char *path, char *whole, size_t size)
{
    const bool is_system = strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
    snprintf(whole, size, "%s%s", is_system ? system_root : "", path);
    return whole;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker's names */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    char whole[512];
    return __real_fopen(path_of(path, whole, sizeof whole), mode);
}

int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status)
{
    char whole[512];
    return __real_stat(path_of(path, whole, sizeof whole), status);
}

/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* Writes a file, and makes the folders that it is in. */
static inline void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    write_text(path, text);
}

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/commcost_files_XXXXXX");
    system_root = folder;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *what, int type, struct FTW *place)
{
    (void)what;
    (void)type;
    (void)place;
    return remove(path);
}

static inline int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
