/*
 * Functions that make and free communicators. Each new communicator is used once, which must count
 * on it.
 */
#include "counts.h"

#include <string.h>

static MPI_Comm made;
static MPI_Comm grid, sides; /* a Cartesian one and an intercommunicator */

/* Names the new communicator "made", calls a barrier on it and frees it. */
static void use_made(void)
{
    if (made == MPI_COMM_NULL)
        return;
    MPI_Comm_set_name(made, "made");
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    case_expects(COLL, "made", "MPI_Barrier", completed_calls(1, 0));
    case_expects(COLL, "made", "MPI_Comm_free", completed_calls(1, 0));
}

#define MAKERS(MAKER)                                                                              \
    MAKER(Comm_dup, pair, (pair, &made))                                                           \
    MAKER(Comm_dup_with_info, pair, (pair, MPI_INFO_NULL, &made))                                  \
    MAKER(Comm_create, pair, (pair, group, &made))                                                 \
    MAKER(Comm_create_group, pair, (pair, group, TAG, &made))                                      \
    MAKER(Comm_split, pair, (pair, 0, me, &made))                                                  \
    MAKER(Comm_split_type, pair, (pair, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made))            \
    MAKER(Cart_create, pair, (pair, 1, INTS(2), INTS(0), 0, &made))                                \
    MAKER(Cart_sub, grid, (grid, INTS(1, 0), &made))                                               \
    MAKER(Graph_create, pair, (pair, 2, INTS(1, 2), INTS(1, 0), 0, &made))                         \
    MAKER(Dist_graph_create, pair,                                                                 \
          (pair, 1, &me, INTS(1), &partner, INTS(1), MPI_INFO_NULL, 0, &made))                     \
    MAKER(Dist_graph_create_adjacent, pair,                                                        \
          (pair, 1, &partner, INTS(1), 1, &partner, INTS(1), MPI_INFO_NULL, 0, &made))             \
    MAKER(Intercomm_create, MPI_COMM_SELF, (MPI_COMM_SELF, 0, pair, partner, TAG, &made))          \
    MAKER(Intercomm_merge, sides, (sides, me, &made))                                              \
    MAKER(Comm_idup, pair, (pair, &made, &request))                                                \
    MAKERS_OF_MPI_4(MAKER)
#if MPI_VERSION >= 4
#define MAKERS_OF_MPI_4(MAKER)                                                                     \
    MAKER(Comm_idup_with_info, pair, (pair, MPI_INFO_NULL, &made, &request))
#else
#define MAKERS_OF_MPI_4(MAKER)
#endif

#define INTS(...) ((const int[]){__VA_ARGS__})

/* The group is rank 0 alone, so rank 1 gets MPI_COMM_NULL. */
#define MAKE(Name, on, arguments)                                                                  \
    static void make_##Name(MPI_Group group, MPI_Request *wait)                                    \
    {                                                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        (void)group;                                                                               \
        MPI_##Name arguments;                                                                      \
        *wait = request;                                                                           \
    }
MAKERS(MAKE)

static const struct maker {
    const char *function, *on;
    void (*make)(MPI_Group, MPI_Request *);
} makers[] = {
#define ROW(Name, on, arguments) {"MPI_" #Name, #on, make_##Name},
    MAKERS(ROW)};

/* MPI_Comm_create_group is called by members only. */
static bool is_called(const char *function)
{
    return me == 0 || strcmp(function, "MPI_Comm_create_group") != 0;
}

static void count_maker(const struct maker *maker, MPI_Group group)
{
    MPI_Request request = MPI_REQUEST_NULL;
    made = MPI_COMM_NULL;
    case_begin(maker->function, "and its use");
    if (is_called(maker->function)) {
        maker->make(group, &request);
        if (request != MPI_REQUEST_NULL)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        case_expects(COLL, maker->on, maker->function, completed_calls(1, 0));
    }
    use_made();
    case_end();
}

static void count_disconnect(void)
{
    case_begin("MPI_Comm_disconnect", "a duplicate");
    MPI_Comm_dup(pair, &made);
    MPI_Comm_set_name(made, "made");
    MPI_Comm_disconnect(&made);
    case_expects(COLL, "pair", "MPI_Comm_dup", completed_calls(1, 0));
    case_expects(COLL, "made", "MPI_Comm_disconnect", completed_calls(1, 0));
    case_end();
}

/* A communicator without a name is called after the function that made it, with an ordinal. */
static void count_unnamed(void)
{
    MPI_Comm first, second;
    exercised("MPI_Comm_set_name");
    case_begin("MPI_Comm_dup", "no name given");
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &first);
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &second);
    MPI_Barrier(second);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    exercised("MPI_Comm_idup");
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_SELF, &first, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(first);
    MPI_Comm_free(&first);
    case_expects(COLL, "MPI_COMM_SELF", "MPI_Comm_idup", completed_calls(1, 0));
    case_expects(COLL, "MPI_Comm_idup 1", "MPI_Barrier", completed_calls(1, 0));
    case_expects(COLL, "MPI_Comm_idup 1", "MPI_Comm_free", completed_calls(1, 0));
    case_expects(COLL, "MPI_COMM_SELF", "MPI_Comm_split", completed_calls(2, 0));
    case_expects(COLL, "MPI_Comm_split 2", "MPI_Barrier", completed_calls(1, 0));
    case_expects(COLL, "MPI_Comm_split 2", "MPI_Comm_free", completed_calls(1, 0));
    case_expects(COLL, "MPI_Comm_split 1", "MPI_Comm_free", completed_calls(1, 0));
    case_end();
}

#if MPI_VERSION >= 4
/* Making a communicator of a group counts on no communicator, but the new one is known. */
static void count_from_group(MPI_Group world)
{
    case_begin("MPI_Comm_create_from_group", "and its use");
    MPI_Comm_create_from_group(world, "a tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    use_made();
    case_end();
}
#endif

void count_communicators(void)
{
    static const int dims[] = {2, 1}, periods[] = {0, 0}, first[] = {0};
    MPI_Group world, alone;
    MPI_Comm_group(pair, &world);
    MPI_Group_incl(world, 1, first, &alone);
    case_begin("MPI_Intercomm_create", "and a grid, for those made of them");
    MPI_Cart_create(pair, 2, dims, periods, 0, &grid);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, pair, partner, TAG, &sides);
    MPI_Comm_set_name(grid, "grid");
    MPI_Comm_set_name(sides, "sides");
    case_expects(COLL, "pair", "MPI_Cart_create", completed_calls(1, 0));
    case_expects(COLL, "MPI_COMM_SELF", "MPI_Intercomm_create", completed_calls(1, 0));
    case_end();
    for (size_t i = 0; i < ELEMENTS(makers); i++)
        count_maker(&makers[i], alone);
    count_disconnect();
    count_unnamed();
#if MPI_VERSION >= 4
    count_from_group(world);
#endif
    case_begin("MPI_Comm_free", "a grid and an intercommunicator");
    MPI_Comm_free(&grid);
    MPI_Comm_free(&sides);
    case_expects(COLL, "grid", "MPI_Comm_free", completed_calls(1, 0));
    case_expects(COLL, "sides", "MPI_Comm_free", completed_calls(1, 0));
    case_end();
    MPI_Group_free(&world);
    MPI_Group_free(&alone);
}
