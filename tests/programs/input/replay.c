/*
 * Gives the files of a corpus to a target, without libFuzzer.
 *
 * usage: fuzz_TARGET_replay FILE|FOLDER...
 */
#include "target.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int files;

/* Exactly as many bytes as there are, so that a sanitizer sees what reads beyond them. */
static void replay(const char *path)
{
    FILE *const stream = fopen(path, "rb");
    must(stream != NULL && fseek(stream, 0, SEEK_END) == 0, "a file that can be read");
    const long size = ftell(stream);
    must(size >= 0 && fseek(stream, 0, SEEK_SET) == 0, "a file with a size");
    uint8_t *const bytes = malloc((size_t)size + (size == 0));
    must(bytes != NULL && fread(bytes, 1, (size_t)size, stream) == (size_t)size,
         "a file that can be read");
    (void)fclose(stream);
    (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    files++;
}

static void replay_folder(const char *path, DIR *folder)
{
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char file[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        replay(file);
    }
}

int main(int argc, char **argv)
{
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        DIR *const folder = opendir(argv[i]);
        if (folder == NULL) {
            replay(argv[i]);
            continue;
        }
        replay_folder(argv[i], folder);
        (void)closedir(folder);
    }
    (void)printf("%d files\n", files);
    return files == 0;
}
