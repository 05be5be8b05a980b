/*
 * A folder of made-up system files, for tests of code that reads the system's own. Include it in
 * one source file of a program, compiled with _GNU_SOURCE (nftw).
 */
#ifndef COMMCOST_TESTS_MADE_UP_FILES_H
#define COMMCOST_TESTS_MADE_UP_FILES_H

#include "helpers.h"
#include "streams.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

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

/* A test that has an empty folder. */

#endif
