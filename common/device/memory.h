/*
 * The options of programs whose buffers may lie on a GPU, and what a result says of them.
 */
#pragma once

#include "common/device/device.h"
#include "common/run/program.h"

#include <string.h>

/* Buffers of two kinds: of[0] those of what is sent, of[1] of what is received; where a buffer does
   both, of[0] those of the ranks that send first. */
struct bc_memory_options {
    const char *words;    /* --memory, "device" or "device:host" */
    int64_t number;       /* --device; -1: a rank's number on its node, modulo the devices */
    enum bc_memory of[2]; /* what the words say */
    bool works;           /* the device is needed for work, wherever buffers lie: --work=device */
};

/* Rows for a program's table of options; `at` is offsetof the struct bc_memory_options. */
#define BC_MEMORY_OPTIONS(at)                                                                      \
    {"memory", BC_TEXT, (at) + offsetof(struct bc_memory_options, words),                          \
     .argument = "KIND[:KIND]",                                                                    \
     .help = "memory of buffers: host, pinned, device, managed, or a pair KIND:KIND"},             \
    {                                                                                              \
        "device", BC_INTEGER, (at) + offsetof(struct bc_memory_options, number),                   \
            .argument = "N", .max = 1023, .word = "auto", .word_value = -1,                        \
            .help = "GPU of each rank, auto: rank on the node modulo GPUs"                         \
    }

#define BC_MEMORY_DEFAULTS                                                                         \
    {                                                                                              \
        .words = "host", .number = -1                                                              \
    }

/* A row for a program's table of options; `at` is the offset of an int, an enum bc_buffers. */
#define BC_BUFFERS_OPTION(offset)                                                                  \
    {                                                                                              \
        "buffers", BC_CHOICE, (offset),                                                            \
            .choices = "reused|new",                                                               \
            .help = "new: allocate buffers before each repetition, outside the timing"             \
    }

/* True if the options ask for a device. A run whose options don't enters no function of
   common/device/: it needs none of the functions below. Local. */
static inline bool bc_memory_is_asked(const struct bc_memory_options *options)
{
    return options->works || options->number >= 0 || strcmp(options->words, "host") != 0;
}

/* Reads the words. False with the error set. Local. */
bool bc_memory_complete(struct bc_memory_options *options, struct bc_error *error);

/* Opens each rank's device, on which a rank's buffers will need `bytes` bytes, until the run's end;
   NULL where all buffers lie in host memory and no work needs it. Ends the run with exit status 2
   and the first failing rank's reason; `advice` says what would do where there is too little
   memory. Collective, before bc_open_result. */
struct bc_device *bc_memory_open(struct bc_run *run, const struct bc_memory_options *options,
                                 double bytes, const char *advice);

/* What a row says beside its own columns where buffers lie on a device. Staged is the counterpart
   that a program can choose instead: it copies to pinned host memory, calls MPI with that, and
   copies what arrived back to the device. */
struct bc_staged {
    const char *memory;         /* the words of --memory */
    struct bc_summary staged;   /* in ns, copies included */
    struct bc_summary gain_pct; /* that MPI with the device's buffers saves of it */
    const char *verdict;        /* of the gain: bc_verdict */
};

/* Of two times in ns, staged and how much longer it takes, each `scale` times; NULL: there is no
   staged counterpart. Local; rank 0. */
struct bc_staged bc_staged_of(const struct bc_memory_options *options,
                              const struct bc_summary *staged, const struct bc_summary *gain,
                              double scale);

/* The program's table with the columns of a struct bc_staged, which lies at offset `at` of its
   result: the key memory first; staged_us, direct_gain_pct, each with _lo and _hi, and
   direct_verdict before the column `visits`. `main` names the main columns. The result stays as
   long as the run. Local. */
const struct bc_table *bc_memory_table(const struct bc_table *own, size_t at, const char *main);

/* Writes notes: the devices, what the MPI library claims of them, and a warning where ranks share
   one. Collective, after bc_open_result. */
void bc_memory_describe(const struct bc_run *run, const struct bc_device *device);
