/*
 * The communicators that the monitor knows, with an MPI library that the test makes up: each
 * communicator is a progression of ranks of MPI_COMM_WORLD. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/communicators.h"

#include <stdio.h>

/* ---- stand-ins ------------------------------------------------------------------------------- */

unsigned monitored_classes;

enum { WORLD_SIZE = 100000, COMMS_MAX = 4096 };

/* By the number that the handle is. */
static struct members {
    int first, step, size;
    char name[MPI_MAX_OBJECT_NAME];
} comms[COMMS_MAX] = {{0, 1, WORLD_SIZE, ""}};
static int comms_count;

static int calls, translated; /* of PMPI_ functions, and ranks by these */

static int number_of(const void *handle)
{
    int number;
    memcpy(&number, handle, sizeof number);
    return number;
}

static const struct members *members_of(MPI_Comm comm)
{
    static const struct members world = {0, 1, WORLD_SIZE, "MPI_COMM_WORLD"}, self = {5, 1, 1, ""};
    calls++;
    return comm == MPI_COMM_WORLD  ? &world
           : comm == MPI_COMM_SELF ? &self
                                   : &comms[number_of(&comm)];
}

static MPI_Comm make(int first, int step, int size)
{
    MPI_Comm comm;
    memset(&comm, 0, sizeof comm);
    const int number = ++comms_count;
    comms[number] = (struct members){first, step, size, ""};
    memcpy(&comm, &number, sizeof number);
    return comm;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    calls++;
    *rank = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = members_of(comm)->size;
    return MPI_SUCCESS;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *is_inter)
{
    calls++;
    *is_inter = 0;
    return MPI_SUCCESS;
}

int PMPI_Topo_test(MPI_Comm comm, int *topology)
{
    calls++;
    *topology = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *length)
{
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", members_of(comm)->name);
    return MPI_SUCCESS;
}

static int groups; /* not freed */

/* A group has the number of its communicator; that of MPI_COMM_WORLD is 0. */
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    const int number = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ? 0 : number_of(&comm);
    calls++;
    groups++;
    memset(group, 0, sizeof *group);
    memcpy(group, &number, sizeof number);
    return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group *group)
{
    calls++;
    groups--;
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int PMPI_Group_translate_ranks(MPI_Group group, int count, const int ranks[], MPI_Group other,
                               int others[])
{
    const struct members *const members = &comms[number_of(&group)];
    calls++;
    translated += count;
    for (int i = 0; i < count; i++)
        others[i] = members->first + ranks[i] * members->step;
    return MPI_SUCCESS;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static void start(void)
{
    monitor_lock_needed = false;
    communicators_start();
    calls = 0;
}

static int tear_down(void **state)
{
    monitored_classes = 0;
    return 0;
}

static void free_one(MPI_Comm comm) { communicator_freed(comm, communicator_before_free(comm)); }

static const struct communicator *record_of(MPI_Comm comm)
{
    const struct communicator *const record = &communicators[communicator_index(comm)];
    communicator_find_members(communicator_index(comm));
    return record;
}

/* While nothing is monitored MPI isn't asked anything; what is still there then has its name. */
TEST(nothing_is_done_while_off)
{
    MPI_Comm made[4];
    for (int i = 0; i < 4; i++) {
        made[i] = make(10, 2, 3);
        communicator_created(made[i], "MPI_Comm_split");
    }
    for (int i = 0; i < 1000; i++) {
        const MPI_Comm comm = make(i, 1, 5);
        communicator_created(comm, "MPI_Comm_dup");
        free_one(comm);
        comms_count--; /* the handle is used again */
    }
    free_one(made[0]);
    communicator_named(made[3], "its name");
    strcpy(comms[number_of(&made[3])].name, "its name");
    assert_int_equal(calls, 0);
    monitored_classes = 1;
    communicators_enter_remembered();
    assert_string_equal(record_of(made[3])->name, "its name");
    assert_string_equal(record_of(made[3])->made, "MPI_Comm_split 3");
    assert_string_equal(record_of(made[2])->name, "MPI_Comm_split 2");
    assert_string_equal(record_of(made[1])->name, "MPI_Comm_split 1");
    assert_string_equal(record_of(made[1])->members, "10-14/2");
    for (int i = 1; i < 4; i++)
        free_one(made[i]);
}

/* A new communicator takes log2(P) ranks to be known. */
TEST(ranks_that_are_translated)
{
    monitored_classes = 1;
    for (int size = 1, log2 = 0; size < WORLD_SIZE; size *= 2, log2++) {
        const MPI_Comm comm = make(3, 1, size);
        calls = translated = 0;
        communicator_created(comm, "MPI_Comm_create");
        assert_in_range(translated, 1, 2 + log2);
        assert_in_range(calls, 1, 10);
        free_one(comm);
    }
}

/* What is made and freed again and again is one; what has other members is another one. */
TEST(pairs_are_told_apart)
{
    enum { RANKS = 8, ROUNDS = 3 };
    uint64_t identity[RANKS][RANKS] = {{0}};
    monitored_classes = 1;
    const int before = groups;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < RANKS; i++)
            for (int j = i + 1; j < RANKS; j++) {
                const MPI_Comm comm = make(i, j - i, 2);
                communicator_created(comm, "MPI_Comm_create_group");
                const int number = communicator_index(comm);
                communicator_hold(number);
                const uint64_t found = communicators[number].identity;
                assert_true(round == 0 || found == identity[i][j]);
                identity[i][j] = found;
                for (int k = 0; k < RANKS * RANKS; k++)
                    assert_true(k == RANKS * i + j || identity[k / RANKS][k % RANKS] != found);
                free_one(comm);
            }
    /* No more groups than records. */
    assert_in_range(groups - before, 0, RANKS * (RANKS - 1) / 2);
}

/* A blank name is none. */
TEST(names)
{
    monitored_classes = 1;
    const MPI_Comm comm = make(7, 3, 4);
    communicator_created(comm, "MPI_Cart_create");
    static const char *const names[][2] = {{"MPI_COMM_WORLD", "MPI_COMM_WORLD"},
                                           {"", "MPI_Cart_create 1"},
                                           {"a name", "a name"},
                                           {" \t", "MPI_Cart_create 1"}};
    for (size_t i = 0; i < COUNT(names); i++) {
        communicator_named(comm, names[i][0]);
        assert_string_equal(record_of(comm)->name, names[i][1]);
        assert_string_equal(record_of(comm)->made, "MPI_Cart_create 1");
    }
    free_one(comm);
}

const struct test_program test_program = {.set_up = start, .after_each = tear_down};
