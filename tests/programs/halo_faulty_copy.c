/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common/halo_swap/copy.c with a fault, to be linked with halo in its place: where no MPI call
 * carries a face, does --check see what is wrong with it?
 *
 * FAULT_FACE is the face (0 to 5) with the fault, and FAULT its kind: "value" (its last value is
 * wrong), "stale" (it isn't received after the first time), "old" (it is sent as the first time,
 * where it is packed), "box" (the value of the box next to it is overwritten), "corner" (the halo's
 * corner next to it is). Without them nothing is wrong.
 */
#define halo_pack right_pack
#define halo_unpack right_unpack
#define halo_copy right_copy
#include "common/halo_swap/copy.c" /* NOLINT(bugprone-suspicious-include) */
#undef halo_pack
#undef halo_unpack
#undef halo_copy

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WRONG 0.5

static bool fault_is(const char *name)
{
    const char *const fault = getenv("FAULT");
    return fault != NULL && strcmp(fault, name) == 0;
}

typedef struct halo_region face_fn(const struct halo_box *box, int face);

/* True if the face with the fault is sent or received here. */
static bool is_hit(const struct halo_box *box, face_fn *face_of, const struct halo_region *region)
{
    const char *const face = getenv("FAULT_FACE");
    if (face == NULL)
        return false;
    const struct halo_region hit = face_of(box, (int)strtol(face, NULL, 10));
    return memcmp(&hit, region, sizeof hit) == 0;
}

static void damage(const struct halo_box *box, const struct halo_region *to, double *values)
{
    struct halo_region wrong = *to;
    if (fault_is("box"))
        for (int d = 0; d < HALO_DIRECTIONS; d++)
            if (to->extent[d] == 1)
                wrong.start[d] = to->start[d] == 0 ? 1 : to->start[d] - 1;
    if (fault_is("corner"))
        for (int d = 0; d < HALO_DIRECTIONS; d++)
            wrong.start[d] = to->start[d] == 1 ? 2 : to->start[d];
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        wrong.start[d] += wrong.extent[d] - 1;
    values[halo_place(box, wrong.start)] = WRONG;
}

/* True if this is the face with this fault, and not for the first time. */
static bool is_left_out(const char *fault, const struct halo_box *box, face_fn *face_of,
                        const struct halo_region *region)
{
    static int times;
    return fault_is(fault) && is_hit(box, face_of, region) && times++ > 0;
}

/* Does the damage after a face was received. */
static void damage_if_hit(const struct halo_box *box, const struct halo_region *to, double *values)
{
    if (is_hit(box, halo_received, to) && !fault_is("stale") && !fault_is("old"))
        damage(box, to, values);
}

void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer)
{
    if (is_left_out("old", box, halo_sent, region))
        return;
    right_pack(box, region, values, buffer);
}

void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values)
{
    if (is_left_out("stale", box, halo_received, region))
        return;
    right_unpack(box, region, buffer, values);
    damage_if_hit(box, region, values);
}

void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination)
{
    if (is_left_out("stale", box, halo_received, to))
        return;
    right_copy(box, from, source, to, destination);
    damage_if_hit(box, to, destination);
}
