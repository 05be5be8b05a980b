/*
 * The model MPI: an interposer that makes each operation cost what the test says, so that the
 * true answer of a benchmark is known.
 *
 * An operation of duration D, of which the fraction f proceeds without the host, posted at t_post:
 *
 *   post    spins until t_post + o, then returns;
 *   wait    called at t_wait: the autonomous part has ended at a = max(t_wait, t_post + f D + late);
 *           the rest needs the host and is spun: the operation completes at c = a + (1 - f) D;
 *           then w more passes before the wait returns;
 *   test    while the autonomous part lasts: not complete. After it: as wait, so the call that
 *           reports completion takes (1 - f) D + w.
 *
 * Time modelled says nothing about time spent: the library's own host time is real, so it is measured,
 * per operation, and stated with the truth. With one clock reading's cost added to each, because a
 * caller sees about half a reading before the first and half a reading after the last one,
 *
 *   h = time inside the post          (o is part of it)
 *   x = end of the wait less c        (w is part of it)
 *
 * and the true overlap is max(0, f D - h) / (D + x).
 *
 * Parameters, all from the environment of rank 0, read in MPI_Init; anything else than a number in
 * the range given ends the job with a message.
 *
 *   variable            default  range         meaning
 *   MODEL_DURATION_US   0        0 .. 1e9      duration of an operation of no bytes
 *   MODEL_PER_BYTE_NS   0        0 .. 1e9      added to the duration for each byte (see collectives.def)
 *   MODEL_FRACTION      0        0 .. 1        f, the share of D that proceeds without the host
 *   MODEL_POST_US       0        0 .. 1e9      o, time spent in the post
 *   MODEL_WAIT_US       0        0 .. 1e9      w, time spent in the wait after completion
 *   MODEL_LATE_SHARE    0        0 .. 1        share of the operations whose autonomous part is delayed ...
 *   MODEL_LATE_US       0        0 .. 1e9      ... by this much; it isn't part of D
 *   MODEL_SEED          0        integer       chooses the late operations, together with an operation's
 *                                0 .. 2^53     number in its process: the same operations on all ranks as
 *                                              long as all ranks post the same sequence
 *   MODEL_DATA          0        0, 1          1: the real operation runs too, started in the post and
 *                                              completed in the wait. Its host time is in h and x.
 *   MODEL_CORRUPT       0        0, 1          1: implies MODEL_DATA=1; of every operation the highest rank
 *                                              that receives anything gets one byte wrong; from a barrier
 *                                              the highest rank is let out at once (see data.c)
 *   MODEL_REPORT        none     file name     rank 0 writes the truth here in MPI_Finalize (see report.c)
 *
 * Intracommunicators and the C interface only. An operation's request must not be converted for Fortran.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The operations that the model knows. Point-to-point and one-sided ones would be further .def files. */
enum operation_kind {
#define COLLECTIVE(Name, ...) OPERATION_##Name,
#include "collectives.def"
    OPERATION_KINDS
};

/* The parameters above, in the units used inside. Written once, in MPI_Init. */
struct model_parameters {
    double duration_ns;
    double per_byte_ns;
    double fraction;
    double post_ns;
    double wait_ns;
    double late_share;
    double late_ns;
    double seed;
    double data;
    double corrupt;
};

extern struct model_parameters model;

/* config.c. Collective over MPI_COMM_WORLD: rank 0 reads the environment, so ranks can't disagree. */
void config_load(void);

/* The report's file name, NULL if none was asked for. Rank 0 only. */
const char *config_report_path(void);

/* Writes "model MPI: message" to stderr and aborts the job. MPI must be initialised. */
_Noreturn void model_abort(const char *message);

static inline int64_t clock_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* timing.c: when an operation completes. */
struct timing {
    struct series *series;     /* where its measurements go */
    int64_t autonomous_end_ns; /* t_post + f D + late */
    int64_t host_ns;           /* (1 - f) D */
};

/* Measures the clock. Before any other function here. */
void timing_start(void);

/* What one clock reading costs. */
double timing_clock_cost_ns(void);

/* The post of an operation whose first clock reading was post_ns. The last thing a post does. */
void timing_post(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns);

/* Whether the autonomous part has ended. */
bool timing_autonomous_done(const struct timing *timing, int64_t now_ns);

/* The wait of an operation, called at wait_ns. The last thing a wait does. */
void timing_complete(const struct timing *timing, int64_t wait_ns);

/* report.c. Collective over MPI_COMM_WORLD. */
void report_write(void);

#endif
