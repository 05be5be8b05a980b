/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicators that the monitor knows, with an MPI library that the test makes up: each
 * communicator is a progression of ranks of MPI_COMM_WORLD. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/communicators.h"
#include "monitor/lib/count/kinds.h"
#include "monitor/lib/count/describe.h"
#include "monitor/lib/count/rank_peers.h"

#include <stdio.h>

/* ---- stand-ins ------------------------------------------------------------------------------- */

enum { WORLD_SIZE = 100000, COMMS_MAX = 4096 };

/* By the number that the handle is. */
static struct members {
    int first, step, size;
    bool is_invalid; /* MPI can't be asked about it: it is freed, or not complete yet */
    char name[MPI_MAX_OBJECT_NAME];
    int third; /* added to the rank of member 3 */
} comms[COMMS_MAX] = {{0, 1, WORLD_SIZE, false, "", 0}};
static int comms_count;

static int calls, translated; /* of PMPI_ functions, and ranks by these */
static int asked_in_vain;     /* about communicators that are invalid */

static int number_of(const void *handle)
{
    int number;
    memcpy(&number, handle, sizeof number);
    return number;
}

static const struct members *members_of(MPI_Comm comm)
{
    static const struct members world = {0, 1, WORLD_SIZE, false, "MPI_COMM_WORLD", 0},
                                self = {5, 1, 1, false, "", 0};
    const struct members *const members = comm == MPI_COMM_WORLD  ? &world
                                          : comm == MPI_COMM_SELF ? &self
                                                                  : &comms[number_of(&comm)];
    calls++;
    asked_in_vain += members->is_invalid;
    return members;
}

static MPI_Comm make(int first, int step, int size)
{
    MPI_Comm comm;
    memset(&comm, 0, sizeof comm);
    const int number = ++comms_count;
    comms[number] = (struct members){first, step, size, false, "", 0};
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
        others[i] = members->first + ranks[i] * members->step + (ranks[i] == 3) * members->third;
    return MPI_SUCCESS;
}

int PMPI_Group_compare(MPI_Group one, MPI_Group other, int *result)
{
    const struct members *const a = &comms[number_of(&one)], *const b = &comms[number_of(&other)];
    calls++;
    *result =
        a->first == b->first && a->step == b->step && a->size == b->size && a->third == b->third
            ? MPI_IDENT
            : MPI_UNEQUAL;
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
    calls = 0;
    return 0;
}

static void invalidate(MPI_Comm comm) { comms[number_of(&comm)].is_invalid = true; }

/* Names it in MPI, then tells the monitor. */
static void name_one(MPI_Comm comm, const char *name)
{
    strcpy(comms[number_of(&comm)].name, name);
    communicator_named(comm);
}

static void free_one(MPI_Comm comm) { communicator_freed(comm, communicator_before_free(comm)); }

static const struct communicator *record_of(MPI_Comm comm)
{
    const struct communicator *const record = &communicators[communicator_index(comm)];
    communicator_find_members(&communicators[communicator_index(comm)]);
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
    name_one(made[3], "its name");
    assert_int_equal(calls, 1); /* for the name */
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

/* MPI isn't asked about a handle freed around the monitor, nor about a duplicate that need not be
   complete: the original tells all, also where it has been freed meanwhile. */
TEST(only_valid_handles_are_asked_about)
{
    const MPI_Comm around = make(1, 1, 2), original = make(10, 1, 4), later = make(20, 1, 4);
    const MPI_Comm duplicates[] = {make(10, 1, 4), make(20, 1, 4)};
    communicator_created(around, "MPI_Comm_dup");
    communicator_created(original, "MPI_Comm_split");
    communicator_created(later, "MPI_Comm_split");
    assert_int_equal(calls, 0);
    communicator_duplicated(duplicates[0], original, "MPI_Comm_idup");
    communicator_duplicated(duplicates[1], later, "MPI_Comm_idup");
    communicator_freed(around, communicator_before_unseen_free(around));
    invalidate(around);
    invalidate(duplicates[0]);
    free_one(later);
    invalidate(later);
    monitored_classes = 1;
    communicators_enter_remembered();
    assert_int_equal(asked_in_vain, 0);
    assert_string_equal(record_of(duplicates[0])->made, "MPI_Comm_idup 1");
    assert_string_equal(record_of(duplicates[0])->members, "10-13");
    assert_string_equal(record_of(duplicates[1])->members, "20-23");
    free_one(original);
    free_one(duplicates[0]);
    free_one(duplicates[1]);
}

/* A thread frees a communicator, and another one is given its handle before the first looks. */
TEST(handle_used_again_at_once)
{
    monitored_classes = 1;
    const MPI_Comm comm = make(60, 1, 5);
    communicator_created(comm, "MPI_Comm_dup");
    const int number = communicator_before_free(comm);
    communicator_created(comm, "MPI_Comm_dup");
    communicator_freed(comm, number);
    assert_string_equal(record_of(comm)->made, "MPI_Comm_dup 1");
    free_one(comm);
    communicator_freed(comm, number); /* does no harm */
}

/* A communicator that finds no room has its ordinal, and gives it back, as on a rank with room. */
TEST(ordinals_without_room)
{
    enum { MANY = 600 };
    MPI_Comm made[MANY], same[3];
    monitored_classes = 1;
    for (int i = 0; i < MANY; i++) {
        made[i] = make(i, 1, 7);
        communicator_created(made[i], "MPI_Comm_create");
    }
    assert_int_equal(communicator_index(made[MANY - 1]), OTHER_COMMUNICATORS);
    for (int i = 0; i < 3; i++) {
        same[i] = make(50, 3, 9);
        communicator_created(same[i], "MPI_Comm_split");
    }
    name_one(same[0], "its name"); /* so that its ordinal is never used again */
    free_one(same[0]);
    free_one(same[1]);
    for (int i = 0; i < MANY; i++)
        free_one(made[i]);
    for (int i = 0; i < 2; i++) {
        same[i] = make(50, 3, 9);
        communicator_created(same[i], "MPI_Comm_split");
    }
    assert_string_equal(record_of(same[0])->made, "MPI_Comm_split 2");
    assert_string_equal(record_of(same[1])->made, "MPI_Comm_split 4");
    for (int i = 0; i < 3; i++)
        free_one(same[i]);
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

/* Communicators made and freed repeatedly are one; one of other members is another one. */
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

static int32_t peer_of(int number, int rank)
{
    const int32_t peer = world_ranks_find(&communicators[number].world, rank);
    return peer == PEER_UNKNOWN ? rank_peer_ask(number, rank) : peer;
}

/* Two communicators that differ only in member 3 share a record, but not their peers. */
TEST(peers_of_a_record_that_is_used_again)
{
    enum { ROUNDS = 4 };
    monitored_classes = 1u << PEERS;
    int number = HANDLE_UNKNOWN;
    for (int round = 0; round < ROUNDS; round++) {
        const MPI_Comm comm = make(70, 1, 9);
        comms[number_of(&comm)].third = round < 2 ? 0 : 100;
        communicator_created(comm, "MPI_Comm_create_group");
        assert_true(round == 0 || communicator_index(comm) == number);
        number = communicator_index(comm);
        communicator_hold(number);
        assert_int_equal(peer_of(number, 3), 1 + 73 + (round < 2 ? 0 : 100));
        assert_int_equal(peer_of(number, 4), 1 + 74);
        free_one(comm);
    }
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
        name_one(comm, names[i][0]);
        assert_string_equal(record_of(comm)->name, names[i][1]);
        assert_string_equal(record_of(comm)->made, "MPI_Cart_create 1");
    }
    free_one(comm);
}

const struct test_program test_program = {.set_up = start, .after_each = tear_down};
