/*
 * Copying faces by the processor: into a buffer, out of one, and from one array to another. Local;
 * in the timed loops.
 */
#ifndef COMMCOST_HALO_COPY_H
#define COMMCOST_HALO_COPY_H

#include "halo/box.h"

/* Copies the region of an array into a buffer, without gaps, in the array's order; and back. */
void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer);
void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values);

/* Copies a region of one array to one of the same extents of another, or of the same array if they
   don't overlap; the box is both arrays'. */
void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination);

#endif
