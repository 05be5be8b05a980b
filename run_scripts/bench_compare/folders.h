/*
 * What is in a folder. All local.
 */
#ifndef COMMCOST_BENCH_COMPARE_FOLDERS_H
#define COMMCOST_BENCH_COMPARE_FOLDERS_H

#include "common/run/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Allocated texts, freed with free_texts. */
struct paths {
    char **paths;
    size_t count;
};

bool is_folder(const char *path);

/* Adds the paths of a folder's entries, in order: its folders, or its files called
   *.tsv. Hidden ones are left out. A folder that can't be read has none. False without
   memory. */
bool list(struct paths *found, const char *folder, bool folders, struct bc_error *error);

/* The same for the *.tsv files in each folder of a folder. */
bool list_below(struct paths *found, const char *folder, struct bc_error *error);

#endif
