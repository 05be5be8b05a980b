/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/halo_swap/box_list.h"

#include "common/mpi/large_count.h"
#include "common/result/warnings.h"
#include "common/run/parse.h"

#include <math.h>
#include <string.h>

/* True if extents are at least 1 and the array has at most BC_ELEMENTS_MAX values. */
static bool is_possible(const struct halo_box *box)
{
    double values = 1.0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        if (box->extent[d] < 1)
            return false;
        values *= (double)box->extent[d] + 2.0;
    }
    return values <= BC_ELEMENTS_MAX;
}

double halo_needed_bytes(const struct halo_box *box, bool packs)
{
    const int64_t buffers = packs ? 2 * halo_ndata(box) : 0;
    return (double)sizeof(double) * (double)(halo_array_values(box) + buffers);
}

int64_t halo_largest_cube(double bytes, bool packs)
{
    /* Starts from the extent without halo and buffers, which reduce it a little. */
    const double beyond = fmin(fmax(0.0, bytes) / (double)sizeof(double), BC_ELEMENTS_MAX);
    int64_t extent = (int64_t)cbrt(beyond);
    for (; extent > 0; extent--) {
        const struct halo_box cube = {{extent, extent, extent}};
        if (is_possible(&cube) && halo_needed_bytes(&cube, packs) <= bytes)
            break;
    }
    return extent;
}

int halo_read_extents(const char *text, size_t length, int64_t values[HALO_DIRECTIONS])
{
    char element[HALO_ELEMENT_MAX + 1];
    if (length > HALO_ELEMENT_MAX)
        return 0;
    memcpy(element, text, length);
    element[length] = '\0';
    char *number = element;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        char *const end = strchr(number, 'x');
        if (end != NULL)
            *end = '\0';
        if (!bc_parse_size(number, &values[d]))
            return 0;
        if (end == NULL)
            return d + 1;
        number = end + 1;
    }
    return 0;
}

bool halo_read_boxes(struct halo_box_list *list, struct bc_error *error)
{
    list->count = 0;
    for (const char *element = list->text;; element++) {
        const size_t length = strcspn(element, ",");
        const int shown = length < HALO_ELEMENT_MAX ? (int)length : HALO_ELEMENT_MAX;
        struct halo_box box = {.extent = {0}};
        const int numbers = halo_read_extents(element, length, box.extent);
        if (numbers == 1)
            box.extent[1] = box.extent[2] = box.extent[0];
        if (numbers != 1 && numbers != HALO_DIRECTIONS)
            return bc_error_set(error,
                                "--local: '%.*s' is no box: use A or AxBxC, such as 100 or "
                                "100x20x30",
                                shown, element);
        if (!is_possible(&box))
            return bc_error_set(error,
                                "--local: %.*s can't be swapped: use extents of at least 1 and of "
                                "at most %.0f values together with the halo",
                                shown, element, BC_ELEMENTS_MAX);
        for (int i = 0; i < list->count; i++)
            if (memcmp(&list->boxes[i], &box, sizeof box) == 0)
                return bc_error_set(error,
                                    "--local: %.*s is there twice: use each box once; a box of "
                                    "three extents is AxBxC",
                                    shown, element);
        if (list->count == HALO_BOXES_MAX)
            return bc_error_set(error, "--local: more than %d boxes: use fewer at a time",
                                HALO_BOXES_MAX);
        list->boxes[list->count++] = box;
        element += length;
        if (*element == '\0')
            return true;
    }
}

void halo_shorten_boxes(struct halo_box_list *list, double bytes)
{
    int fits = list->count;
    while (fits > 1 && halo_needed_bytes(&list->boxes[fits - 1], list->packs) > bytes)
        fits--;
    if (fits == list->count)
        return;
    strcpy(list->kept, list->text);
    char *end = list->kept + strcspn(list->kept, ",");
    for (int i = 1; i < fits; i++)
        end += 1 + strcspn(end + 1, ",");
    *end = '\0';
    list->left_out = end + 1;
    list->text = list->kept;
    list->count = fits;
}

/* Returns the remedy for a box that is too large. */
static struct bc_error advice_of(const struct halo_box_list *list)
{
    const long long max = (long long)halo_largest_cube(list->max_bytes, list->packs);
    struct bc_error hint;
    if (max > 0)
        bc_error_set(&hint, "use at most %lldx%lldx%lld", max, max, max);
    else
        bc_error_set(&hint, "use fewer processes a node");
    return hint;
}

bool halo_fit_boxes(struct halo_box_list *list, const struct bc_run *run, bool packs,
                    bool in_window, struct bc_error *error)
{
    list->packs = packs;
    list->max_bytes = bc_run_usable_bytes(run, BC_MEMORY_SHARE, in_window);
    if (!bc_option_given(&run->options, "local"))
        halo_shorten_boxes(list, list->max_bytes);
    for (int i = 0; i < list->count; i++) {
        const double needed = halo_needed_bytes(&list->boxes[i], packs);
        const int64_t *const extent = list->boxes[i].extent;
        if (needed > list->max_bytes)
            return bc_error_set(error,
                                "--local: %lldx%lldx%lld needs %.1f MiB a rank, and %.1f fit into "
                                "%s: %s",
                                (long long)extent[0], (long long)extent[1], (long long)extent[2],
                                needed / 1048576, list->max_bytes / 1048576, list->where,
                                advice_of(list).text);
    }
    return true;
}

void halo_note_left_out(const struct halo_box_list *list, struct bc_output *output)
{
    bc_output_remark(output, BC_NOTE_BOXES_LEFT_OUT, list->left_out, list->where,
                     advice_of(list).text);
}
