/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

#include "common/run/parse.h"

#include <string.h>
#include <unistd.h>

/* Max of a multiple: a huge page. */
#define MULTIPLE_MAX (INT64_C(2) << 20)

/* Parses the placement's name. Returns false if it is wrong. */
static bool parse_placement(struct bc_named_placement *named)
{
    static const struct bc_placement of_malloc = BC_PLACEMENT_OF_MALLOC;
    char multiple_text[sizeof named->name];
    const char *const plus = strchr(named->name, '+');
    int64_t multiple = 0, offset = 0;
    if (strcmp(named->name, "malloc") == 0) {
        named->placement = of_malloc;
        return true;
    }
    if (strcmp(named->name, "page") == 0) {
        named->placement = (struct bc_placement){.multiple = (size_t)sysconf(_SC_PAGESIZE)};
        return true;
    }
    snprintf(multiple_text, sizeof multiple_text, "%.*s", (int)strcspn(named->name, "+"),
             named->name);
    if (!bc_parse_size(multiple_text, &multiple) || (multiple & (multiple - 1)) != 0 ||
        multiple < (int64_t)sizeof(double) || multiple > MULTIPLE_MAX ||
        (plus != NULL && !bc_parse_size(plus + 1, &offset)) ||
        offset % (int64_t)sizeof(double) != 0 || offset >= multiple)
        return false;
    named->placement = (struct bc_placement){(size_t)multiple, (size_t)offset};
    return true;
}

/* Returns true if an earlier placement equals this one. */
static bool is_repeated(const struct bc_own_run *own, const struct bc_placement *placement)
{
    bool is = false;
    for (int i = 0; i < own->placement_count; i++) {
        const struct bc_placement *const other = &own->placements[i].placement;
        is = is || (other->multiple == placement->multiple && other->offset == placement->offset);
    }
    return is;
}

bool bc_placements_read(struct bc_run *run, struct bc_error *error)
{
    struct bc_own_run *const own = run->own;
    own->placement_count = 0;
    for (const char *word = run->settings.align;; word++) {
        const int length = (int)strcspn(word, ",");
        struct bc_named_placement next = {0};
        snprintf(next.name, sizeof next.name, "%.*s", length, word);
        if ((size_t)length >= sizeof next.name || !parse_placement(&next))
            return bc_error_set(
                error,
                "--align: '%.*s' is no placement: use malloc, page, a power of two from 8 "
                "to 2M, or one plus a smaller multiple of 8 (64+16)",
                length < 40 ? length : 40, word);
        if (own->placement_count == BC_PLACEMENTS_MAX)
            return bc_error_set(error, "--align: too many placements: use at most %d",
                                BC_PLACEMENTS_MAX);
        if (!is_repeated(own, &next.placement))
            own->placements[own->placement_count++] = next;
        word += length;
        if (*word == '\0')
            return true;
    }
}

const struct bc_table *bc_placements_table(const struct bc_run *run, const struct bc_table *table)
{
    const struct bc_own_run *const own = run->own;
    struct bc_column key = {.name = "align",
                            .places = 7,
                            .role = own->placement_count > 1 ? BC_KEY : BC_RUN_KEY,
                            .cell = BC_CELL_TEXT};
    if (own->placement_count == 1 && strcmp(own->placements[0].name, "malloc") == 0)
        return table;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, "visits") == 0) {
            key.at = table->columns[i].at - offsetof(struct bc_outcome, visits) +
                     offsetof(struct bc_outcome, align);
            return bc_table_with_key(table, key);
        }
    return table;
}
