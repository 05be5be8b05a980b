#include "common/machine/system_file.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *text, int64_t *numbers, int count)
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

bool bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...)
{
    char whole[PATH_MAX], line[256];
    bool found = false;
    va_list arguments;
    va_start(arguments, path);
    const int length = vsnprintf(whole, sizeof whole, path, arguments);
    va_end(arguments);
    FILE *const file = length < (int)sizeof whole ? fopen(whole, "r") : NULL;
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found =
            strncmp(line, word, strlen(word)) == 0 && parse(line + strlen(word), numbers, count);
    fclose(file);
    return found;
}
