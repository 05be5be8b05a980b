/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading, printing and sending the values of option tables. Internal to common/run. All functions
 * are local. If memory runs out, the job ends.
 */
#pragma once

#include "common/result/text.h"
#include "common/run/options.h"

#include <stdio.h>

/* The source of a value. A later source beats an earlier one. */
enum bc_option_source { BC_FROM_DEFAULT, BC_FROM_ENVIRONMENT, BC_FROM_ARGUMENT };

/* Row of a table, with its value. */
struct bc_option_entry {
    const struct bc_option *option;
    void *value; /* in the caller's struct */
    enum bc_option_source source;
    int place; /* BC_FROM_ARGUMENT, on rank 0: the number of the word that set the value, from 1 */
    char variable[128]; /* BC_FROM_ENVIRONMENT: the variable that set the value */
};

/* Looks up a variable, as getenv does. */
typedef const char *bc_lookup_fn(const char *name);

/* Appends a table; `values`, the struct that its rows fill, holds the defaults. A struct bc_options
   of zeros has no options. Free it with bc_options_free. */
void bc_options_add(struct bc_options *options, struct bc_option_rows table, void *values);

void bc_options_free(struct bc_options *options);

/* Reads the environment, then the command line, which beats it; skips argv[0]. False with the error
   set at the first fault; values that were set before stay. */
bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error);

/* Returns the option with this long name; NULL if there is none. */
const struct bc_option_entry *bc_options_find(const struct bc_options *options,
                                              const char *long_name);

/* Prints all options with their help, defaults and variables: the first `own` ones, which are the
   program's, and below a second heading those of all programs. The values must be the defaults. */
void bc_options_help(FILE *stream, const struct bc_options *options, size_t own);

/* Returns all values and their sources, for bc_options_decode on another rank. The caller frees the
   text. */
struct bc_text bc_options_encode(const struct bc_options *options);

/* Sets the values from bc_options_encode of the same tables, and takes ownership of the allocated
   text. Returns false if it doesn't fit the tables. */
bool bc_options_decode(struct bc_options *options, char *text, size_t length);

/* ---- a value (option_values.c) --------------------------------------------------------------- */

/* Sets the option's value from `text` (NULL for a flag without a value), which was given to the
   option or variable `name`. `limited` is true if a user wrote it: limits then apply, and a list
   must not be empty. Returns false with the error set if it isn't valid. */
bool bc_value_set(const struct bc_option_entry *entry, const char *name, const char *text,
                  bool limited, struct bc_error *error);

/* Returns the value as a text that parses back to it. For people, the option's `zero` replaces a 0.
   The caller frees it. */
char *bc_option_text(const struct bc_option_entry *entry, bool for_people);

/* Sets names->chosen for the comma-separated names, or `all`, in names->text. Case and the
   characters space, `-` and `_` are ignored: "many-put" is "many put". Returns false with the error
   set, which names the option or variable `given_to`, if a name is not in the list. */
bool bc_names_choose(const char *given_to, struct bc_names *names, bc_name_fn *name_at, int count,
                     struct bc_error *error);

/* Appends the names, each once, with `separator` in between. Returns their number. */
int bc_append_names(struct bc_text *text, bc_name_fn *name_at, int count, const char *separator);
