#include "run_scripts/bench_compare/folders.h"

#include "run_scripts/bench_compare/storage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_tsv(const char *path)
{
    struct stat status;
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".tsv") == 0 && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

bool list(struct paths *found, const char *folder, bool folders, struct bc_error *error)
{
    DIR *const stream = opendir(folder);
    const size_t before = found->count;
    bool good = true;
    for (struct dirent *entry; good && stream != NULL && (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        const size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        char *const path = malloc(size);
        if (path == NULL) {
            good = no_memory(error);
            break;
        }
        snprintf(path, size, "%s/%s", folder, entry->d_name);
        if (folders ? !is_folder(path) : !is_tsv(path)) {
            free(path);
        } else if (!make_room(&found->paths, found->count, sizeof *found->paths)) {
            free(path);
            good = no_memory(error);
        } else {
            found->paths[found->count++] = path;
        }
    }
    if (stream != NULL)
        closedir(stream);
    if (found->count > before)
        qsort(found->paths + before, found->count - before, sizeof *found->paths, compare_texts);
    return good;
}

bool list_below(struct paths *found, const char *folder, struct bc_error *error)
{
    struct paths folders = {NULL, 0};
    bool good = list(&folders, folder, true, error);
    for (size_t i = 0; good && i < folders.count; i++)
        good = list(found, folders.paths[i], false, error);
    free_texts(folders.paths, folders.count);
    return good;
}
