# SPDX-License-Identifier: BSD-3-Clause
"""checkup.sh names each planted fault with its cause, and no other problem.

Faults are real: processors, quotas, namespaces, file systems, filters and launchers as users have them. Facts decide,
so no outcome depends on how busy the machine is; only Variables measures.
"""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import launchers
from case import Case, each
from mpi_run import call, read, read_tsv
from processes import wait_for
from schemas import violations

from commcost.checkup.checks import members
from commcost.checkup.transports import SHARED_MEMORY
from commcost.suite.launch_processes import session_of

SCHEMA = json.loads(read(os.path.join(Case.source, "docs", "checkup.schema.json")))
CHECKUP = os.path.join(Case.source, "run_scripts", "checkup.sh")
FACTS_ONLY = "--seconds=0"  # no time for experiments
CONTAINER = ["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"]


def can(*words):
    """True if a command succeeds here."""
    return call(list(words)).returncode == 0


def needs_namespaces(*options):
    """Skips the test where namespaces can't be made."""
    return unittest.skipUnless(shutil.which("unshare") and can("unshare", *options, "true"),
                               f"unshare {' '.join(options)} isn't allowed here")


def group_with_quota(quota_us):
    """Makes a control group that has this time in 100 ms, below this process's. Skips the test if it can't."""
    for line in read("/proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top, file, quota = ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", f"{quota_us}") if controllers else (
            "/sys/fs/cgroup", "cpu.max", f"{quota_us} 100000")
        folder = f"{top}{group.rstrip('/')}/commcost_checkup_{os.getpid()}"
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, file), "w", encoding="ascii") as stream:
                stream.write(quota)
            return folder
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    raise unittest.SkipTest("no control group with a quota can be made here")


class CheckupCase(Case):
    def checkup(self, *options, before=(), ranks=2, environment=None):
        """Runs the check-up. Returns its exit status and {check: (status, found, remedy, tried)} of its findings."""
        words = [*before, "sh", CHECKUP, f"--build={self.build}", f"--ranks={ranks}", "--format=json",
                 f"--output={self.folder}/checkup.tsv", *options]
        if not any(option.startswith("--launcher") for option in options):
            words.append("--launcher=" + self.launcher.command[0])
        if not any(option.startswith("--limit") for option in options):
            words.append("--limit=10m")  # however busy the machine is
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(environment or {})}, universal_newlines=True, check=False)
        self.assertEqual("", done.stderr)
        self.findings, found = {}, json.loads(done.stdout)
        self.assertEqual([], list(violations(found, SCHEMA, SCHEMA, "")))
        for row, finding in zip(read(self.folder / "checkup.tsv").splitlines()[1:], found["findings"]):
            self.assertEqual(row.split("\t"), ["NA" if cell is None else str(cell) for cell in finding.values()][:9])
        self.measured = {name: one["value"] for name, one in found["measured"].items()}
        self.measured_high = {name: one["hi"] for name, one in found["measured"].items()}
        self.transports = found["transports"]
        self.unknown = [finding["found"] for finding in found["findings"] if finding["status"] == "unknown"]
        for finding in found["findings"]:
            if finding["status"] in ("warning", "problem"):
                self.findings.setdefault(finding["check"], []).append(finding)
        return done.returncode

    def assert_only(self, check, pattern, status="problem"):
        """One finding of this check is there with this sentence, and no other check has any."""
        self.assertEqual([check], list(self.findings), self.findings)
        self.assertEqual(1, len(self.findings[check]), self.findings)
        self.assertRegex(self.findings[check][0]["found"], pattern)
        self.assertEqual(status, self.findings[check][0]["status"])

    def in_mounts(self, *commands):
        """The words before a command that runs with these mounts."""
        return ["unshare", "-m", "sh", "-c", " && ".join([*commands, 'exec "$@"']), "sh"]

    def launcher_of_ranks(self, *wrapper):
        """A launcher that starts each rank by a wrapper."""
        return "--launcher=" + " ".join([*self.launcher.command, "-np", "{ranks}", *wrapper])

    def mount_file(self, text, path):
        """A command that lets a file of the system hold a text."""
        file = self.folder / path.strip("/").replace("/", "_")
        file.write_text(text, encoding="ascii")
        return f"mount --bind {file} {path}"


class Healthy(CheckupCase):
    def test_facts(self):
        self.assertEqual(0, self.checkup(FACTS_ONLY))
        self.assertEqual({}, self.findings)

    @needs_namespaces("--ipc")
    def test_ipc_namespaces_are_no_finding(self):
        self.checkup(FACTS_ONLY, self.launcher_of_ranks("unshare", "--ipc"))
        self.assertEqual({}, self.findings)


class Cores(CheckupCase):
    def test_one_processor(self):
        # Open MPI's own binding would leave the processor.
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=["taskset", "-c", "0"],
                                         environment={"OMPI_MCA_hwloc_base_binding_policy": "none"}))
        self.assert_only("Cores", "^2 ranks share 1 processor of ")

    def test_more_ranks_than_processors(self):
        ranks = len(os.sched_getaffinity(0)) + 1
        self.assertEqual(1, self.checkup(FACTS_ONLY, ranks=ranks))
        self.assert_only("Cores", f"^{ranks} ranks share {ranks - 1} processors? of ")

    def test_quota(self):
        folder = group_with_quota(150000)
        self.addCleanup(os.rmdir, folder)
        enter = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=["sh", "-c", enter, "sh", folder]))
        self.assert_only("Cores", r"^a quota of 1\.5 processors for 2 ranks of ")

    def test_throttled(self):
        """The fact: a process that takes more than its quota waits for the next period, however busy the machine is."""
        folder = group_with_quota(5000)
        self.addCleanup(os.rmdir, folder)
        script = 'echo $$ > "$1/cgroup.procs"; i=0; while [ "$i" -lt 100000 ]; do i=$((i + 1)); done; exec "$2" --facts'
        done = call(["sh", "-c", script, "sh", folder, self.built("checkup/checkup")])
        throttled = re.search("(?m)^throttled_periods\t([0-9]+)", done.stdout)
        assert throttled and int(throttled.group(1)) > 0, done.stdout

    @needs_namespaces("--mount")
    @unittest.skipUnless("\n0::" in "\n" + read("/proc/self/cgroup"), "no control groups of version 2")
    def test_quota_of_version_2(self):
        """cpu.max at the top of a mounted tree."""
        before = self.in_mounts("mount -t tmpfs tmpfs /sys/fs/cgroup", "echo 150000 100000 > /sys/fs/cgroup/cpu.max")
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=before))
        self.assert_only("Cores", r"^a quota of 1\.5 processors for 2 ranks of ")


class WithinNode(CheckupCase):
    def test_seccomp(self):
        self.assertEqual(1, self.checkup(FACTS_ONLY, self.launcher_of_ranks(
            self.built("tests/programs/deny_readv"))))
        message, copy = (self.measured[name] / 1024 for name in ("node_bandwidth", "copy_bandwidth"))
        self.assert_only("Within a node", f"^1 MiB at {message:.2g} GB/s, memcpy {copy:.2g} GB/s: "
                                          r"process_vm_readv is denied \(seccomp filter\)$")
        self.assertIn("SYS_PTRACE", self.findings["Within a node"][0]["remedy"])
        (row,) = [row for row in read_tsv(read(self.folder / "checkup.tsv")) if row["status"] == "problem"]
        self.assertEqual((os.uname().nodename, "ranks reach each other's memory, /dev/shm has room", "NA"),
                         (row["scope"], row["expected"], row["cost_pct"]))

    @needs_namespaces("--mount")
    @each("scope, reason", [(1, "needs root"), (2, "needs root"), (3, "needs a reboot")])
    def test_ptrace_scope(self, scope, reason):
        """Yama denies process_vm_readv of other processes."""
        kernel = f"{self.folder}/kernel"
        self.assertEqual(1, self.checkup(
            FACTS_ONLY, self.launcher_of_ranks(self.built("tests/programs/deny_readv"), "--others"),
            before=self.in_mounts(f"{{ cp -r /proc/sys/kernel {kernel} 2>/dev/null || true; }}", f"mkdir {kernel}/yama",
                                  f"echo {scope} > {kernel}/yama/ptrace_scope",
                                  f"mount --bind {kernel} /proc/sys/kernel")))
        self.assert_only("Within a node", rf"process_vm_readv is denied \(kernel\.yama\.ptrace_scope is {scope}\)$")
        self.assertEqual(f"not tried: {reason}", self.findings["Within a node"][0]["tried"])

    @needs_namespaces("--pid", "--fork")
    def test_pid_namespaces(self):
        self.assertIn(self.checkup(FACTS_ONLY, self.launcher_of_ranks("unshare", "--pid", "--fork")), (1, 3))
        self.assertRegex(self.findings["Within a node"][0]["found"], "PID namespaces of their own")

    @unittest.skipUnless(shutil.which("bwrap") and can(*CONTAINER, "true"), "no container can be made here")
    def test_containers(self):
        """A container for each rank is a problem, one for all ranks isn't. Open MPI's ranks crash in MPI_Init."""
        status = self.checkup(FACTS_ONLY, self.launcher_of_ranks(*CONTAINER))
        self.assertEqual(3 if self.launcher.is_openmpi else 1, status)
        self.findings.pop("Start", None)
        self.assert_only("Within a node", r"ranks have PID namespaces of their own\)?$")
        self.assertEqual(0, self.checkup(FACTS_ONLY, before=CONTAINER))

    @needs_namespaces("--user", "--map-root-user")
    def test_user_namespaces(self):
        """MPICH 4.0.2 doesn't start in them."""
        self.assertIn(self.checkup(FACTS_ONLY, self.launcher_of_ranks("unshare", "--user", "--map-root-user")), (1, 3))
        self.assertRegex(self.findings["Within a node"][0]["found"], "user namespaces of their own")

    @needs_namespaces("--mount")
    def test_small_shm(self):
        self.checkup(FACTS_ONLY, before=self.in_mounts("mount -t tmpfs -o size=8m tmpfs /dev/shm"))
        self.assertRegex(self.findings["Within a node"][0]["found"], "^/dev/shm of .* has only 8 MiB$")

    @needs_namespaces("--mount")
    def test_private_shm(self):
        """Each rank has a /dev/shm of its own."""
        script = self.folder / "private"
        script.write_text('#!/bin/sh\nmount -t tmpfs -o size=256m tmpfs /dev/shm && exec "$@"\n', encoding="ascii")
        script.chmod(0o755)
        self.checkup(FACTS_ONLY, self.launcher_of_ranks("unshare", "--mount", str(script)))
        self.assertRegex(self.findings["Within a node"][0]["found"], "^ranks of .* have a /dev/shm of their own$")

    @needs_namespaces("--mount")
    def test_full_shm(self):
        self.checkup(FACTS_ONLY, before=self.in_mounts("mount -t tmpfs -o size=256m tmpfs /dev/shm",
                                                       "head -c 250M /dev/zero > /dev/shm/full"))
        self.assertRegex(self.findings["Within a node"][0]["found"], "^/dev/shm of .* is full: [0-6] MiB are free$")


class System(CheckupCase):
    @needs_namespaces("--mount")
    def test_clock_source(self):
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=self.in_mounts(self.mount_file(
            "hpet\n", "/sys/devices/system/clocksource/clocksource0/current_clocksource"))))
        self.assert_only("Clock", "^clock source hpet on ", "warning")

    @needs_namespaces("--mount")
    def test_governor(self):
        cpu = "/sys/devices/system/cpu"
        copied = f"{self.folder}/cpu"
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=self.in_mounts(
            f"{{ cp -r {cpu} {copied} 2>/dev/null || true; }}", f"mkdir -p {copied}/cpufreq/policy0",
            f"echo powersave > {copied}/cpufreq/policy0/scaling_governor", f"mount --bind {copied} {cpu}")))
        self.assert_only("Clock", "^governor powersave on ", "warning")

    @needs_namespaces("--mount")
    def test_driver(self):
        """The fact by which the rate of virtual interfaces is told from a wire's."""
        commands = ["mount -t tmpfs tmpfs /sys/class", "cd /sys/class", "mkdir -p net/eth9/device drivers/vmxnet3",
                    "echo up > net/eth9/operstate", "ln -s /sys/class/drivers/vmxnet3 net/eth9/device/driver"]
        done = call([*self.in_mounts(*commands), self.built("checkup/checkup"), "--facts"])
        self.assertIn("interface.eth9.driver\tvmxnet3\t", done.stdout)

    @needs_namespaces("--mount")
    @each("folder, statuses", [("/sys", [0]), ("/proc/sys", [0]), ("/proc", [0, 1, 3])])
    def test_unreadable_system(self, folder, statuses):
        """It may keep a library from starting, which is reported as such."""
        self.assertIn(self.checkup(FACTS_ONLY, before=self.in_mounts(f"mount -t tmpfs tmpfs {folder}")), statuses)
        self.assertLessEqual(set(self.findings), set() if statuses == [0] else {"Start"})

    @needs_namespaces("--mount")
    @each("commands, expected", [
        ([], "no GPU"),
        (["mkdir -p device/0000:41:00.0 drm/renderD128 drm/card0", "echo 0x1002 > device/0000:41:00.0/vendor",
          "ln -s /sys/class/device/0000:41:00.0 drm/renderD128/device"], "1 AMD GPU, the library claims n"),
        (["mount -t tmpfs tmpfs /proc/driver", "mkdir -p /proc/driver/nvidia/gpus/0000:c1:00.0"],
         "1 NVIDIA GPU, the library claims n")])
    def test_gpus(self, commands, expected):
        self.assertEqual(0, self.checkup(FACTS_ONLY, before=self.in_mounts(
            "mount -t tmpfs tmpfs /sys/class", "cd /sys/class", "mkdir net", *commands)))
        self.assertIn(expected, "\n".join(self.unknown))

    @needs_namespaces("--mount")
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_numa_nodes(self):
        """Ranks that may use processors of two NUMA nodes: a suspicion, as long as no experiment shows a gain."""
        first, *others = sorted(os.sched_getaffinity(0))
        nodes = "/sys/devices/system/node"
        commands = [f"mount -t tmpfs tmpfs {nodes}"]
        for name, processors in (("node0", [first]), ("node1", others)):
            commands += [f"mkdir {nodes}/{name}", f"echo {','.join(map(str, processors))} > {nodes}/{name}/cpulist"]
        for binding, count in (("none", 1), ("core", 0)):
            self.assertEqual(0, self.checkup(FACTS_ONLY, self.launcher_of_ranks("-bind-to", binding),
                                             before=self.in_mounts(*commands)))
            self.assertEqual(count, sum(found == "ranks may move between NUMA nodes" for found in self.unknown))

    @needs_namespaces("--mount")
    def test_adapter_needs_locked_memory(self):
        port = "/sys/class/infiniband/mlx5_0/ports/1"
        self.assertEqual(1, self.checkup(FACTS_ONLY, before=["sh", "-c", 'ulimit -l 8192 && exec "$@"', "sh"] +
                                         self.in_mounts("mount -t tmpfs tmpfs /sys/class", f"mkdir -p {port}",
                                                        f"echo '4: ACTIVE' > {port}/state",
                                                        f"echo '100 Gb/sec (2X HDR)' > {port}/rate")))
        self.assert_only("Limits", "^memlock is 8192 KiB on ")

    def test_memlock(self):
        """Too little for an adapter, if there were one."""
        before = ["sh", "-c", 'ulimit -l 64 && exec "$@"', "sh"]
        self.assertEqual(0, self.checkup(FACTS_ONLY, before=before))
        self.assertEqual([f"memlock is 64 KiB on {os.uname().nodename}, too little for InfiniBand"],
                         [found for found in self.unknown if found.startswith("memlock")])


TESTBED = os.path.join(Case.source, "tests", "machine", "testbed", "testbed.sh")


class TestbedCase(CheckupCase):
    """Two hosts: network namespaces joined by a wire."""

    def make_testbed(self, *changes):
        """Makes a testbed whose wire has a tenth of its interface's rate. Returns the option that starts ranks there.
        `changes`: commands on host 2."""
        name = f"c{os.getpid()}"
        assert call(["sh", TESTBED, "up", "-q", "--rate", "1gbit", name]).returncode == 0
        self.addCleanup(call, ["sh", TESTBED, "down", "-q", name])
        for change in changes:
            assert call(["sh", TESTBED, "exec", name, "2", *change.split()]).returncode == 0
        return f"--launcher=sh {TESTBED} run -q --in {name} --ranks {{ranks}} --"

    def with_files(self, *commands):
        """A wrapper of ranks whose /sys/class has these files and an interface with a device, which veth lacks."""
        script = self.folder / "files"
        script.write_text("\n".join([
            "#!/bin/sh", "set -e", "mount -t tmpfs tmpfs /sys/class", "cd /sys/class", "mkdir -p net wire/device",
            "ln -s ../wire net/wire",  # UCX wants a link
            "echo up > wire/operstate", "echo 9000 > wire/mtu", "echo 10000 > wire/speed", *commands, 'exec "$@"', ""]),
            encoding="ascii")
        script.chmod(0o755)
        return f" unshare --mount {script}"

@unittest.skipUnless(can("sh", TESTBED, "check"), "no testbed can be had here")
class BetweenNodes(TestbedCase):
    def test_slow_wire(self):
        found = r"^[0-9]+ MB/s on a 10 Gbit/s link \(wire\)$"
        status = self.checkup(FACTS_ONLY, self.make_testbed() + self.with_files())
        if (self.measured_high["network_bandwidth"] or 0) > 238:  # a fifth of the link's rate, twice the wire's
            self.skipTest("not judged: this machine is too busy to measure the bandwidth")
        self.assertEqual(1, status)
        self.assert_only("Between nodes", found)

    @each("name, driver, layer, expected", [
        ("mlx5_0", "mlx5_core", "InfiniBand", "mlx5_0 (InfiniBand, 100 Gbit/s)"),
        ("mlx5_0", "mlx5_core", "Ethernet", "mlx5_0 (RoCE, 100 Gbit/s)"),
        ("rdmap0s6", "efa", "Unknown", "rdmap0s6 (EFA, 100 Gbit/s)"),
        ("hfi1_0", "hfi1", "InfiniBand", "hfi1_0 (Omni-Path, 100 Gbit/s)"),
        ("", "cxi_ss1", "", "wire (Slingshot, 200 Gbit/s)")])
    def test_tcp_beside_an_adapter(self, name, driver, layer, expected):
        """RoCE, which may not be set up, is no finding as long as no experiment shows a gain."""
        adapter = f"infiniband/{name}" if name else "wire"
        files = [f"mkdir -p drivers/{driver} {adapter}/device {adapter}/ports/1",
                 f"ln -s /sys/class/drivers/{driver} {adapter}/device/driver", "echo 200000 > wire/speed"]
        if name:
            files += [f"echo '4: ACTIVE' > {adapter}/ports/1/state", f"echo {layer} > {adapter}/ports/1/link_layer",
                      f"echo '100 Gb/sec (4X EDR)' > {adapter}/ports/1/rate", "echo 10000 > wire/speed"]
        self.checkup(FACTS_ONLY, self.make_testbed() + self.with_files(*files))
        found = [finding["found"] for finding in self.findings["Between nodes"]]
        if layer == "Ethernet":
            self.assertIn(f"messages use tcp, not {expected}", self.unknown)
        else:
            self.assertEqual([f"messages use tcp, not {expected}"], found)

    def test_virtual_wire(self):
        """The rate of a virtual interface may not be the wire's."""
        self.assertEqual(0, self.checkup(FACTS_ONLY, self.make_testbed()))
        self.assertRegex("\n".join(self.unknown), r"(?m)^[0-9]+ MB/s on a 10 Gbit/s link \(wire\)$")

    def test_mtu(self):
        self.assertEqual(1, self.checkup(FACTS_ONLY, self.make_testbed("ip link set wire mtu 1400")))
        self.assertEqual(["Between nodes"], list(self.findings))
        self.assertIn("the MTU of wire differs: 1400 and 9000",
                      [finding["found"] for finding in self.findings["Between nodes"]])


@unittest.skipUnless(can("sh", TESTBED, "check"), "no testbed can be had here")
class UnusedLink(TestbedCase):
    def test_two_wires(self):
        """Messages use one of two wires unless a variable is set. Measures, like Variables."""
        testbed = self.make_testbed()
        self.add_wire([f"commcost-c{os.getpid()}-{number}" for number in (1, 2)])
        script = self.folder / "one_rail"
        script.write_text('#!/bin/sh\nunset UCX_NET_DEVICES\n'
                          'UCX_MAX_RNDV_RAILS=${UCX_MAX_RNDV_RAILS:-1} exec "$@"\n', encoding="ascii")
        script.chmod(0o755)
        self.checkup("--seconds=3m", f"{testbed} {script}")
        found = [finding for finding in self.findings.get("Between nodes", []) if finding["gain"]]
        if not found and not self.is_visible(f"{testbed} {script}"):
            self.skipTest("not judged: this machine is too busy to show the effect in time")
        self.assertEqual([("messages don't use all of 2 links of 10 Gbit/s", "export UCX_MAX_RNDV_RAILS=2")],
                         [(finding["found"], finding["remedy"]) for finding in found])

    def add_wire(self, hosts):
        """Adds a second wire. UCX pairs interfaces in the order in which each host's /sys lists them, which depends on
        their names and on the network namespace; where it differs, messages use one wire only."""
        name, shape = "wire2", "root tbf rate 1gbit burst 16kb latency 50ms"
        self.ip("", f"link add {name} netns {hosts[0]} type veth peer name {name} netns {hosts[1]}")
        for other in (f"wire{number}" for number in itertools.count(3)):
            if len({self.order_of_interfaces(host, "wire", name) for host in hosts}) == 1:
                break
            for host in hosts:
                self.ip(host, f"link set {name} name {other}")
            name = other
        for number, host in enumerate(hosts):
            self.ip(host, f"address add 198.18.1.{number + 1}/30 dev {name}")
            self.ip(host, f"link set {name} mtu 9000 up")
            self.assertEqual(0, call(f"tc -n {host} qdisc add dev {name} {shape}".split()).returncode)
        self.assertTrue(wait_for(lambda: all(  # the kernel tells of the carrier up to a second later
            "state UP" in self.ip(host, f"link show {name}") for host in hosts)))

    def ip(self, host, words):
        """Returns the output of ip, which must succeed."""
        done = call(["ip", *(["-n", host] if host else []), *words.split()])
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    @staticmethod
    def order_of_interfaces(host, *names):
        listed = call(f"ip netns exec {host} ls -U /sys/class/net".split()).stdout.split()
        return tuple(name for name in listed if name in names)

    def is_visible(self, launcher):
        """True if the experiment had time, and messages over two wires are clearly faster in all of six launches."""
        if "messages may not use all of 2 links of 10 Gbit/s" in self.unknown:
            return False
        found = {"1": [], "2": []}
        for rails in 6 * list(found):
            self.checkup(FACTS_ONLY, launcher, environment={"UCX_MAX_RNDV_RAILS": rails})
            found[rails].append(self.measured["network_bandwidth"])
        return min(found["2"]) > 1.5 * max(found["1"])


@unittest.skipUnless(can("sh", TESTBED, "check"), "no testbed can be had here")
class Bridge(CheckupCase):
    def test_docker0(self):
        """A bridge that has the same address on both hosts, as Docker makes it: Open MPI's job doesn't end."""
        name = f"b{os.getpid()}"
        assert call(["sh", TESTBED, "up", "-q", name]).returncode == 0
        self.addCleanup(call, ["sh", TESTBED, "down", "-q", name])
        for host, command in itertools.product("12", ("link add docker0 type bridge", "link set docker0 up",
                                                      "address add 172.17.0.1/16 dev docker0")):
            assert call(["sh", TESTBED, "exec", name, host, "ip", *command.split()]).returncode == 0
        agent = os.path.join(os.path.dirname(TESTBED), "launch.sh")
        self.assertEqual(3, self.checkup(
            FACTS_ONLY, "--hosts=198.18.0.1,198.18.0.2", "--ranks-per-node=1", "--limit=60",
            before=["sh", TESTBED, "exec", name, "1", "env", f"COMMCOST_TESTBED={name}",
                    f"OMPI_MCA_plm_rsh_agent={agent}"]))
        self.assertEqual(["Start", "Between nodes"], list(self.findings))
        (finding,) = self.findings["Between nodes"]
        self.assertEqual(("docker0 has the same address on two nodes", "mpirun --mca btl_tcp_if_exclude lo,docker0 …",
                          "starts 2 ranks"), (finding["found"], finding["remedy"], finding["tried"]))


class Slurm(CheckupCase):
    @classmethod
    def setUpClass(cls):
        started = launchers.Slurm()
        cls.addClassCleanup(started.close)
        cls.environment = started.environment

    def test_no_pmi(self):
        """srun without PMI starts each rank as a job of its own; with PMI2 it starts the job."""
        self.assertEqual(3, self.checkup("--launcher=srun --mpi=none", environment=self.environment))
        self.assert_only("Start", "^each of 2 ranks is a job of its own$")
        self.assertIn("--mpi=pmi2", self.findings["Start"][0]["remedy"])
        self.assertEqual("starts 2 ranks", self.findings["Start"][0]["tried"])

    def test_job_script(self):
        """integrations/slurm checks MPI, then starts the application."""
        for name, path in (("run_scripts", os.path.dirname(CHECKUP)), ("build", self.build)):
            (self.folder / name).symlink_to(os.path.abspath(path))
        script = os.path.join(self.source, "integrations", "slurm", "check_before_job.sh")
        done = call(["sbatch", "--wait", "--nodes=1", "--ntasks-per-node=2", f"--chdir={self.folder}",
                     f"--output={self.folder}/log", script, "echo", "started"],
                    env={**os.environ, **self.environment, "COMMCOST": str(self.folder)})
        log = (self.folder / "log").read_text(encoding="utf-8")
        self.assertEqual((0, 2), (done.returncode, log.splitlines().count("started")), log)
        self.assertRegex(log, "(?m)^  ok +Start ")


HARMLESS = {"UCX_MEMTYPE_CACHE": "n", "UCX_WARN_UNUSED_ENV_VARS": "n", "UCX_HANDLE_ERRORS": "none",
            "MPIR_CVAR_ENABLE_COLOR": "0", "UCX_STATS_TRIGGER": "exit"}


class Transports(CheckupCase):
    """Transports as the library reports them."""

    def test_tcp_within_a_node(self):
        name = "OMPI_MCA_btl" if self.launcher.is_openmpi else "UCX_TLS"
        self.assertEqual(1, self.checkup(FACTS_ONLY, environment={name: "tcp,self"}))
        self.assert_only("Within a node", rf"^messages within a node use tcp \({name}=tcp,self[,)]")
        self.assertEqual((f"unset {name}", ["tcp"]), (self.findings["Within a node"][0]["remedy"], self.transports))

    def test_shared_memory(self):
        self.assertEqual(0, self.checkup(FACTS_ONLY))
        self.assertTrue(set(self.transports) & SHARED_MEMORY, self.transports)


class Variables(CheckupCase):
    """Measures: a variable that makes messages several times slower is found beside harmless ones. Not judged on a
    machine so busy that launches don't show the effect. False findings: tests/scripts/checkup_test.py."""

    def times(self, slow):
        """The times of an allreduce in six launches with the variable and six without, taken alternately."""
        found = {True: [], False: []}
        for number in range(12):
            self.checkup(FACTS_ONLY, environment=slow if number % 2 else None)
            found[number % 2 == 1].append(self.measured["allreduce_time"])
        return found[True], found[False]

    def is_visible(self, slow):
        """True if all launches with the variable are slower than all without."""
        with_it, without = self.times(slow)
        return min(with_it) > max(without)

    def gain(self, slow, others):
        """The gain that the check-up reports for the variable. It may only miss an effect that launches after it show
        if the machine was busy: then once more."""
        (name,) = slow
        for _ in range(2):
            self.checkup("--seconds=180", environment={**others, **slow})
            found = {finding["remedy"]: finding["gain"] for finding in self.findings.get("Variables", [])}
            if f"unset {name}" in found:
                return found[f"unset {name}"]
            if any("may slow messages" in text for text in self.unknown) or not self.is_visible(slow):
                self.skipTest("not judged: this machine is too busy to show the effect in time")
        self.fail(f"{name} isn't reported: {found}")

    @unittest.skipIf(CheckupCase.launcher and CheckupCase.launcher.is_openmpi, "it has no UCX within a node")
    def test_ucx(self):
        """The intervals of gains are judged by tests/scripts/checkup_test.py."""
        self.assertGreater(self.gain({"UCX_RNDV_THRESH": "0"}, HARMLESS)["ratio"], 1)


class Start(CheckupCase):
    @each("option", ["--precision=0", "--no-such-option", "--output=/no/such/folder/x"])
    def test_wrong_usage_of_the_program(self, option):
        done = call([*self.launcher.line(2, {}, [self.built("checkup/checkup"), option])])
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stderr.splitlines()[0], "^checkup: " + option.partition("=")[0])

    def test_facts_without_mpi(self):
        """checkup --facts needs no launcher."""
        done = call([self.built("checkup/checkup"), "--facts"])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        facts = dict(line.split("\t")[:2] for line in done.stdout.splitlines())
        self.assertEqual(sorted(os.sched_getaffinity(0)), sorted(members(facts["allowed_processors"])))
        self.assertEqual(f"pid:[{os.stat('/proc/self/ns/pid').st_ino}]", facts["pid_namespace"])

    def test_equal_facts(self):
        """A fact that ranks share is one row, so that a table of thousands of ranks stays short."""
        script = 'export MPIR_CVAR_ODD=$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 2)) && exec "$@"'
        call(self.launcher.line(4, {}, ["sh", "-c", script, "sh", self.built("checkup/checkup"), "--visits=1",
                                        "--max-time=0.01", f"--output={self.folder}/facts"]))
        ranks = {}
        for row in read_tsv(read(self.folder / "facts")):
            ranks.setdefault((row["fact"], row["value"]), []).append(row["rank"])
        self.assertEqual([["0-3"], ["0,2"], ["1,3"]], [ranks[fact] for fact in (
            ("host", os.uname().nodename), ("mpi_variable", "MPIR_CVAR_ODD=0"), ("mpi_variable", "MPIR_CVAR_ODD=1"))])
        self.assertEqual([], [fact for fact, rows in ranks.items() if len(rows) > 1])

    def test_singletons(self):
        """A launcher that starts each process as a job of its own."""
        script = self.folder / "mpirun"
        script.write_text('#!/bin/sh\nn=$1\nshift\nPMI_SIZE=$n\nexport PMI_SIZE\nunset PMI_FD PMI_PORT PMI_RANK\n'
                          'while [ "$n" -gt 0 ]; do "$@" & n=$((n - 1)); done\nwait\n', encoding="ascii")
        script.chmod(0o755)
        self.assertEqual(3, self.checkup(f"--launcher={script} {{ranks}}"))
        self.assertEqual(["Start"], list(self.findings))
        self.assertEqual("starts 2 ranks", self.findings["Start"][0]["tried"])

    def test_other_librarys_launcher(self):
        """The launcher that starts the job is named."""
        other = "mpirun.mpich" if self.launcher.is_openmpi else "mpirun.openmpi"
        if not shutil.which(other):
            self.skipTest(f"no {other}")
        self.assertEqual(3, self.checkup(f"--launcher={other}"))
        names = ("MPICH", "Open MPI") if self.launcher.is_openmpi else ("Open MPI", "MPICH")
        self.assert_only("Start", "^each of 2 ranks is a job of its own: "
                                  "the launcher is of {}, the library of {}$".format(*names))
        self.assertEqual("starts 2 ranks", self.findings["Start"][0]["tried"])

    def installation(self, version, **commands):
        """A folder with the launcher, which reports this version, and commands that print a text. Returns the words."""
        reports, parts = (("orterun", ("mpirun",)) if self.launcher.is_openmpi else
                          ("mpiexec.hydra", ("mpirun", "hydra_pmi_proxy")))
        for name in parts:
            path = shutil.which(self.launcher.command[0] if name == "mpirun" else name)
            shutil.copy(os.path.realpath(path), str(self.folder / name))
        for name, text in {reports: version, **commands}.items():
            (self.folder / name).write_text(f"#!/bin/sh\necho '{text}'\n", encoding="ascii")
            (self.folder / name).chmod(0o755)
        return " ".join([f"--launcher={self.folder}/mpirun", *self.launcher.command[1:], "-np {ranks}"])

    def test_launcher_of_another_version(self):
        form = "mpirun (Open MPI) {}" if self.launcher.is_openmpi else "HYDRA build details:\n    Version:   {}"
        name = "Open MPI" if self.launcher.is_openmpi else "MPICH"
        library = call([self.built("checkup/checkup"), "--facts"]).stdout
        own = re.search(name + r"(?: Version:)? v?([0-9.]+)", library).group(1)
        self.assertEqual(0, self.checkup(FACTS_ONLY, self.installation(form.format(own))))
        self.assertEqual(1, self.checkup(FACTS_ONLY, self.installation(form.format("1.2.3"))))
        self.assert_only("Start", f"^the launcher is of {name} 1.2.3, the library of {own}$", "warning")

    def test_other_library(self):
        """Ranks load another library than the build's."""
        other, text = (("mpich", "MPICH Version: 9.9.9, not really") if self.launcher.is_openmpi else
                       ("open_mpi", "Open MPI v9.9.9, not really"))
        self.assertEqual(1, self.checkup(FACTS_ONLY, self.launcher_of_ranks(
            "env", f"LD_PRELOAD={self.built(f'tests/programs/libother_{other}.so')}")))
        self.assert_only("Start", f"^built with .*, runs with {text}", "warning")

    def test_unknown_launcher(self):
        self.assertEqual(0, self.checkup(FACTS_ONLY, self.launcher_of_ranks("setsid", "--fork", "--wait")))
        self.assertIn("the ranks don't show which launcher started them", self.unknown)

    def test_debug_build(self):
        """As the libraries report it: MPICH in its version, Open MPI in ompi_info."""
        options = (self.installation("orterun (OpenRTE) 4.1.4", ompi_info="option:debug:yes")
                   if self.launcher.is_openmpi else self.launcher_of_ranks(
                       "env", f"LD_PRELOAD={self.built('tests/programs/libdebug_build.so')}"))
        self.assertEqual(1, self.checkup(FACTS_ONLY, options))
        self.assert_only("Start", "^the MPI library is a debug build$", "warning")

    def test_folder_of_one_node(self):
        """Ranks that can't write there are no job that doesn't start."""
        script = self.folder / "mpirun"
        script.write_text("#!/bin/sh\necho 'checkup: --output: cannot write' >&2\nexit 2\n", encoding="ascii")
        script.chmod(0o755)
        done = call(["sh", CHECKUP, f"--build={self.build}", f"--launcher={script} {{ranks}}",
                     f"--output={self.folder}/checkup.tsv"])
        self.assertEqual((2, 1), (done.returncode, len(done.stderr.splitlines())), done.stderr)
        self.assertIn("use a folder that all nodes see", done.stderr)

    def hanging_launcher(self, variable):
        """A launcher that hangs without this variable. Returns its option."""
        script = self.folder / "mpirun"
        script.write_text(f'#!/bin/sh\n[ -z "${variable}" ] || exec {self.launcher.command[0]} "$@"\n'
                          f"sleep 987 &\necho $! > {self.folder}/pid\nwait\n", encoding="ascii")
        script.chmod(0o755)
        return " ".join([f"--launcher={script}", *self.launcher.command[1:], "-np {ranks}"])

    def assert_nothing_left(self, begin_s):
        """No process, and not much more time than --seconds: however busy the machine is, a hang takes longer."""
        self.assertIsNone(session_of(int((self.folder / "pid").read_text(encoding="ascii"))))
        self.assertLess(time.monotonic() - begin_s, 35)

    @each("options", [["--limit=2", FACTS_ONLY], ["--seconds=4"]])
    def test_hanging_launcher(self, options):
        begin_s = time.monotonic()
        self.assertEqual(3, self.checkup(self.hanging_launcher("UCX_LOG_FILE"), *options))
        self.assert_only("Start", "^no start: no end within 2 s$")
        self.assert_nothing_left(begin_s)

    def test_hanging_experiment(self):
        """There is no time to see if a job without the variable hangs, so nothing is found about it."""
        begin_s = time.monotonic()
        status = self.checkup(self.hanging_launcher("UCX_MEMTYPE_CACHE"), "--seconds=19",
                              environment={"UCX_MEMTYPE_CACHE": "n", "UCX_HANDLE_ERRORS": "none"})
        if not (self.folder / "pid").exists():
            self.skipTest("not judged: this machine is too busy for a launch within half of the time")
        self.assertEqual(0, status)
        self.assertIn("UCX_MEMTYPE_CACHE=n may slow messages", self.unknown)
        self.assert_nothing_left(begin_s)

    def test_dying_ranks(self):
        """The launcher's own messages don't hide the reason."""
        self.assertEqual(3, self.checkup(FACTS_ONLY, self.launcher_of_ranks("sh", "-c", "kill${IFS}-9${IFS}$$", "sh")))
        self.assert_only("Start", "^no start: (a rank ended: |exit status |Primary job)")

    @each("number", [signal.SIGINT, signal.SIGTERM])
    def test_signal(self, number):
        """It ends the launch and leaves no file."""
        script = self.folder / "mpirun"
        script.write_text(f"#!/bin/sh\nsleep 987 &\necho $! > {self.folder}/pid.new\n"
                          f"mv {self.folder}/pid.new {self.folder}/pid\nwait\n", encoding="ascii")
        script.chmod(0o755)
        found = self.folder / "found"
        found.mkdir()
        process = subprocess.Popen(["sh", CHECKUP, f"--build={self.build}", f"--launcher={script} {{ranks}}",
                                    f"--output={found}/checkup.tsv"], start_new_session=True)
        self.assertTrue(wait_for((self.folder / "pid").exists))
        os.killpg(process.pid, number)
        self.assertEqual(128 + number, process.wait(60))
        self.assertEqual([], os.listdir(found))
        self.assertIsNone(session_of(int((self.folder / "pid").read_text(encoding="ascii"))))

    @each("options, status, text", [(["--launcher=no-such-launcher"], 3, "no launcher"),
                                    (["--ranks=none"], 2, "--ranks"),
                                    (["--build=/nowhere"], 2, "/nowhere"), (["--build=/"], 3, "no program"),
                                    (["--output=/nowhere/x"], 2, "--output: cannot write")])
    def test_refused(self, options, status, text):
        done = call(["sh", CHECKUP, f"--build={self.build}", *options])
        self.assertEqual(status, done.returncode)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertIn(text, done.stderr)
