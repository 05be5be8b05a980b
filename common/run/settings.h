/* The options that every benchmark has, and what they ask of a row. */
#pragma once

#include "common/run/options.h"

/* How ranks are released into a timed region: by a barrier, or at a moment of a shared clock. */
enum bc_start { BC_START_BARRIER, BC_START_WINDOW };

/* What a result says of itself. AUTO: short on stdout, full in a file. */
enum bc_metadata { BC_METADATA_AUTO, BC_METADATA_SHORT, BC_METADATA_FULL, BC_METADATA_NONE };

struct bc_settings {
    bool help, version;
    int format;          /* enum bc_format */
    const char *output;  /* NULL: stdout */
    const char *columns; /* main, all or names with commas in between; NULL: main on stdout, all in
                            a file */
    int metadata;        /* enum bc_metadata */
    bool no_header, no_metadata;
    double precision_pct, confidence_pct;
    int64_t min_samples, max_samples;
    int64_t samples;   /* exactly this number; 0: adaptive */
    double max_time_s; /* of a row */
    int64_t visits;    /* of a row; 0: BC_VISITS, or one where a specification's counts are used */
    int64_t warmup;    /* operations; -1: as many as it takes */
    int timer;         /* enum bc_clock_kind */
    int estimator;     /* enum bc_estimator */
    bool check;
    const char *dump_samples; /* NULL: none */
    int start;                /* enum bc_start */
};

extern const struct bc_settings bc_default_settings;

/* The table of the common options. Without `may_start_together` it lacks --start. */
struct bc_option_table bc_settings_table(struct bc_settings *settings, bool may_start_together);

/* Lowers a default --min-samples to --max-samples. False with the error set if it still is higher.
 */
bool bc_settings_complete(struct bc_settings *settings, const struct bc_options *options,
                          struct bc_error *error);
