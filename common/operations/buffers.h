/*
 * The buffers of an operation: in memory of the host or a device, in place or not, filled and
 * verified. All functions are local.
 */
#pragma once

#include "common/operations/instance.h"

/* Makes the buffers, large enough for any root if `any_root`, and fills the send buffer. */
void op_buffers_create(struct op_instance *operation, bool any_root);
void op_buffers_destroy(struct op_instance *operation);

/* Changes the root, before an operation that was created with any_root. The same on all ranks. */
void op_set_root(struct op_instance *operation, int root);

/* Moves the buffers to newly allocated memory, except those of a window. Not for the form
   persistent, whose requests keep their buffers. Before an operation. */
void op_renew(struct op_instance *operation);

/* Fills the data that is sent in place and that the last operation has overwritten. Before each
   operation; does nothing unless it is in place and reduces or exchanges data. */
void op_refill(struct op_instance *operation);

/* Prepares the next operation for op_verify: overwrites the receive buffer, so that old data can't
   pass for new, and refills data that is sent in place. Replaces op_refill. */
void op_prepare_check(struct op_instance *operation);

/* True if the receive buffer holds the right data. After all ranks are done with the operation. */
bool op_verify(struct op_instance *operation);

/* Copy the data that `from` sends, also in place, or has received, to `to`, the same operation with
   buffers in other memory. Skip buffers in host memory. For timed regions. */
void op_copy_sent(const struct op_instance *to, const struct op_instance *from);
void op_copy_received(const struct op_instance *to, const struct op_instance *from);
