/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/expected/network.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bc_print_cut(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
}

void bc_visit_entries(const char *folder, void *state,
                      void (*visit)(void *state, const char *folder, const char *name))
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            visit(state, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- all ports ------------------------------------------------------------------------------- */

struct visitor {
    void *state;
    void (*visit)(void *state, const struct bc_port *port);
};

bool bc_port_is_adapter(const struct bc_port *port) { return strcmp(port->kind, "adapter") == 0; }

static bool exists(const char *folder, const char *file)
{
    char path[PATH_MAX];
    bc_print_cut(path, sizeof path, "%s/%s", folder, file);
    return access(path, F_OK) == 0;
}

static void read_driver(struct bc_port *port)
{
    char link[PATH_MAX], driver[PATH_MAX];
    bc_print_cut(link, sizeof link, "%s/device/driver", port->folder);
    if (realpath(link, driver) != NULL)
        bc_print_cut(port->driver, sizeof port->driver, "%s", strrchr(driver, '/') + 1);
}

static void visit_interface(void *state, const char *parent, const char *name)
{
    const struct visitor *const visitor = state;
    struct bc_port port = {.driver = ""};
    bc_print_cut(port.name, sizeof port.name, "%s", name);
    bc_print_cut(port.folder, sizeof port.folder, "%s/%s", parent, name);
    if (!exists(port.folder, "operstate"))
        return; /* a file such as bonding_masters */
    memcpy(port.port, port.folder, sizeof port.port);
    port.kind = strcmp(name, "lo") == 0          ? "loopback"
                : exists(port.folder, "bridge")  ? "bridge"
                : exists(port.folder, "bonding") ? "bond"
                : exists(port.folder, "device")  ? "physical"
                                                 : "virtual";
    read_driver(&port);
    visitor->visit(visitor->state, &port);
}

static void visit_adapter_port(void *state, const char *parent, const char *number)
{
    const struct visitor *const visitor = state;
    const int length = (int)(strlen(parent) - strlen("/ports"));
    const bool first = strcmp(number, "1") == 0;
    struct bc_port port = {.kind = "adapter"};
    bc_print_cut(port.folder, sizeof port.folder, "%.*s", length, parent);
    bc_print_cut(port.port, sizeof port.port, "%s/%s", parent, number);
    bc_print_cut(port.name, sizeof port.name, "%s%s%s", strrchr(port.folder, '/') + 1,
                 first ? "" : ":", first ? "" : number);
    read_driver(&port);
    visitor->visit(visitor->state, &port);
}

static void visit_adapter(void *state, const char *parent, const char *name)
{
    char ports[BC_PORT_PATH_LENGTH];
    bc_print_cut(ports, sizeof ports, "%s/%s/ports", parent, name);
    bc_visit_entries(ports, state, visit_adapter_port);
}

void bc_visit_ports(const char *root, void *state,
                    void (*visit)(void *state, const struct bc_port *port))
{
    struct visitor visitor = {state, visit};
    char folder[BC_PORT_PATH_LENGTH];
    bc_print_cut(folder, sizeof folder, "%s/sys/class/net", root);
    bc_visit_entries(folder, &visitor, visit_interface);
    bc_print_cut(folder, sizeof folder, "%s/sys/class/infiniband", root);
    bc_visit_entries(folder, &visitor, visit_adapter);
}

/* ---- the fastest one ------------------------------------------------------------------------- */

/* Drivers of virtual machines, whose rate isn't the wire's (run_scripts/commcost/checkup/). */
static const char *const virtual_drivers[] = {"efa",        "ena",     "gve",         "hv_netvsc",
                                              "virtio_net", "vmxnet3", "xen_netfront"};

static bool is_hardware(const struct bc_port *port)
{
    for (size_t i = 0; i < sizeof virtual_drivers / sizeof *virtual_drivers; i++)
        if (strcmp(port->driver, virtual_drivers[i]) == 0)
            return false;
    return bc_port_is_adapter(port) || strcmp(port->kind, "physical") == 0;
}

/* Returns the number at the beginning of a port's file; 0: there is none. */
static double number_in(const struct bc_port *port, const char *name)
{
    char path[BC_PORT_PATH_LENGTH], line[64] = "";
    bc_print_cut(path, sizeof path, "%s/%s", port->port, name);
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return 0.0;
    const bool has_line = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return has_line ? strtod(line, NULL) : 0.0;
}

/* Returns the rate in Mbit/s; 0: not known, or the port is down. An adapter's files are "4: ACTIVE"
   and "100 Gb/sec (4X EDR)", or "2.5 Gb/sec (1X SDR)". */
static double rate_of(const struct bc_port *port)
{
    enum { ACTIVE = 4, HAS_CARRIER = 1 };
    const bool is_adapter = bc_port_is_adapter(port);
    const double state = number_in(port, is_adapter ? "state" : "carrier");
    const double rate = number_in(port, is_adapter ? "rate" : "speed");
    if (state != (is_adapter ? ACTIVE : HAS_CARRIER) || rate <= 0.0)
        return 0.0;
    return (is_adapter ? 1000.0 : 1.0) * rate;
}

static void keep_faster(void *state, const struct bc_port *port)
{
    struct bc_fastest_port *const fastest = state;
    const double mbit = is_hardware(port) ? rate_of(port) : 0.0;
    if (mbit <= fastest->mbit)
        return;
    fastest->mbit = mbit;
    memcpy(fastest->name, port->name, sizeof fastest->name);
}

struct bc_fastest_port bc_find_fastest_port(const char *root)
{
    struct bc_fastest_port fastest = {.mbit = 0.0};
    bc_visit_ports(root, &fastest, keep_faster);
    return fastest;
}
