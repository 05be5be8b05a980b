/*
 * The data of --check: values that tell where in the whole grid they belong, and in which swap.
 */
#ifndef COMMCOST_HALO_CHECK_H
#define COMMCOST_HALO_CHECK_H

#include "halo/methods.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills the array for a swap, counted from 0. Local. */
void halo_prepare(const struct halo_exchange *exchange, int64_t swap);

/* Whether the whole array is as it must be after that swap: the six faces have the neighbours'
   values, and nothing else has changed. Local. */
bool halo_is_right(const struct halo_exchange *exchange, int64_t swap);

#endif
