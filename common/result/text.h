/* Growable string. */
#ifndef COMMCOST_COMMON_RESULT_TEXT_H
#define COMMCOST_COMMON_RESULT_TEXT_H

#include <stddef.h>

/* All zeros is an empty string, without memory. */
struct bc_text {
    char *start; /* NULL, or ends in '\0'; the owner frees it */
    size_t length, capacity;
};

/* Appends what printf would write. Without memory the job ends. Local. */
void bc_text_append(struct bc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
