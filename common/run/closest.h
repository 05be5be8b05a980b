/*
 * Which of several names a user meant who mistyped one.
 */
#pragma once

#include <stddef.h>

/* The best name so far for `word`. Begin with the word alone. */
struct bc_closest {
    const char *word;
    size_t length;    /* of the word; the word needs no '\0' behind it */
    const char *name; /* NULL: none is close enough */
    size_t distance;  /* from the word to the name, in edits */
};

/* Takes `name` if it is closer to the word than all names before it, and close enough to be meant:
   at most one edit for each three characters of the word, and three in all. An edit inserts,
   deletes or replaces a character, or swaps two neighbours (the optimal string alignment distance:
   R. A. Wagner and R. Lowrance, "An extension of the string-to-string correction problem", J. ACM
   22, 1975). Upper and lower case are the same, and so are space, `-` and `_`. Keeps the name's
   address. Local. */
void bc_closest_try(struct bc_closest *closest, const char *name);
