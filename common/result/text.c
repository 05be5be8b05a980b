#include "common/result/text.h"

#include "common/mpi/mpi_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bc_text_append(struct bc_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t length = written > 0 ? (size_t)written : 0;
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->start = realloc(text->start, text->capacity);
        if (text->start == NULL)
            bc_abort("no memory for a text of %zu bytes", text->capacity);
    }
    va_start(arguments, format);
    vsnprintf(text->start + text->length, length + 1, format, arguments);
    va_end(arguments);
    text->length += length;
}
