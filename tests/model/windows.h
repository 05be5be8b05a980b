/* What this process has outstanding on each window, and the damage to do to it. Any thread may
 * call. */
#ifndef MODEL_WINDOWS_H
#define MODEL_WINDOWS_H

#include "model.h"

#include <mpi.h>

enum { EVERY_TARGET = -100, NO_TARGET = -101 }; /* no ranks, and not MPI_PROC_NULL */

struct window;

/* The record of this window, made if new: its first use allocates. */
struct window *window_of(MPI_Win win);

/* Whether its memory is shared among all processes (MPI_WIN_FLAVOR_SHARED). */
bool window_is_shared(const struct window *window);

/* The record isn't needed any more; there need not be one. */
void window_forget(MPI_Win win);

/* Adds an operation on target. */
void window_add(struct window *window, int target, int64_t autonomous_end_ns, int64_t host_ns);

/* When the operations outstanding on target (or EVERY_TARGET, NO_TARGET) are complete if their
   completion is awaited from now_ns on; takes their host parts out of the record. */
int64_t window_completion_ns(struct window *window, int target, int64_t now_ns);

/* The real lock of target was got, by a call at call_ns: returns when it is got in modelled time.
 */
int64_t window_lock(struct window *window, int target, bool exclusively, int64_t call_ns);

/* The lock of target will be given up in modelled time at end_ns: whether the real one may be given
 * up before. */
bool window_unlock(struct window *window, int target, int64_t end_ns);

/* An atomic operation that is still to be made. */
struct atomic {
    const void *origin;
    const void *compare; /* NULL: it is a Fetch_and_op, and has op */
    void *result;
    MPI_Datatype datatype;
    MPI_Op op;
    int target;
    MPI_Aint displacement;
};

/* At the next window_do_atomics of target it will be made, after those remembered before. */
void window_remember_atomic(struct window *window, const struct atomic *atomic);
void window_do_atomics(struct window *window, int target);

/* At the next window_do_damage of target: *wrong_byte is made wrong unless NULL, and copy is freed.
 */
void window_remember_damage(struct window *window, int target, unsigned char *wrong_byte,
                            void *copy);
void window_do_damage(struct window *window, int target);

#endif
