#include "monitor/sizes.h"

#include "monitor/handles.h"

enum { KIND_BITS = 8, CLASS_BITS = 7 };

_Static_assert(SIZE_CLASSES < 1 << CLASS_BITS, "a class fits into a key");

static uint64_t key_of(int communicator, int kind, int size_class)
{
    const uint64_t place = (uint64_t)communicator << KIND_BITS | (uint64_t)kind;
    return (place << CLASS_BITS | (uint64_t)size_class) + 1;
}

struct size_key size_key_of(const struct size_count *count)
{
    const uint64_t key = count->key - 1, place = key >> CLASS_BITS;
    return (struct size_key){
        .communicator = (int)(place >> KIND_BITS),
        .kind = (int)(place & ((1 << KIND_BITS) - 1)),
        .size_class = (int)(key & ((1 << CLASS_BITS) - 1)),
    };
}

void size_table_add(struct size_table *table, int communicator, int kind, int size_class,
                    const struct size_amounts *amounts)
{
    const uint64_t key = key_of(communicator, kind, size_class);
    struct size_count *const count =
        table_entry(table->counts, sizeof *count, SIZE_COUNTS_BITS, key);
    if (count->key == 0) {
        if (table->used == SIZE_COUNTS_MAX) {
            table->lost += amounts->completed;
            return;
        }
        table->used++;
        count->key = key;
    }
    count->amounts.completed += amounts->completed;
    count->amounts.bytes += amounts->bytes;
    count->amounts.total_ticks += amounts->total_ticks;
    count->amounts.inside_ticks += amounts->inside_ticks;
    count->amounts.computed_ticks += amounts->computed_ticks;
    count->amounts.after_ticks += amounts->after_ticks;
    count->amounts.joinable += amounts->joinable;
}
