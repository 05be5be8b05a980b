"""Simulated clusters, and benchmarks that run on them under SimGrid's SMPI.

The network is SimGrid's flow model CM02 with no factor on top and no traffic in the other
direction: a message takes the sum of its route's latencies and its bytes over the least bandwidth,
of which messages that share a link get equal shares. Computing takes no time but for the
benchmarks' own work (work.c), nor does reading the clock. So every cost is the platform's, and
exact."""

import csv
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from mpi_run import Failed, read_tsv

LATENCY_US = 0.5       # a cable's
BYTES_PER_US = 10_000  # 10 GB/s

ENVELOPE_BYTES = 16    # that SMPI adds to each message: tag, rank, communicator

SIZES = (64, 256, 1024)


def wire_us(size_bytes):
    """What the bytes of a message take."""
    return (size_bytes + ENVELOPE_BYTES) / BYTES_PER_US


class Cluster:
    """Hosts, one rank on each, with cables of cable_us, LATENCY_US unless it is set, and
    BYTES_PER_US. What a rank's atomic operation has for the rank itself is a message, too, by a
    cable without latency."""

    __test__ = False

    def __init__(self, name, hosts, topology, parameters):
        self.name, self.hosts = f"{name} of {hosts}", hosts
        self.topology, self.parameters = topology, parameters
        self.cable_us = LATENCY_US

    def xml(self):
        return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="cluster" prefix="node-" suffix="" radical="0-{self.hosts - 1}"
 speed="1Gf" bw="{BYTES_PER_US}MBps" lat="{self.cable_us}us" sharing_policy="SPLITDUPLEX"
 loopback_bw="{BYTES_PER_US}MBps" loopback_lat="0us"
 topology="{self.topology}" topo_parameters="{self.parameters}"/>
</platform>
"""

    def hops(self, source, target):
        """The cables between two ranks."""
        raise NotImplementedError

    def latency_us(self, source, target):
        return self.hops(source, target) * self.cable_us

    def farthest_us(self, rank):
        return max(self.latency_us(rank, other) for other in range(self.hosts))

    def largest_us(self, distance_of):
        """The largest latency from any rank to the one that distance_of gives."""
        return max(self.latency_us(rank, distance_of(rank) % self.hosts)
                   for rank in range(self.hosts))

    def exchanges_us(self):
        """What log2(P) exchanges take, with the rank whose number differs in one bit: recursive
        doubling. All ranks are as far from theirs, so that each step is as long as one message."""
        total, distance = 0.0, 1
        while distance < self.hosts:
            total += self.largest_us(lambda rank, bit=distance: rank ^ bit)
            distance *= 2
        return total


class Torus(Cluster):
    """Of three dimensions; the first one's neighbours are next ranks."""
    DIMS = {64: (4, 4, 4), 256: (4, 8, 8), 1024: (8, 8, 16)}

    def __init__(self, hosts):
        self.dims = self.DIMS[hosts]
        super().__init__("torus", hosts, "TORUS", ",".join(map(str, self.dims)))

    def hops(self, source, target):
        total = 0
        for dim in self.dims:
            away = abs(source % dim - target % dim)
            total += min(away, dim - away)
            source, target = source // dim, target // dim
        return total

    def last_ring(self, source, target):
        """The cables, with their directions, that a message takes along the last dimension. With
        two ways of one length SimGrid takes the way up from the lower half of a ring, and down or
        up as here from the upper half."""
        dim = self.dims[-1]
        place, end = (rank // (self.hosts // dim) for rank in (source, target))
        cables = []
        while place != end:
            up = (place < end <= place + dim // 2 or
                  (place > dim // 2 and (place + dim // 2) % dim >= end))
            following = (place + (1 if up else -1)) % dim
            cables.append((place, following))
            place = following
        return cables

    def shared_by(self, pairs):
        """How many of these pairs' messages the fullest cable of the first pair's carries; the
        pairs must differ in the last dimension only."""
        rings = [self.last_ring(*pair) for pair in pairs]
        return max(sum(cable in ring for ring in rings) for cable in rings[0])


class FatTree(Cluster):
    """Of two levels, with as many cables up as down."""
    LEAF = {64: 8, 256: 16, 1024: 32}

    def __init__(self, hosts):
        self.leaf = self.LEAF[hosts]
        super().__init__("fat tree", hosts, "FAT_TREE",
                         f"2;{self.leaf},{self.leaf};1,{self.leaf};1,1")

    def hops(self, source, target):
        if source == target:
            return 0
        return 2 if source // self.leaf == target // self.leaf else 4


CLUSTERS = (Torus, FatTree)

OPTIONS = {
    # The model, as above. SMPI's own adds factors to latency and bandwidth.
    "network/model": "CM02", "network/crosstraffic": "no",
    "smpi/simulate-computation": "no", "smpi/wtime": "0",
    # Nanoseconds, and not of the time that has passed.
    "surf/precision": "1e-12",
    # Each message waits for its receiver. SimGrid 3.32 keeps those that don't in a list that it
    # walks through for every message, so that its time grows with the square of their number.
    "smpi/send-is-detached-thresh": "0",
    # Collectives in O(log P) steps; what SMPI takes else is linear.
    "smpi/barrier": "ompi_recursivedoubling", "smpi/allreduce": "rdb",
    "smpi/bcast": "binomial_tree", "smpi/reduce": "binomial",
    "smpi/gather": "ompi_binomial", "smpi/scatter": "ompi_binomial",
    "smpi/allgather": "rdb", "smpi/alltoall": "bruck",
}


class Job:
    """What a simulated job left."""

    def __init__(self, rows, text, counts, seconds):
        self.rows, self.text, self.seconds = rows, text, seconds
        self.counts = counts  # (rank, phase): numbers, see messages.c
        # On the simulated clock: what the run took, and what it may with defaults.
        self.ran_s, self.budget_s = (ns * 1e-9 for ns in counts[0, "time"])

    def of_phase(self, phase):
        return [numbers for (_, name), numbers in self.counts.items() if name == phase]


def end(process):
    """SIGTERM is caught by the benchmarks."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


class Simulator:
    """Runs the programs of a simulated build."""

    def __init__(self, build, library):
        self.build, self.library = build, library
        # smpirun itself takes options apart at their spaces.
        with open(shutil.which("smpirun"), encoding="utf-8") as script:
            self.simulator, = set(re.findall(r'"(/\S+/smpimain)"', script.read()))

    def run(self, cluster, program, options=(), timeout_s=300, settings=None, variables=None):
        """Runs a program of the build, FOLDER/NAME, on all hosts. The settings are SimGrid's, in
        place of those above; the variables are of the environment."""
        name = f"{cluster.name}: {program} {' '.join(options)}"
        with tempfile.TemporaryDirectory() as folder:
            write(folder + "/platform.xml", cluster.xml())
            write(folder + "/hosts", "".join(f"node-{i}\n" for i in range(cluster.hosts)))
            line = [self.simulator, os.path.join(self.build, program),
                    "--cfg=smpi/privatization:1", f"--cfg=smpi/tmpdir:{folder}",
                    f"--cfg=smpi/hostfile:{folder}/hosts", f"--cfg=smpi/np:{cluster.hosts}",
                    "--log=root.thres:critical"]
            line += [f"--cfg={key}:{value}"
                     for key, value in {**OPTIONS, **(settings or {})}.items()]
            # A simulated machine is the same at each visit.
            line += [folder + "/platform.xml", "--visits=2", *options]
            environment = {**os.environ, "LD_PRELOAD": self.library,
                           "SIMULATION_COUNTS": folder + "/counts.tsv", **(variables or {})}
            start_s = time.monotonic()
            process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=environment,
                                       start_new_session=True)
            try:
                text, errors = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired as error:
                end(process)
                raise Failed(f"{name}: no end after {timeout_s} s") from error
            except BaseException:
                end(process)
                raise
            seconds = time.monotonic() - start_s
            # The simulator's status is 0 where ranks wait for each other for ever.
            if process.returncode != 0 or "\n# end: " not in text:
                why = f"exit status {process.returncode}, or 0 and left in the middle"
                raise Failed(f"{name}: {why}\n{text[-1000:]}\n{errors[-1000:]}")
            return Job(read_tsv(text), text, self.read_counts(folder + "/counts.tsv"), seconds)

    @staticmethod
    def read_counts(path):
        with open(path, encoding="utf-8") as stream:
            return {(int(words[0]), words[1]): [int(word) for word in words[2:]]
                    for words in csv.reader(stream, delimiter="\t")}
