/* SPDX-License-Identifier: BSD-3-Clause */
/* The fastest network port of a node, in made-up folders of sysfs: which rates are the hardware's.
 */
#include "common/expected/network.h"

#include "made_up_files.h"

/* Makes the files of a link: a driver's name follows a symbolic link. */
static void put_driver(const char *device, const char *driver)
{
    char path[192], target[192];
    snprintf(path, sizeof path, "sys/drivers/%s/name", driver);
    put(path, "");
    snprintf(path, sizeof path, "%s/uevent", device);
    put(path, "");
    snprintf(path, sizeof path, "%s/%s/driver", folder, device);
    snprintf(target, sizeof target, "%s/sys/drivers/%s", folder, driver);
    assert_int_equal(symlink(target, path), 0);
}

static void put_interface(const char *name, const char *carrier, const char *speed)
{
    char path[128];
    snprintf(path, sizeof path, "sys/class/net/%s/operstate", name);
    put(path, "up\n");
    snprintf(path, sizeof path, "sys/class/net/%s/carrier", name);
    put(path, carrier);
    snprintf(path, sizeof path, "sys/class/net/%s/speed", name);
    put(path, speed);
}

static void put_port(const char *port, const char *state, const char *rate)
{
    char path[128];
    snprintf(path, sizeof path, "sys/class/infiniband/%s/state", port);
    put(path, state);
    snprintf(path, sizeof path, "sys/class/infiniband/%s/rate", port);
    put(path, rate);
}

static void assert_fastest(const char *name, double mbit)
{
    const struct bc_fastest_port fastest = bc_find_fastest_port(folder);
    assert_string_equal(fastest.name, name);
    assert_float_equal(fastest.mbit, mbit, 1e-9);
}

TEST(virtual_interfaces)
{
    assert_fastest("", 0.0);
    put("sys/class/net/bonding_masters", "bond0\n");
    put_interface("lo", "1\n", "100000\n");
    put_interface("veth0", "1\n", "10000\n");
    put_interface("bond0", "1\n", "20000\n");
    put("sys/class/net/bond0/bonding/mode", "");
    put_interface("eth0", "1\n", "50000\n");
    put_driver("sys/class/net/eth0/device", "virtio_net");
    assert_fastest("", 0.0);
}

TEST(interfaces)
{
    put_interface("eth1", "1\n", "1000\n");
    put_driver("sys/class/net/eth1/device", "igb");
    assert_fastest("eth1", 1000.0);
    /* Without a cable; an unknown rate. */
    put_interface("eth2", "0\n", "25000\n");
    put_driver("sys/class/net/eth2/device", "mlx5_core");
    put_interface("eth3", "1\n", "-1\n");
    put_driver("sys/class/net/eth3/device", "mlx5_core");
    assert_fastest("eth1", 1000.0);
    put_interface("eth2", "1\n", "25000\n");
    assert_fastest("eth2", 25000.0);
}

TEST(adapters)
{
    put_interface("eth2", "1\n", "25000\n");
    put_driver("sys/class/net/eth2/device", "mlx5_core");
    put_port("mlx5_0/ports/1", "2: INIT\n", "200 Gb/sec (4X HDR)\n");
    assert_fastest("eth2", 25000.0);
    put_port("mlx4_0/ports/1", "4: ACTIVE\n", "41.25 Gb/sec (4X FDR10)\n");
    assert_fastest("mlx4_0", 41250.0);
    put_port("mlx5_0/ports/2", "4: ACTIVE\n", "100 Gb/sec (4X EDR)\n");
    assert_fastest("mlx5_0:2", 100000.0);
    put_port("mlx5_0/ports/1", "4: ACTIVE\n", "200 Gb/sec (4X HDR)\n");
    assert_fastest("mlx5_0", 200000.0);
    put_port("rdmap0/ports/1", "4: ACTIVE\n", "400 Gb/sec (4X NDR)\n");
    put_driver("sys/class/infiniband/rdmap0/device", "efa");
    assert_fastest("mlx5_0", 200000.0);
}

const struct test_program test_program = {.before_each = make_folder, .after_each = remove_folder};
