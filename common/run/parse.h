/*
 * Values as users write them. Functions with a value to set take the whole text or none of it: on
 * bad input, such as NULL and the empty string, they return false and leave the value as it was.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal whole number, with an optional sign. */
bool bc_parse_integer(const char *text, int64_t *value);

/* A finite decimal number, with an optional fraction and exponent. */
bool bc_parse_real(const char *text, double *value);

/* A number in percent; a final `%` may stand or not: "2" and "2%" are 2.0. */
bool bc_parse_percent(const char *text, double *value);

/* A size or count, 0 or more: a whole number, optionally followed by K, M or G
   (binary: 1024, 1024 K, 1024 M; upper or lower case). */
bool bc_parse_size(const char *text, int64_t *value);

/* A boolean variable: false for "", "0", "no" and "false" (any case), true for everything else. */
bool bc_parse_boolean(const char *text);

/* Sizes in the order in which they were written. */
struct bc_size_list {
    const char *text; /* of a default that is a constant: the list as users write it, which
                         bc_options_add reads; else NULL */
    int64_t *values;  /* allocated; freed by bc_size_list_free */
    size_t count;
};

/* A comma-separated list of sizes and ranges. `A:B` (1 <= A <= B) is A, 2 A, 4 A … up to B:
   "8,1K,1M", "1:4M", "0,2:4M". At most 4096 values. Frees the list's earlier values. */
bool bc_parse_size_list(const char *text, struct bc_size_list *list);

/* The largest size; 0 of an empty list. */
int64_t bc_size_list_max(const struct bc_size_list *list);

/* Whether no earlier size of the list is the same as sizes->values[i]. */
bool bc_size_list_is_first(const struct bc_size_list *sizes, size_t i);

void bc_size_list_free(struct bc_size_list *list);
