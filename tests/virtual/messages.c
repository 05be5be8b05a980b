/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages. One starts when it is posted, or g after the sender's last one; a synchronous one not
 * before its receive is posted; one of partitions, when they are ready. Its sender's part without
 * the host ends f T later, and so does its receiver's, unless that posts later. Each has the host's
 * part for itself.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <stdlib.h>

/* In shared memory, until sender and receiver are through with it. */
struct message {
    int source, tag;
    const void *buffer; /* of its sender */
    int64_t bytes;
    int64_t start_ns;    /* PLAN_UNKNOWN: some of its partitions aren't ready */
    int64_t received_ns; /* when its receive was posted; PLAN_UNKNOWN: not yet */
    struct packed data;
    int users;
    struct message *next; /* in its receiver's mailbox */
};

/* In shared memory, in its mailbox until it has a message. */
struct receive {
    int source, tag;
    int64_t posted_ns;
    struct message *message;
    struct receive *next;
};

/* ---- matching -------------------------------------------------------------------------------- */

static bool fits(const struct receive *receive, const struct message *message)
{
    return (receive->source == MPI_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

static void match(struct receive *receive, struct message *message)
{
    receive->message = message;
    message->received_ns = receive->posted_ns;
}

/* Gives a new message to the receive that waits for it, or leaves it in the mailbox. Which message
   comes first from any source is decided when somebody looks (resolve_receive). */
static void put_message(struct mailbox *mailbox, struct message *message)
{
    struct receive **place = &mailbox->receives;
    while (*place != NULL && (!fits(*place, message) || (*place)->source == MPI_ANY_SOURCE))
        place = &(*place)->next;
    if (*place != NULL) {
        struct receive *const receive = *place;
        *place = receive->next;
        match(receive, message);
        return;
    }
    struct message **end = &mailbox->messages;
    while (*end != NULL)
        end = &(*end)->next;
    *end = message;
}

/* Takes the first message of a mailbox that fits; of any source the one that started first, by
   until_ns. NULL: none. */
static struct message *take_message(struct mailbox *mailbox, const struct receive *receive,
                                    int64_t until_ns, bool removes)
{
    struct message **found = NULL;
    for (struct message **place = &mailbox->messages; *place != NULL; place = &(*place)->next) {
        const struct message *const message = *place;
        if (!fits(receive, message) || message->start_ns > until_ns)
            continue;
        if (found == NULL || message->start_ns < (*found)->start_ns ||
            (message->start_ns == (*found)->start_ns && message->source < (*found)->source))
            found = place;
        if (receive->source != MPI_ANY_SOURCE)
            break;
    }
    if (found == NULL)
        return NULL;
    struct message *const message = *found;
    if (removes)
        *found = message->next;
    return message;
}

static void drop_message(struct message *message)
{
    if (--message->users > 0)
        return;
    data_release(&message->data);
    world_release(message, sizeof *message);
}

/* ---- sending --------------------------------------------------------------------------------- */

struct sending {
    struct own_comm own;
    const void *buffer;
    int64_t count;
    MPI_Datatype type;
    int destination, tag;
    bool synchronous;
    int partitions, ready; /* 0: not partitioned */
    int64_t last_start_ns; /* of the partitions that are ready */
    struct message *message;
};

static int64_t last_sent_ns = INT64_MIN / 2;

static uint64_t next_number(void)
{
    static uint64_t posted;
    return (uint64_t)world_rank << 40 | posted++;
}

static struct message *post_message(struct sending *sending, int64_t start_ns)
{
    struct comm *const comm = sending->own.comm;
    struct message *const message = world_allocate(sizeof *message);
    *message = (struct message){
        .source = sending->own.rank,
        .tag = sending->tag,
        .buffer = sending->buffer,
        .bytes = bytes_of(sending->count, sending->type),
        .start_ns = start_ns,
        .received_ns = PLAN_UNKNOWN,
        .users = 2,
    };
    if (sending->partitions == 0)
        message->data = data_pack(sending->buffer, sending->count, sending->type);
    put_message(&comm->mailboxes[sending->destination], message);
    world_wake(comm->members[sending->destination]);
    return message;
}

static void begin_send(struct request *request)
{
    struct sending *const sending = request->operation;
    if (sending->destination == MPI_PROC_NULL) {
        request->plan = (struct plan){.stage_end_ns = world_now_ns};
        request->active = true;
        return;
    }
    data_register(sending->buffer, request->bytes);
    truth_sent(sending->own.comm->members[sending->destination]);
    sending->ready = 0;
    sending->last_start_ns = 0;
    const bool whole = sending->partitions == 0;
    sending->message =
        post_message(sending, whole ? plan_after_gap(&last_sent_ns, world_now_ns) : PLAN_UNKNOWN);
    request_plan(request, next_number());
}

static void start_send(struct request *request)
{
    begin_send(request);
    clock_spend(parameters.post_ns);
}

static bool resolve_send(struct request *request)
{
    const struct sending *const sending = request->operation;
    if (request->plan.stage_end_ns != PLAN_UNKNOWN)
        return true;
    int64_t start_ns = sending->message->start_ns;
    if (start_ns == PLAN_UNKNOWN)
        return false;
    if (sending->synchronous && sending->message->received_ns == PLAN_UNKNOWN)
        return false;
    if (sending->synchronous && sending->message->received_ns > start_ns)
        start_ns = sending->message->received_ns;
    plan_start(&request->plan, start_ns);
    return true;
}

static void deliver_send(struct request *request, MPI_Status *status)
{
    struct sending *const sending = request->operation;
    if (sending->message != NULL)
        drop_message(sending->message);
    sending->message = NULL;
    status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static void release_operation(struct request *request) { free(request->operation); }

static const struct request_kind send_kind = {.start = start_send,
                                              .resolve = resolve_send,
                                              .deliver = deliver_send,
                                              .release = release_operation};

/* ---- receiving ------------------------------------------------------------------------------- */

struct receiving {
    struct own_comm own;
    void *buffer;
    int64_t count;
    MPI_Datatype type;
    struct receive *receive; /* NULL: of MPI_PROC_NULL */
    int source, tag;
    bool damaged;
};

static int64_t last_received_ns = INT64_MIN / 2;

static struct mailbox *own_mailbox(const struct own_comm *own)
{
    return &own->comm->mailboxes[own->rank];
}

/* True if the variable names the link from another rank's node to this one's. */
static bool has_link(const char *variable, int from_rank)
{
    const char *text = getenv(variable);
    const int ends[2] = {node_of(from_rank), node_of(world_rank)};
    while (text != NULL && *text != '\0') {
        bool fits = true;
        for (int end = 0; end < 2; end++) {
            char *after = (char *)text + 1;
            if (*text != '*')
                fits = strtol(text, &after, 10) == ends[end] && fits;
            if (after == text || *after != (end == 0 ? '>' : *after == ',' ? ',' : '\0'))
                world_abort("%s has to be FROM>TO[,FROM>TO]...", variable);
            text = after + (*after != '\0');
        }
        if (fits)
            return true;
    }
    return false;
}

/* By how much later than usual a message arrives. */
static int64_t link_ns(int from_rank, int64_t bytes)
{
    static int64_t slow;
    if (!has_link("MODEL_SLOW_LINKS", from_rank) || slow >= (int64_t)parameters.slow_link_messages)
        return 0;
    slow++;
    return llround((parameters.slow_link_ns + parameters.slow_link_per_byte_ns * (double)bytes) *
                   clock_factor());
}

static bool is_next_damaged(int64_t bytes)
{
    static int64_t received;
    return parameters.corrupt != 0.0 && bytes > 0 &&
           ++received % (int64_t)parameters.corrupt_every == 0;
}

static void begin_receive(struct request *request)
{
    struct receiving *const receiving = request->operation;
    struct mailbox *const mailbox = own_mailbox(&receiving->own);
    if (receiving->source == MPI_PROC_NULL) {
        request->plan = (struct plan){.stage_end_ns = world_now_ns};
        request->active = true;
        return;
    }
    struct receive *const receive = world_allocate(sizeof *receive);
    *receive = (struct receive){
        .source = receiving->source, .tag = receiving->tag, .posted_ns = world_now_ns};
    receiving->receive = receive;
    receiving->damaged = is_next_damaged(request->bytes);
    struct message *const message = receiving->source == MPI_ANY_SOURCE
                                        ? NULL
                                        : take_message(mailbox, receive, PLAN_UNKNOWN, true);
    if (message != NULL) {
        match(receive, message);
        world_wake(receiving->own.comm->members[message->source]);
    } else {
        struct receive **end = &mailbox->receives;
        while (*end != NULL)
            end = &(*end)->next;
        *end = receive;
    }
    request_plan(request, next_number());
}

static void start_receive(struct request *request)
{
    begin_receive(request);
    clock_spend(parameters.post_ns);
}

/* A message of any source is the first one, which no rank that is behind may still overtake. */
static void look_for_any(struct receiving *receiving)
{
    struct mailbox *const mailbox = own_mailbox(&receiving->own);
    struct receive **place = &mailbox->receives;
    struct message *message;
    for (;;) {
        message = take_message(mailbox, receiving->receive, PLAN_UNKNOWN, false);
        if (message == NULL || message->start_ns == PLAN_UNKNOWN)
            return;
        if (world_settle(message->start_ns))
            break;
    }
    message = take_message(mailbox, receiving->receive, PLAN_UNKNOWN, true);
    while (*place != receiving->receive)
        place = &(*place)->next;
    *place = receiving->receive->next;
    match(receiving->receive, message);
    world_wake(receiving->own.comm->members[message->source]);
}

static int64_t arrival_ns(struct request *request)
{
    struct receiving *const receiving = request->operation;
    if (receiving->receive == NULL)
        return request->plan.stage_end_ns;
    if (receiving->receive->message == NULL && receiving->source == MPI_ANY_SOURCE)
        look_for_any(receiving);
    const struct message *const message = receiving->receive->message;
    return message != NULL ? message->start_ns : PLAN_UNKNOWN;
}

static bool resolve_receive(struct request *request)
{
    struct receiving *const receiving = request->operation;
    if (request->plan.stage_end_ns != PLAN_UNKNOWN)
        return true;
    const int64_t start_ns = arrival_ns(request);
    if (start_ns == PLAN_UNKNOWN)
        return false;
    const struct message *const message = receiving->receive->message;
    const int source = receiving->own.comm->members[message->source];
    const double apart_ns = data_apart_share(message->buffer, receiving->buffer, message->bytes) *
                            plan_duration_ns(request->plan_kind, message->bytes) * clock_factor();
    plan_start(&request->plan, plan_after_gap(&last_received_ns, start_ns) + llround(apart_ns) +
                                   link_ns(source, message->bytes));
    receiving->damaged =
        receiving->damaged || (message->bytes > 0 && has_link("MODEL_CORRUPT_LINKS", source));
    /* A message that came before its receive was posted is there at once. */
    if (request->plan.stage_end_ns < receiving->receive->posted_ns)
        request->plan.stage_end_ns = receiving->receive->posted_ns;
    return true;
}

static void deliver_receive(struct request *request, MPI_Status *status)
{
    struct receiving *const receiving = request->operation;
    if (receiving->receive == NULL) {
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        return;
    }
    struct message *const message = receiving->receive->message;
    if (receiving->damaged)
        data_damage(&message->data);
    data_register(receiving->buffer, message->bytes);
    data_unpack(&message->data, receiving->buffer, receiving->count, receiving->type);
    status_fill(status, message->source, message->tag, message->bytes);
    world_release(receiving->receive, sizeof *receiving->receive);
    drop_message(message);
}

static const struct request_kind receive_kind = {.start = start_receive,
                                                 .resolve = resolve_receive,
                                                 .arrival_ns = arrival_ns,
                                                 .deliver = deliver_receive,
                                                 .release = release_operation};

/* ---- the functions --------------------------------------------------------------------------- */

static struct request *make_send(const char *name, enum plan_kind kind, const void *buffer,
                                 int64_t count, MPI_Datatype type, int destination, int tag,
                                 MPI_Comm comm, bool synchronous, MPI_Request *handle)
{
    struct sending *const sending = malloc(sizeof *sending);
    *sending = (struct sending){.own = comm_find(comm),
                                .buffer = buffer,
                                .count = count,
                                .type = type,
                                .destination = destination,
                                .tag = tag,
                                .synchronous = synchronous};
    return request_make(&send_kind, name, kind, bytes_of(count, type), sending, handle);
}

static struct request *make_receive(const char *name, enum plan_kind kind, void *buffer,
                                    int64_t count, MPI_Datatype type, int source, int tag,
                                    MPI_Comm comm, MPI_Request *handle)
{
    struct receiving *const receiving = malloc(sizeof *receiving);
    *receiving = (struct receiving){.own = comm_find(comm),
                                    .buffer = buffer,
                                    .count = count,
                                    .type = type,
                                    .source = source,
                                    .tag = tag};
    return request_make(&receive_kind, name, kind, bytes_of(count, type), receiving, handle);
}

#define SENDS(NonBlocking, Blocking, name, synchronous)                                            \
    int PMPI_##NonBlocking(const void *buffer, int count, MPI_Datatype type, int destination,      \
                           int tag, MPI_Comm comm, MPI_Request *request)                           \
    {                                                                                              \
        start_send(make_send("i" name, PLAN_SEND, buffer, count, type, destination, tag, comm,     \
                             synchronous, request));                                               \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(NonBlocking)                                                                          \
    int PMPI_##Blocking##_init(const void *buffer, int count, MPI_Datatype type, int destination,  \
                               int tag, MPI_Comm comm, MPI_Request *request)                       \
    {                                                                                              \
        make_send(name "_init", PLAN_SEND, buffer, count, type, destination, tag, comm,            \
                  synchronous, request)                                                            \
            ->persistent = true;                                                                   \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(Blocking##_init)                                                                      \
    int PMPI_##Blocking(const void *buffer, int count, MPI_Datatype type, int destination,         \
                        int tag, MPI_Comm comm)                                                    \
    {                                                                                              \
        struct request *const request = make_send(name, PLAN_BLOCKING_SEND, buffer, count, type,   \
                                                  destination, tag, comm, synchronous, NULL);      \
        start_send(request);                                                                       \
        request_wait(&request, 1, MPI_STATUSES_IGNORE);                                            \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(Blocking)

SENDS(Isend, Send, "send", false)
SENDS(Issend, Ssend, "ssend", true)
SENDS(Irsend, Rsend, "rsend", false)
SENDS(Ibsend, Bsend, "bsend", false)

int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    start_receive(
        make_receive("irecv", PLAN_RECEIVE, buffer, count, type, source, tag, comm, request));
    return MPI_SUCCESS;
}
MPI_NAME(Irecv)

int PMPI_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    make_receive("recv_init", PLAN_RECEIVE, buffer, count, type, source, tag, comm, request)
        ->persistent = true;
    return MPI_SUCCESS;
}
MPI_NAME(Recv_init)

int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    struct request *const request =
        make_receive("recv", PLAN_BLOCKING_RECEIVE, buffer, count, type, source, tag, comm, NULL);
    start_receive(request);
    request_wait(&request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
    return MPI_SUCCESS;
}
MPI_NAME(Recv)

int PMPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int destination,
                  int sent_tag, void *buffer, int count, MPI_Datatype type, int source, int tag,
                  MPI_Comm comm, MPI_Status *status)
{
    struct request *const both[2] = {
        make_receive("recv", PLAN_BLOCKING_RECEIVE, buffer, count, type, source, tag, comm, NULL),
        make_send("send", PLAN_BLOCKING_SEND, sent, sent_count, sent_type, destination, sent_tag,
                  comm, false, NULL)};
    MPI_Status statuses[2];
    start_receive(both[0]);
    start_send(both[1]);
    request_wait(both, 2, statuses);
    if (status != MPI_STATUS_IGNORE)
        *status = statuses[0];
    return MPI_SUCCESS;
}
MPI_NAME(Sendrecv)

/* ---- probes ---------------------------------------------------------------------------------- */

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    const struct own_comm own = comm_find(comm);
    const struct receive wanted = {.source = source, .tag = tag};
    clock_spend(parameters.test_ns);
    world_settle_now();
    const int64_t arrival_ns =
        world_now_ns - llround(plan_fraction(PLAN_RECEIVE) * plan_duration_ns(PLAN_RECEIVE, 0));
    const struct message *const message =
        take_message(own_mailbox(&own), &wanted, arrival_ns, false);
    *flag = message != NULL;
    if (message != NULL)
        status_fill(status, message->source, message->tag, message->bytes);
    return MPI_SUCCESS;
}
MPI_NAME(Iprobe)

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag = 0;
    while (flag == 0)
        PMPI_Iprobe(source, tag, comm, &flag, status);
    return MPI_SUCCESS;
}
MPI_NAME(Probe)

/* ---- partitions ------------------------------------------------------------------------------ */

/* A partition is a message for itself, which starts when it is ready, or all of them are one that
   starts with the last. Either way the receive is complete when all have come. */

#if MPI_VERSION >= 4

static int make_ready(struct request *request, int count)
{
    struct sending *const sending = request->operation;
    const bool early = parameters.early_partitions != 0.0;
    for (int i = 0; i < count; i++) {
        const bool last = ++sending->ready == sending->partitions;
        if (early || last)
            sending->last_start_ns = plan_after_gap(&last_sent_ns, world_now_ns);
        if (last) {
            sending->message->data = data_pack(sending->buffer, sending->count, sending->type);
            sending->message->start_ns = sending->last_start_ns;
            world_wake(sending->own.comm->members[sending->destination]);
        }
        clock_spend(parameters.post_ns);
    }
    return MPI_SUCCESS;
}

int PMPI_Psend_init(const void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
                    int destination, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *handle)
{
    (void)info;
    struct request *const request =
        make_send("psend_init", PLAN_SEND, buffer, partitions * (int64_t)count, type, destination,
                  tag, comm, false, handle);
    struct sending *const sending = request->operation;
    sending->partitions = partitions;
    request->persistent = true;
    /* The last partition's time is the one that counts. */
    if (parameters.early_partitions != 0.0)
        request->bytes = bytes_of((int64_t)count, type);
    return MPI_SUCCESS;
}
MPI_NAME(Psend_init)

int PMPI_Precv_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *handle)
{
    (void)info;
    struct request *const request =
        make_receive("precv_init", PLAN_RECEIVE, buffer, partitions * (int64_t)count, type, source,
                     tag, comm, handle);
    request->persistent = true;
    if (parameters.early_partitions != 0.0)
        request->bytes = bytes_of((int64_t)count, type);
    return MPI_SUCCESS;
}
MPI_NAME(Precv_init)

int PMPI_Pready(int partition, MPI_Request request)
{
    (void)partition;
    return make_ready(request_find(request), 1);
}
MPI_NAME(Pready)

int PMPI_Pready_range(int low, int high, MPI_Request request)
{
    return make_ready(request_find(request), high - low + 1);
}
MPI_NAME(Pready_range)

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    (void)partition;
    return PMPI_Request_get_status(request, flag, MPI_STATUS_IGNORE);
}
MPI_NAME(Parrived)

#endif
