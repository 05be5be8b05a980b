/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of programs whose buffers may lie on a GPU, and their columns and notes. */
#pragma once

#include "common/device/device.h"
#include "common/run/program.h"

#include <string.h>

/* Kinds of memory: of[0] for sent data, of[1] for received data. Buffers that do both have of[0] on
   the ranks that send first, of[1] on the others. */
struct bc_memory_options {
    const char *words;    /* --memory, "device" or "device:host" */
    int64_t number;       /* --device; -1: a rank's number on its node, modulo the devices */
    enum bc_memory of[2]; /* read from `words` */
    bool works;           /* --work=device needs the device, wherever buffers lie */
};

/* Rows for a program's table of options; `at` is offsetof the struct bc_memory_options. */
#define BC_MEMORY_OPTIONS(at)                                                                      \
    {"memory", BC_TEXT, (at) + offsetof(struct bc_memory_options, words),                          \
     .argument = "KIND[:KIND]",                                                                    \
     .help = "memory of buffers: host, pinned, device, managed, or a pair SENT:RECEIVED"},         \
    {                                                                                              \
        "device", BC_INTEGER, (at) + offsetof(struct bc_memory_options, number),                   \
            .argument = "N", .max = 1023, .word = "auto", .word_value = -1,                        \
            .help = "GPU of each rank, auto: rank on the node modulo GPUs"                         \
    }

#define BC_MEMORY_DEFAULTS                                                                         \
    {                                                                                              \
        .words = "host", .number = -1                                                              \
    }

/* A row for a program's table of options; `offset` is that of an int (enum bc_buffers). */
#define BC_BUFFERS_OPTION(offset)                                                                  \
    {                                                                                              \
        "buffers", BC_CHOICE, (offset),                                                            \
            .choices = "reused|new",                                                               \
            .help = "new: allocate buffers before each repetition, outside the timing"             \
    }

/* True if the options ask for a device. Otherwise a run calls no function of common/device/.
   Local. */
static inline bool bc_memory_is_asked(const struct bc_memory_options *options)
{
    return options->works || options->number >= 0 || strcmp(options->words, "host") != 0;
}

/* Reads the words. Returns false with the error set if they are wrong. Local. */
bool bc_memory_complete(struct bc_memory_options *options, struct bc_error *error);

/* Opens each rank's device until the run's end. Buffers will need `bytes` bytes there. Returns NULL
   if all buffers lie in host memory and no work needs a device. Ends the run with exit status 2 and
   the first failing rank's reason; `advice` is the remedy for too little memory. Collective, before
   bc_open_result. */
struct bc_device *bc_memory_open(struct bc_run *run, const struct bc_memory_options *options,
                                 double bytes, const char *advice);

/* Columns of rows with buffers on a device. The staged counterpart copies to pinned host memory,
   calls MPI, and copies the received data back. */
struct bc_staged {
    const char *memory;         /* the words of --memory */
    struct bc_summary staged;   /* in ns, copies included */
    struct bc_summary gain_pct; /* saved by passing the device's buffers to MPI */
    const char *verdict;        /* bc_verdict of the gain */
};

/* Fills a struct bc_staged from the staged time, which is multiplied by `scale`, and from the gain,
   which becomes a share of the staged time. Both are in ns. `staged` is NULL if there is no staged
   counterpart. Local; rank 0. */
struct bc_staged bc_staged_of(const struct bc_memory_options *options,
                              const struct bc_summary *staged, const struct bc_summary *gain,
                              double scale);

/* Returns the program's table with the columns of a struct bc_staged at offset `at` of its result:
   the key memory first, the other columns before `visits`. `main` names the main columns. The table
   is valid until the run ends. Local. */
const struct bc_table *bc_memory_table(const struct bc_table *own, size_t at, const char *main);

/* Writes notes on the device and the MPI library's claims, and a warning if ranks share a device.
   Collective, after bc_open_result. */
void bc_memory_describe(const struct bc_run *run, const struct bc_device *device);
