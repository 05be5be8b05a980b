/*
 * Messages: each function that sends or receives, with messages of several sizes. Rank 0 calls the
 * function; rank 1 is its partner.
 */
#include "counts.h"

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

/* A function and how to call it for a message. */
struct way {
    const char *function;
    enum form form;
    bool sends, receives;
    void (*call)(const struct message *, int peer, MPI_Request *, MPI_Status *);
};

/* Elements by which a receive buffer is larger than the message: what arrives counts, not what
   fits. */
enum { SPARE = 2 };

/* Finds the message of a matched receive. */
static MPI_Message *mprobe(int peer)
{
    static MPI_Message message;
    exercised("MPI_Mprobe");
    MPI_Mprobe(peer, TAG, pair, &message, MPI_STATUS_IGNORE);
    return &message;
}

static MPI_Message *improbe(int peer)
{
    static MPI_Message message;
    exercised("MPI_Improbe");
    for (int flag = 0; !flag;)
        MPI_Improbe(peer, TAG, pair, &flag, &message, MPI_STATUS_IGNORE);
    return &message;
}

#define SENT data, m->count, type_of(m)
#define RECEIVED result, m->count + SPARE, type_of(m)
#define SEND SENT, peer, TAG, pair
#define RECEIVE RECEIVED, peer, TAG, pair
#define SENDRECV SENT, peer, TAG, RECEIVED, peer, TAG, pair
#define REPLACE SENT, peer, TAG, peer, TAG, pair

/* Function, form, whether it sends, whether it receives, arguments. */
#define WAYS(X, c)                                                                                 \
    X(Send##c, BLOCKING, true, false, SEND)                                                        \
    X(Bsend##c, BLOCKING, true, false, SEND)                                                       \
    X(Ssend##c, BLOCKING, true, false, SEND)                                                       \
    X(Rsend##c, BLOCKING, true, false, SEND)                                                       \
    X(Recv##c, BLOCKING, false, true, RECEIVE, status)                                             \
    X(Mrecv##c, BLOCKING, false, true, RECEIVED, mprobe(peer), status)                             \
    X(Sendrecv##c, BLOCKING, true, true, SENDRECV, status)                                         \
    X(Sendrecv_replace##c, BLOCKING, true, true, REPLACE, status)                                  \
    X(Isend##c, NONBLOCKING, true, false, SEND, request)                                           \
    X(Ibsend##c, NONBLOCKING, true, false, SEND, request)                                          \
    X(Issend##c, NONBLOCKING, true, false, SEND, request)                                          \
    X(Irsend##c, NONBLOCKING, true, false, SEND, request)                                          \
    X(Irecv##c, NONBLOCKING, false, true, RECEIVE, request)                                        \
    X(Imrecv##c, NONBLOCKING, false, true, RECEIVED, improbe(peer), request)                       \
    X(Send_init##c, PERSISTENT, true, false, SEND, request)                                        \
    X(Bsend_init##c, PERSISTENT, true, false, SEND, request)                                       \
    X(Ssend_init##c, PERSISTENT, true, false, SEND, request)                                       \
    X(Rsend_init##c, PERSISTENT, true, false, SEND, request)                                       \
    X(Recv_init##c, PERSISTENT, false, true, RECEIVE, request)
#define WAYS_OF_MPI_4(X, c)                                                                        \
    X(Isendrecv##c, NONBLOCKING, true, true, SENDRECV, request)                                    \
    X(Isendrecv_replace##c, NONBLOCKING, true, true, REPLACE, request)
#if MPI_VERSION >= 4
#define ALL_WAYS(X) WAYS(X, ) WAYS(X, _c) WAYS_OF_MPI_4(X, ) WAYS_OF_MPI_4(X, _c)
#else
#define ALL_WAYS(X) WAYS(X, )
#endif

#define DEFINE(Name, form, sends, receives, ...)                                                   \
    static void call_##Name(const struct message *m, int peer, MPI_Request *request,               \
                            MPI_Status *status)                                                    \
    {                                                                                              \
        (void)request, (void)status;                                                               \
        MPI_##Name(__VA_ARGS__);                                                                   \
    }
ALL_WAYS(DEFINE)

#define WAY(Name, form, sends, receives, ...) {"MPI_" #Name, form, sends, receives, call_##Name},
static const struct way ways[] = {ALL_WAYS(WAY)};

/* Whether the function is MPI_Isendrecv or MPI_Isendrecv_replace. Their status doesn't tell what
   arrived in MPICH: in 4.0.2 it says that nothing did, in 5.1 what an earlier message left there.
 */
static bool is_isendrecv(const struct way *way)
{
    return way->form == NONBLOCKING && way->sends && way->receives;
}

/* With messages of several lengths, since what an earlier one left may be right for one of them. */
static bool isendrecv_has_status(void)
{
#if MPI_VERSION >= 4
    static bool is_known, is_right = true;
    for (int bytes = 1; bytes <= 3 && !is_known; bytes++) {
        MPI_Request request;
        MPI_Status status;
        int count;
        PMPI_Isendrecv(data, bytes, MPI_BYTE, 0, TAG, result, bytes, MPI_BYTE, 0, TAG,
                       MPI_COMM_SELF, &request);
        PMPI_Wait(&request, &status);
        PMPI_Get_count(&status, MPI_BYTE, &count);
        is_right = is_right && count == bytes;
    }
    is_known = true;
    return is_right;
#else
    return false;
#endif
}

/* These are a segmentation fault in MPICH 4.0.2 (tests/mpi_defects/isendrecv.c). */
static bool is_deadly(const struct way *way, const struct message *message)
{
    return is_isendrecv(way) && (message->to_nobody || message->type == PIECES);
}

/* Whether the status says how much arrived. */
static bool has_status(const struct way *way)
{
    return way->receives && (!is_isendrecv(way) || isendrecv_has_status());
}

static int times_of(const struct way *way) { return way->form == PERSISTENT ? 3 : 1; }

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

/* Rank 0: the calls that count. Returns the last status, if a status is wanted. */
static MPI_Status call(const struct way *way, const struct message *message, bool wants_status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status own = {0}, *const status = wants_status ? &own : MPI_STATUS_IGNORE;
    const int peer = message->to_nobody ? MPI_PROC_NULL : 1;
    if (way->form == PERSISTENT)
        way->call(message, peer, &request, status);
    for (int i = 0; i < times_of(way); i++) {
        meet(); /* a ready send needs a posted receive */
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
    check(request == MPI_REQUEST_NULL, "the request is null");
    return own;
}

/* The bytes that arrived, as the status has it, right or wrong. */
static int64_t bytes_said(const MPI_Status *status)
{
    int bytes;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes == MPI_UNDEFINED ? 0 : bytes;
}

/* Rank 1: the partner, which isn't counted. */
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
        const bool is_doubtful = way->receives && !has_status(way);
        const MPI_Status status = call(way, message, wants_status || is_doubtful);
        const int times = times_of(way);
        struct amounts amounts = way->sends && !message->to_nobody
                                     ? completed_messages(times, message->bytes)
                                     : completed_calls(times, 0);
        if (way->receives)
            amounts.bytes += is_doubtful ? bytes_said(&status) : times * message->bytes;
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
    for (size_t i = 0; i < ELEMENTS(ways); i++)
        for (size_t j = 0; j < ELEMENTS(messages); j++)
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
