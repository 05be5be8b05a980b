/*
 * Partitioned communication under the model, on 2 ranks with MODEL_P2P=1:
 *
 *   cost        does a sender's bare loop of start, work with an MPI_Pready after each part, and
 *               wait leave exposed what model.h says? No data moves; needs MODEL_REPORT, and the
 *               environment says what to expect.
 *   right       all data as MPI has it, after a wait or a test, however partitions are marked
 *   wrong N     the same but for the first byte of every N-th receive
 *   untouched   no data moves
 *
 * or with something to do that must not get to its end:
 *
 *   idle        marks a partition of a request that isn't active
 *   twice       marks a partition twice
 */
#include "measure.h"

#include <mpi.h>
#include <string.h>

#if MPI_VERSION >= 4

enum { PARTITIONS = 4, PARTITION_BYTES = 64, BYTES = PARTITIONS * PARTITION_BYTES, TAG = 5 };
enum { ITERATIONS = 200, SENT = 17, POISON = 99, WRONG = SENT ^ 0xff };

static int rank;
static int peer;
static unsigned char payload[BYTES];
static unsigned char received[BYTES];

static void prepare_send(MPI_Request *request)
{
    MPI_Psend_init(payload, PARTITIONS, PARTITION_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, request);
}

static void prepare_receive(MPI_Request *request)
{
    MPI_Precv_init(received, PARTITIONS, PARTITION_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, request);
}

/* ---- Costs ----------------------------------------------------------------------------------- */

/* Usual times in the bare loop, in us, the mean over the ranks. */
struct measured {
    double work;
    double exposed;
    double receive; /* start and wait of a receive */
};

enum { MEASURED_DOUBLES = sizeof(struct measured) / sizeof(double) };

static struct measured measure(double part_us, double clock_cost_us)
{
    static double work[ITERATIONS];
    static double exposed[ITERATIONS];
    static double receive[ITERATIONS];
    MPI_Request send_request;
    MPI_Request receive_request;
    prepare_send(&send_request);
    prepare_receive(&receive_request);
    for (int i = 0; i < ITERATIONS; i++) {
        double begin = check_now_us();
        MPI_Start(&send_request);
        work[i] = 0;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            const double working = check_now_us();
            measure_work(part_us);
            work[i] += check_now_us() - working - clock_cost_us;
            MPI_Pready(partition, send_request);
        }
        MPI_Wait(&send_request, MPI_STATUS_IGNORE);
        exposed[i] = check_now_us() - begin - (2 * PARTITIONS + 1) * clock_cost_us - work[i];

        begin = check_now_us();
        MPI_Start(&receive_request);
        MPI_Wait(&receive_request, MPI_STATUS_IGNORE);
        receive[i] = check_now_us() - begin - clock_cost_us;
    }
    MPI_Request_free(&send_request);
    MPI_Request_free(&receive_request);
    struct measured usual = {
        .work = measure_middle(work, ITERATIONS),
        .exposed = measure_quickest(exposed, ITERATIONS),
        .receive = measure_quickest(receive, ITERATIONS),
    };
    PMPI_Allreduce(MPI_IN_PLACE, &usual, MEASURED_DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (struct measured){usual.work / 2, usual.exposed / 2, usual.receive / 2};
}

static double transfer_us(double bytes)
{
    return measure_asked("MODEL_LATENCY_US", 0) +
           measure_asked("MODEL_PER_BYTE_NS", 0) / 1e3 * bytes;
}

static void check_cost(const char *path, const struct measured *usual)
{
    const double fraction = measure_asked("MODEL_FRACTION", 1);
    const double gap = measure_asked("MODEL_GAP_US", 0);
    const bool early = measure_asked("MODEL_EARLY_PARTITIONS", 1) != 0;
    const double start = measure_claim(path, "psend_init", BYTES, "host_us");
    const double extra = measure_claim(path, "psend_init", BYTES, "extra_us");
    const double ready = measure_claim(path, "pready", PARTITION_BYTES, "host_us");
    const double transfer = transfer_us(early ? PARTITION_BYTES : BYTES);
    double now = start;
    double message = -INFINITY; /* when the last one started */
    double end = 0;
    for (int partition = 0; partition < PARTITIONS; partition++) {
        now += usual->work / PARTITIONS;
        if (early || partition == PARTITIONS - 1) {
            message = fmax(now, message + gap);
            end = message + fraction * transfer;
        }
        now += ready;
    }
    const double exposed =
        fmax(end, now) + (early ? PARTITIONS : 1) * (1 - fraction) * transfer + extra - usual->work;
    check_close("duration_us of the whole", measure_claim(path, "psend_init", BYTES, "duration_us"),
                transfer_us(BYTES), 1e-3);
    check_close("duration_us of a partition",
                measure_claim(path, "pready", PARTITION_BYTES, "duration_us"),
                transfer_us(PARTITION_BYTES), 1e-3);
    check_close("operations", measure_claim(path, "pready", PARTITION_BYTES, "operations"),
                ITERATIONS * PARTITIONS, 0);
    const double post = measure_asked("MODEL_POST_US", 0);
    check_close("h of a ready is o and little more", ready, post + 0.15, 0.15);
    check_close("x is w and little more", extra, measure_asked("MODEL_WAIT_US", 0) + 0.15, 0.15);
    measure_check_stream("psend_init", "exposed", usual->exposed, exposed, 3 * PARTITIONS);
    const double host = measure_claim(path, "precv_init", BYTES, "host_us");
    measure_check_stream("precv_init", "start and wait", usual->receive,
                         fmax(host, fraction * transfer_us(BYTES)) +
                             (1 - fraction) * transfer_us(BYTES) +
                             measure_claim(path, "precv_init", BYTES, "extra_us"),
                         4);
}

/* ---- Data ------------------------------------------------------------------------------------ */

enum marking { ONE_BY_ONE, RANGES, LIST, MARKINGS };

static void mark(enum marking marking, MPI_Request request)
{
    int others[] = {3, 0};
    switch (marking) {
    case ONE_BY_ONE:
        for (int partition = PARTITIONS - 1; partition >= 0; partition--)
            MPI_Pready(partition, request);
        return;
    case RANGES:
        MPI_Pready_range(2, 3, request);
        MPI_Pready_range(0, 1, request);
        return;
    default:
        MPI_Pready_list(2, others, request);
        MPI_Pready_range(1, 2, request);
        return;
    }
}

/* By a test, only after Parrived has said so of each partition. */
static void finish(MPI_Request *request, bool by_test)
{
    int flag = 0;
    if (!by_test) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    for (int partition = 0; partition < PARTITIONS; partition++)
        for (flag = 0; !flag;)
            MPI_Parrived(*request, partition, &flag);
    for (flag = 0; !flag;)
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void check_data(bool moves, long wrong_every)
{
    const double latency_us = measure_asked("MODEL_LATENCY_US", 0);
    MPI_Request send_request;
    MPI_Request receive_request;
    prepare_send(&send_request);
    prepare_receive(&receive_request);
    long receives = 0;
    for (int round = 0; round < 2 * MARKINGS; round++) {
        memset(received, POISON, sizeof received);
        const double begin_us = check_now_us();
        MPI_Start(&receive_request);
        MPI_Start(&send_request);
        int flag = 1;
        MPI_Test(&send_request, &flag, MPI_STATUS_IGNORE);
        check_equal("test before partitions are ready", flag, false);
        mark((enum marking)(round % MARKINGS), send_request);
        finish(&receive_request, round >= MARKINGS);
        if (round % 2 == 0)
            MPI_Wait(&send_request, MPI_STATUS_IGNORE);
        else
            for (flag = 0; !flag;)
                MPI_Test(&send_request, &flag, MPI_STATUS_IGNORE);
        check_equal("took its time", check_now_us() - begin_us >= latency_us, true);
        check_equal("the requests stay",
                    send_request != MPI_REQUEST_NULL && receive_request != MPI_REQUEST_NULL, true);
        receives++;
        const bool damaged = wrong_every > 0 && receives % wrong_every == 0;
        int unexpected = 0;
        for (int i = 0; i < BYTES; i++)
            unexpected += received[i] != (!moves ? POISON : i == 0 && damaged ? WRONG : SENT);
        check_equal("unexpected bytes", unexpected, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&send_request);
    MPI_Request_free(&receive_request);
}

static void do_wrong(bool twice)
{
    MPI_Request request;
    prepare_send(&request);
    if (twice) {
        MPI_Start(&request);
        MPI_Pready(0, request);
    }
    MPI_Pready(0, request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    check_begin(rank == 0);
    if (argc < 2)
        return EXIT_FAILURE;
    memset(payload, SENT, sizeof payload);
    if (strcmp(argv[1], "idle") == 0 || strcmp(argv[1], "twice") == 0)
        do_wrong(strcmp(argv[1], "twice") == 0);
    if (strcmp(argv[1], "cost") != 0) {
        check_data(strcmp(argv[1], "untouched") != 0, argc == 3 ? strtol(argv[2], NULL, 10) : 0);
        MPI_Finalize();
        return check_end();
    }
    const char *path =
        getenv("MODEL_REPORT"); /* before any thread. NOLINT(concurrency-mt-unsafe) */
    const struct measured usual =
        measure(measure_asked("WORK_US", 20) / PARTITIONS, measure_clock_cost_us());
    MPI_Finalize();
    if (rank == 0)
        check_cost(path, &usual);
    return check_end();
}

#else

int main(void)
{
    printf("ok   this MPI has no partitioned communication\n");
    return EXIT_SUCCESS;
}

#endif
