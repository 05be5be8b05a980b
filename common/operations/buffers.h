/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of an operation: in memory of the host or a device, in place or not, filled and
 * verified. All functions are local.
 */
#pragma once

#include "common/operations/instance.h"

/* Makes the buffers, large enough for any root if `any_root`, and fills the send buffer. */
void op_buffers_create(struct op_instance *operation, bool any_root);
void op_buffers_destroy(struct op_instance *operation);

/* Changes the root between operations if any_root was chosen. The same on all ranks. */
void op_set_root(struct op_instance *operation, int root);

/* Moves the buffers to newly allocated memory, except those of a window. Call it before an
   operation. Not for the persistent form, whose requests keep their buffers. */
void op_renew(struct op_instance *operation);

/* Restores the data that is sent in place and that the last operation has overwritten. Call it
   before each operation; it does nothing unless that is in place and reduces or exchanges data. */
void op_refill(struct op_instance *operation);

/* Prepares the next operation for op_verify: overwrites the receive buffer, so that old data can't
   pass for new, and refills data that is sent in place. Replaces op_refill. */
void op_prepare_check(struct op_instance *operation);

/* True if the receive buffer holds the right data, after all ranks have completed the operation. */
bool op_verify(struct op_instance *operation);

/* Copy the data that `from` sends, also in place, or has received, to `to`: the same operation with
   buffers in different memory. Skip buffers in host memory. For timed regions. */
void op_copy_sent(const struct op_instance *to, const struct op_instance *from);
void op_copy_received(const struct op_instance *to, const struct op_instance *from);
