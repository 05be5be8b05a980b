/* The boxes of an option --local. All functions are local. */
#ifndef COMMCOST_HALO_SWAP_BOX_LIST_H
#define COMMCOST_HALO_SWAP_BOX_LIST_H

#include "common/run/options.h"
#include "halo/swap/box.h"

#define HALO_BOXES_MAX 256

/* The characters of an erroneous element that are shown, and more than any right one has. */
#define HALO_ELEMENT_MAX 80

/* Reads "AxBxC" of `length` characters; returns the count of numbers, or 0 if it is not that. */
int halo_read_extents(const char *text, size_t length, int64_t values[HALO_DIRECTIONS]);

/* Reads a list of boxes, A for a cube or AxBxC, with commas. False with the error set. */
bool halo_read_boxes(const char *text, struct halo_box boxes[HALO_BOXES_MAX], int *count,
                     struct bc_error *error);

#endif
