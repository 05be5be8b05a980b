/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise/noise.h"

const struct noise_parameters noise_default_parameters = {
    .quantum_us = 1.0,
    .min_stop_us = 0.5,
    .operations = {.text = "all"},
    .grain_us = {.text = "0,100"},
    .alpha_pct = 1.0,
    .threshold_pct = 0.05,
};

const char *noise_operation_name(int operation)
{
    static const char *const names[NOISE_OPERATIONS] = {"barrier", "allreduce"};
    return names[operation];
}

#define AT(member) offsetof(struct noise_parameters, member)

const struct bc_option noise_options[NOISE_OPTIONS] = {
    {"quantum", BC_REAL, AT(quantum_us), .argument = "US", .min = 0.1, .max = 1e5,
     .help = "microseconds of work between two clock readings"},
    {"min-stop", BC_REAL, AT(min_stop_us), .argument = "US", .min = 0.05, .max = 1e6,
     .help = "min excess of an interrupted quantum, in microseconds"},
    {"per", BC_CHOICE, AT(per), .argument = "WHAT", .choices = "host|rank",
     .help = "parts of the job that get a row"},
    {"operations", BC_NAMES, AT(operations), .argument = "NAMES", .name_at = noise_operation_name,
     .name_count = NOISE_OPERATIONS, .help = "operations whose slowdown is predicted and measured"},
    {"grain", BC_SIZE_LIST, AT(grain_us), .argument = "LIST", .min = 0, .max = 1e6,
     .help = "whole microseconds of work before each operation: a list or range"},
    {"alpha", BC_PERCENT, AT(alpha_pct), .argument = "PERCENT", .min = 1e-6, .max = 50,
     .help = "probability of naming a source although interruptions are random and alike"},
    {"threshold", BC_PERCENT, AT(threshold_pct), .argument = "PERCENT", .max = 100,
     .help = "min share of a rank's time that an irregular source takes"},
};
