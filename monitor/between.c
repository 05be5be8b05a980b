#include "monitor/between.h"

_Thread_local struct between between = {.kind = BETWEEN_NONE};

void between_settle(const struct settled *settled)
{
    between.operations += settled->operations;
    for (int i = 0; i < between.count; i++) {
        struct settled *const same = &between.settled[i];
        if (same->kind == settled->kind && same->communicator == settled->communicator &&
            same->size_class == settled->size_class && same->epoch == settled->epoch) {
            same->operations += settled->operations;
            return;
        }
    }
    if (between.count < SETTLED_MAX)
        between.settled[between.count++] = *settled;
}
