/*
 * Messages: each function that sends or receives, in each size. Rank 0 calls it; rank 1 is the
 * other end.
 */
#include "counts.h"

/* What is sent. */
struct message {
    const char *what;
    int count;
    enum { INTS, DOUBLES, BYTES, PIECES } type;
    int64_t bytes;
    bool to_nobody; /* MPI_PROC_NULL */
};

static const struct message messages[] = {
    {"3 doubles", 3, DOUBLES, 24, false},
    {"nothing", 0, DOUBLES, 0, false},
    {"as large as small can be", 999, BYTES, 999, false},
    {"just large", 1000, BYTES, 1000, false},
    {"2 elements of 3 pieces", 2, PIECES, 48, false},
    {"to nobody", 5, INTS, 0, true},
};

/* 3 pieces of 2 ints each, with gaps. */
static MPI_Datatype pieces;

static MPI_Datatype type_of(const struct message *message)
{
    const MPI_Datatype types[] = {
        [INTS] = MPI_INT, [DOUBLES] = MPI_DOUBLE, [BYTES] = MPI_BYTE, [PIECES] = pieces};
    return types[message->type];
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* A function and how to call it for a message: with what it needs of the request and the status. */
struct way {
    const char *function;
    enum form form;
    bool sends, receives;
    void (*call)(const struct message *, int peer, MPI_Request *, MPI_Status *);
};

/* Elements for which a receive has room beyond those that come: not what fits, but what comes is
 * counted. */
enum { SPARE = 2 };

#define CALL(Name)                                                                                 \
    static void call_##Name(const struct message *m, int peer, MPI_Request *request,               \
                            MPI_Status *status)
#define SEND_CALL(Name)                                                                            \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)request, (void)status;                                                               \
        MPI_##Name(data, m->count, type_of(m), peer, TAG, pair);                                   \
    }
#define ISEND_CALL(Name)                                                                           \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)status;                                                                              \
        MPI_##Name(data, m->count, type_of(m), peer, TAG, pair, request);                          \
    }
#define RECV_CALL(Name)                                                                            \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)request;                                                                             \
        MPI_##Name(result, m->count + SPARE, type_of(m), peer, TAG, pair, status);                 \
    }
#define IRECV_CALL(Name)                                                                           \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)status;                                                                              \
        MPI_##Name(result, m->count + SPARE, type_of(m), peer, TAG, pair, request);                \
    }
#define SENDRECV_CALL(Name, last, unused)                                                          \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)(unused);                                                                            \
        MPI_##Name(data, m->count, type_of(m), peer, TAG, result, m->count + SPARE, type_of(m),    \
                   peer, TAG, pair, (last));                                                       \
    }
#define REPLACE_CALL(Name, last, unused)                                                           \
    CALL(Name)                                                                                     \
    {                                                                                              \
        (void)(unused);                                                                            \
        MPI_##Name(data, m->count, type_of(m), peer, TAG, peer, TAG, pair, (last));                \
    }
#define MRECV_CALL(Name)                                                                           \
    CALL(Name)                                                                                     \
    {                                                                                              \
        MPI_Message message;                                                                       \
        (void)request;                                                                             \
        exercised("MPI_Mprobe");                                                                   \
        MPI_Mprobe(peer, TAG, pair, &message, MPI_STATUS_IGNORE);                                  \
        MPI_##Name(result, m->count + SPARE, type_of(m), &message, status);                        \
    }
#define IMRECV_CALL(Name)                                                                          \
    CALL(Name)                                                                                     \
    {                                                                                              \
        MPI_Message message;                                                                       \
        (void)status;                                                                              \
        exercised("MPI_Improbe");                                                                  \
        for (int flag = 0; !flag;)                                                                 \
            MPI_Improbe(peer, TAG, pair, &flag, &message, MPI_STATUS_IGNORE);                      \
        MPI_##Name(result, m->count + SPARE, type_of(m), &message, request);                       \
    }

SEND_CALL(Send)
SEND_CALL(Bsend)
SEND_CALL(Ssend) SEND_CALL(Rsend) ISEND_CALL(Isend) ISEND_CALL(Ibsend) ISEND_CALL(
    Issend) ISEND_CALL(Irsend) ISEND_CALL(Send_init) ISEND_CALL(Bsend_init) ISEND_CALL(Ssend_init)
    ISEND_CALL(Rsend_init) RECV_CALL(Recv) IRECV_CALL(Irecv) IRECV_CALL(Recv_init) MRECV_CALL(Mrecv)
        IMRECV_CALL(Imrecv) SENDRECV_CALL(Sendrecv, status, request) REPLACE_CALL(Sendrecv_replace,
                                                                                  status, request)
#if MPI_VERSION >= 4
            SENDRECV_CALL(Isendrecv, request, status) REPLACE_CALL(Isendrecv_replace, request,
                                                                   status) SEND_CALL(Send_c)
                SEND_CALL(Bsend_c) SEND_CALL(Ssend_c) SEND_CALL(Rsend_c) ISEND_CALL(Isend_c)
                    ISEND_CALL(Ibsend_c) ISEND_CALL(Issend_c) ISEND_CALL(Irsend_c)
                        ISEND_CALL(Send_init_c) ISEND_CALL(Bsend_init_c) ISEND_CALL(Ssend_init_c)
                            ISEND_CALL(Rsend_init_c) RECV_CALL(Recv_c) IRECV_CALL(Irecv_c)
                                IRECV_CALL(Recv_init_c) MRECV_CALL(Mrecv_c) IMRECV_CALL(Imrecv_c)
                                    SENDRECV_CALL(Sendrecv_c, status, request)
                                        REPLACE_CALL(Sendrecv_replace_c, status, request)
                                            SENDRECV_CALL(Isendrecv_c, request, status)
                                                REPLACE_CALL(Isendrecv_replace_c, request, status)
#endif

                                                    static const struct way ways[] = {
#define WAY(Name, form, sends, receives) {"MPI_" #Name, form, sends, receives, call_##Name},
#define WAYS(c)                                                                                    \
    WAY(Send##c, BLOCKING, true, false)                                                            \
    WAY(Bsend##c, BLOCKING, true, false)                                                           \
    WAY(Ssend##c, BLOCKING, true, false)                                                           \
    WAY(Rsend##c, BLOCKING, true, false)                                                           \
    WAY(Recv##c, BLOCKING, false, true)                                                            \
    WAY(Mrecv##c, BLOCKING, false, true)                                                           \
    WAY(Sendrecv##c, BLOCKING, true, true)                                                         \
    WAY(Sendrecv_replace##c, BLOCKING, true, true)                                                 \
    WAY(Isend##c, NONBLOCKING, true, false)                                                        \
    WAY(Ibsend##c, NONBLOCKING, true, false)                                                       \
    WAY(Issend##c, NONBLOCKING, true, false)                                                       \
    WAY(Irsend##c, NONBLOCKING, true, false)                                                       \
    WAY(Irecv##c, NONBLOCKING, false, true)                                                        \
    WAY(Imrecv##c, NONBLOCKING, false, true)                                                       \
    WAY(Send_init##c, PERSISTENT, true, false)                                                     \
    WAY(Bsend_init##c, PERSISTENT, true, false)                                                    \
    WAY(Ssend_init##c, PERSISTENT, true, false)                                                    \
    WAY(Rsend_init##c, PERSISTENT, true, false)                                                    \
    WAY(Recv_init##c, PERSISTENT, false, true)
                                                        WAYS()
#if MPI_VERSION >= 4
                                                            WAYS(_c)
#define WAYS_OF_MPI_4(c)                                                                           \
    WAY(Isendrecv##c, NONBLOCKING, true, true)                                                     \
    WAY(Isendrecv_replace##c, NONBLOCKING, true, true)
                                                                WAYS_OF_MPI_4() WAYS_OF_MPI_4(_c)
#endif
};

/* MPI_Isendrecv, of which MPICH 4.0.2's status says that nothing came, whatever did: then that is
 * what counts. */
static bool is_isendrecv(const struct way *way)
{
    return way->form == NONBLOCKING && way->sends && way->receives;
}

static bool isendrecv_knows_what_came(void)
{
    static int knows = -1;
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Status status;
    if (knows < 0) {
        PMPI_Isendrecv(data, 1, MPI_BYTE, 0, TAG, result, 1, MPI_BYTE, 0, TAG, MPI_COMM_SELF,
                       &request);
        PMPI_Wait(&request, &status);
        PMPI_Get_count(&status, MPI_BYTE, &knows);
    }
#endif
    return knows == 1;
}

/* MPICH 4.0.2 dies of these: a segmentation fault (tests/mpi_defects/isendrecv.c). */
static bool is_deadly(const struct way *way, const struct message *message)
{
    return is_isendrecv(way) && (message->to_nobody || message->type == PIECES);
}

/* Whether the library says how much it received. */
static bool has_status(const struct way *way)
{
    return way->receives && (!is_isendrecv(way) || isendrecv_knows_what_came());
}

static int times_of(const struct way *way)
{
    return way->form == PERSISTENT ? 3 : 1;
}

static void check_status(const struct way *way, const struct message *message,
                         const MPI_Status *status)
{
    int count = -1;
    if (!has_status(way))
        return;
    PMPI_Get_count(status, type_of(message), &count);
    check_equal("the count in the status", count, message->to_nobody ? 0 : message->count);
    if (!message->to_nobody)
        check_equal("the source in the status", status->MPI_SOURCE, 1);
}

/* Rank 0: the calls that count. A real status now and then, none at other times. */
static void call(const struct way *way, const struct message *message, bool wants_status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status own = {0}, *const status = wants_status ? &own : MPI_STATUS_IGNORE;
    const int peer = message->to_nobody ? MPI_PROC_NULL : 1;
    if (way->form == PERSISTENT)
        way->call(message, peer, &request, status);
    for (int i = 0; i < times_of(way); i++) {
        meet(); /* for a ready send the receive must have been posted */
        if (way->form == PERSISTENT)
            MPI_Start(&request);
        else
            way->call(message, peer, &request, status);
        if (way->form != BLOCKING)
            MPI_Wait(&request, status);
        if (wants_status)
            check_status(way, message, status);
    }
    if (way->form == PERSISTENT) {
        check(request != MPI_REQUEST_NULL, "a persistent request stays");
        MPI_Request_free(&request);
    }
    check(request == MPI_REQUEST_NULL, "the request is given up");
}

/* Rank 1: the other end, which nobody counts. */
static void answer(const struct way *way, const struct message *message)
{
    for (int i = 0; i < times_of(way); i++) {
        MPI_Request receive = MPI_REQUEST_NULL;
        if (way->sends && !message->to_nobody)
            PMPI_Irecv(result, message->count, type_of(message), 0, TAG, pair, &receive);
        meet();
        if (way->receives && !message->to_nobody)
            PMPI_Send(data, message->count, type_of(message), 0, TAG, pair);
        PMPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
}

static void count_message(const struct way *way, const struct message *message, bool wants_status)
{
    case_begin(way->function, message->what);
    if (me == 0) {
        call(way, message, wants_status);
        const int times = times_of(way);
        struct amounts amounts = way->sends && !message->to_nobody
                                     ? completed_messages(times, message->bytes)
                                     : completed_calls(times, 0);
        amounts.bytes += has_status(way) ? times * message->bytes : 0;
        case_expects(PTTOPT, "pair", way->function, amounts);
    } else {
        answer(way, message);
    }
    case_end();
}

#if MPI_VERSION >= 4
/* 4 partitions of 2 doubles from rank 0 to rank 1, twice. */
static void count_partitioned(void)
{
    MPI_Request request;
    case_begin(me == 0 ? "MPI_Psend_init" : "MPI_Precv_init", "partitioned");
    exercised("MPI_Psend_init");
    exercised("MPI_Precv_init");
    if (me == 0)
        MPI_Psend_init(data, 4, 2, MPI_DOUBLE, 1, TAG, pair, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(result, 4, 2, MPI_DOUBLE, 0, TAG, pair, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        for (int partition = 0; me == 0 && partition < 4; partition++)
            MPI_Pready(partition, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    if (me == 0)
        case_expects(PTTOPT, "pair", "MPI_Psend_init", completed_messages(2, 64));
    else
        case_expects(PTTOPT, "pair", "MPI_Precv_init", completed_calls(2, 128));
    case_end();
}
#endif

void count_messages(void)
{
    static char attached[1 << 16];
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Type_vector(3, 2, 4, MPI_INT, &pieces);
    MPI_Type_commit(&pieces);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t j = 0; j < sizeof messages / sizeof *messages; j++)
            if (!is_deadly(&ways[i], &messages[j]))
                count_message(&ways[i], &messages[j], (i + j) % 2 == 0);
#if MPI_VERSION >= 4
    count_partitioned();
#endif
    MPI_Type_free(&pieces);
    void *address;
    int size;
    MPI_Buffer_detach(&address, &size);
}
