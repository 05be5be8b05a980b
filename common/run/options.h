/*
 * Options as tables.
 *
 * Each row says everything about one option: its names, what it takes, where
 * the value goes, its environment variables, its limits and its help. Parsing,
 * --help, the metadata of a result and the broadcast of the parameters from
 * rank 0 all come from the same rows.
 *
 * Nothing here uses MPI or ends the program: errors are texts of one line,
 * which name the option, the value and what would do.
 */
#ifndef COMMCOST_COMMON_RUN_OPTIONS_H
#define COMMCOST_COMMON_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum bc_option_kind {
    BC_FLAG,      /* bool; --name, --name=yes, --name=no */
    BC_INTEGER,   /* int64_t */
    BC_REAL,      /* double */
    BC_PERCENT,   /* double, in percent */
    BC_SIZE,      /* int64_t with K, M, G */
    BC_SIZE_LIST, /* struct bc_size_list */
    BC_CHOICE,    /* int: the index of one of `choices` */
    BC_TEXT       /* const char *: any text; kept by pointer or copied into
                     the table on a broadcast */
};

/* Where an option's value came from; a later one beats an earlier one. */
enum bc_option_source { BC_FROM_DEFAULT, BC_FROM_ENVIRONMENT, BC_FROM_ARGUMENT };

struct bc_option {
    const char *long_name;
    const char *alias; /* a second long name, or NULL */
    char short_name;   /* or 0 */
    enum bc_option_kind kind;
    void *value;          /* holds the default until parsed; see the kinds */
    const char *argument; /* how --help calls the value: "N"; NULL for flags */
    const char *help;
    const char *variables;  /* environment variables, separated by spaces, the
                               first one that is set counts; or NULL */
    const char *choices;    /* BC_CHOICE: words separated by "|" */
    bool unbounded;         /* numbers: true if min and max don't apply */
    double min, max;        /* numbers: the least and greatest value taken */
    const char *zero;       /* numbers: how the default 0 is called, which can't be
                               given; NULL: 0 */
    const char *range_hint; /* what would do, for errors; NULL: made from min
                               and max */
    bool internal;          /* not a parameter of the measurement (--help, --output):
                               left out of the metadata */

    /* Set by parsing. */
    enum bc_option_source source;
    const char *variable; /* the one that set it, with its length */
    size_t variable_length;
    char *owned; /* storage of a text that came by broadcast */
};

struct bc_options {
    struct bc_option *rows;
    size_t count;
};

#define BC_ERROR_LENGTH 512

/* A one-line text that says what is wrong; empty if nothing is. */
struct bc_error {
    char text[BC_ERROR_LENGTH];
};

/* Sets the text, cut to its length and made plain (common/result/plain_text.h). Returns false,
   so that a caller can return what this returns. */
bool bc_error_set(struct bc_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Looks a variable up; getenv in the programs, something else in tests. */
typedef const char *bc_lookup_fn(const char *name);

/* Reads the environment, then the command line, which beats it. False, with
   the error set, on the first thing that is wrong; values that were set until
   then stay. argv[0] is skipped. */
bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error);

/* The row with this long name; the name must be in the table. */
const struct bc_option *bc_options_find(const struct bc_options *options, const char *long_name);

/* True if the option was given on the command line or in the environment. */
bool bc_option_given(const struct bc_options *options, const char *long_name);

/* Writes an option's present value as text that parses back to it, cut to
   `size`. */
void bc_option_format(const struct bc_option *option, char *text, size_t size);

/* The same in full, freed by the caller; NULL without memory. */
char *bc_option_text(const struct bc_option *option);

/* Prints all options with their help, defaults and variables. Call when the values are
   the defaults: before parsing, or after bc_options_decode of what was encoded then. */
void bc_options_help(FILE *stream, const struct bc_options *options);

/* All values and where they came from as one text, for bc_options_decode on
   another rank; freed by the caller. NULL if there is no memory. */
char *bc_options_encode(const struct bc_options *options);

/* Takes the values of bc_options_encode from the same table. False if the text
   does not fit the table. */
bool bc_options_decode(struct bc_options *options, const char *text);

/* Frees what the values own. */
void bc_options_free(struct bc_options *options);

#endif
