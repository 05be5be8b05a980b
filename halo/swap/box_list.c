#include "halo/swap/box_list.h"

#include "common/mpi/large_count.h"
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
