/*
 * The buffers of an operation: in memory of the host or a device, in place or not, filled and
 * verified. All functions are local.
 */
#pragma once

#include "common/operations/operation.h"

/* Makes the buffers, as large as any root needs them if `any_root`, and fills what is sent. */
void op_buffers_create(struct op_instance *operation, bool any_root);
void op_buffers_destroy(struct op_instance *operation);

/* Chooses another root, of an operation whose choice said any_root: the same on all ranks, before
   the operation. */
void op_set_root(struct op_instance *operation, int root);

/* Moves the buffers to memory that is allocated now, and frees the former; a window's stays. Not of
   the form persistent, whose requests know the buffers. Before an operation. */
void op_renew(struct op_instance *operation);

/* Fills what is sent in place, which the operation before has overwritten. Before each operation
   that is in place and reduces or exchanges data; does nothing to others. */
void op_refill(struct op_instance *operation);

/* Overwrites the receive buffer, so that old data can't pass for new. */
void op_poison(struct op_instance *operation);

/* True if the receive buffer holds what it must, when all ranks are done with the operation. */
bool op_verify(struct op_instance *operation);

/* For timed regions. The first copies what `from` sends, also in place, to `to`, the same operation
   in pinned memory; the second what `from` has received there to `to`. Nothing where that buffer
   lies in host memory, for which a program needs no copy. */
void op_copy_sent(const struct op_instance *to, const struct op_instance *from);
void op_copy_received(const struct op_instance *to, const struct op_instance *from);
