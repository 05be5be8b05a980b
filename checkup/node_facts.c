/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkup/facts.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Max length of a fact's name; a longer one is cut, so it isn't found. */
enum { NAME_SIZE = 128 };

static void print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
}

/* Appends the fact PREFIX.NAME, the first line of a file, if the file exists. */
static void add_file(struct bc_text *facts, const char *prefix, const char *name, const char *unit,
                     const char *folder, const char *file)
{
    char line[256], whole[NAME_SIZE], path[PATH_MAX];
    print(path, sizeof path, "%s/%s", folder, file);
    print(whole, sizeof whole, "%s.%s", prefix, name);
    FILE *const stream = fopen(path, "r");
    if (stream == NULL)
        return;
    if (fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        checkup_add_fact(facts, whole, unit, path, "%s", line);
    }
    fclose(stream);
}

/* Calls `add` with each entry of a folder, sorted by name. */
static void visit_entries(const char *folder, struct bc_text *facts,
                          void (*add)(struct bc_text *facts, const char *folder, const char *name))
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            add(facts, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- network interfaces ---------------------------------------------------------------------- */

static bool exists(const char *folder, const char *file)
{
    char path[PATH_MAX];
    print(path, sizeof path, "%s/%s", folder, file);
    return access(path, F_OK) == 0;
}

static void add_driver(struct bc_text *facts, const char *prefix, const char *folder)
{
    char name[NAME_SIZE], link[PATH_MAX], driver[PATH_MAX];
    print(name, sizeof name, "%s.driver", prefix);
    print(link, sizeof link, "%s/device/driver", folder);
    if (realpath(link, driver) != NULL)
        checkup_add_fact(facts, name, "", link, "%s", strrchr(driver, '/') + 1);
}

/* Adds the facts of an interface. One that has a device is physical, also in a virtual machine. */
static void add_interface(struct bc_text *facts, const char *parent, const char *name)
{
    char folder[PATH_MAX], prefix[NAME_SIZE], whole[NAME_SIZE];
    print(folder, sizeof folder, "%s/%s", parent, name);
    print(prefix, sizeof prefix, "interface.%s", name);
    if (!exists(folder, "operstate"))
        return; /* a file such as bonding_masters */
    print(whole, sizeof whole, "%s.kind", prefix);
    checkup_add_fact(facts, whole, "", folder, "%s",
                     strcmp(name, "lo") == 0     ? "loopback"
                     : exists(folder, "bridge")  ? "bridge"
                     : exists(folder, "bonding") ? "bond"
                     : exists(folder, "device")  ? "physical"
                                                 : "virtual");
    add_file(facts, prefix, "state", "", folder, "operstate");
    add_file(facts, prefix, "mtu", "B", folder, "mtu");
    add_file(facts, prefix, "rate", "Mbit/s", folder, "speed");
    add_file(facts, prefix, "numa_node", "", folder, "device/numa_node");
    add_driver(facts, prefix, folder);
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
        print(name, sizeof name, "interface.%s.address", one->ifa_name);
        if (inet_ntop(AF_INET, &internet->sin_addr, address, sizeof address) != NULL)
            checkup_add_fact(facts, name, "", "getifaddrs", "%s/%d", address,
                             prefix_length(one->ifa_netmask));
    }
    freeifaddrs(list);
}

/* ---- adapters: InfiniBand, Omni-Path, RoCE, EFA -----------------------------------------------
 */

/* Adds the facts of an adapter's port. Those of the first one have the adapter's name, others
   ADAPTER:PORT, as UCX names them. */
static void add_port(struct bc_text *facts, const char *parent, const char *port)
{
    char folder[PATH_MAX], prefix[NAME_SIZE];
    const int length = (int)(strlen(parent) - strlen("/ports"));
    print(folder, sizeof folder, "%.*s", length, parent);
    print(prefix, sizeof prefix, "adapter.%s%s%s", strrchr(folder, '/') + 1,
          strcmp(port, "1") == 0 ? "" : ":", strcmp(port, "1") == 0 ? "" : port);
    add_file(facts, prefix, "numa_node", "", folder, "device/numa_node");
    add_driver(facts, prefix, folder);
    print(folder, sizeof folder, "%s/%s", parent, port);
    add_file(facts, prefix, "state", "", folder, "state");
    add_file(facts, prefix, "rate", "", folder, "rate");
    add_file(facts, prefix, "link_layer", "", folder, "link_layer");
}

static void add_adapter(struct bc_text *facts, const char *parent, const char *name)
{
    char ports[PATH_MAX];
    print(ports, sizeof ports, "%s/%s/ports", parent, name);
    visit_entries(ports, facts, add_port);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* Adds the vendor of a GPU, named by its PCI address: 0x10de is NVIDIA, 0x1002 AMD. */
static void add_gpu(struct bc_text *facts, const char *parent, const char *name)
{
    char folder[PATH_MAX], device[PATH_MAX], prefix[NAME_SIZE];
    print(folder, sizeof folder, "%s/%s/device", parent, name);
    if (strncmp(name, "renderD", 7) != 0 || realpath(folder, device) == NULL)
        return;
    print(prefix, sizeof prefix, "gpu.%s", strrchr(device, '/') + 1);
    add_file(facts, prefix, "vendor", "", folder, "vendor");
}

/* Adds a GPU of NVIDIA's driver, which needs no drm. */
static void add_nvidia_gpu(struct bc_text *facts, const char *parent, const char *name)
{
    char prefix[NAME_SIZE];
    print(prefix, sizeof prefix, "gpu.%s.vendor", name);
    checkup_add_fact(facts, prefix, "", parent, "0x10de");
}

/* ---- processors ------------------------------------------------------------------------------ */

static void add_governor(struct bc_text *facts, const char *folder, const char *name)
{
    char prefix[NAME_SIZE], policy[PATH_MAX];
    print(policy, sizeof policy, "%s/%s", folder, name);
    print(prefix, sizeof prefix, "frequency.%s", name);
    add_file(facts, prefix, "driver", "", policy, "scaling_driver");
    add_file(facts, prefix, "governor", "", policy, "scaling_governor");
}

/* ---- NUMA nodes ------------------------------------------------------------------------------ */

static void add_numa_node(struct bc_text *facts, const char *parent, const char *name)
{
    char folder[PATH_MAX], prefix[NAME_SIZE];
    print(folder, sizeof folder, "%s/%s", parent, name);
    print(prefix, sizeof prefix, "numa.%s", name);
    add_file(facts, prefix, "processors", "", folder, "cpulist");
}

void checkup_add_node_facts(struct bc_text *facts)
{
    add_file(facts, "kernel", "boot_id", "", "/proc/sys/kernel/random", "boot_id");
    visit_entries("/sys/devices/system/node", facts, add_numa_node);
    add_file(facts, "clock", "source", "", "/sys/devices/system/clocksource/clocksource0",
             "current_clocksource");
    visit_entries("/sys/devices/system/cpu/cpufreq", facts, add_governor);
    visit_entries("/sys/class/net", facts, add_interface);
    add_addresses(facts);
    visit_entries("/sys/class/infiniband", facts, add_adapter);
    visit_entries("/sys/class/drm", facts, add_gpu);
    visit_entries("/proc/driver/nvidia/gpus", facts, add_nvidia_gpu);
}
