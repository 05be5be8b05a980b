#include "windows.h"
#include "buffers.h"
#include "locks.h"
#include "next.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WINDOWS_MAX = 256 };

/* What is outstanding on a target, and the lock of it that this process has. The end only grows, so
   it needn't be taken back: what is in the past is complete. */
struct outstanding {
    _Atomic int64_t autonomous_end_ns;
    _Atomic int64_t host_ns;
    unsigned char *memory; /* of the target, if it is shared; or NULL */
    int unit_bytes;
    bool locked_exclusively;
    _Atomic int64_t *held_until_ns; /* see lock_held_until */
};

struct damage {
    struct damage *next;
    int target;
    unsigned char *wrong_byte;
    void *copy;
};

struct postponed {
    struct postponed *next;
    struct atomic atomic;
};

struct window {
    atomic_bool used;
    MPI_Win win;
    bool shared;
    int targets;
    struct outstanding *outstanding;
    struct damage *damage;
    struct postponed *postponed; /* the first one first */
};

static struct window windows[WINDOWS_MAX];
static _Atomic(struct window *) last_used = windows;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static bool window_is(struct window *window, MPI_Win win)
{
    return atomic_load_explicit(&window->used, memory_order_acquire) && window->win == win;
}

static struct window *search(MPI_Win win)
{
    for (int i = 0; i < WINDOWS_MAX; i++)
        if (window_is(&windows[i], win))
            return &windows[i];
    return NULL;
}

static bool is_shared(MPI_Win win)
{
    int *flavor;
    int known;
    PMPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, (void *)&flavor, &known);
    return known && *flavor == MPI_WIN_FLAVOR_SHARED;
}

static struct window *add(MPI_Win win)
{
    for (int i = 0; i < WINDOWS_MAX; i++) {
        struct window *window = &windows[i];
        if (atomic_load(&window->used))
            continue;
        MPI_Group group;
        PMPI_Win_get_group(win, &group);
        PMPI_Group_size(group, &window->targets);
        window->win = win;
        window->shared = is_shared(win);
        window->damage = NULL;
        window->postponed = NULL;
        window->outstanding = calloc((size_t)window->targets, sizeof *window->outstanding);
        if (window->outstanding == NULL)
            model_abort("out of memory for a window");
        MPI_Group world;
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        for (int target = 0; target < window->targets; target++) {
            int world_rank;
            PMPI_Group_translate_ranks(group, 1, &target, world, &world_rank);
            struct outstanding *outstanding = &window->outstanding[target];
            outstanding->held_until_ns = lock_held_until(world_rank);
            MPI_Aint bytes;
            if (window->shared)
                PMPI_Win_shared_query(win, target, &bytes, &outstanding->unit_bytes,
                                      (void *)&outstanding->memory);
        }
        PMPI_Group_free(&world);
        PMPI_Group_free(&group);
        atomic_store_explicit(&window->used, true, memory_order_release);
        return window;
    }
    model_abort("more than 256 windows");
}

struct window *window_of(MPI_Win win)
{
    struct window *window = atomic_load_explicit(&last_used, memory_order_acquire);
    if (window_is(window, win))
        return window;
    (void)pthread_mutex_lock(&changing);
    window = search(win);
    if (window == NULL)
        window = add(win);
    atomic_store_explicit(&last_used, window, memory_order_release);
    (void)pthread_mutex_unlock(&changing);
    return window;
}

bool window_is_shared(const struct window *window) { return window->shared; }

void window_forget(MPI_Win win)
{
    (void)pthread_mutex_lock(&changing);
    struct window *window = search(win);
    if (window != NULL) {
        free(window->outstanding);
        atomic_store(&window->used, false);
    }
    (void)pthread_mutex_unlock(&changing);
}

void window_add(struct window *window, int target, int64_t autonomous_end_ns, int64_t host_ns)
{
    struct outstanding *outstanding = &window->outstanding[target];
    int64_t end_ns = atomic_load_explicit(&outstanding->autonomous_end_ns, memory_order_relaxed);
    while (autonomous_end_ns > end_ns &&
           !atomic_compare_exchange_weak_explicit(&outstanding->autonomous_end_ns, &end_ns,
                                                  autonomous_end_ns, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    if (host_ns > 0)
        atomic_fetch_add_explicit(&outstanding->host_ns, host_ns, memory_order_relaxed);
}

int64_t window_completion_ns(struct window *window, int target, int64_t now_ns)
{
    if (target == NO_TARGET || target == MPI_PROC_NULL)
        return now_ns;
    const int begin = target == EVERY_TARGET ? 0 : target;
    const int end = target == EVERY_TARGET ? window->targets : target + 1;
    int64_t autonomous_end_ns = now_ns;
    int64_t host_ns = 0;
    for (int i = begin; i < end; i++) {
        struct outstanding *outstanding = &window->outstanding[i];
        const int64_t own_end_ns =
            atomic_load_explicit(&outstanding->autonomous_end_ns, memory_order_relaxed);
        if (own_end_ns > autonomous_end_ns)
            autonomous_end_ns = own_end_ns;
        if (atomic_load_explicit(&outstanding->host_ns, memory_order_relaxed) > 0)
            host_ns += atomic_exchange_explicit(&outstanding->host_ns, 0, memory_order_relaxed);
    }
    return autonomous_end_ns + host_ns;
}

int64_t window_lock(struct window *window, int target, bool exclusively, int64_t call_ns)
{
    struct outstanding *outstanding = &window->outstanding[target];
    outstanding->locked_exclusively = exclusively;
    if (outstanding->held_until_ns == NULL)
        return clock_now_ns();
    const int64_t held_until_ns = atomic_load(outstanding->held_until_ns);
    return held_until_ns > call_ns ? held_until_ns : call_ns;
}

bool window_unlock(struct window *window, int target, int64_t end_ns)
{
    struct outstanding *outstanding = &window->outstanding[target];
    if (outstanding->held_until_ns == NULL)
        return false;
    if (outstanding->locked_exclusively)
        atomic_store(outstanding->held_until_ns, end_ns);
    return true;
}

void window_remember_atomic(struct window *window, const struct atomic *atomic)
{
    struct postponed *postponed = malloc(sizeof *postponed);
    if (postponed == NULL)
        model_abort("out of memory for an atomic operation");
    *postponed = (struct postponed){NULL, *atomic};
    (void)pthread_mutex_lock(&changing);
    struct postponed **link = &window->postponed;
    while (*link != NULL)
        link = &(*link)->next;
    *link = postponed;
    (void)pthread_mutex_unlock(&changing);
}

/* In shared memory; false if it isn't one that is known here. */
static bool make_atomic(const struct atomic *atomic, const struct outstanding *outstanding)
{
    if (outstanding->memory == NULL || atomic->datatype != MPI_INT64_T)
        return false;
    _Atomic int64_t *place =
        (void *)(outstanding->memory + atomic->displacement * outstanding->unit_bytes);
    int64_t *result = atomic->result;
    if (atomic->compare != NULL) {
        *result = *(const int64_t *)atomic->compare;
        atomic_compare_exchange_strong(place, result, *(const int64_t *)atomic->origin);
    } else if (atomic->op == MPI_REPLACE) {
        *result = atomic_exchange(place, *(const int64_t *)atomic->origin);
    } else if (atomic->op == MPI_SUM) {
        *result = atomic_fetch_add(place, *(const int64_t *)atomic->origin);
    } else if (atomic->op == MPI_NO_OP) {
        *result = atomic_load(place);
    } else {
        return false;
    }
    return true;
}

static void do_atomic(const struct atomic *atomic, const struct window *window)
{
    if (make_atomic(atomic, &window->outstanding[atomic->target]))
        return;
    MPI_Win win = window->win;
    const int error =
        atomic->compare != NULL
            ? next.Compare_and_swap(atomic->origin, atomic->compare, atomic->result,
                                    atomic->datatype, atomic->target, atomic->displacement, win)
            : next.Fetch_and_op(atomic->origin, atomic->result, atomic->datatype, atomic->target,
                                atomic->displacement, atomic->op, win);
    if (error != MPI_SUCCESS)
        model_abort("an atomic operation failed");
}

void window_do_atomics(struct window *window, int target)
{
    (void)pthread_mutex_lock(&changing);
    for (struct postponed **link = &window->postponed; *link != NULL;) {
        struct postponed *postponed = *link;
        if (target != EVERY_TARGET && target != postponed->atomic.target) {
            link = &postponed->next;
            continue;
        }
        do_atomic(&postponed->atomic, window);
        *link = postponed->next;
        free(postponed);
    }
    (void)pthread_mutex_unlock(&changing);
}

void window_remember_damage(struct window *window, int target, unsigned char *wrong_byte,
                            void *copy)
{
    struct damage *damage = malloc(sizeof *damage);
    if (damage == NULL)
        model_abort("out of memory for damage");
    (void)pthread_mutex_lock(&changing);
    *damage = (struct damage){window->damage, target, wrong_byte, copy};
    window->damage = damage;
    (void)pthread_mutex_unlock(&changing);
}

void window_do_damage(struct window *window, int target)
{
    (void)pthread_mutex_lock(&changing);
    for (struct damage **link = &window->damage; *link != NULL;) {
        struct damage *damage = *link;
        if (target != EVERY_TARGET && target != damage->target) {
            link = &damage->next;
            continue;
        }
        if (damage->wrong_byte != NULL)
            *damage->wrong_byte ^= 0xff;
        *link = damage->next;
        free(damage->copy);
        free(damage);
    }
    (void)pthread_mutex_unlock(&changing);
}
