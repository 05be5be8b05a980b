/* The boxes of an option --local. All functions are local. */
#pragma once

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

/* Leaves boxes that need more than `bytes` out of a default list, each of whose boxes is larger
   than the one before it, but for the first. Returns NULL if all fit; else `kept`, which has room
   for the whole list, gets the text of those that are left, and the text of the others is returned,
   in `kept`, too. */
const char *halo_shorten_boxes(const char *text, const struct halo_box *boxes, int *count,
                               double bytes, bool packs, char *kept);

/* What would do where a box needs more than `bytes`. */
struct bc_error halo_box_advice(double bytes, bool packs);

/* Whether all boxes fit into `bytes` of what `where` names. False with the error set. */
bool halo_boxes_fit(const struct halo_box *boxes, int count, double bytes, bool packs,
                    const char *where, struct bc_error *error);
