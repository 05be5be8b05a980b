/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/communicators.h"

#include "monitor/lib/count/depths.h"
#include "monitor/lib/count/kinds.h"
#include "monitor/lib/count/remembered.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_BITS = REMEMBERED_BITS, IDENTITY_BITS = 14 };

_Static_assert(COMMUNICATORS_KNOWN == COMMUNICATORS_MAX + (3 << (NUMBER_BITS - 2)),
               "there is a record for each handle, beside those of freed communicators");

struct communicator communicators[COMMUNICATORS_KNOWN];
struct handle_map communicator_records = HANDLE_MAP(NUMBER_BITS);

/* The records in use by their identity; GIVEN_UP for identities that must not be used again. */
enum { GIVEN_UP = COMMUNICATORS_KNOWN };
static struct handle_map identities = HANDLE_MAP(IDENTITY_BITS);

/* The lowest ordinal that may be free, by `alike`; 1 if there is none. */
static struct handle_map lowest_ordinals = HANDLE_MAP(IDENTITY_BITS);

enum { NEVER_USED, FREE, LIVE, DYING, FREED }; /* dying: in a call that frees it */
static unsigned char state[COMMUNICATORS_KNOWN];
static int holds[COMMUNICATORS_KNOWN];        /* see communicator_hold */
static int lowest_free = COMMUNICATORS_FIRST; /* no record below it is free */

static bool started;

static void set_name(struct communicator *record, const char *name)
{
    record->origin.is_named = name[strspn(name, " \t\r\n")] != '\0';
    if (record->origin.is_named)
        (void)snprintf(record->name, sizeof record->name, "%s", name);
    else
        memcpy(record->name, record->made, sizeof record->name);
}

static struct communicator describe_with_name(MPI_Comm comm)
{
    struct communicator record = describe(comm);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    set_name(&record, name);
    return record;
}

static void free_groups(MPI_Group group[2])
{
    for (int i = 0; i < 2; i++)
        if (group[i] != MPI_GROUP_NULL)
            PMPI_Group_free(&group[i]);
}

static uint64_t identity_of(const struct origin *of)
{
    return hash(of->alike, &of->ordinal, sizeof of->ordinal);
}

/* Lets the identity be used again, unless the program has named the communicator. */
static void give_identity_up(const struct origin *of)
{
    if (of->is_named)
        (void)handle_set(&identities, identity_of(of), GIVEN_UP);
    else
        (void)handle_remove(&identities, identity_of(of));
}

static void give_ordinal_back(const struct origin *of)
{
    if (of->is_named)
        return;
    if (of->ordinal == 1)
        (void)handle_remove(&lowest_ordinals, of->alike);
    else if (of->ordinal < handle_find(&lowest_ordinals, of->alike))
        (void)handle_set(&lowest_ordinals, of->alike, of->ordinal);
}

static void recycle(int number)
{
    give_identity_up(&communicators[number].origin);
    state[number] = FREE;
    if (number < lowest_free)
        lowest_free = number;
}

/* Returns the record of a handle, OTHER_COMMUNICATORS, or HANDLE_UNKNOWN. */
static int find_record(MPI_Comm comm)
{
    return handle_find(&communicator_records, communicator_key(comm));
}

/* Forgets the invalid handle of this record. */
static void forget(MPI_Comm comm, int number)
{
    (void)handle_remove(&communicator_records, communicator_key(comm));
    if (number == OTHER_COMMUNICATORS)
        return;
    state[number] = FREED;
    give_ordinal_back(&communicators[number].origin);
    if (holds[number] == 0)
        recycle(number);
}

/* Sets the record's ordinal and identity. Returns the number of a freed communicator that had this
   identity, or HANDLE_UNKNOWN. */
static int find_identity(struct communicator *record)
{
    struct origin *const origin = &record->origin;
    const int lowest = handle_find(&lowest_ordinals, origin->alike);
    origin->ordinal = lowest == HANDLE_UNKNOWN ? 1 : lowest;
    for (;; origin->ordinal++) {
        record->identity = identity_of(origin);
        const int number = handle_find(&identities, record->identity);
        if (number == HANDLE_UNKNOWN || (number < COMMUNICATORS_KNOWN && state[number] == FREED &&
                                         !communicators[number].origin.is_named))
            return number;
    }
}

/* Returns a record that is not in use, or OTHER_COMMUNICATORS if there is no room. */
static int find_free_record(void)
{
    while (lowest_free < COMMUNICATORS_KNOWN && state[lowest_free] >= LIVE)
        lowest_free++;
    return lowest_free < COMMUNICATORS_KNOWN ? lowest_free : OTHER_COMMUNICATORS;
}

/* Completes a record and stores it by number; `dropped` gets the groups that are not needed.
   is_same: the old record has the same processes. */
static void put_record(int number, struct communicator *record, const char *maker, bool is_same,
                       MPI_Group dropped[2])
{
    struct communicator *const stored = &communicators[number];
    if (stored->identity == record->identity) {
        memcpy(record->members, stored->members, sizeof record->members);
        memcpy(record->made, stored->made, sizeof record->made);
    } else {
        (void)snprintf(record->made, sizeof record->made, "%.48s %d", maker,
                       record->origin.ordinal);
    }
    if (!record->origin.is_named)
        set_name(record, "");
    /* A report may be reading the groups of a held record. Keeps these groups; replaced by others,
       they are never freed. */
    if (holds[number] > 0 && is_same) {
        memcpy(dropped, record->group, sizeof record->group);
        memcpy(record->group, stored->group, sizeof record->group);
        record->world = stored->world;
    } else if (state[number] != NEVER_USED) {
        if (holds[number] == 0)
            memcpy(dropped, stored->group, sizeof stored->group);
        world_ranks_forget(&stored->world);
    }
    *stored = *record;
    state[number] = LIVE;
}

/* Returns true if the group of a communicator is that of another one. Takes no lock. */
static bool are_same(const MPI_Group one[2], const MPI_Group other[2])
{
    int result = MPI_IDENT;
    for (int i = 0; i < 2 && result == MPI_IDENT; i++)
        if (one[i] != MPI_GROUP_NULL && other[i] != MPI_GROUP_NULL)
            PMPI_Group_compare(one[i], other[i], &result);
        else if (one[i] != other[i])
            result = MPI_UNEQUAL;
    return result == MPI_IDENT;
}

/* Returns the number of the freed communicator whose record this one will get, if they have the
   same processes, else HANDLE_UNKNOWN. Needs the lock, but releases it meanwhile. */
static int find_same(struct communicator *record)
{
    const int number = find_identity(record);
    if (number == HANDLE_UNKNOWN || holds[number] == 0)
        return HANDLE_UNKNOWN;
    MPI_Group held[2];
    memcpy(held, communicators[number].group, sizeof held);
    communicator_hold(number);
    monitor_unlock();
    const bool is_same = are_same(record->group, held);
    monitor_lock();
    communicator_release(number);
    return is_same ? number : HANDLE_UNKNOWN;
}

/* Gives an unknown handle the record of its identity, if there is room. `same`: see find_same.
   Needs the lock. */
static void put_handle(MPI_Comm comm, struct communicator *record, const char *maker, int same,
                       MPI_Group dropped[2])
{
    memcpy(dropped, record->group, sizeof record->group);
    if (!handle_set(&communicator_records, communicator_key(comm), OTHER_COMMUNICATORS))
        return;
    int number = find_identity(record);
    (void)handle_set(&lowest_ordinals, record->origin.alike, record->origin.ordinal + 1);
    if (number == HANDLE_UNKNOWN)
        number = find_free_record();
    if (number == OTHER_COMMUNICATORS || !handle_set(&identities, record->identity, number))
        return;
    dropped[0] = dropped[1] = MPI_GROUP_NULL;
    put_record(number, record, maker, number == same || !are_peers_counted(), dropped);
    (void)handle_set(&communicator_records, communicator_key(comm), number);
}

/* Completes the record's identity and returns the number of its handle. A handle that MPI has just
   made is new, whatever it denoted before. */
static int enter(MPI_Comm comm, struct communicator record, const char *maker, bool is_new)
{
    MPI_Group dropped[2];
    record.origin.alike = hash(record.identity, maker, strlen(maker));
    depth_prepare();
    monitor_lock();
    const int former = find_record(comm);
    if (former != HANDLE_UNKNOWN && is_new)
        forget(comm, former);
    const int same = are_peers_counted() ? find_same(&record) : HANDLE_UNKNOWN;
    if (find_record(comm) != HANDLE_UNKNOWN)
        memcpy(dropped, record.group, sizeof dropped); /* another thread was quicker */
    else
        put_handle(comm, &record, maker, same, dropped);
    const int number = communicator_find(comm);
    if (are_depths_counted())
        communicators_count_depth();
    monitor_unlock();
    free_groups(dropped);
    return number == HANDLE_UNKNOWN ? OTHER_COMMUNICATORS : number; /* no room for the handle */
}

/* ---- communicators that are only remembered -------------------------------------------------- */

bool communicators_have_room(int count)
{
    return communicator_records.used + remembered_count() + count <= COMMUNICATORS_OF_MPI;
}

/* Remembers a communicator. If there is no room, it is found when it is used. */
static void remember(MPI_Comm comm, const char *maker)
{
    monitor_lock();
    const int former = find_record(comm);
    if (former != HANDLE_UNKNOWN)
        forget(comm, former);
    remembered_add(comm, maker);
    monitor_unlock();
}

/* Held while a communicator is entered, but never where MPI may wait for it: MPI frees
   communicators with its own locks held. */
static pthread_mutex_t entering = PTHREAD_MUTEX_INITIALIZER;

/* The communicator that is being entered without the monitor's lock. Only a thread that frees it
   waits. */
static MPI_Comm entered;
static bool is_entering;

static void await_entered(MPI_Comm comm)
{
    while (is_entering && entered == comm) {
        monitor_unlock();
        (void)sched_yield();
        monitor_lock();
    }
}

/* Enters the first remembered communicator. False if there is none. */
static bool enter_first(void)
{
    struct remembered first;
    monitor_lock();
    is_entering = remembered_take(&first);
    entered = first.comm;
    monitor_unlock();
    if (first.comm == MPI_COMM_NULL)
        return false;
    (void)enter(first.comm, describe_with_name(first.comm), first.maker, false);
    monitor_lock();
    is_entering = false;
    monitor_unlock();
    return true;
}

void communicators_enter_remembered(void)
{
    bool is_over = false;
    while (!is_over) {
        (void)pthread_mutex_lock(&entering);
        is_over = !enter_first();
        (void)pthread_mutex_unlock(&entering);
    }
}

/* ---- calls of wrappers ----------------------------------------------------------------------- */

void communicator_created(MPI_Comm comm, const char *maker)
{
    if (comm == MPI_COMM_NULL || !started)
        return;
    if (is_anything_monitored())
        (void)enter(comm, describe(comm), maker, true);
    else
        remember(comm, maker);
}

void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker)
{
    if (comm != MPI_COMM_NULL && started)
        (void)enter(comm, describe(original), maker, true);
}

static int find(MPI_Comm comm)
{
    monitor_lock();
    const int number = communicator_find(comm);
    monitor_unlock();
    return number;
}

int communicator_index(MPI_Comm comm)
{
    int number = find(comm);
    if (number != HANDLE_UNKNOWN)
        return number;
    if (comm == MPI_COMM_NULL || !started)
        return NULL_COMMUNICATOR; /* an error of the program, which MPI will report */
    communicators_enter_remembered();
    number = find(comm);
    if (number != HANDLE_UNKNOWN)
        return number;
    return enter(comm, describe_with_name(comm), "communicator", false);
}

const struct communicator *communicator_record(MPI_Comm comm, int number,
                                               struct communicator *described)
{
    if (__builtin_expect(number != OTHER_COMMUNICATORS, 1))
        return &communicators[number];
    *described = comm != MPI_COMM_NULL ? describe_shape(comm) : communicators[OTHER_COMMUNICATORS];
    return described;
}

int communicator_before_free(MPI_Comm comm)
{
    const int number = is_anything_monitored() ? communicator_index(comm) : HANDLE_UNKNOWN;
    const int remembered_number = communicator_before_unseen_free(comm);
    return number != HANDLE_UNKNOWN ? number : remembered_number;
}

int communicator_before_unseen_free(MPI_Comm comm)
{
    monitor_lock();
    await_entered(comm);
    const int record = find_record(comm), number = communicator_find(comm);
    if (record != HANDLE_UNKNOWN && record != OTHER_COMMUNICATORS)
        state[record] = DYING;
    remembered_forget(comm);
    monitor_unlock();
    return number;
}

void communicator_freed(MPI_Comm comm, int number)
{
    monitor_lock();
    /* Skip this if another thread has been given the handle, with the same number. */
    const int record = find_record(comm);
    if (record != HANDLE_UNKNOWN && communicator_find(comm) == number &&
        (record == OTHER_COMMUNICATORS || state[record] == DYING))
        forget(comm, record);
    monitor_unlock();
}

void communicators_tidy(void)
{
    for (int number = 1; number < COMMUNICATORS_MAX; number++)
        if (state[number] == FREED && holds[number] == 0)
            recycle(number);
}

void communicator_hold(int communicator) { holds[communicator]++; }

/* communicators_tidy gives the number up if the communicator has been freed. */
void communicator_release(int communicator) { holds[communicator]--; }

void communicator_named(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    monitor_lock();
    const int record = find_record(comm);
    if (record != HANDLE_UNKNOWN && record != OTHER_COMMUNICATORS)
        set_name(&communicators[record], name);
    monitor_unlock();
}

/* ---- predefined communicators ---------------------------------------------------------------- */

static int predefined; /* number of their handles */

void communicators_count_depth(void)
{
    depth_set(DEPTH_COMMUNICATORS, communicator_records.used + remembered_count() - predefined);
}

static void enter_predefined(MPI_Comm comm, const char *name, int order)
{
    const int number = enter(comm, describe(comm), name, true);
    struct communicator *const record = &communicators[number];
    (void)snprintf(record->made, sizeof record->made, "%s", name);
    set_name(record, name);
    record->order = order;
}

/* Enters a record that stands for other communicators, or for none. */
static void enter_stand_in(int number, const char *name)
{
    struct communicator *const record = &communicators[number];
    *record = (struct communicator){
        .members = "NA", .order = 3, .processes = -1, .identity = (uint64_t)number};
    (void)snprintf(record->name, sizeof record->name, "%s", name);
    state[number] = LIVE;
}

void communicators_start(void)
{
    enter_stand_in(OTHER_COMMUNICATORS, "(other communicators)");
    enter_stand_in(NULL_COMMUNICATOR, "(null handle)");
    describe_start();
    started = true;
    enter_predefined(MPI_COMM_WORLD, "MPI_COMM_WORLD", 0);
    enter_predefined(MPI_COMM_SELF, "MPI_COMM_SELF", 1);
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        (void)enter(parent, describe(parent), "MPI_Comm_get_parent", true);
    predefined = communicator_records.used;
}

void communicators_end(void)
{
    if (!started)
        return;
    started = false;
    for (int number = COMMUNICATORS_FIRST; number < COMMUNICATORS_KNOWN; number++)
        if (state[number] != NEVER_USED) {
            free_groups(communicators[number].group);
            world_ranks_forget(&communicators[number].world);
        }
    describe_end();
}
