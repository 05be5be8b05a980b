/*
 * Collective operations: each row of collectives.def as a blocking, a non-blocking and, where MPI
 * has them, a persistent call, with int and with large counts. Both ranks call them.
 */
#include "counts.h"

#include <stddef.h>

#define D data
#define R result

static MPI_Comm inter, self, cart, graph, dist;
static MPI_Datatype pieces;

#define UNPACK(...) __VA_ARGS__
#define COUNTS(a, b) ((const COUNT[]){(a), (b)})
#define DISPLACEMENTS(a, b) ((const DISPLACEMENT[]){(a), (b)})
#define ADDRESSES(a, b) ((const MPI_Aint[]){(a), (b)})
#define TYPES(a, b) ((const MPI_Datatype[]){(a), (b)})

#define BLOCKING_CALL(Function, variant, comm, arguments)                                          \
    static void call_##Function##_##variant(void) { MPI_##Function(UNPACK arguments comm); }
#define NONBLOCKING_CALL(Function, variant, comm, arguments)                                       \
    static void call_##Function##_##variant(void)                                                  \
    {                                                                                              \
        MPI_Request request;                                                                       \
        MPI_##Function(UNPACK arguments comm, &request);                                           \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                     \
    }
/* A persistent call is started twice. */
#define PERSISTENT_CALL(Function, variant, comm, arguments)                                        \
    static void call_##Function##_##variant(void)                                                  \
    {                                                                                              \
        MPI_Request request;                                                                       \
        MPI_##Function(UNPACK arguments comm, MPI_INFO_NULL, &request);                            \
        for (int i = 0; i < 2; i++) {                                                              \
            MPI_Start(&request);                                                                   \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
        }                                                                                          \
        MPI_Request_free(&request);                                                                \
    }

#if MPI_VERSION < 4
#undef PERSISTENT_CALL
#define PERSISTENT_CALL(Function, variant, comm, arguments)
#endif

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define COLLECTIVE(Name, Nonblocking, variant, comm, arguments, bytes_0, bytes_1)                  \
    BLOCKING_CALL(Name, variant, comm, arguments)                                                  \
    NONBLOCKING_CALL(Nonblocking, variant, comm, arguments)                                        \
    PERSISTENT_CALL(Name##_init, variant, comm, arguments)
#include "collectives.def"
#undef COUNT
#undef DISPLACEMENT

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define COLLECTIVE(Name, Nonblocking, variant, comm, arguments, bytes_0, bytes_1)                  \
    BLOCKING_CALL(Name##_c, variant, comm, arguments)                                              \
    NONBLOCKING_CALL(Nonblocking##_c, variant, comm, arguments)                                    \
    PERSISTENT_CALL(Name##_init_c, variant, comm, arguments)
#include "collectives.def"
#undef COUNT
#undef DISPLACEMENT
#endif

struct collective {
    const char *function; /* with _c */
    const char *operation;
    const char *variant, *comm;
    int calls;
    int bytes[2]; /* per call, on each rank */
    void (*call)(void);
};

#define ROW(Function, Operation, variant, comm, calls, bytes_0, bytes_1)                           \
    {"MPI_" #Function,   "MPI_" #Operation,          #variant, #comm, calls,                       \
     {bytes_0, bytes_1}, call_##Function##_##variant},
#if MPI_VERSION >= 4
#define PERSISTENT_ROW(...) ROW(__VA_ARGS__)
#else
#define PERSISTENT_ROW(...)
#endif

static const struct collective collectives[] = {
#define LARGE_COUNTS 0
#define COLLECTIVE(Name, Nonblocking, variant, comm, arguments, bytes_0, bytes_1)                  \
    ROW(Name, Name, variant, comm, 1, bytes_0, bytes_1)                                            \
    ROW(Nonblocking, Nonblocking, variant, comm, 1, bytes_0, bytes_1)                              \
    PERSISTENT_ROW(Name##_init, Name##_init, variant, comm, 2, bytes_0, bytes_1)
#include "collectives.def"
#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COLLECTIVE(Name, Nonblocking, variant, comm, arguments, bytes_0, bytes_1)                  \
    ROW(Name##_c, Name, variant, comm, 1, bytes_0, bytes_1)                                        \
    ROW(Nonblocking##_c, Nonblocking, variant, comm, 1, bytes_0, bytes_1)                          \
    PERSISTENT_ROW(Name##_init_c, Name##_init, variant, comm, 2, bytes_0, bytes_1)
#include "collectives.def"
#endif
};

static MPI_Comm *const comms[] = {&self, &inter, &cart, &graph, &dist};
static const char *const names[] = {"self", "inter", "cart", "graph", "dist"};

/* In a case of its own. The intercommunicator has one process on each side. */
static void make_communicators(void)
{
    static const int dims[] = {2}, periods[] = {1}, degrees[] = {1, 2}, edges[] = {1, 0};
    static const int source[] = {0}, destinations[] = {0, 1}, weights[] = {1, 1};
    case_begin("MPI_Cart_create", "and others that the collectives run on");
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, pair, partner, TAG, &inter);
    MPI_Cart_create(pair, 1, dims, periods, 0, &cart);
    MPI_Graph_create(pair, 2, degrees, edges, 0, &graph);
    MPI_Dist_graph_create_adjacent(pair, 1, source, weights, me == 0 ? 2 : 0, destinations, weights,
                                   MPI_INFO_NULL, 0, &dist);
    for (size_t i = 0; i < ELEMENTS(comms); i++)
        MPI_Comm_set_name(*comms[i], names[i]);
    case_expects(COLL, "MPI_COMM_SELF", "MPI_Comm_dup", completed_calls(1, 0));
    case_expects(COLL, "MPI_COMM_SELF", "MPI_Intercomm_create", completed_calls(1, 0));
    case_expects(COLL, "pair", "MPI_Cart_create", completed_calls(1, 0));
    case_expects(COLL, "pair", "MPI_Graph_create", completed_calls(1, 0));
    case_expects(COLL, "pair", "MPI_Dist_graph_create_adjacent", completed_calls(1, 0));
    case_end();
}

static void free_communicators(void)
{
    case_begin("MPI_Comm_free", "what the collectives ran on");
    for (size_t i = 0; i < ELEMENTS(comms); i++) {
        MPI_Comm_free(comms[i]);
        case_expects(COLL, names[i], "MPI_Comm_free", completed_calls(1, 0));
    }
    case_end();
}

void count_collectives(void)
{
    make_communicators();
    MPI_Type_vector(3, 2, 4, MPI_INT, &pieces);
    MPI_Type_commit(&pieces);
    for (size_t i = 0; i < ELEMENTS(collectives); i++) {
        const struct collective *const collective = &collectives[i];
        case_begin(collective->function, collective->variant);
        collective->call();
        case_expects(
            COLL, collective->comm, collective->operation,
            completed_calls(collective->calls, (int64_t)collective->calls * collective->bytes[me]));
        case_end();
    }
    MPI_Type_free(&pieces);
    free_communicators();
}
