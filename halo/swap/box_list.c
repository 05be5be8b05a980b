#include "halo/swap/box_list.h"

#include "common/large_count/large_count.h"
#include "common/run/parse.h"

#include <string.h>

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

bool halo_read_boxes(const char *text, struct halo_box boxes[HALO_BOXES_MAX], int *count,
                     struct bc_error *error)
{
    *count = 0;
    for (const char *element = text;; element++) {
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
        if (!halo_is_possible(&box))
            return bc_error_set(error,
                                "--local: %.*s can't be swapped: use extents of at least 1 and of "
                                "at most %.0f values together with the halo",
                                shown, element, BC_ELEMENTS_MAX);
        if (*count == HALO_BOXES_MAX)
            return bc_error_set(error, "--local: more than %d boxes: use fewer at a time",
                                HALO_BOXES_MAX);
        boxes[(*count)++] = box;
        element += length;
        if (*element == '\0')
            return true;
    }
}

const char *halo_shorten_boxes(const char *text, const struct halo_box *boxes, int *count,
                               double bytes, bool packs, char *kept)
{
    int fits = *count;
    while (fits > 1 && halo_needed_bytes(&boxes[fits - 1], packs) > bytes)
        fits--;
    if (fits == *count)
        return NULL;
    strcpy(kept, text);
    char *end = kept;
    for (int i = 0; i < fits; i++)
        end += strcspn(end, ",") + 1;
    end[-1] = '\0';
    *count = fits;
    return end;
}

struct bc_error halo_box_advice(double bytes, bool packs)
{
    const long long max = (long long)halo_largest_cube(bytes, packs);
    struct bc_error hint;
    if (max > 0)
        bc_error_set(&hint, "use at most %lldx%lldx%lld", max, max, max);
    else
        bc_error_set(&hint, "use fewer processes a node");
    return hint;
}

bool halo_boxes_fit(const struct halo_box *boxes, int count, double bytes, bool packs,
                    const char *where, struct bc_error *error)
{
    for (int i = 0; i < count; i++) {
        const double needed = halo_needed_bytes(&boxes[i], packs);
        const int64_t *const extent = boxes[i].extent;
        if (needed > bytes)
            return bc_error_set(error,
                                "--local: %lldx%lldx%lld needs %.1f MiB a rank, and %.1f fit into "
                                "%s: %s",
                                (long long)extent[0], (long long)extent[1], (long long)extent[2],
                                needed / 1048576, bytes / 1048576, where,
                                halo_box_advice(bytes, packs).text);
    }
    return true;
}
