#include "common/machine/control_groups.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* One line of /proc/self/cgroup. */
struct membership {
    const char *controllers; /* separated by commas; "" for version 2 */
    const char *group;       /* begins with a slash */
};

/* Splits a line NUMBER:CONTROLLERS:GROUP in place. False if it has another form. */
static bool parse_membership(char *line, struct membership *membership)
{
    char *const first = strchr(line, ':');
    char *const second = first != NULL ? strchr(first + 1, ':') : NULL;
    if (second == NULL)
        return false;
    *second = '\0';
    second[1 + strcspn(second + 1, "\n")] = '\0';
    *membership = (struct membership){first + 1, second + 1};
    return true;
}

/* Whether a list separated by commas contains the controller. */
static bool has_controller(const char *controllers, const char *controller)
{
    const size_t length = strlen(controller);
    for (const char *word = controllers; *word != '\0';) {
        const size_t end = strcspn(word, ",");
        if (end == length && strncmp(word, controller, length) == 0)
            return true;
        word += end + (word[end] == ',');
    }
    return false;
}

/* Visits a group and all groups above it; its hierarchy is mounted at `top`. */
static void visit_upwards(const char *top, const char *group, int version, bc_group_fn *look,
                          void *context)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s%s", top, group) >= (int)sizeof path)
        return;
    for (;;) {
        look(path, version, context);
        char *const slash = strrchr(path, '/');
        if (slash == NULL || slash < path + strlen(top))
            return;
        *slash = '\0';
    }
}

/* Visits a group and all groups above it, in each of the `count` folders below `mount` at which its
   hierarchy may be mounted. */
static void visit_mounts(const char *mount, const char *const *names, int count,
                         const struct membership *membership, int version, bc_group_fn *look,
                         void *context)
{
    for (int i = 0; i < count; i++) {
        char top[PATH_MAX];
        if (snprintf(top, sizeof top, "%s%s%s", mount, names[i][0] != '\0' ? "/" : "", names[i]) <
            (int)sizeof top)
            visit_upwards(top, membership->group, version, look, context);
    }
}

void bc_groups_visit(const char *membership, const char *mount, const char *controller,
                     bc_group_fn *look, void *context)
{
    char line[PATH_MAX];
    FILE *const file = fopen(membership, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        struct membership in;
        if (!parse_membership(line, &in))
            continue;
        const char *const version_1[] = {controller, in.controllers};
        const char *const version_2[] = {"", "unified"};
        if (in.controllers[0] == '\0')
            visit_mounts(mount, version_2, 2, &in, 2, look, context);
        else if (has_controller(in.controllers, controller))
            visit_mounts(mount, version_1, strcmp(controller, in.controllers) == 0 ? 1 : 2, &in, 1,
                         look, context);
    }
    fclose(file);
}
