/* Ranks in virtual time are forks of one process: all of them have the monitor, or none. */
#include "monitor/environment.h"

void presence_begin(const char *words) { (void)words; }

bool presence_agree(int rank, int ranks)
{
    (void)rank, (void)ranks;
    return true;
}

void presence_end(void) {}
