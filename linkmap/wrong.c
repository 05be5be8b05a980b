#include "linkmap/wrong.h"

#include "common/mpi/mpi_check.h"
#include "common/result/text.h"

#include <stdlib.h>

void linkmap_gather_wrong(const struct linkmap *state, struct linkmap_row *row)
{
    const struct linkmap_points *const points = &state->points;
    struct linkmap_wrong own = {0};
    for (int i = 0; row->links.wrong != NULL && i < points->count; i++)
        if (row->links.wrong[i] > 0 && own.links++ < LINKMAP_WRONG_SHOWN)
            own.partners[own.links - 1] = i;
    if (points->own == 0)
        row->wrong = bc_allocate((size_t)points->count, sizeof *row->wrong, "no memory for checks");
    BC_MPI(MPI_Gather(&own, (int)sizeof own, MPI_BYTE, row->wrong, (int)sizeof own, MPI_BYTE, 0,
                      points->comm));
}

void linkmap_warn_of_wrong(const struct linkmap *state, const struct linkmap_row *row)
{
    enum { SHOWN = 8 };
    struct bc_text named = {0};
    int64_t ends = 0;
    int shown = 0;
    for (int i = 0; i < state->points.count; i++) {
        const struct linkmap_wrong *const wrong = &row->wrong[i];
        ends += wrong->links;
        for (int k = 0; k < wrong->links && k < LINKMAP_WRONG_SHOWN; k++) {
            char a[BC_CELL_LENGTH], b[BC_CELL_LENGTH];
            if (wrong->partners[k] < i || shown == SHOWN)
                continue;
            linkmap_place_name(&state->places[i], state->names_ranks, a);
            linkmap_place_name(&state->places[wrong->partners[k]], state->names_ranks, b);
            bc_text_append(&named, "%s%s and %s", shown++ > 0 ? ", " : "", a, b);
        }
    }
    if (ends > 0)
        bc_output_remark(state->run->output, "warning",
                         "%d bytes: wrong data over %lld link%s: %s%s", row->links.bytes,
                         (long long)(ends / 2), ends == 2 ? "" : "s", named.start,
                         ends / 2 > shown ? ", and others" : "");
    free(named.start);
}

bool linkmap_has_wrong(const struct linkmap_row *row, int point)
{
    return row->wrong != NULL && row->wrong[point].links > 0;
}

bool linkmap_has_any_wrong(const struct linkmap *state, const struct linkmap_row *row)
{
    for (int i = 0; i < state->points.count; i++)
        if (linkmap_has_wrong(row, i))
            return true;
    return false;
}
