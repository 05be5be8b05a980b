"""Simulated clusters, and benchmarks that run on them under SimGrid's SMPI.

The network is SimGrid's flow model CM02 with no factor on top and no traffic in the other direction: a message takes
the sum of its route's latencies and its bytes over the least bandwidth, of which messages that share a link get equal
shares. Computing takes no time but for the benchmarks' own work (source.c), nor does reading the clock. So every cost is
the platform's, and exact."""

import csv
import os
import re
import shutil
import signal
import subprocess
import time
from typing import NamedTuple

import case
from mpi_run import Failed, read_tsv

BYTES_PER_US = 10_000  # 10 GB/s
ENVELOPE_BYTES = 16    # that SMPI adds to each message: tag, rank, communicator
SIZES = (64, 256, 1024)

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="cluster" prefix="node-" suffix="" radical="0-{last}"
 speed="1Gf" bw="{bandwidth}MBps" lat="{cable_us}us" sharing_policy="SPLITDUPLEX"
 loopback_bw="{bandwidth}MBps" loopback_lat="0us"
 topology="{topology}" topo_parameters="{parameters}"/>
</platform>
"""


class Cluster(NamedTuple):
    """Hosts, one rank on each, with cables of BYTES_PER_US. What a rank's atomic operation has for the rank itself is
    a message, too, by a cable without latency."""

    hosts: int
    topology: str
    parameters: str
    cable_us: float = 0.5

    def __str__(self):
        return f"{self.topology} of {self.hosts}"

    def xml(self):
        return PLATFORM.format(last=self.hosts - 1, bandwidth=BYTES_PER_US, **self._asdict())


def torus(hosts):
    return Cluster(hosts, "TORUS", {16: "4,4,1", 64: "4,4,4", 256: "4,8,8", 1024: "8,8,16"}[hosts])


def fat_tree(hosts):
    """Of two levels, with as many cables up as down."""
    leaf = {16: 4, 64: 8, 256: 16, 1024: 32}[hosts]
    return Cluster(hosts, "FAT_TREE", f"2;{leaf},{leaf};1,{leaf};1,1")


OPTIONS = {
    # The model, as above. SMPI's own adds factors to latency and bandwidth.
    "network/model": "CM02", "network/crosstraffic": "no",
    "smpi/simulate-computation": "no", "smpi/wtime": "0",
    # Nanoseconds, and not of the time that has passed.
    "surf/precision": "1e-12",
    # Each message waits for its receiver. SimGrid 3.32 keeps those that don't in a list that it walks through for every
    # message, so that its time grows with the square of their number.
    "smpi/send-is-detached-thresh": "0",
    # Collectives in O(log P) steps; what SMPI takes else is linear.
    "smpi/barrier": "ompi_recursivedoubling", "smpi/allreduce": "rdb",
    "smpi/bcast": "binomial_tree", "smpi/reduce": "binomial",
    "smpi/gather": "ompi_binomial", "smpi/scatter": "ompi_binomial",
    "smpi/allgather": "rdb", "smpi/alltoall": "bruck",
}


class Job:
    """What a simulated job left."""

    def __init__(self, text, counts, seconds):
        self.rows, self.text, self.seconds = read_tsv(text), text, seconds
        self.counts = counts  # (rank, phase): numbers, see messages.c
        # On the simulated clock: what the run took, and what it may with defaults.
        self.ran_s, self.budget_s = (ns * 1e-9 for ns in counts[0, "time"])

    def of_phase(self, phase):
        return [numbers for (_, name), numbers in self.counts.items() if name == phase]


def end(process):
    """SIGTERM is caught by the benchmarks."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


class Simulated(case.Case):
    """A test that runs programs of the simulated build, which the test simulation_build makes."""

    @staticmethod
    def simulator():
        """smpirun itself takes options apart at their spaces."""
        with open(shutil.which("smpirun"), encoding="utf-8") as script:
            program, = set(re.findall(r'"(/\S+/smpimain)"', script.read()))
        return program

    def run_simulated(self, cluster, program, options=(), timeout_s=300, settings=None):
        """Runs a program of the build, FOLDER/NAME, on all hosts. The settings are SimGrid's, in place of those above."""
        name = f"{cluster}: {program} {' '.join(options)}"
        (self.folder / "platform.xml").write_text(cluster.xml())
        (self.folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(cluster.hosts)))
        line = [self.simulator(), self.built(f"simulation/{program}"),
                "--cfg=smpi/privatization:1", f"--cfg=smpi/tmpdir:{self.folder}",
                f"--cfg=smpi/hostfile:{self.folder}/hosts", f"--cfg=smpi/np:{cluster.hosts}",
                "--log=root.thres:critical",
                *(f"--cfg={key}:{value}" for key, value in {**OPTIONS, **(settings or {})}.items()),
                # A simulated machine is the same at each visit.
                f"{self.folder}/platform.xml", "--visits=2", *options]
        environment = {**os.environ, "SIMULATION_COUNTS": f"{self.folder}/counts.tsv",
                       "LD_PRELOAD": self.built("tests/simulation/libsimulation_messages.so")}
        start_s = time.monotonic()
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment, start_new_session=True)
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
            raise Failed(f"{name}: exit status {process.returncode}, or 0 and left in the middle\n"
                         f"{text[-1000:]}\n{errors[-1000:]}")
        with open(self.folder / "counts.tsv", encoding="utf-8") as stream:
            counts = {(int(words[0]), words[1]): [int(word) for word in words[2:]]
                      for words in csv.reader(stream, delimiter="\t")}
        return Job(text, counts, seconds)
