#include "common/machine/system_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bc_system_number(const char *folder, const char *name, const char *word, int64_t *number)
{
    char path[PATH_MAX], line[256], *end = NULL;
    bool found = false;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0) {
            const char *const digits = line + strlen(word);
            *number = strtoll(digits, &end, 10);
            found = end != digits;
        }
    fclose(file);
    return found;
}
