/*
 * What the files of the methods share. Each file defines one row of the table, or a few that belong
 * together, for methods.c to list.
 */
#pragma once

#include "halo/swap/methods.h"

#include <stddef.h>

/* put_get.c */
extern const struct halo_method halo_method_put_all, halo_method_put_images;
extern const struct halo_method halo_method_get_all, halo_method_get_images;
/* datatypes.c */
extern const struct halo_method halo_method_types, halo_method_persistent, halo_method_neighbor;
/* packed.c */
extern const struct halo_method halo_method_packed;
/* shared_window.c */
extern const struct halo_method halo_method_shared;

/* The tag of a message is the face where it is received, since the neighbours on both sides may be
   the same rank. Notifications have their own. */
enum { HALO_NOTIFICATION_TAG = HALO_FACES };

/* Makes exchange->own: zeros, freed by free(). Local; ends the job if there is no memory. */
void *halo_allocate_own(struct halo_exchange *exchange, size_t bytes);
