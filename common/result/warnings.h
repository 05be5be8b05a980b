/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table of the notes and warnings that common/ prints, and of those that several programs share. A
 * program's own are in FOLDER/warnings.h, in the same form.
 *
 * An entry is the word and the format of bc_output_remark, so the compiler checks the arguments:
 *
 *     bc_output_remark(output, BC_WARNING_INTERRUPTED, "SIGTERM");
 *
 * A text states one fact, with at most two numbers in addition to the row's keys, in at most 100
 * characters; a remedy comes last. Entries that begin with "note" also serve bc_output_meta: such a
 * note is in full metadata only, and may have more facts and numbers.
 */
#pragma once

/* ---- the job --------------------------------------------------------------------------------- */

/* The processes. */
#define BC_WARNING_SINGLETONS                                                                      \
    "warning", "%ld processes were started, but each is a job of its own: use another mpirun, "    \
               "or srun --mpi=pmi2"

/* Ranks as bc_format_ranks writes them. */
#define BC_WARNING_VARIABLES                                                                       \
    "warning",                                                                                     \
        "the variables named in COMMCOST_VARIABLES differ on ranks %s: export them to all ranks"

/* The ranks of a node, and its processors. */
#define BC_WARNING_OVERSUBSCRIBED                                                                  \
    "warning",                                                                                     \
        "oversubscribed: up to %d ranks on a node share at least %d processors: use fewer ranks"

/* A control group's quota. */
#define BC_WARNING_QUOTA "warning", "oversubscribed: %s: use fewer ranks or a larger quota"

#define BC_NOTE_SHARED_CORES "note", "%s: bind each rank to a core of its own"

#define BC_NOTE_HOST_NAMES "note", "nodes are counted by shared memory: %d nodes, host names: %d"

/* The name of the pairs and ": ", or two empty texts; the share. */
#define BC_NOTE_CROSSING "note", "%s%s%d %% of the pairs cross nodes"

/* The rate, and the port or option that it is from. */
#define BC_NOTE_LINK_RATE "note", "expected_mbs between nodes: %.4g Gbit/s (%s)"

#define BC_NOTE_NO_LINK_RATE                                                                       \
    "note", "expected_mbs between nodes is unknown, since no port reports a rate: use --link-rate"

#define BC_WARNING_NO_HUGE_PAGES                                                                   \
    "warning", "%d rank%s got no huge page: write madvise to "                                     \
               "/sys/kernel/mm/transparent_hugepage/enabled"

/* ---- disturbances ---------------------------------------------------------------------------- */

/* Scripts match "interrupted by "; don't change it. */
#define BC_WARNING_INTERRUPTED "warning", "interrupted by %s"

/* The share of the processors' time that a virtual machine's host took, and a rank of the node. */
#define BC_WARNING_STOLEN                                                                          \
    "warning", "the virtual machine's host took %.0f %% of the processor time of rank %d's node"

/* The next two are for bc_output_disturbed. */
#define BC_WARNING_WAITED                                                                          \
    "row %lld: rank %d waited for a processor for %.0f %% of the time: rerun on a quiet machine"

/* The row and its rounds. */
#define BC_WARNING_LATE_ROUNDS "row %lld: a rank started late in %lld of the rounds used"

/* The disturbed rows, all rows, and the share of time of the most disturbed row. */
#define BC_WARNING_DISTURBED "warning", "%lld of %lld rows disturbed%s: rerun on a quiet machine"

/* Late rounds, all rounds, synchronisations, and the clock's error in µs. */
#define BC_NOTE_GLOBAL_CLOCK                                                                       \
    "note",                                                                                        \
        "a rank was late in %lld of %lld rounds; the global clock was synchronised again %lld "    \
        "times, with an error of %.3f us at the end"

/* ---- rows and columns ------------------------------------------------------------------------ */

/* The operations, counted over ranks. */
#define BC_WARNING_WRONG_DATA "warning", "wrong data in %lld operations, counted over ranks"

#define BC_NOTE_LEFT_OUT "note", "--format=table leaves out %s: use --format=tsv"

/* ---- halo exchanges -------------------------------------------------------------------------- */

/* The boxes, the limit, and the remedy. */
#define BC_NOTE_BOXES_LEFT_OUT "note", "no boxes of %s: too large for %s: %s"

/* A word with a blank or an empty text, and the method. */
#define BC_NOTE_OPPOSITE_FACES                                                                     \
    "note", "%s%s: this MPI library mixes up opposite faces, times are unaffected"

/* ---- devices --------------------------------------------------------------------------------- */

/* Numbers of the GPU and of all GPUs, its name and place, the driver, and the library's claim. */
#define BC_NOTE_GPU "note", "rank 0 uses GPU %d of %d: %s, %s%s, %s driver %d; the MPI library %s"

/* Scripts match the text before %s; don't change it. */
#define BC_NOTE_MEMORY_KINDS "note", "mpi_memory_alloc_kinds: %s"

#define BC_WARNING_SHARED_GPU "warning", "%d ranks share a GPU: use one GPU per rank"
