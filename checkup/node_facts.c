/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkup/facts.h"

#include "common/expected/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Max length of a fact's name; a longer one is cut, so it isn't found. */
enum { NAME_SIZE = 128 };

/* Appends the fact PREFIX.NAME, the first line of a file, if the file exists. */
static void add_file(struct bc_text *facts, const char *prefix, const char *name, const char *unit,
                     const char *folder, const char *file)
{
    char line[256], whole[NAME_SIZE], path[PATH_MAX];
    bc_print_cut(path, sizeof path, "%s/%s", folder, file);
    bc_print_cut(whole, sizeof whole, "%s.%s", prefix, name);
    FILE *const stream = fopen(path, "r");
    if (stream == NULL)
        return;
    if (fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        checkup_add_fact(facts, whole, unit, path, "%s", line);
    }
    fclose(stream);
}

/* ---- network ports --------------------------------------------------------------------------- */

/* Adds the facts of an interface or of an adapter's port. */
static void add_port(void *facts, const struct bc_port *port)
{
    const bool is_adapter = bc_port_is_adapter(port);
    char prefix[NAME_SIZE], name[NAME_SIZE], link[PATH_MAX];
    bc_print_cut(prefix, sizeof prefix, "%s.%s", is_adapter ? "adapter" : "interface", port->name);
    add_file(facts, prefix, "numa_node", "", port->folder, "device/numa_node");
    bc_print_cut(name, sizeof name, "%s.driver", prefix);
    bc_print_cut(link, sizeof link, "%s/device/driver", port->folder);
    if (port->driver[0] != '\0')
        checkup_add_fact(facts, name, "", link, "%s", port->driver);
    add_file(facts, prefix, "state", "", port->port, is_adapter ? "state" : "operstate");
    if (is_adapter) {
        add_file(facts, prefix, "rate", "", port->port, "rate");
        add_file(facts, prefix, "link_layer", "", port->port, "link_layer");
        return;
    }
    bc_print_cut(name, sizeof name, "%s.kind", prefix);
    checkup_add_fact(facts, name, "", port->folder, "%s", port->kind);
    add_file(facts, prefix, "mtu", "B", port->folder, "mtu");
    add_file(facts, prefix, "rate", "Mbit/s", port->folder, "speed");
}

/* The ones at the beginning of a netmask. */
static int prefix_length(const struct sockaddr *netmask)
{
    return netmask == NULL
               ? 32
               : __builtin_popcount(
                     ((const struct sockaddr_in *)(const void *)netmask)->sin_addr.s_addr);
}

static void add_addresses(struct bc_text *facts)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *one = list; one != NULL; one = one->ifa_next) {
        char address[INET_ADDRSTRLEN], name[NAME_SIZE];
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET)
            continue;
        const struct sockaddr_in *const internet =
            (const struct sockaddr_in *)(const void *)one->ifa_addr;
        bc_print_cut(name, sizeof name, "interface.%s.address", one->ifa_name);
        if (inet_ntop(AF_INET, &internet->sin_addr, address, sizeof address) != NULL)
            checkup_add_fact(facts, name, "", "getifaddrs", "%s/%d", address,
                             prefix_length(one->ifa_netmask));
    }
    freeifaddrs(list);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Adds the vendor of a GPU, named by its PCI address: 0x10de is NVIDIA, 0x1002 AMD. */
static void add_gpu(void *facts, const char *parent, const char *name)
{
    char folder[PATH_MAX], device[PATH_MAX], prefix[NAME_SIZE];
    bc_print_cut(folder, sizeof folder, "%s/%s/device", parent, name);
    if (strncmp(name, "renderD", 7) != 0 || realpath(folder, device) == NULL)
        return;
    bc_print_cut(prefix, sizeof prefix, "gpu.%s", strrchr(device, '/') + 1);
    add_file(facts, prefix, "vendor", "", folder, "vendor");
}

/* Adds a GPU of NVIDIA's driver, which needs no drm. */
static void add_nvidia_gpu(void *facts, const char *parent, const char *name)
{
    char prefix[NAME_SIZE];
    bc_print_cut(prefix, sizeof prefix, "gpu.%s.vendor", name);
    checkup_add_fact(facts, prefix, "", parent, "0x10de");
}

/* ---- processors ------------------------------------------------------------------------------ */

static void add_governor(void *facts, const char *folder, const char *name)
{
    char prefix[NAME_SIZE], policy[PATH_MAX];
    bc_print_cut(policy, sizeof policy, "%s/%s", folder, name);
    bc_print_cut(prefix, sizeof prefix, "frequency.%s", name);
    add_file(facts, prefix, "driver", "", policy, "scaling_driver");
    add_file(facts, prefix, "governor", "", policy, "scaling_governor");
}

/* ---- NUMA nodes ------------------------------------------------------------------------------ */

static void add_numa_node(void *facts, const char *parent, const char *name)
{
    char folder[PATH_MAX], prefix[NAME_SIZE];
    bc_print_cut(folder, sizeof folder, "%s/%s", parent, name);
    bc_print_cut(prefix, sizeof prefix, "numa.%s", name);
    add_file(facts, prefix, "processors", "", folder, "cpulist");
}

void checkup_add_node_facts(struct bc_text *facts)
{
    add_file(facts, "kernel", "boot_id", "", "/proc/sys/kernel/random", "boot_id");
    bc_visit_entries("/sys/devices/system/node", facts, add_numa_node);
    add_file(facts, "clock", "source", "", "/sys/devices/system/clocksource/clocksource0",
             "current_clocksource");
    bc_visit_entries("/sys/devices/system/cpu/cpufreq", facts, add_governor);
    bc_visit_ports("", facts, add_port);
    add_addresses(facts);
    bc_visit_entries("/sys/class/drm", facts, add_gpu);
    bc_visit_entries("/proc/driver/nvidia/gpus", facts, add_nvidia_gpu);
}
