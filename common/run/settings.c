/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

const struct bc_settings bc_default_settings = {
    .precision_pct = 2.0,
    .confidence_pct = 95.0,
    .min_samples = 30,
    .max_samples = 10000,
    .max_time_s = 1.0,
    .warmup = -1,
    .timer = BC_CLOCK_MONOTONIC,
    .estimator = BC_MEDIAN,
    .align = "malloc",
};

#define AT(member) offsetof(struct bc_settings, member)

static const struct bc_option rows[] = {
    {"help", BC_FLAG, AT(help), .short_name = 'h', .asks_help = true, .internal = true,
     .help = "print this help and exit"},
    {"version", BC_FLAG, AT(version), .internal = true, .help = "print the version and exit"},
    {"format", BC_CHOICE, AT(format), .choices = "tsv|table|json",
     .help = "tab-separated columns, aligned columns, or one line per quantity"},
    {"output", BC_TEXT, AT(output), .argument = "FILE",
     .help = "write the result to FILE instead of stdout"},
    {"columns", BC_TEXT, AT(columns), .argument = "main|all|NAME,...", .internal = true,
     .help = "columns to write, by default main on stdout, all in a file"},
    {"metadata", BC_CHOICE, AT(metadata), .choices = "auto|short|full|none", .internal = true,
     .help = "lines that begin with #; auto: short on stdout, else full"},
    {"no-header", BC_FLAG, AT(no_header), .help = "write rows only, no metadata and no header row"},
    {"no-metadata", BC_FLAG, AT(no_metadata), .internal = true,
     .help = "the same as --metadata=none"},
    {"precision", BC_PERCENT, AT(precision_pct), .argument = "PERCENT", .min = 0.001, .max = 100,
     .help = "sample until the interval's half-width is this share of the value"},
    {"confidence", BC_PERCENT, AT(confidence_pct), .argument = "PERCENT", .min = 50, .max = 99.99,
     .help = "confidence of the intervals"},
    {"min-samples", BC_SIZE, AT(min_samples), .argument = "N", .min = 1, .max = 1e9,
     .help = "min samples of a row, unless the time runs out"},
    {"max-samples", BC_SIZE, AT(max_samples), .argument = "N", .min = 1, .max = 1e9,
     .help = "max samples of a row"},
    {"samples", BC_SIZE, AT(samples), .argument = "N", .min = 1, .max = 1e9, .zero = "adaptive",
     .help = "take exactly N samples, however long that takes"},
    {"max-time", BC_REAL, AT(max_time_s), .argument = "SECONDS", .min = 1e-3, .max = 1e6,
     .help = "max time for measuring a row, all visits together"},
    {"visits", BC_SIZE, AT(visits), .argument = "N", .min = 1, .max = 1000, .zero = "auto",
     .help = "measure each row in N visits, spread over the run"},
    {"warmup", BC_INTEGER, AT(warmup), .argument = "N", .min = -1, .max = 1e9,
     .help = "operations before sampling, -1: until the median settles"},
    {"timer", BC_CHOICE, AT(timer), .choices = "monotonic|tsc|wtime",
     .help = "clock: clock_gettime, the processor's time stamp counter, or MPI_Wtime"},
    {"estimator", BC_CHOICE, AT(estimator), .choices = "median|mean",
     .help = "robust statistics, or mean and standard deviation"},
    {"check", BC_FLAG, AT(check), .help = "verify the data of every operation, outside the timing"},
    {"dump-samples", BC_TEXT, AT(dump_samples), .argument = "FILE",
     .help = "write the samples of all rows to FILE, in ns"},
    /* The last one, since not all benchmarks have it. */
    {"start", BC_CHOICE, AT(start), .choices = "barrier|window",
     .help = "release ranks by a barrier, or at an agreed time"},
};

static const struct bc_option buffer_rows[] = {
    {"align", BC_TEXT, AT(align), .argument = "PLACEMENT,...",
     .help = "buffers at multiples of BYTES[+BYTES], of 16 (malloc), or on a page"},
    {"pages", BC_CHOICE, AT(pages), .choices = "normal|huge",
     .help = "pages of buffers; huge: ask the kernel for huge pages"},
};

struct bc_option_rows bc_buffers_table(void)
{
    return (struct bc_option_rows){buffer_rows, sizeof buffer_rows / sizeof *buffer_rows};
}

struct bc_option_rows bc_settings_table(bool may_start_together)
{
    const size_t count = sizeof rows / sizeof *rows;
    return (struct bc_option_rows){rows, may_start_together ? count : count - 1};
}
