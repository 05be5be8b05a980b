/*
 * The model MPI: an interposer that makes each operation cost what the test says, so that the
 * true answer of a benchmark is known.
 *
 * An operation of duration D, of which the fraction f proceeds without the host, posted at t_post:
 *
 *   post    spins until t_post + o, then returns; the operation starts at s (see below);
 *   wait    called at t_wait: the autonomous part has ended at a = max(t_wait, s + f D + late);
 *           the rest needs the host and is spun: the operation completes at c = a + (1 - f) D;
 *           then w more passes before the wait returns;
 *   waitall waits for all autonomous parts, then spins all host parts, then all w's: its completion
 *           is c = max(t_wait, every s + f D + late) + the sum of (1 - f) D, and it returns at
 *           c + n w;
 *   test    called at t decides at t + MODEL_TEST_US, for which it spins. While the autonomous part
 *           lasts: not complete. After it: as a wait called at t + MODEL_TEST_US, so the call that
 *           reports completion takes MODEL_TEST_US + (1 - f) D + w. A call that names several
 *           requests (Testall, Testany, Testsome) takes MODEL_TEST_US once, one that names no
 *           active modelled one nothing. MPI_Request_get_status never completes and takes
 *           MODEL_TEST_US.
 *
 * The autonomous part of a non-blocking operation may need calls to go on, as in a library that
 * makes progress inside calls only. It is then cut into stages of MODEL_PROGRESS_SHARE f D each, or
 * of MODEL_PROGRESS_US; the last one is what is left:
 *
 *   post    starts the first stage, at s;
 *   test    starts the next stage at the instant at which it decides (t + MODEL_TEST_US) if the one
 *           before it has ended by then, and one stage at the most: between the end of a stage and
 *           the next test nothing goes on. A test that names several requests does so for all;
 *   wait    goes on without gaps from its call on: a = max(t_wait, end of the stage that started
 *           last) + all stages left + late. MPI_Waitany and MPI_Waitsome do so, for all that they
 *           name, while they last.
 *
 * late delays the end of the last stage. With one stage all is as above. So an operation posted at
 * 0 whose post takes h, with n tests between n + 1 equal parts of work W, each of which takes c
 * (test_us of the report, which has MODEL_TEST_US in it), is tested at t_k = h + k W / (n + 1) +
 * (k - 1) c, for k = 1 .. n, waited for at t_wait = h + W + n c, and leaves exposed what passes
 * beyond W:
 *
 *   E = stage, left = f D - stage;
 *   for each k: if E <= t_k + MODEL_TEST_US: where left is 0 the operation completes in this test,
 *           and exposed is h + (k - 1) c + MODEL_TEST_US + (1 - f) D + x; else E = t_k +
 *           MODEL_TEST_US + min(stage, left) and left is that much less;
 *   after them: exposed is h + n c + max(0, E - t_wait) + left + (1 - f) D + x.
 *
 * A blocking call is in the library all the time and has one stage.
 *
 * A collective starts when it is posted, s = t_post, and D = MODEL_DURATION_US + bytes
 * MODEL_PER_BYTE_NS.
 *
 * A persistent one (MPI_Allreduce_init and so on, where the library has them) is posted by each
 * MPI_Start, in an MPI_Startall one after the other, and has rows of its own in the report
 * ("allreduce_init"). Open MPI 4.1 calls them MPIX_Allreduce_init and so on (persistent.h).
 *
 * A blocking one called at t completes at c = t + D + late and returns after w more, so that the
 * caller finds D + x of the report's row. Its D is
 *
 *   neighbourhood collectives, if MODEL_COLL=1: MODEL_BLOCKING_US, or where that is unset
 *           MODEL_DURATION_US, + bytes MODEL_PER_BYTE_NS;
 *   the blocking sisters of all other non-blocking collectives but the barrier, if MODEL_COLL=1 and
 *           MODEL_BLOCKING_US is set: MODEL_BLOCKING_US + bytes MODEL_PER_BYTE_NS;
 *   a barrier, if MODEL_SYNC_COLL=1: MODEL_BARRIER_US;
 *   an allreduce that is no sister in this sense, if MODEL_SYNC_COLL=1: MODEL_BARRIER_US + bytes
 *           MODEL_PER_BYTE_NS.
 *
 * In all but neighbourhood collectives the real one always comes first, whether data moves or not,
 * and is never damaged, since programs rely on them between what they measure. Where ranks arrive
 * together it is over before c, and they leave D after they came, each by its own clock reading. A
 * rank that comes early waits for the others in the real one: what that takes beyond D is in x, and
 * it leaves up to D before the last that came. In a loop such ranks stay ahead, by D less the real
 * barrier's time at the most, and then the real one ends at c: each round takes D on all of them.
 * Where the real one takes longer than D by itself (real_us in the report), D + x is that, and as
 * restless.
 *
 * A message (MODEL_P2P=1; p2p.def) starts at s = max(t_post, s' + g), s' being the start of this
 * process's message before it in the same direction, and takes T = L + G bytes, which is its D.
 * Sends have one such gap clock a process, receives another; all threads share them. A blocking
 * call is the post and the wait of the non-blocking one, Sendrecv two posts and a waitall; where
 * MODEL_BLOCKING_US is set, that takes the place of L in them, f is 1, and both transfers of a
 * Sendrecv are posted when it is called, so that a caller finds T + x of the report's row, unless
 * posts take longer than T. Sender and receiver are modelled each by itself: when no
 * data moves, a receive completes whether or not anything was sent. A persistent request is posted
 * by each start, in an MPI_Startall one after the other. Messages to and from MPI_PROC_NULL and
 * probes are the real ones.
 *
 * A partitioned send (MPI 4) with MODEL_EARLY_PARTITIONS=1 has a message of T = L + G
 * bytes-of-the-partition for each partition, posted by the MPI_Pready that marks it (Pready_range
 * and Pready_list: one after the other), which starts and has its share f as any send. With 0 all
 * is one message of T = L + G bytes that the last MPI_Pready posts. MPI_Start spends o, and each
 * Pready does. A wait completes at c = max(t_wait, every s + f T + late) + the sum of (1 - f) T,
 * and returns after one w; called before another thread has marked all partitions, it waits for
 * that. Start and wait are in row psend_init of the report, whose bytes and T are the whole's, each
 * Pready in row pready with the partition's. A partitioned receive is a receive of the whole,
 * posted by its start (row precv_init); MPI_Parrived says so when that is complete but for its host
 * part, whatever the partition, and with MODEL_DATA=1 when the partition has arrived, too; it is a
 * test as MPI_Request_get_status.
 *
 * A one-sided operation (MODEL_RMA=1; rma.def; atomic ones too) starts and lasts as a message, by a
 * third gap clock. It is complete when a synchronisation of its window (and target, where one is
 * named) says so, in this process's view:
 *
 *   synchronisation, called at t: completes at c = max(t, every s + f T + late) + the sum of
 *           (1 - f) T + MODEL_SYNC_US over the operations that it completes, and returns after w
 *           more, once. Those that complete none (lock, lock_all, start, post, wait) take
 *           MODEL_SYNC_US + w all the same. The real one is called too, when the operations are
 *           complete, where leaving it out could deadlock or break an epoch, that is all but the
 *           flushes; what it takes longer than MODEL_SYNC_US + w is in x. Those with a request
 *           have, besides, its wait, which is a message's. A synchronisation takes their stages as
 *           if each began when the one before it ended, so after the wait it only takes its own
 *           time.
 *
 * Where data moves an atomic operation of one element (Fetch_and_op, Compare_and_swap) takes place
 * when it is complete, not when it is posted: the synchronisation makes it, after T, and then
 * spends its own time. So what a program decides by its result, and what another process sees of
 * it, happens in modelled time, as in a lock that is made of them: what was posted at t is seen at
 * t + T. The next one-sided operation on the same window and target makes those before it, to keep
 * their order, and then they are as early as that. Those of MPI_INT64_T on a window of
 * MPI_Win_allocate are made in memory that the processes share, if all have some in common; others
 * are the real ones, for which some libraries need the target in a call of MPI's, where it isn't
 * while it spends its own modelled time.
 *
 *   lock    gets the real lock; its own time is from when the lock was free, at t or later: when
 *           the process that had it exclusively before gave it up in modelled time. D + x doesn't
 *           have the waiting for that, real_us does;
 *   unlock  gives up the lock in modelled time when it returns;
 *   sync    takes nothing, and the real MPI_Win_sync is called only where data moves in memory that
 *           isn't shared.
 *
 * So those who contend for an exclusive lock have the modelled times of lock, operations, flush and
 * unlock one after the other, and an acquisition costs their sum, with their x's. The real lock
 * changes hands meanwhile, from the beginning of the unlock's time on, and is held whenever its
 * holder is outside these two calls; what that takes longer than the times of unlock and lock is in
 * the lock's x. All locks on one process count as one, whatever their window. Where processes have
 * no memory in common, the real lock is given up after the unlock's time, and the lock's begins
 * when it is got: then the sum lacks what that takes.
 *
 * Time modelled says nothing about time spent: the library's own host time is real, so it is
 * measured, per operation, and stated with the truth:
 *
 *   h = time inside the post          (o is part of it)
 *   x = end of the wait less c        (w is part of it)
 *   test_us = time inside a test that completes nothing (MODEL_TEST_US is part of it)
 *
 * all as a caller sees them, from outside: from the first clock reading in the call to the last
 * one, and one reading's cost (timing_clock_cost_ns) for what is left of these two before the first
 * and after the last. What else is outside is the call itself, its arguments and its return, up to
 * some 5 ns, and isn't in them. That it is no more takes a last reading that comes after all
 * waiting is over (timing_spin_until); the tests of costs measure it.
 *
 * and the true overlap is max(0, f D - h) / (D + x). A stream of posts goes at max(h, g) a message.
 *
 * Parameters, all from the environment of rank 0, read in MPI_Init; anything else than a number in
 * the range given ends the job with a message.
 *
 *   variable            default  range      meaning
 *   MODEL_COLL          1        0, 1       1: non-blocking and neighbourhood collectives are
 *                                           modelled, and with MODEL_BLOCKING_US other blocking
 *                                           ones; 0: they are the real ones
 *   MODEL_SYNC_COLL     0        0, 1       1: MPI_Barrier and MPI_Allreduce are modelled
 *   MODEL_P2P           0        0, 1       1: point-to-point is modelled
 *   MODEL_RMA           0        0, 1       1: one-sided communication is modelled
 *   MODEL_DURATION_US   0        0 .. 1e9   duration of a collective of no bytes
 *   MODEL_BARRIER_US    0        0 .. 1e9   duration of a barrier, and of an allreduce of no bytes
 *   MODEL_BLOCKING_US   none     0 .. 1e9   duration of a blocking call of no bytes: of
 *                                           collectives but barriers, and of messages in the
 *                                           place of MODEL_LATENCY_US. Unset, neighbourhood
 *                                           collectives and messages last as the non-blocking
 *                                           ones, and others are the real ones but for
 *                                           MODEL_SYNC_COLL
 *   MODEL_LATENCY_US    0        0 .. 1e9   L, duration of a message of no bytes
 *   MODEL_GAP_US        0        0 .. 1e9   g, least time between the starts of two messages
 *   MODEL_PER_BYTE_NS   0        0 .. 1e9   G, added to the duration for each byte (see
 *                                           collectives.def)
 *   MODEL_SLOW_BYTES    none     0 .. 2^53  operations of exactly so many bytes, as
 *                                           MODEL_PER_BYTE_NS counts them, ...
 *   MODEL_SLOW_SHARE    0        -1 .. 1000 ... take longer by this share of their D or T,
 *                                           whatever they are (0.1: 10 %): a known slowdown of one
 *                                           row of a benchmark
 *   MODEL_FRACTION      see      0 .. 1     f, the share of D that proceeds without the host;
 *                       there               unset, it is 0 for collectives and 1 for all else
 *   MODEL_POST_US       0        0 .. 1e9   o, time spent in the post
 *   MODEL_WAIT_US       0        0 .. 1e9   w, time spent in the wait after completion
 *   MODEL_PROGRESS_SHARE
 *                       1        1e-6 .. 1  a stage's share of f D: non-blocking collectives and
 *                                           messages and one-sided operations with a request go on
 *                                           by calls only
 *   MODEL_PROGRESS_US   none     1e-3 .. 1e9
 *                                           a stage's duration; set, it takes the place of the
 *                                           share
 *   MODEL_TEST_US       0        0 .. 1e9   what a test of a modelled active request takes
 *   MODEL_EARLY_PARTITIONS
 *                       1        0, 1       1: each partition of a send starts when it is ready; 0:
 *                                           all when the last one is
 *   MODEL_SYNC_US       0        0 .. 1e9   duration of a one-sided synchronisation by itself
 *   MODEL_LATE_SHARE    0        0 .. 1     share of the operations whose autonomous part is
 *                                           delayed ...
 *   MODEL_LATE_US       0        0 .. 1e9   ... by this much; it isn't part of D and delays no
 *                                           other operation
 *   MODEL_SEED          0        integer    chooses the late operations, together with an
 *                                0 .. 2^53  operation's number in its process: the same operations
 *                                           on all ranks as long as all ranks post the same
 *                                           sequence
 *   MODEL_DATA          0        0, 1       1: the real operation runs too, started in the post and
 *                                           completed in the wait. Its host time is in h and x.
 *   MODEL_CORRUPT       0        0, 1       1: implies MODEL_DATA=1; of every collective but
 *                                           blocking ones without a topology the highest rank
 *                                           that receives anything gets one byte wrong (of a
 *                                           persistent one in each start); from a barrier the
 *                                           highest rank is let out at once (see data.c); of
 *                                           messages received and one-sided operations, every
 *                                           MODEL_CORRUPT_EVERY-th has one byte wrong
 *   MODEL_CORRUPT_EVERY 1        1 .. 1e9   counted in each process, over all receives into
 *                                           buffers of some bytes and all one-sided operations of
 *                                           some, in the order of their posts
 *   MODEL_REPORT        none     file name  rank 0 writes the truth here in MPI_Finalize (see
 *                                           report.c)
 *
 * Where the library of tests/disturbance is preloaded, too, and slows a rank down at times, what
 * begins on that rank then takes its factor times as long: D, T, g, o, w, stages, tests and what
 * makes late. The report has D, T, g, h, x and test_us without it.
 *
 * Intracommunicators and the C interface only. An operation's request must not be converted for
 * Fortran.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The operations that the model knows. */
enum operation_kind {
#define COLLECTIVE(Name, ...) OPERATION_##Name,
#define BLOCKING_COLLECTIVE(Name, ...) OPERATION_##Name,
#define PERSISTENT_COLLECTIVE(Name, ...) OPERATION_##Name,
#include "collectives.def"
#define MESSAGE_ROWS 1
#define MESSAGE(Name, ...) OPERATION_##Name,
#include "p2p.def"
    OPERATION_Psend_init,
    OPERATION_Pready,
    OPERATION_Precv_init,
#define ONE_SIDED(Name, ...) OPERATION_##Name,
#define ONE_SIDED_REQUEST(Name, ...) OPERATION_##Name,
#define ATOMIC(Name, ...) OPERATION_##Name,
#define SYNCHRONISATION(Name, ...) OPERATION_##Name,
#define LOCK(Name, ...) OPERATION_##Name,
#include "rma.def"
    OPERATION_KINDS
};

/* Decides when an operation starts and which parameters it has. */
enum operation_class {
    CLASS_COLLECTIVE,
    CLASS_BLOCKING,  /* neighbourhood collectives */
    CLASS_SISTER,    /* other blocking collectives: they really take place, too */
    CLASS_ALLREDUCE, /* the same */
    CLASS_BARRIER,   /* the same */
    CLASS_SEND,
    CLASS_RECEIVE,
    CLASS_ONE_SIDED,
    CLASS_SYNCHRONISATION,
    OPERATION_CLASSES
};

/* kinds.c */
struct operation_traits {
    const char *name; /* in the report */
    enum operation_class class;
    bool is_blocking_message;
};

extern const struct operation_traits operation_traits[OPERATION_KINDS];

/* The parameters above, in the units used inside. Written once, in MPI_Init. */
struct model_parameters {
    double coll;
    double sync_coll;
    double p2p;
    double rma;
    double duration_ns;
    double barrier_ns;
    double blocking_ns; /* NaN if unset: see model_has_blocking */
    double latency_ns;
    double gap_ns;
    double per_byte_ns;
    double slow_bytes; /* -1: none */
    double slow_share;
    double fraction; /* NaN if unset: see timing_fraction */
    double post_ns;
    double wait_ns;
    double progress_share;
    double progress_ns; /* NaN if unset */
    double test_ns;
    double early_partitions;
    double sync_ns;
    double late_share;
    double late_ns;
    double seed;
    double data;
    double corrupt;
    double corrupt_every;
};

extern struct model_parameters model;

/* Whether blocking sisters have a duration of their own. */
bool model_has_blocking(void);

/* config.c. Collective over MPI_COMM_WORLD: rank 0 reads the environment, so ranks can't disagree.
 */
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
    struct series *series; /* where its measurements go */
    int64_t stage_end_ns;  /* of the stage that started last; of the only one s + f D + late */
    int64_t stage_ns;      /* duration of a stage */
    int64_t left_ns;       /* duration of all stages that haven't started */
    int64_t late_ns;       /* delays the last of these */
    int64_t host_ns;       /* (1 - f) D */
};

/* The series that operations in one call are of: its measurement goes to all of them. */
enum { CALL_SERIES_MAX = 8 }; /* further ones get none */

struct call_series {
    int count;
    struct series *members[CALL_SERIES_MAX];
};

/* One call that tests operations and completes none. */
struct test {
    int64_t call_ns;
    int64_t decided_ns; /* call_ns + MODEL_TEST_US */
    struct call_series series;
};

/* One call that completes operations. */
struct completion {
    int64_t call_ns;
    int64_t autonomous_end_ns; /* the latest, and not before the call */
    int64_t host_ns;           /* the sum */
    int64_t wait_ns;           /* the w's */
    int64_t unslowed_wait_ns;  /* as they would be without a jump of the machine's speed */
    int64_t a_wait_ns;         /* one of them */
    struct call_series series;
};

/* Measures the clock. Before any other function here. */
void timing_start(void);

/* What one clock reading costs. */
double timing_clock_cost_ns(void);

/* The post of an operation whose first clock reading was post_ns. The last thing a post does. */
void timing_post(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns);

/* The same in two steps, for what has to be done between: plan decides, spend is the last thing. */
void timing_plan(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns);
void timing_spend(const struct timing *timing, int64_t post_ns);

/* The plan of something without a duration, or whose parts have one: what it waits for is over at
   post_ns. */
void timing_plan_nothing(struct timing *timing, enum operation_kind kind, int64_t bytes,
                         int64_t post_ns);

/* Returns the last clock reading, which is at least end_ns. Reads the clock once, or when it isn't
   end_ns yet, until it is and once more. */
int64_t timing_spin_until(int64_t end_ns);

/*
 * Starts the stages that a call for the operation starts that came in at since_ns and is in the
 * library until now_ns: one after the other, the first one not before since_ns. A test that decides
 * at an instant has both the same, and starts one stage at the most.
 */
void timing_progress(struct timing *timing, int64_t since_ns, int64_t now_ns);

/* Whether the autonomous part has ended. */
bool timing_autonomous_done(const struct timing *timing, int64_t now_ns);

/* When the autonomous part ends if the operation is waited for from wait_ns on, and if it is waited
 * for from its post on. */
int64_t timing_autonomous_end_ns(const struct timing *timing, int64_t wait_ns);
int64_t timing_earliest_end_ns(const struct timing *timing);

/* Whether operations of this kind have a post; blocking collectives and synchronisations have none.
 */
bool timing_has_post(enum operation_kind kind);

/* f, T or D, and g of this kind of operation. */
double timing_fraction(enum operation_kind kind);
int64_t timing_duration_ns(enum operation_kind kind, int64_t bytes);
double timing_gap_ns(enum operation_kind kind);

/* The duration of a stage, but the last, of an autonomous part of autonomous_ns. */
int64_t timing_stage_ns(enum operation_kind kind, int64_t autonomous_ns);

/* By how many times longer than usual all these times, and w, are for what begins at now_ns: more
   than 1 where the library of tests/disturbance slows this rank down. And a time in ns with it. */
double timing_slowness(int64_t now_ns);
int64_t timing_slowed_ns(double ns, double slowness);

/* A call that tests operations, entered at call_ns: begun, given each active operation, then, if
   none is complete, spun to its end, which is the last thing the call does. Without any operation
   it ends at once. */
void test_begin(struct test *test, int64_t call_ns);
void test_add(struct test *test, const struct timing *timing);
void test_end(const struct test *test);

/* A call that completes operations, entered at wait_ns: begun, given each operation, then spun to
   its end, which is the last thing the call does. Without any operation it ends at once. */
void completion_begin(struct completion *completion, int64_t wait_ns);
void completion_add(struct completion *completion, const struct timing *timing);
void completion_end(const struct completion *completion);

/* The same as add of a part of an operation that has its w for the whole. */
void completion_add_part(struct completion *completion, const struct timing *timing);

/* report.c. Collective over MPI_COMM_WORLD. */
void report_write(void);

#endif
