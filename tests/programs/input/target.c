#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void must(int condition, const char *text)
{
    if (condition)
        return;
    (void)fprintf(stderr, "must be: %s\n", text);
    abort();
}

char *text_of(const uint8_t *bytes, size_t count)
{
    char *const text = malloc(count + 1);
    must(text != NULL, "memory for the bytes");
    if (count > 0)
        memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}
