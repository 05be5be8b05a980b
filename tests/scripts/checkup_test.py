# SPDX-License-Identifier: BSD-3-Clause
"""The check-up's experiments on made-up machines, whose truth is known."""

import os
import random
import re

from case import Case, each
from commcost.checkup import checks, experiments, findings, installations, networks, result_lines
from commcost.result.checkup_facts import Facts, Rank, shared_values
from commcost.checkup.jobs import Outcome
from commcost.checkup.transports import Transports, transports_of
from commcost.result.intervals import Measured

MACHINES = 300
SUSPICIONS = 5


class Machine:
    """Jobs whose allreduce takes `factor` times as long without a remedy. Launches differ by noise, drift, and one in
    five is disturbed."""

    def __init__(self, seed, factors):
        self.random, self.factors, self.launches = random.Random(seed), factors, 0

    def measure(self, remedy=None, options=()):
        del options
        self.launches += 1
        time_us = 10 * self.random.lognormvariate(0, 0.05) * (1 + 0.002 * self.launches)
        time_us *= self.random.choice((1, 1, 1, 1, 1.6))
        for name, factor in self.factors.items():
            if remedy is None or name not in remedy.unset:
                time_us *= factor
        return Outcome(0, 60, False, "", Facts([], {"allreduce_time": (Measured(time_us, None, None, 1), "us")}))


def variable_job(names):
    """A job whose environment sets these MPI variables."""
    values = {"host": ["n1"], "mpi_library": ["MPICH"], "mpi_variable": [f"{name}=1" for name in names],
              "allowed_processors": ["0-1"], "allowed_cores": ["0"]}
    return findings.Job(Facts([Rank(0, values)], {}), 1, "hydra", {name: "1" for name in names})


def findings_of(machine, names):
    """The names of the variables that the check-up reports."""
    found = [finding._replace(fact="allreduce_time") for finding in checks.variables(variable_job(names))
             if finding.fact == "allreduce_time"]
    lines = result_lines.lines_of(found, result_lines.try_remedies(machine, found, float("inf")))
    return [line.found.partition("=")[0] for line in lines if line.status == findings.WARNING]


NAMES = [f"UCX_V{number}" for number in range(SUSPICIONS)]


class Experiments(Case):
    def test_healthy(self):
        """Variables that change nothing: at most 1 % of check-ups report one."""
        false = sum(bool(findings_of(Machine(seed, {}), NAMES)) for seed in range(MACHINES))
        self.assertLessEqual(false, 9)  # binomial, 1 % of 300, at 99.9 %

    @each("factor", [1.5, 2.0, 10.0])
    def test_planted(self, factor):
        """One of five variables slows messages: it is reported, and no other is."""
        right = sum(findings_of(Machine(seed, {"UCX_V2": factor}), NAMES) == ["UCX_V2"] for seed in range(100))
        self.assertGreaterEqual(right, 93)

    def test_promises(self):
        """The interval of a gain, 95 %, holds the gain that the remedy has in further launches."""
        setting, inside = findings.setting_of(findings.Remedy("", unset=("UCX_V2",))), 0
        for seed in range(200):
            machine = Machine(seed, {"UCX_V2": 1.5})
            (gain,) = experiments.run(machine, setting, ["allreduce_time"], float("inf")).values()
            inside += gain.low <= 1.5 <= gain.high
        self.assertGreaterEqual(inside, 178)  # binomial at 99.9 %

    def test_a_failing_remedy_is_no_finding(self):
        """A variable without which the job fails is needed."""
        class Needing(Machine):
            def measure(self, remedy=None, options=()):
                outcome = super().measure(remedy, options)
                return outcome._replace(facts=None) if remedy is not None else outcome
        self.assertEqual([], findings_of(Needing(1, {}), NAMES))

    def test_no_time(self):
        """A suspicion that wasn't tried is unknown."""
        found = list(checks.variables(variable_job(["UCX_TLS"])))
        lines = result_lines.lines_of(found, {(place, 0): None for place in range(len(found))})
        self.assertEqual([(findings.UNKNOWN, "not tried: no time left")], [(line.status, line.tried) for line in lines])


class Reports(Case):
    """Formats of versions that aren't here. Of those here: tests/programs/checkup_test.py."""

    @each("text, expected", [
        ("[1586336889.485760] [gpu4:30970:0]  ucp_worker.c:1539 UCX  INFO  ep_cfg[1]: tag(posix/memory knem/memory); "
         "stream(posix/memory);", "ucx: knem, posix"),
        ("ucp_worker.c:1855 UCX  INFO    0x309e intra-node cfg#5 tag(sysv/memory rc_mlx5/mlx5_0:1)\n"
         "ucp_worker.c:1855 UCX  INFO    0x309e self cfg#6 tag(self/memory)", "ucx: rc_mlx5, sysv"),
        ("ucp_worker.c:1784 UCX  INFO    0x2a71 self cfg#1tag(sysv/memory cma/memory) rma(sysv/memory)",
         "ucx: cma, sysv"),
        ("==== Capability set configuration ====\nlibfabric provider: tcp;ofi_rxm", "ofi: ofi_rxm, tcp"),
        ("[n1:1] select: component ucx selected\nucp_worker.c:1 UCX INFO ep_cfg[0]: tag(self/memory)", ""),
        ("no report", "")])
    def test_transports(self, text, expected):
        self.assertEqual(expected, str(transports_of(text)))

    def test_tcp_beside_an_adapter(self):
        """It is named with the variable that chose TCP; not if the adapter is used, or is down on a node."""
        rank = {"host": ["n1"], "mpi_library": ["MPICH"], "adapter.mlx5_0.rate": ["100 Gb/sec"],
                "adapter.mlx5_0.state": ["4: ACTIVE"],
                "interface.ib0.rate": ["100000"], "interface.ib0.kind": ["physical"]}  # IP over InfiniBand
        tcp = ["messages use tcp, not mlx5_0 (InfiniBand, 100 Gbit/s) (UCX_TLS=tcp)"]
        for names, state, expected in ((("tcp",), "4: ACTIVE", tcp), (("rc", "tcp"), "4: ACTIVE", []),
                                       (("tcp",), "1: DOWN", []), ((), "4: ACTIVE", [])):
            ranks = [Rank(number, {**rank, "node": [str(number)]}) for number in (0, 1)]
            ranks[1].values["adapter.mlx5_0.state"] = [state]
            job = findings.Job(Facts(ranks, {}), 2, "hydra", {"UCX_TLS": "tcp"}, Transports("ucx", names))
            self.assertEqual(expected, [finding.found for finding in networks.tcp_beside_adapter(job)])


HYDRA = "HYDRA build details:\n    Version:                                 4.0.2\n    Release Date: "


class Installations(Case):
    """Formats of versions that aren't here."""

    @each("parent, commands, expected", [
        ("hydra_pmi_proxy", {"mpiexec.hydra": HYDRA}, ("MPICH", "4.0.2", False)),
        ("hydra_pmi_proxy", {"mpiexec.hydra": "Intel(R) MPI Library for Linux, Version 2021"}, ("MPICH", "", False)),
        ("orted", {"orterun": "orterun (OpenRTE) 4.1.4", "ompi_info": "option:debug:no"}, ("Open MPI", "4.1.4", False)),
        ("prted", {"mpirun": "mpirun (Open MPI) 5.0.3", "ompi_info": "option:debug:yes"}, ("Open MPI", "5.0.3", True)),
        ("prterun", {"mpirun": HYDRA}, ("Open MPI", "", False)), ("slurmstepd-wlm", {}, ("Slurm", "", False)),
        ("sh", {}, ("", "", False)), ("", {}, ("Slurm", "", False))])
    def test_launchers(self, parent, commands, expected):
        for name, text in commands.items():
            (self.folder / name).write_text(f"#!/bin/sh\necho '{text}'\n", encoding="ascii")
            (self.folder / name).chmod(0o755)
        rank = Rank(0, {"parent": [f"{self.folder}/{parent}"]} if parent else {"SLURM_PROCID": ["0"]})
        self.assertEqual(expected, tuple(installations.installation_of(rank)))

    @each("text, expected", [("MPICH Version:      4.0.2 MPICH Release", ("MPICH", "4.0.2")),
                             ("Open MPI v5.0.3, package", ("Open MPI", "5.0.3")), ("MVAPICH Version: 3.0", ("", ""))])
    def test_libraries(self, text, expected):
        self.assertEqual(expected, installations.library_of(text))

    @each("launcher, count", [("5.0.3", 1), ("4.1.6", 0), ("", 0)])
    def test_versions(self, launcher, count):
        """Versions that differ in more than their last number."""
        rank = {"host": ["n1"], "mpi_library": ["Open MPI v4.1.4, package"]}
        job = findings.Job(Facts([Rank(0, rank)], {}), 1, "openmpi", {},
                           installation=installations.Installation("Open MPI", launcher))
        self.assertEqual(count, len(list(checks.start(job))))


class Checks(Case):
    def facts(self, *ranks, **measured):
        return findings.Job(Facts([Rank(number, values) for number, values in enumerate(ranks)], measured), len(ranks),
                          "hydra", {})

    def test_numa(self):
        far = {"host": ["n1"], "processor_numa_node": ["0"], "memory_numa_node": ["1"]}
        self.assertEqual(["memory of rank 0 lies on another NUMA node than its core"],
                         [finding.found for finding in checks.numa(self.facts(far))])

    @each("more, expected", [({"ptrace_scope": ["1"]}, "kernel.yama.ptrace_scope is 1"),
                             ({"ptrace_scope": ["0"]}, "Denied"),
                             ({"own_memory": ["Denied"], "ptrace_scope": ["1"]}, "seccomp filter")])
    def test_cause_of_denial(self, more, expected):
        ranks = [{"host": ["n1"], "neighbour_memory": ["Denied"], "shm_filesystem": ["1"], **more} for _ in (0, 1)]
        self.assertEqual([f"process_vm_readv is denied ({expected})"],
                         [finding.found for finding in checks.within_node(self.facts(*ranks))])

    def test_hardware_threads(self):
        """Two ranks on two hardware threads of a core."""
        ranks = [{"host": ["n1"], "allowed_processors": [str(number)], "allowed_cores": ["0"], "online_cores": ["2"]}
                 for number in (0, 1)]
        (finding,) = checks.cores(self.facts(*ranks))
        self.assertEqual(("2 ranks share 1 core of n1 (hardware threads)", findings.WARNING),
                         (finding.found, finding.status))
        ranks[0]["online_cores"] = ["1"]  # there is no other core
        self.assertEqual([findings.UNKNOWN], [finding.status for finding in checks.cores(self.facts(*ranks))])

    @each("sets, expected", [(["0-1", "0-1", "0-1", "2-9"], ["4 ranks share 3 processors of n1"]),
                             (["0-1", "0", "1-2"], []), (["0", "0", "1-3"], ["3 ranks share 2 processors of n1"])])
    def test_shared_processors(self, sets, expected):
        """Of sets that overlap."""
        ranks = [{"host": ["n1"], "allowed_processors": [one], "allowed_cores": [one]} for one in sets]
        self.assertEqual(expected, [finding.found for finding in checks.cores(self.facts(*ranks))])

    @each("groups, expected", [("ab", []), ("aa", ["a quota of 1 processor for 2 ranks of n1"])])
    def test_quotas(self, groups, expected):
        """Each of a rank's own group, or one for both."""
        ranks = [{"host": ["n1"], "cpu_quota_group": [group + " 1"]} for group in groups]
        self.assertEqual(expected, [finding.found for finding in checks.cores(self.facts(*ranks))])

    def test_many_hosts(self):
        """An equal finding of several hosts is one."""
        ranks = [{"host": [host], "cpu_quota_group": ["0:1 0.5"]} for host in "pqr"]
        self.assertEqual(["a quota of 0.5 processors for 1 rank of p and 2 more hosts"],
                         [finding.found for finding in result_lines.found_by_checks(self.facts(*ranks))])

    @each("ranks, size, free, expected", [(2, 64, 60, []), (32, 64, 60, ["has only 64 MiB"]),
                                          (2, 64, 3, ["is full: 3 MiB are free"]), (2, 0, 0, [])])
    def test_shared_memory(self, ranks, size, free, expected):
        """As much as the ranks need; a size of 0 has no limit."""
        rank = Rank(0, {"host": ["n1"], "shm_bytes": [str(size << 20)], "shm_free_bytes": [str(free << 20)]})
        self.assertEqual([f"/dev/shm of n1 {text}" for text in expected],
                         [finding.found for finding in checks.shared_memory("n1", [rank] * ranks, findings.WARNING)])

    def test_room_of_programs(self):
        """A program warns of a nearly full /dev/shm at the check-up's limit."""
        with open(os.path.join(self.source, "common", "job", "limits.c"), encoding="utf-8") as stream:
            (mib,) = re.findall(r"NEARLY_FULL_BYTES \(\(int64_t\)([0-9]+) << 20\)", stream.read())
        self.assertEqual(int(mib) << 20, checks.SHM_LEAST)

    @each("more, status, remedies", [({}, findings.UNKNOWN, 0),
                                     ({"adapter.mlx5_0.state": ["4: ACTIVE"]}, findings.PROBLEM, 1)])
    def test_memlock(self, more, status, remedies):
        """Without an adapter there is nothing to mend."""
        (finding,) = checks.limits(self.facts({"host": ["n1"], "memlock_bytes": ["65536"], **more}))
        self.assertEqual((status, remedies), (finding.status, len(finding.remedies)))

    def test_network_reports(self):
        """MPICH over libfabric reports the network alone; within a node it uses shared memory of its own. On a busy
        machine an interval is wide."""
        for engine, latency_us, low_us, expected in (("ofi", 5, None, 0), ("ucx", 5, None, 1), ("ucx", 5, 0.2, 1),
                                                     ("ucx", 0.5, 0.4, 0)):
            job = self.facts({"host": ["n1"]}, {"host": ["n1"]},
                             node_latency=(Measured(latency_us, low_us, None, 1), "us"))
            job = job._replace(transports=Transports(engine, ("tcp",)))
            self.assertEqual(expected, len(list(checks.within_node(job))))

    @each("boots, environment, expected", [
        ("aa", {}, [findings.UNKNOWN]), ("aa", {"MPIR_CVAR_NOLOCAL": "1"}, [findings.PROBLEM]), ("ab", {}, [])])
    def test_nodes_of_one_host(self, boots, environment, expected):
        """Ranks that the library doesn't report to share memory are on one node if their host booted once. Addresses
        are equal then, and no finding."""
        ranks = [{"host": ["n1"], "node": [str(number)], "kernel.boot_id": [boot],
                  "interface.eth0.address": ["10.0.0.1/24" if boot == "a" else f"10.0.0.{number + 2}/24"]}
                 for number, boot in enumerate(boots)]
        job = self.facts(*ranks)._replace(environment=environment)
        self.assertEqual(len(set(boots)), len(job.facts.nodes))
        self.assertEqual(expected, [finding.status for finding in result_lines.found_by_checks(job)])

    @each("option, count", [("--enable-g=dbg", 0), ("--enable-g=none", 0), ("--enable-g=dbg,meminit", 1),
                            ("--enable-debug", 1), ("--enable-gpu", 0)])
    def test_debug_build(self, option, count):
        rank = {"host": ["n1"], "mpi_library": ["MPICH"], "configured_with": [option]}
        self.assertEqual(count, len(list(checks.start(self.facts(rank)))))

    @each("claims, expected", [({"mpi_cuda": ["yes"]}, []),
                               ({"mpi_cuda": ["no"]}, ["claims not to take messages in their memory"]),
                               ({}, ["claims nothing about their memory"])])
    def test_gpus(self, claims, expected):
        gpus = {"host": ["n1"], "gpu.0000:01:00.0.vendor": ["0x10de", "0x10de"], "gpu.0000:02:00.0.vendor": ["0x10de"],
                "gpu.0000:00:02.0.vendor": ["0x8086"], **claims}
        job = self.facts(gpus, allreduce_time=(Measured(1, None, None, 1), "us"))
        self.assertEqual([f"2 NVIDIA GPUs, the library {text}" for text in expected],
                         [finding.found for finding in checks.gpus(job)])

    def test_lacking_facts(self):
        """A check without its facts finds nothing, and isn't well."""
        lines = {line.check: line.status for line in result_lines.well_lines(self.facts({"host": ["n1"]}), [])}
        self.assertEqual(["Cores", "Binding", "NUMA", "Within a node", "Limits", "Clock"],
                         [name for name, status in lines.items() if status == findings.UNKNOWN])

    @each("driver, count", [("intel_pstate", 0), ("acpi-cpufreq", 1)])
    def test_powersave(self, driver, count):
        """Some drivers reach the full frequency with this governor."""
        rank = {"host": ["n1"], "frequency.policy0.driver": [driver], "frequency.policy0.governor": ["powersave"]}
        self.assertEqual(count, len(list(checks.clock(self.facts(rank)))))

    @each("rate, driver, mbs, high, expected", [
        ("10000", "ixgbe", 110, None, [findings.PROBLEM]), ("10000", "vmxnet3", 110, None, [findings.UNKNOWN]),
        ("10000", "ixgbe", 110, 200, [findings.PROBLEM]), ("10000", "ixgbe", 110, 300, [findings.UNKNOWN]),
        ("100000", "mlx5_core", 1500, None, []), ("100000", "mlx5_core", 300, None, [findings.PROBLEM]),
        ("1000", "igb", 110, None, [])])
    def test_below_the_links_rate(self, rate, driver, mbs, high, expected):
        """Virtual interfaces don't know the wire's rate, one TCP connection doesn't fill a fast link, and an interval
        that reaches the rate leaves it open."""
        ranks = [{"host": [host], "interface.eth0.rate": [rate], "interface.eth0.driver": [driver],
                  "interface.eth0.kind": ["physical"]} for host in "12"]
        job = self.facts(*ranks, network_bandwidth=(Measured(mbs, high and 100, high, 1), "MB/s"))
        job = job._replace(transports=Transports("ucx", ("tcp",)))
        self.assertEqual(expected, [finding.status for finding in networks.between_nodes(job)])

    @each("state, addresses, expected", [("up", ("10.0.0.1/24", "10.0.0.2/24"), 1),
                                         ("down", ("10.0.0.1/24", "10.0.0.2/24"), 0),
                                         ("up", ("10.0.0.1/24", "10.1.0.2/24"), 0)])
    def test_mtu(self, state, addresses, expected):
        """Of interfaces in use, in one subnet."""
        ranks = [{"host": [address], "interface.eth0.mtu": [mtu], "interface.eth0.address": [address],
                  "interface.eth0.state": [state]} for address, mtu in zip(addresses, ("1500", "9000"))]
        self.assertEqual(expected, len(list(networks.different_mtu(self.facts(*ranks)))))

    @each("speed, state, node, rate", [
        ("100", "4: ACTIVE", "1", 100000), ("2.5", "4: ACTIVE", "1", 2500), ("100", "1: DOWN", "1", 1000),
        ("100", "4: ACTIVE", "0", 1000)])
    def test_fastest_rate(self, speed, state, node, rate):
        """Only links in use that both nodes have count."""
        ranks = [{"host": [str(number)], "node": [str(number)], "interface.eth0.rate": ["1000"],
                  "interface.eth0.state": ["up"], "interface.eth0.kind": ["physical"]} for number in (0, 1)]
        for rank in (ranks[0], ranks[int(node)]):
            rank.update({"adapter.mlx5_0.rate": [f"{speed} Gb/sec (4X EDR)"], "adapter.mlx5_0.state": [state]})
        self.assertEqual(rate, max(link.mbit for link in networks.links(self.facts(*ranks))))

    @each("engine, names, more, environment, expected", [
        ("ucx", ("tcp",), {}, {}, ["export UCX_MAX_RNDV_RAILS=2"]),
        ("ob1", ("tcp",), {}, {}, ["export OMPI_MCA_btl_tcp_if_include=eth0,eth1"]),
        ("ucx", ("tcp",), {}, {"UCX_NET_DEVICES": "eth0"}, ["unset UCX_NET_DEVICES"]),
        ("ucx", ("tcp",), {"interface.eth1.rate": ["1000"]}, {}, []),
        ("ucx", ("tcp",), {"interface.eth1.address": ["10.2.0.9/24"]}, {}, []),  # of both nodes
        ("ucx", ("rc",), {}, {}, []), ("", (), {}, {}, []),
        ("ucx", ("rc",), {f"adapter.mlx5_0{port}.{name}": [value] for port in ("", ":2") for name, value in
                          (("rate", "100 Gb/sec"), ("state", "4: ACTIVE"))}, {}, ["export UCX_MAX_RNDV_RAILS=2"])])
    def test_unused_links(self, engine, names, more, environment, expected):
        """Links of equal rate, of the kind that messages use, by which the nodes reach each other."""
        ranks = [{"host": [host], "interface.eth0.address": [f"10.0.0.{host}/24"], "interface.eth0.rate": ["10000"],
                  "interface.eth1.address": [f"10.1.0.{host}/24"], "interface.eth1.rate": ["10000"], **more}
                 for host in "12"]
        job = self.facts(*ranks)._replace(transports=Transports(engine, names), environment=environment)
        found = networks.unused_links(job)
        self.assertEqual(expected, [remedy.text for finding in found for remedy in finding.remedies])

    def test_values_that_explain_changes(self):
        """Of all ranks, those of checks first; not those that differ between any two jobs."""
        ranks = [{"pid": [f"7{number}"], "open_files": ["1024"], "frequency.policy0.governor": ["powersave"],
                  "frequency.policy1.governor": [("performance", "powersave")[number]],
                  "interface.eth0.kind": ["physical"], "interface.eth0.mtu": [f"{number}500"],
                  "interface.veth7.kind": ["virtual"], "interface.veth7.mtu": ["1400"],
                  "memlock_bytes": ["65536"]} for number in (0, 1)]
        self.assertEqual([("memlock_bytes", "65536"), ("frequency.governor", "performance, powersave"),
                          ("interface.eth0.mtu", "0500, 1500"), ("open_files", "1024")],
                         shared_values(self.facts(*ranks).facts))

    def test_equal_addresses(self):
        """A bridge with one address on two nodes is tried without."""
        ranks = [{"host": [host], "interface.docker0.address": ["172.17.0.1/16"],
                  "interface.eth0.address": [f"10.0.0.{host}/24"]} for host in "12"]
        job = self.facts(*ranks)._replace(launcher_name="openmpi")
        (finding,) = networks.between_nodes(job)
        self.assertEqual(("--mca", "btl_tcp_if_exclude", "lo,docker0"), finding.remedies[0].words)
