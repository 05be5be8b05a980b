/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of option --local, and the memory that a box needs. */
#pragma once

#include "common/halo_swap/box.h"
#include "common/run/run.h"

/* Returns the bytes of the array, and of the buffers if faces are packed. */
double halo_needed_bytes(const struct halo_box *box, bool packs);

/* Returns the largest extent of a cube that needs at most `bytes`, or 0 if none does. */
int64_t halo_largest_cube(double bytes, bool packs);

#define HALO_BOXES_MAX 256

/* Max characters of an element, also in messages. */
#define HALO_ELEMENT_MAX 80

struct halo_box_list {
    const char *text;  /* argument of --local; default boxes are in ascending order */
    const char *where; /* the limit of boxes, for messages */
    struct halo_box boxes[HALO_BOXES_MAX];
    int count;

    /* Set by halo_fit_boxes, on rank 0. */
    bool packs;           /* a method packs faces */
    double max_bytes;     /* bytes that a box may need */
    const char *left_out; /* default boxes that don't fit, or NULL */
    char kept[32];        /* default boxes that fit, and the text of left_out */
};

/* Reads "AxBxC" of `length` characters; returns the count of numbers, or 0. */
int halo_read_extents(const char *text, size_t length, int64_t values[HALO_DIRECTIONS]);

/* Reads the text: comma-separated boxes, A for a cube or AxBxC. False with the error set. Local. */
bool halo_read_boxes(struct halo_box_list *list, struct bc_error *error);

/* Removes boxes that need more than `bytes` from a default list, except the first. Local. */
void halo_shorten_boxes(struct halo_box_list *list, double bytes);

/* Checks boxes against this rank's memory, and shortens a default list. False with the error set if
   other boxes don't fit. Local. */
bool halo_fit_boxes(struct halo_box_list *list, const struct bc_run *run, bool packs,
                    bool in_window, struct bc_error *error);

/* Notes default boxes that don't fit, of a list whose left_out is set. Local. */
void halo_note_left_out(const struct halo_box_list *list, struct bc_output *output);
