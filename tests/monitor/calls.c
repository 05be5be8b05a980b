/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <string.h>

/* Elements by which the receiving side of MPI_Sendrecv has more room than arrives. Windows smaller
   than a page fail in MPICH 4.0.2. */
enum { SPARE = 2, WINDOW_BYTES = 8192, BUFFER_BYTES = 1 << 17 };

MPI_Request requests[REQUESTS_MAX];
MPI_Status statuses[STATUSES_MAX];
struct slot slots[STATUSES_MAX];

static char sent[BUFFER_BYTES], received[BUFFER_BYTES], window_memory[WINDOW_BYTES],
    attached[1 << 16];
static void *base; /* of a window that MPI has allocated */
static MPI_Group world, first_alone, other_alone;
static MPI_Message message;
static MPI_Datatype pieces; /* 3 of 2 ints each, with gaps */
/* gcc believes that MPICH writes to the constant (-Wstringop-overflow). */
static MPI_Status *no_statuses;

/* ---- functions ------------------------------------------------------------------------------- */

#define SENT sent, c->count, c->type
#define PLACE received + (ptrdiff_t)(c->slot % 256) * 256
#define RECEIVED PLACE, c->count, c->type
#define SEND SENT, c->peer, c->tag, c->object->comm
#define RECEIVE RECEIVED, c->peer, c->tag, c->object->comm
#define BOTH                                                                                       \
    SENT, c->peer, c->tag, PLACE, c->count + SPARE, c->type, c->peer, c->tag, c->object->comm
#define REPLACE SENT, c->peer, c->tag, c->peer, c->tag, c->object->comm
#define THERE c->peer, 0, c->count, c->type
#define NEW_COMM &c->made->comm
#define NEW_WIN &c->made->win
#define REQUEST &requests[c->slot]
#define STATUS c->wants_status ? statuses : MPI_STATUS_IGNORE
#define LIST(...) ((const int[]){__VA_ARGS__})

/* Name, form, arguments. */
#define WITH_LARGE_COUNTS(X, _c)                                                                   \
    X(Send##_c, ONCE, SEND)                                                                        \
    X(Bsend##_c, ONCE, SEND)                                                                       \
    X(Ssend##_c, ONCE, SEND)                                                                       \
    X(Rsend##_c, ONCE, SEND)                                                                       \
    X(Recv##_c, RECEIVES, RECEIVE, STATUS)                                                         \
    X(Mrecv##_c, RECEIVES, RECEIVED, &message, STATUS)                                             \
    X(Sendrecv##_c, RECEIVES, BOTH, STATUS)                                                        \
    X(Sendrecv_replace##_c, RECEIVES, REPLACE, STATUS)                                             \
    X(Isend##_c, EACH, SEND, REQUEST)                                                              \
    X(Ibsend##_c, EACH, SEND, REQUEST)                                                             \
    X(Issend##_c, EACH, SEND, REQUEST)                                                             \
    X(Irsend##_c, EACH, SEND, REQUEST)                                                             \
    X(Irecv##_c, EACH, RECEIVE, REQUEST)                                                           \
    X(Imrecv##_c, EACH, RECEIVED, &message, REQUEST)                                               \
    X(Send_init##_c, EACH, SEND, REQUEST)                                                          \
    X(Bsend_init##_c, EACH, SEND, REQUEST)                                                         \
    X(Ssend_init##_c, EACH, SEND, REQUEST)                                                         \
    X(Rsend_init##_c, EACH, SEND, REQUEST)                                                         \
    X(Recv_init##_c, EACH, RECEIVE, REQUEST)                                                       \
    X(Put##_c, ONCE, SENT, THERE, c->object->win)                                                  \
    X(Get##_c, ONCE, RECEIVED, THERE, c->object->win)                                              \
    X(Accumulate##_c, ONCE, SENT, THERE, MPI_SUM, c->object->win)                                  \
    X(Get_accumulate##_c, ONCE, SENT, RECEIVED, THERE, MPI_SUM, c->object->win)                    \
    X(Rput##_c, EACH, SENT, THERE, c->object->win, REQUEST)                                        \
    X(Rget##_c, EACH, RECEIVED, THERE, c->object->win, REQUEST)                                    \
    X(Raccumulate##_c, EACH, SENT, THERE, MPI_SUM, c->object->win, REQUEST)                        \
    X(Rget_accumulate##_c, EACH, SENT, RECEIVED, THERE, MPI_SUM, c->object->win, REQUEST)          \
    X(Win_create##_c, ONCE, window_memory, WINDOW_BYTES, 1, MPI_INFO_NULL, c->object->comm,        \
      NEW_WIN)                                                                                     \
    X(Win_allocate##_c, ONCE, WINDOW_BYTES, 1, MPI_INFO_NULL, c->object->comm, &base, NEW_WIN)     \
    X(Win_allocate_shared##_c, ONCE, WINDOW_BYTES, 1, MPI_INFO_NULL, c->object->comm, &base,       \
      NEW_WIN)

#define WITHOUT(X)                                                                                 \
    X(Mprobe, ONCE, c->peer, c->tag, c->object->comm, &message, MPI_STATUS_IGNORE)                 \
    X(Start, EACH, REQUEST)                                                                        \
    X(Startall, ONCE, c->last - c->first + 1, REQUEST)                                             \
    X(Cancel, EACH, REQUEST)                                                                       \
    X(Request_free, EACH, REQUEST)                                                                 \
    X(Fetch_and_op, ONCE, sent, received, MPI_INT64_T, c->peer, 0, MPI_SUM, c->object->win)        \
    X(Compare_and_swap, ONCE, sent, sent + 8, received, MPI_INT, c->peer, 0, c->object->win)       \
    X(Win_create_dynamic, ONCE, MPI_INFO_NULL, c->object->comm, NEW_WIN)                           \
    X(Win_free, ONCE, &c->object->win)                                                             \
    X(Win_lock, ONCE, MPI_LOCK_SHARED, c->peer, 0, c->object->win)                                 \
    X(Win_lock_all, ONCE, 0, c->object->win)                                                       \
    X(Win_unlock, ONCE, c->peer, c->object->win)                                                   \
    X(Win_unlock_all, ONCE, c->object->win)                                                        \
    X(Win_flush, ONCE, c->peer, c->object->win)                                                    \
    X(Win_flush_local, ONCE, c->peer, c->object->win)                                              \
    X(Win_flush_all, ONCE, c->object->win)                                                         \
    X(Win_flush_local_all, ONCE, c->object->win)                                                   \
    X(Win_fence, ONCE, 0, c->object->win)                                                          \
    X(Win_start, ONCE, other_alone, 0, c->object->win)                                             \
    X(Win_post, ONCE, other_alone, 0, c->object->win)                                              \
    X(Pcontrol, ONCE, c->count)                                                                    \
    X(Win_complete, ONCE, c->object->win)                                                          \
    X(Win_wait, ONCE, c->object->win)                                                              \
    X(Barrier, ONCE, c->object->comm)                                                              \
    X(Bcast, ONCE, SENT, c->peer, c->object->comm)                                                 \
    X(Alltoall, ONCE, SENT, RECEIVED, c->object->comm)                                             \
    X(Alltoallv, ONCE, sent, LIST(c->count, 1 << 20), LIST(0, 0), c->type, received,               \
      LIST(c->count, 1 << 20), LIST(0, 0), c->type, c->object->comm)                               \
    X(Comm_free, ONCE, &c->object->comm)                                                           \
    X(Comm_disconnect, ONCE, &c->object->comm)                                                     \
    X(Comm_set_name, ONCE, c->object->comm, c->object->name)                                       \
    X(Comm_dup, ONCE, c->object->comm, NEW_COMM)                                                   \
    X(Comm_dup_with_info, ONCE, c->object->comm, MPI_INFO_NULL, NEW_COMM)                          \
    X(Comm_idup, EACH, c->object->comm, NEW_COMM, REQUEST)                                         \
    X(Comm_create, ONCE, c->object->comm, first_alone, NEW_COMM)                                   \
    X(Comm_create_group, ONCE, c->object->comm, first_alone, c->tag, NEW_COMM)                     \
    X(Comm_split, ONCE, c->object->comm, c->peer, me, NEW_COMM)                                    \
    X(Comm_split_type, ONCE, c->object->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NEW_COMM)    \
    X(Cart_create, ONCE, c->object->comm, c->count, LIST(2, 1), LIST(1, 1), 0, NEW_COMM)           \
    X(Cart_sub, ONCE, c->object->comm, LIST(1, 0), NEW_COMM)                                       \
    X(Graph_create, ONCE, c->object->comm, 2, LIST(1, 2), LIST(1, 0), 0, NEW_COMM)                 \
    X(Dist_graph_create, ONCE, c->object->comm, 1, &me, LIST(1), &partner, LIST(1), MPI_INFO_NULL, \
      0, NEW_COMM)                                                                                 \
    X(Dist_graph_create_adjacent, ONCE, c->object->comm, 1, LIST(0), LIST(1), me == 0 ? 2 : 0,     \
      LIST(0, 1), LIST(1, 1), MPI_INFO_NULL, 0, NEW_COMM)                                          \
    X(Intercomm_create, ONCE, c->object->comm, 0, MPI_COMM_WORLD, partner, c->tag, NEW_COMM)       \
    X(Intercomm_merge, ONCE, c->object->comm, me, NEW_COMM)

/* 4 partitions each. */
#define OF_MPI_4(X)                                                                                \
    X(Isendrecv, EACH, BOTH, REQUEST)                                                              \
    X(Isendrecv_c, EACH, BOTH, REQUEST)                                                            \
    X(Isendrecv_replace, EACH, REPLACE, REQUEST)                                                   \
    X(Isendrecv_replace_c, EACH, REPLACE, REQUEST)                                                 \
    X(Psend_init, EACH, sent, 4, c->count, c->type, c->peer, c->tag, c->object->comm,              \
      MPI_INFO_NULL, REQUEST)                                                                      \
    X(Precv_init, EACH, received, 4, c->count, c->type, c->peer, c->tag, c->object->comm,          \
      MPI_INFO_NULL, REQUEST)                                                                      \
    X(Pready_range, EACH, 0, 3, requests[c->slot])                                                 \
    X(Comm_idup_with_info, EACH, c->object->comm, MPI_INFO_NULL, NEW_COMM, REQUEST)                \
    X(Comm_create_from_group, ONCE, world, "a tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, NEW_COMM)

#if MPI_VERSION >= 4
#define FUNCTIONS(X) WITH_LARGE_COUNTS(X, ) WITHOUT(X) WITH_LARGE_COUNTS(X, _c) OF_MPI_4(X)
#else
#define FUNCTIONS(X) WITH_LARGE_COUNTS(X, ) WITHOUT(X)
#endif

#define CALL(Name, ...) (c->is_hidden ? PMPI_##Name(__VA_ARGS__) : MPI_##Name(__VA_ARGS__))
#define DEFINE(Name, form, ...)                                                                    \
    static int call_##Name(struct call *c) { return CALL(Name, __VA_ARGS__); }
FUNCTIONS(DEFINE)

MPI_Datatype type_of(const char *word)
{
    return strcmp(word, "int") == 0      ? MPI_INT
           : strcmp(word, "double") == 0 ? MPI_DOUBLE
           : strcmp(word, "byte") == 0   ? MPI_BYTE
           : strcmp(word, "pieces") == 0 ? pieces
                                         : MPI_DATATYPE_NULL;
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* A copy of an array, since non-blocking and persistent collectives read their arrays after they
   have returned. It lasts for the next ARRAYS ones, which are those of ten calls. */
static const void *keep(const void *array, size_t size)
{
    enum { ARRAYS = 60, BYTES = 16 };
    static _Alignas(BYTES) char kept[ARRAYS][BYTES];
    static int last;
    last = (last + 1) % ARRAYS;
    return memcpy(kept[last], array, size);
}

#define UNPACK(...) __VA_ARGS__
#define KEPT(type, a, b) keep((const type[]){(a), (b)}, 2 * sizeof(type))
#define COUNTS(a, b) KEPT(COUNT, a, b)
#define DISPLACEMENTS(a, b) KEPT(DISPLACEMENT, a, b)
#define ADDRESSES(a, b) KEPT(MPI_Aint, a, b)
#define TYPES(a, b) KEPT(MPI_Datatype, a, b)
#define D sent
#define R received

#define DEFINE_COLLECTIVE(Name, variant, ...)                                                      \
    static int call_##Name##_##variant(struct call *c) { return CALL(Name, __VA_ARGS__); }
#if MPI_VERSION >= 4
#define PERSISTENT(X) X
#else
#define PERSISTENT(X)
#endif

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define COLLECTIVE(Name, Nonblocking, variant, on, arguments, bytes_0, bytes_1)                    \
    DEFINE_COLLECTIVE(Name, variant, UNPACK arguments object_of(#on)->comm)                        \
    DEFINE_COLLECTIVE(Nonblocking, variant, UNPACK arguments object_of(#on)->comm, REQUEST)        \
    PERSISTENT(DEFINE_COLLECTIVE(Name##_init, variant, UNPACK arguments object_of(#on)->comm,      \
                                 MPI_INFO_NULL, REQUEST))
#include "collectives.def"
#undef COUNT
#undef DISPLACEMENT

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define COLLECTIVE(Name, Nonblocking, variant, on, arguments, bytes_0, bytes_1)                    \
    DEFINE_COLLECTIVE(Name##_c, variant, UNPACK arguments object_of(#on)->comm)                    \
    DEFINE_COLLECTIVE(Nonblocking##_c, variant, UNPACK arguments object_of(#on)->comm, REQUEST)    \
    DEFINE_COLLECTIVE(Name##_init_c, variant, UNPACK arguments object_of(#on)->comm,               \
                      MPI_INFO_NULL, REQUEST)
#include "collectives.def"
#endif

/* ---- functions that ask whether something is complete ---------------------------------------- */

static MPI_Status *all_statuses(const struct call *c)
{
    return c->wants_status ? statuses : no_statuses;
}

/* Checks a status that a call has returned for a request. */
void check_status(const struct call *c, const MPI_Status *status, int slot)
{
    int bytes = -1;
    if (!c->wants_status || !slots[slot].is_known)
        return;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes != slots[slot].bytes ||
        (slots[slot].peer != MPI_PROC_NULL && status->MPI_SOURCE != slots[slot].peer))
        wrong(c, "bytes in the status", bytes);
}

static int check_all(const struct call *c, int error)
{
    for (int i = 0; error == MPI_SUCCESS && c->wants_status && i <= c->last - c->first; i++)
        check_status(c, &statuses[i], c->first + i);
    return error;
}

static void check_index(const struct call *c, int index)
{
    if (c->expected != NOT_KNOWN && c->expected != (index == MPI_UNDEFINED ? -1 : index))
        wrong(c, "the index", index);
}

/* True to ask again. */
static bool is_open(const struct call *c, int error, int flag)
{
    return error == MPI_SUCCESS && !flag && !c->once;
}

static int call_Wait(struct call *c)
{
    const int error = CALL(Wait, REQUEST, STATUS);
    if (error == MPI_SUCCESS)
        check_status(c, statuses, c->slot);
    return error;
}

static int call_Test(struct call *c)
{
    int flag = 0, error;
    do
        error = CALL(Test, REQUEST, &flag, STATUS);
    while (is_open(c, error, flag));
    if (flag && error == MPI_SUCCESS)
        check_status(c, statuses, c->slot);
    return error;
}

static int call_Request_get_status(struct call *c)
{
    int flag = 0, error;
    do
        error = CALL(Request_get_status, requests[c->slot], &flag, STATUS);
    while (is_open(c, error, flag));
    if (flag && error == MPI_SUCCESS)
        check_status(c, statuses, c->slot);
    return error;
}

static int call_Improbe(struct call *c)
{
    int flag = 0, error;
    do
        error = CALL(Improbe, c->peer, c->tag, c->object->comm, &flag, &message, MPI_STATUS_IGNORE);
    while (is_open(c, error, flag));
    return error;
}

#define COUNT_OF(c) ((c)->last - (c)->first + 1)

static int call_Waitall(struct call *c)
{
    return check_all(c, CALL(Waitall, COUNT_OF(c), REQUEST, all_statuses(c)));
}

static int call_Testall(struct call *c)
{
    int flag = 0, error;
    do
        error = CALL(Testall, COUNT_OF(c), REQUEST, &flag, all_statuses(c));
    while (is_open(c, error, flag));
    return flag ? check_all(c, error) : error;
}

/* One of several, or with `all` one after the other. */
static int complete_any(struct call *c, bool is_test)
{
    int index = 0, error = MPI_SUCCESS, flag;
    do {
        do {
            flag = 1;
            error = is_test ? CALL(Testany, COUNT_OF(c), REQUEST, &index, &flag, STATUS)
                            : CALL(Waitany, COUNT_OF(c), REQUEST, &index, STATUS);
        } while (is_open(c, error, flag));
        if (error == MPI_SUCCESS && flag && index != MPI_UNDEFINED)
            check_status(c, statuses, c->first + index);
    } while (c->all && error == MPI_SUCCESS && index != MPI_UNDEFINED);
    if (!c->all)
        check_index(c, index);
    return error;
}

static int call_Waitany(struct call *c) { return complete_any(c, false); }

static int call_Testany(struct call *c) { return complete_any(c, true); }

static int complete_some(struct call *c, bool is_test)
{
    int completed = 0, indices[STATUSES_MAX], error;
    do {
        error = is_test
                    ? CALL(Testsome, COUNT_OF(c), REQUEST, &completed, indices, all_statuses(c))
                    : CALL(Waitsome, COUNT_OF(c), REQUEST, &completed, indices, all_statuses(c));
        for (int i = 0; error == MPI_SUCCESS && c->wants_status && i < completed; i++)
            check_status(c, &statuses[i], c->first + indices[i]);
    } while (c->all && error == MPI_SUCCESS && completed != MPI_UNDEFINED);
    if (!c->all)
        check_index(c, completed);
    return error;
}

static int call_Waitsome(struct call *c) { return complete_some(c, false); }

static int call_Testsome(struct call *c) { return complete_some(c, true); }

/* ---- all of them ------------------------------------------------------------------------------
 */

#define ROW(Name, variant, form) {#Name "." #variant, call_##Name##_##variant, form},

const struct function functions[] = {
#define FUNCTION(Name, form, ...) {#Name, call_##Name, form},
    FUNCTIONS(FUNCTION)
#define LARGE_COUNTS 0
#define COLLECTIVE(Name, Nonblocking, variant, ...)                                                \
    ROW(Name, variant, ONCE)                                                                       \
    ROW(Nonblocking, variant, EACH)                                                                \
    PERSISTENT(ROW(Name##_init, variant, EACH))
#include "collectives.def"
#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COLLECTIVE(Name, Nonblocking, variant, ...)                                                \
    ROW(Name##_c, variant, ONCE)                                                                   \
    ROW(Nonblocking##_c, variant, EACH)                                                            \
    ROW(Name##_init_c, variant, EACH)
#include "collectives.def"
#endif
#define ASKING(Name, form) {#Name, call_##Name, form},
        ASKING(Wait, EACH) ASKING(Test, EACH) ASKING(Request_get_status, EACH) ASKING(Improbe, ONCE)
            ASKING(Waitall, ONCE) ASKING(Testall, ONCE) ASKING(Waitany, ONCE) ASKING(Testany, ONCE)
                ASKING(Waitsome, ONCE) ASKING(Testsome, ONCE){NULL, NULL, ONCE}};

void calls_begin(void)
{
    no_statuses = MPI_STATUSES_IGNORE;
    for (int i = 0; i < REQUESTS_MAX; i++)
        requests[i] = MPI_REQUEST_NULL;
    PMPI_Buffer_attach(attached, sizeof attached);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_incl(world, 1, LIST(0), &first_alone);
    PMPI_Group_incl(world, 1, &partner, &other_alone);
    PMPI_Type_vector(3, 2, 4, MPI_INT, &pieces);
    PMPI_Type_commit(&pieces);
}

void calls_end(void)
{
    void *address;
    int size;
    PMPI_Type_free(&pieces);
    PMPI_Group_free(&other_alone);
    PMPI_Group_free(&first_alone);
    PMPI_Group_free(&world);
    PMPI_Buffer_detach(&address, &size);
}
