/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expected rate: the bandwidth that the hardware should give a message between two ranks.
 *
 * Within a node: memcpy of a block that the other rank has just written, from memory that both
 * share, into a buffer of this rank. Every message of new data needs at least this copy. It has the
 * message's size, all pages are in place, and caches hold the block where its writer left it. If a
 * benchmark sends the same data again, a library that copies once may reach more, since the data is
 * in the receiver's cache already. There is no rate if ranks share processors, or if shared memory
 * has no room.
 *
 * Between nodes: the rate of the slower node's fastest port (common/expected/network.h), or
 * --link-rate.
 */
#pragma once

#include "common/result/output.h"
#include "common/run/options.h"
#include "common/run/run.h"

/* Smaller messages have no expected rate, since latency determines their time. */
enum { BC_EXPECTED_BYTES_MIN = 4096 };

/* A row for a program's table of options; `at` is offsetof a double, in Gbit/s; 0: not given. */
#define BC_LINK_RATE_OPTION(offset)                                                                \
    {                                                                                              \
        "link-rate", BC_REAL, (offset), .argument = "GBITS", .min = 0.001, .max = 1e6,             \
                                        .zero = "that of the fastest port",                        \
                                        .help = "rate of the network in Gbit/s, for expected_mbs"  \
    }

struct bc_expected {
    bool is_known;   /* false on a simulated machine, where no rate is known */
    double link_mbs; /* of this node, in MB/s (2^20 bytes); 0: not known */
    MPI_Comm comm;   /* the ranks of this node, in which copies name their partner */
    MPI_Win window;  /* blocks of these ranks; MPI_WIN_NULL: no copies */
    char *block;     /* this rank's, in the window */
    char *copy;      /* destination of this rank's copies */
    double clock_ns; /* cost of one clock reading */
};

/* Finds the rate of the node's ports unless `link_gbits` is given, and prepares copies. `bytes` is
   the size of this rank's largest copy, or 0 if it needs none. Collective over MPI_COMM_WORLD,
   after bc_open_result. */
void bc_expected_open(struct bc_expected *expected, const struct bc_run *run, double link_gbits,
                      size_t bytes);

/* Does nothing if all is zero. Collective over the node's ranks. */
void bc_expected_close(struct bc_expected *expected);

/* A copy by the partner of this rank's block, and by this rank of the partner's. */
enum { BC_COPY_OUT, BC_COPY_IN, BC_COPY_WAYS };

/* Sets the times of both copies in ns: the shortest of a few, after one to warm up. NAN if there is
   no window. Both ranks call it, and one of them leads. */
void bc_expected_copy_ns(const struct bc_expected *expected, int partner, size_t bytes, bool leads,
                         double copy_ns[BC_COPY_WAYS]);

/* Returns the time of a message over a link of this rate, in ns; NAN if the rate is 0. Local. */
double bc_expected_link_ns(double link_mbs, size_t bytes);

/* Copies and returns the time in ns, including the clock's cost (kernel.c). Local. */
int64_t bc_time_copy(char *to, const char *from, size_t bytes);

/* ---- columns --------------------------------------------------------------------------------- */

struct bc_expected_result {
    double mbs, share_pct; /* NAN: not known */
};

/* Returns the columns of a message that takes `ns` instead of `expected_ns`. Local. */
struct bc_expected_result bc_expected_result(double expected_ns, double ns, size_t bytes);

#define BC_EXPECTED_COLUMNS(type, member)                                                          \
    BC_COLUMN("expected_mbs", BC_INFO, 3, type, member.mbs),                                       \
        BC_COLUMN("share_pct", BC_INFO, 1, type, member.share_pct)
