/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values as users write them. A function parses the whole text, or returns false and leaves the
 * value unchanged, also for NULL and "".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a decimal whole number, with an optional sign. */
bool bc_parse_integer(const char *text, int64_t *value);

/* Parses a finite decimal number, with an optional fraction and exponent. */
bool bc_parse_real(const char *text, double *value);

/* Parses a number in percent: "2" and "2%" are 2.0. */
bool bc_parse_percent(const char *text, double *value);

/* Parses a size or count, 0 or more, with an optional K, M or G (binary; upper or lower case). */
bool bc_parse_size(const char *text, int64_t *value);

/* Returns false for "", "0", "no" and "false" (any case), true for everything else. */
bool bc_parse_boolean(const char *text);

/* Sizes in the order in which they were written. */
struct bc_size_list {
    const char *text; /* text of a constant default, which bc_options_add parses */
    int64_t *values;  /* allocated; freed by bc_size_list_free */
    size_t count;
};

/* Parses a comma-separated list of at most 4096 sizes and ranges: `A:B` (1 <= A <= B) is A, 2 A,
   4 A … up to B. Frees the list's earlier values. */
bool bc_parse_size_list(const char *text, struct bc_size_list *list);

/* Returns the largest size; 0 for an empty list. */
int64_t bc_size_list_max(const struct bc_size_list *list);

/* Returns true if no earlier size of the list equals sizes->values[i]. */
bool bc_size_list_is_first(const struct bc_size_list *sizes, size_t i);

void bc_size_list_free(struct bc_size_list *list);
