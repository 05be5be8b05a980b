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

/* Where to look for groups, and the function that looks. */
struct visit {
    const char *mount;
    bc_group_fn *look;
    void *context;
};

/* Visits a group and all groups above it, whose hierarchy may be mounted at `name` below the
   mount. */
static void visit_upwards(const struct visit *visit, const char *name, const char *group,
                          int version)
{
    char path[PATH_MAX];
    const size_t top = strlen(visit->mount) + (name[0] != '\0' ? 1 + strlen(name) : 0);
    if (snprintf(path, sizeof path, "%s%s%s%s", visit->mount, name[0] != '\0' ? "/" : "", name,
                 group) >= (int)sizeof path)
        return;
    for (;;) {
        visit->look(path, version, visit->context);
        char *const slash = strrchr(path, '/');
        if (slash == NULL || slash < path + top)
            return;
        *slash = '\0';
    }
}

void bc_groups_visit(const char *membership, const char *mount, const char *controller,
                     bc_group_fn *look, void *context)
{
    const struct visit visit = {mount, look, context};
    char line[PATH_MAX];
    FILE *const file = fopen(membership, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        struct membership in;
        if (!parse_membership(line, &in))
            continue;
        if (in.controllers[0] == '\0') {
            visit_upwards(&visit, "", in.group, 2);
            visit_upwards(&visit, "unified", in.group, 2);
        } else if (has_controller(in.controllers, controller)) {
            visit_upwards(&visit, controller, in.group, 1);
            if (strcmp(controller, in.controllers) != 0)
                visit_upwards(&visit, in.controllers, in.group, 1);
        }
    }
    fclose(file);
}
