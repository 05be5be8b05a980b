#include "pingpong/arrangement.h"

const char *const pingpong_arrangement_names[PINGPONG_ARRANGEMENTS] = {"single", "multiple",
                                                                       "crossing"};

bool pingpong_can_arrange(enum pingpong_arrangement arrangement, int ranks)
{
    if (arrangement == PINGPONG_SINGLE)
        return ranks >= 2;
    return ranks >= 4 && ranks % 2 == 0;
}

struct pingpong_part pingpong_part_of(enum pingpong_arrangement arrangement, int rank, int ranks)
{
    const int half = ranks / 2;
    if (arrangement == PINGPONG_SINGLE) {
        const bool plays = rank == 0 || rank == ranks - 1;
        return (struct pingpong_part){plays ? ranks - 1 - rank : -1, rank == 0};
    }
    const bool lower = rank < half;
    const bool swapped = arrangement == PINGPONG_CROSSING && rank % half % 2 != 0;
    return (struct pingpong_part){lower ? rank + half : rank - half, lower != swapped};
}
