/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options as static tables: those of all programs are in settings.c, a program's own in its
 * parameters.c. Parsing, --help, metadata and the broadcast from rank 0 use the same rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The type of an option's value. */
enum bc_option_kind {
    BC_FLAG,      /* bool; --name, --name=yes, --name=no */
    BC_INTEGER,   /* int64_t */
    BC_REAL,      /* double */
    BC_PERCENT,   /* double, in percent */
    BC_SIZE,      /* int64_t with K, M, G */
    BC_SIZE_LIST, /* struct bc_size_list; a default needs only `text` */
    BC_CHOICE,    /* int: the index of one of `choices` */
    BC_NAMES,     /* struct bc_names: names from a list, or all */
    BC_TEXT       /* const char * */
};

#define BC_NAMES_MAX 32

/* The value of a BC_NAMES option. Only `text` needs a default. */
struct bc_names {
    const char *text;          /* as the user wrote it; the first member, as in a BC_TEXT */
    bool chosen[BC_NAMES_MAX]; /* by index of the name */
};

/* Returns the name at an index, which is below the list's length. */
typedef const char *bc_name_fn(int index);

/* Row of an option table. Members that a kind doesn't use stay 0. */
struct bc_option {
    const char *long_name;
    enum bc_option_kind kind;
    size_t at; /* offsetof the value in the caller's struct, which holds the default at first */
    char short_name;        /* or 0 */
    const char *alias;      /* a second long name, or NULL */
    const char *argument;   /* the value's name in --help: "N" */
    const char *help;       /* at most 12 words */
    const char *variables;  /* environment, separated by spaces; the first that is set is used */
    const char *choices;    /* BC_CHOICE: words separated by "|" */
    bc_name_fn *name_at;    /* BC_NAMES: the list, which --help prints */
    int name_count;         /* BC_NAMES: its length, at most BC_NAMES_MAX */
    double min, max;        /* numbers: limits, inclusive */
    const char *word;       /* numbers: a word that may replace the number */
    double word_value;      /* the word's value; limits don't apply to it */
    const char *zero;       /* numbers: the printed form of a default 0 that users can't give */
    const char *range_hint; /* the remedy in error messages; NULL: made from min and max */
    bool asks_help;         /* BC_FLAG: the program prints its help and exits */
    bool internal;          /* no parameter of the measurement (--output): not in the metadata */
};

struct bc_option_rows {
    const struct bc_option *rows;
    size_t count;
};

/* The options of a program: the rows of its tables, one table after the other (option_table.h). */
struct bc_options {
    struct bc_option_entry *entries;
    size_t count;
    char *received; /* the texts of the values from rank 0; NULL on rank 0 */
};

/* Returns true if the user gave this option, which must exist, or a variable set it. */
bool bc_option_given(const struct bc_options *options, const char *long_name);

#define BC_ERROR_LENGTH 512

/* One line with option, value and remedy; empty if nothing is wrong. */
struct bc_error {
    char text[BC_ERROR_LENGTH];
};

/* Sets the text, cut to its length and made plain (common/result/text.h). Always false. */
bool bc_error_set(struct bc_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
