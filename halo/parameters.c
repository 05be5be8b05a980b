#include "halo/parameters.h"

#include "common/mpi/large_count.h"
#include "common/run/parse.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { SYNC_BOTH = HALO_SYNC_NONE };

/* The characters of an erroneous element that are shown, and more than any right one has. */
#define ELEMENT_MAX 80

const struct halo_parameters halo_default_parameters = {
    .dims_text = "0x0x0",
    .local_text = HALO_DEFAULT_LOCAL,
    .methods = {.text = "all"},
    .sync = SYNC_BOTH,
};

static const char *method_name(int i) { return halo_methods[i]->name; }

#define AT(member) offsetof(struct halo_parameters, member)

const struct bc_option halo_options[HALO_OPTIONS] = {
    {"dims", BC_TEXT, AT(dims_text), .argument = "AxBxC",
     .help = "processes in each direction; where 0, MPI_Dims_create chooses"},
    {"local", BC_TEXT, AT(local_text), .argument = "LIST",
     .help = "extents of a process's box without its halo, in values (doubles): A for a cube or "
             "AxBxC, with commas"},
    {"methods", BC_NAMES, AT(methods), .argument = "NAMES", .name_at = method_name,
     .name_count = HALO_METHODS, .help = "methods"},
    {"coarray-sync", BC_CHOICE, AT(sync), .choices = "all|images|both",
     .help = "synchronisation of puts and gets: of all processes, of neighbours, or both after "
             "each other"},
};

/* Reads "AxBxC" of `length` characters; returns the count of numbers, or 0 if it is not that. */
static int read_extents(const char *text, size_t length, int64_t values[HALO_DIRECTIONS])
{
    char element[ELEMENT_MAX + 1];
    if (length > ELEMENT_MAX)
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

static bool complete_dims(struct halo_parameters *p, struct bc_error *error)
{
    int64_t dims[HALO_DIRECTIONS];
    if (read_extents(p->dims_text, strlen(p->dims_text), dims) != HALO_DIRECTIONS)
        return bc_error_set(error,
                            "--dims: '%.*s' is no grid: use AxBxC, such as 2x2x1, or 0 for "
                            "MPI_Dims_create's choice",
                            ELEMENT_MAX, p->dims_text);
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        p->dims[d] = dims[d] > INT_MAX ? INT_MAX : (int)dims[d];
    return true;
}

bool halo_parameters_fit(const struct halo_parameters *parameters, int ranks,
                         struct bc_error *error)
{
    int64_t product = 1; /* of the numbers that are given */
    bool free = false;
    for (int d = 0; d < HALO_DIRECTIONS && product <= ranks; d++) {
        free = free || parameters->dims[d] == 0;
        if (parameters->dims[d] > 0)
            product *= parameters->dims[d];
    }
    if (free ? ranks % product == 0 : product == ranks)
        return true;
    return bc_error_set(error,
                        "--dims: %.*s does not make a grid of %d processes: use numbers whose "
                        "product is %d, or 0 for MPI_Dims_create's choice",
                        ELEMENT_MAX, parameters->dims_text, ranks, ranks);
}

static bool complete_boxes(struct halo_parameters *p, struct bc_error *error)
{
    p->box_count = 0;
    for (const char *element = p->local_text;; element++) {
        const size_t length = strcspn(element, ",");
        const int shown = length < ELEMENT_MAX ? (int)length : ELEMENT_MAX;
        struct halo_box box = {.extent = {0}};
        const int numbers = read_extents(element, length, box.extent);
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
        if (p->box_count == HALO_BOXES_MAX)
            return bc_error_set(error, "--local: more than %d boxes: use fewer at a time",
                                HALO_BOXES_MAX);
        p->boxes[p->box_count++] = box;
        element += length;
        if (*element == '\0')
            return true;
    }
}

void halo_parameters_shorten(struct halo_parameters *p, double bytes)
{
    int count = p->box_count;
    while (count > 1 && halo_needed_bytes(&p->boxes[count - 1], p->packs) > bytes)
        count--;
    if (count == p->box_count)
        return;
    strcpy(p->shortened_local, HALO_DEFAULT_LOCAL);
    char *end = p->shortened_local;
    for (int i = 0; i < count; i++)
        end += strcspn(end, ",") + 1;
    end[-1] = '\0';
    p->left_out = end;
    p->local_text = p->shortened_local;
    p->box_count = count;
}

static void choose_methods(struct halo_parameters *p)
{
    p->packs = p->in_window = false;
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        const bool chosen =
            p->methods.chosen[i] && (method->sync == HALO_SYNC_NONE || p->sync == SYNC_BOTH ||
                                     p->sync == (int)method->sync);
        p->method_chosen[i] = chosen;
        p->packs = p->packs || (chosen && method->packs);
        p->in_window = p->in_window || (chosen && method->in_window);
    }
}

bool halo_parameters_complete(void *state, struct bc_error *error)
{
    choose_methods(state);
    return complete_dims(state, error) && complete_boxes(state, error);
}
