/*
 * Command-line options as static tables: what options are. Those of all programs are in settings.c,
 * a program's own in its parameters.c.
 *
 * Parsing, --help, the metadata of a result and the broadcast of the values from rank 0 all come
 * from the same rows. Nothing here calls MPI. Without memory the job ends.
 */
#pragma once

#include "common/result/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An option's kind says which type its value has. */
enum bc_option_kind {
    BC_FLAG,      /* bool; --name, --name=yes, --name=no */
    BC_INTEGER,   /* int64_t */
    BC_REAL,      /* double */
    BC_PERCENT,   /* double, in percent */
    BC_SIZE,      /* int64_t with K, M, G */
    BC_SIZE_LIST, /* struct bc_size_list; a default needs only `text` */
    BC_CHOICE,    /* int: the index of one of `choices` */
    BC_NAMES,     /* struct bc_names: some of a list of names, or all */
    BC_TEXT       /* const char *: into argv, the environment or what was received */
};

/* Where a value came from. A later source beats an earlier one. */
enum bc_option_source { BC_FROM_DEFAULT, BC_FROM_ENVIRONMENT, BC_FROM_ARGUMENT };

#define BC_NAMES_MAX 32

/* The value of a BC_NAMES option. Only `text` needs a default. */
struct bc_names {
    const char *text;          /* as the user wrote it; the first member, as in a BC_TEXT */
    bool chosen[BC_NAMES_MAX]; /* by index of the name */
};

/* The name at an index of a list; the index must be below the list's length. */
typedef const char *bc_name_fn(int index);

/* A row of an option table. What a kind doesn't use stays 0. */
struct bc_option {
    const char *long_name;
    enum bc_option_kind kind;
    size_t at; /* offsetof the value in the caller's struct, which holds the default at first */
    char short_name;      /* or 0 */
    const char *alias;    /* a second long name, or NULL */
    const char *argument; /* how --help calls the value: "N" */
    const char *help;
    const char *variables;  /* environment, separated by spaces; the first that is set counts */
    const char *choices;    /* BC_CHOICE: words separated by "|" */
    bc_name_fn *name_at;    /* BC_NAMES: the list; --help prints it */
    int name_count;         /* BC_NAMES: its length, at most BC_NAMES_MAX */
    double min, max;        /* numbers: limits, inclusive */
    const char *word;       /* numbers: a word that may be given in place of a number */
    double word_value;      /* the value that the word stands for; limits don't apply to it */
    const char *zero;       /* numbers: what --help and metadata call the default 0, which can't be
                               given; NULL: 0 */
    const char *range_hint; /* what error messages advise; NULL: made from min and max */
    bool asks_help;         /* BC_FLAG: the program prints its help and exits */
    bool internal; /* not a parameter of the measurement (--help, --output): not in the metadata */
};

struct bc_option_rows {
    const struct bc_option *rows;
    size_t count;
};

/* A row of a table, and what is known of its value. */
struct bc_option_entry {
    const struct bc_option *option;
    void *value; /* in the caller's struct */
    enum bc_option_source source;
    int place; /* BC_FROM_ARGUMENT, on rank 0: the number of the word that set the value, from 1 */
    char variable[128]; /* BC_FROM_ENVIRONMENT: the one that set the value */
};

/* The options of a program: the rows of its tables, one table after the other. All zeros is none.
 */
struct bc_options {
    struct bc_option_entry *entries;
    size_t count;
    char *received; /* the values' texts if they are another rank's */
};

#define BC_ERROR_LENGTH 512

/* One line that names the option, the value and what would do; empty if nothing is wrong. */
struct bc_error {
    char text[BC_ERROR_LENGTH];
};

/* Sets the text, cut to its length and made plain (common/result/text.h). Always false. */
bool bc_error_set(struct bc_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As getenv. */
typedef const char *bc_lookup_fn(const char *name);

/* Appends a table; `values`, the struct that its rows fill, holds the defaults. Free with
   bc_options_free. */
void bc_options_add(struct bc_options *options, struct bc_option_rows table, void *values);

void bc_options_free(struct bc_options *options);

/* Reads the environment, then the command line, which beats it. argv[0] is skipped. False with
   the error set on the first thing that is wrong; values that were set before that stay. */
bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error);

/* The option with this long name; NULL if there is none. */
const struct bc_option_entry *bc_options_find(const struct bc_options *options,
                                              const char *long_name);

/* Whether the option with this long name, which must exist, isn't BC_FROM_DEFAULT. */
bool bc_option_given(const struct bc_options *options, const char *long_name);

/* The present value as text: one that parses back to it or, for people, with the name of a 0. The
   caller frees it. */
char *bc_option_text(const struct bc_option_entry *entry, bool for_people);

/* Prints all options with their help, defaults and variables: the first `own` ones, which are the
   program's, and below a second heading those of all programs. The values must be the defaults. */
void bc_options_help(FILE *stream, const struct bc_options *options, size_t own);

/* All values and their sources, for bc_options_decode on another rank; freed by the caller. */
struct bc_text bc_options_encode(const struct bc_options *options);

/* Takes the values of bc_options_encode of the same tables, and takes over the allocated text.
   False if it doesn't fit the tables. */
bool bc_options_decode(struct bc_options *options, char *text, size_t length);

/* Marks the names in `names->chosen` that `names->text` lists: names separated by commas, or
   `all`. Case and the characters space, `-` and `_` don't count, so "many-put" is "many put".
   False with the error set if a name is not in the list; the error names `given_to`, the option or
   variable that had the text. */
bool bc_names_choose(const char *given_to, struct bc_names *names, bc_name_fn *name_at, int count,
                     struct bc_error *error);
