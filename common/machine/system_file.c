#include "common/machine/system_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bc_parse_integers(const char *text, int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtoll(text, &end, 10);
        if (end == text)
            return false;
        text = end;
    }
    return true;
}

bool bc_system_numbers(const char *folder, const char *name, const char *word, int64_t *numbers,
                       int count)
{
    char path[PATH_MAX], line[256];
    bool found = false;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, word, strlen(word)) == 0 &&
                bc_parse_integers(line + strlen(word), numbers, count);
    fclose(file);
    return found;
}
