/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network ports of this node: interfaces, and ports of adapters (InfiniBand, Omni-Path, RoCE, EFA).
 * All functions are local.
 *
 * Source: Linux's Documentation/ABI (sysfs-class-net, sysfs-class-infiniband).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { BC_PORT_NAME_LENGTH = 64, BC_PORT_PATH_LENGTH = 512 };

struct bc_port {
    char name[BC_PORT_NAME_LENGTH]; /* of an interface, an adapter, or ADAPTER:PORT from the second
                                       port on, as UCX names them */
    const char *kind;               /* adapter, loopback, bridge, bond, physical or virtual; an
                                       interface with a device is physical, also in a virtual machine */
    char driver[BC_PORT_NAME_LENGTH]; /* "" without a device */
    char folder[BC_PORT_PATH_LENGTH]; /* files of the interface or the adapter */
    char port[BC_PORT_PATH_LENGTH];   /* files of the port; `folder` for an interface */
};

/* Prints as snprintf. A longer text is cut, without the compiler's warning, so a path isn't found.
 */
void bc_print_cut(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Calls `visit` for each entry of a folder, sorted by name; hidden entries are left out. */
void bc_visit_entries(const char *folder, void *state,
                      void (*visit)(void *state, const char *folder, const char *name));

/* Calls `visit` for each port, interfaces first. `root` is "", or for tests the folder that has
   sys/class. */
void bc_visit_ports(const char *root, void *state,
                    void (*visit)(void *state, const struct bc_port *port));

/* Returns true for an adapter, as opposed to an interface. */
bool bc_port_is_adapter(const struct bc_port *port);

struct bc_fastest_port {
    char name[BC_PORT_NAME_LENGTH];
    double mbit; /* Mbit/s; 0: not known */
};

/* Returns the port with the highest rate among those that are up and whose rate is the hardware's.
   Virtual interfaces and the drivers of virtual machines report made-up rates. A bond is left out,
   since a connection uses one of its interfaces. */
struct bc_fastest_port bc_find_fastest_port(const char *root);
