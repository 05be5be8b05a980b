# SPDX-License-Identifier: BSD-3-Clause
"""Programs on simulated clusters under SimGrid's SMPI, an MPI library of another kind: they are built for it, and end
on 16 hosts, with --full on up to 1,024, with data that is right. What they cost on many ranks: tests/virtual/ranks_test.py.

The network is SimGrid's flow model CM02 with no factor on top and no traffic in the other direction: a message takes
the sum of its route's latencies and its bytes over the least bandwidth. Computing takes no time except for the benchmarks'
own work (source.c), nor does reading the clock."""

import glob
import os
import re
import shutil

from case import Case, call, each
from commands import command
from mpi_run import read, read_tsv

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="cluster" prefix="node-" suffix="" radical="0-{}" speed="1Gf" bw="10GBps" lat="0.5us"
 sharing_policy="SPLITDUPLEX" loopback_bw="10GBps" loopback_lat="0us" topology="{}" topo_parameters="{}"/>
</platform>
"""
TOPOLOGIES = {
    "TORUS": {16: "4,4,1", 64: "4,4,4", 256: "4,8,8", 1024: "8,8,16"},
    # Of two levels, with the same number of cables up and down.
    "FAT_TREE": {hosts: f"2;{leaf},{leaf};1,{leaf};1,1" for hosts, leaf in ((16, 4), (64, 8), (256, 16), (1024, 32))}}

SETTINGS = {
    # The model, as above. SMPI's own adds factors to latency and bandwidth.
    "network/model": "CM02", "network/crosstraffic": "no", "smpi/simulate-computation": "no", "smpi/wtime": "0",
    # Nanoseconds, and not of the time that has passed.
    "surf/precision": "1e-12",
    # Solves for all messages of a collective together, where each rank sends one to each other one.
    "network/optim": "Full",
    # SMPI's MPI_Win_post sends messages, and must not wait for MPI_Win_start. Who waits for a queue lock probes; a
    # probe takes 100 us by default, and as long again more each time.
    "smpi/send-is-detached-thresh": "65536", "smpi/iprobe": "1e-5", "smpi/grow-injected-times": "no"}

SHORT = ["--samples=2", "--warmup=0", "--visits=1"]
OVERLAP = ["--data-driven", "--min-num-elts=1", "--max-num-elts=1", "--check"]
# Without --check: MPI_Ibarrier lets ranks out before the last one enters, and a persistent send of a derived datatype
# brings what was there at MPI_Send_init.
OPTIONS = {
    "pingpong/pingpong": ["--patterns=put,MPI Send", "--max-ndata=8", "--max-stride=4", "--check"],
    "syncbench/syncbench": ["--inner=8", "--max-neighbours=4"],
    "halo/halo": ["--local=2", "--methods=put,get,isend/irecv types,isend/irecv packed,persistent"],
    "linkmap/linkmap": ["--sizes=8", "--check"],
    "noise/noise": ["--per=rank"],
    "collective/collective": ["--sizes=8"] + ([] if Case.full else ["--operations=bcast,reduce,scan"]),
    "msgrate/msgrate": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "msgrate/msgrate_rma": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "mpi_overhead/mpi_overhead": ["--msgsize=8,128K", "--both", "--check"],
    "overlap/overlap_ibarrier": ["--data-driven"],
    "overlap/overlap_halo": ["--local=2", "--methods=isend/irecv types,isend/irecv packed", "--check"]}


class SmpiCase(Case):
    def programs(self):
        """All of the simulated build."""
        build = os.path.join(self.build, "simulation")
        return sorted(os.path.relpath(path, build) for path in glob.glob(os.path.join(build, "*/*"))
                      if os.path.isfile(path) and os.access(path, os.X_OK) and "." not in os.path.basename(path))

    def words(self, topology, hosts):
        """Returns the simulator, and the words between program and options, that start a rank on each host."""
        # smpirun itself takes options apart at their spaces.
        with open(shutil.which("smpirun"), encoding="utf-8") as script:
            simulator, = set(re.findall(r'"(/\S+/smpimain)"', script.read()))
        (self.folder / "platform.xml").write_text(PLATFORM.format(hosts - 1, topology, TOPOLOGIES[topology][hosts]))
        (self.folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(hosts)))
        return simulator, ["--cfg=smpi/privatization:1", f"--cfg=smpi/tmpdir:{self.folder}",
                           f"--cfg=smpi/hostfile:{self.folder}/hosts", f"--cfg=smpi/np:{hosts}",
                           "--log=root.thres:critical", *(f"--cfg={key}:{value}" for key, value in SETTINGS.items()),
                           str(self.folder / "platform.xml")]

    def called(self, topology, hosts, program, *options, settings=()):
        """A program's end."""
        simulator, words = self.words(topology, hosts)
        return call(["timeout", "-k", "1", "1800", simulator, self.built(f"simulation/{program}"), *settings, *words,
                     *options])

    def output(self, *arguments, **how):
        """Returns its output."""
        done = self.called(*arguments, **how)
        # The simulator's status is 0 where ranks wait for each other for ever.
        assert done.returncode == 0, done.stderr
        assert re.search("\n# end: .* exit 0\n$", done.stdout), done.stdout + done.stderr
        return done.stdout


class Smpi(SmpiCase):
    @each("hosts", [64, 256, 1024] if Case.full else [16])
    @each("topology", TOPOLOGIES if Case.full else ["TORUS"])
    def test_all_end(self, topology, hosts):
        share = [*OPTIONS, "overlap/overlap_get", "overlap/overlap_igatherv"]
        for program in self.programs() if self.full else share:
            text = self.output(topology, hosts, program, *SHORT, *OPTIONS.get(program, OVERLAP))
            assert read_tsv(text), program

    def test_wrong_option(self):
        """Options are read before MPI_Init and behind it, by ranks that are threads of one process."""
        done = self.called("TORUS", 16, "halo/halo", "--samples=2", "--nonsense")
        assert done.returncode == 2 and not done.stdout, done
        assert "--nonsense: no such option" in done.stderr, done.stderr

    @each("topology, sizes", [("TORUS", ["8"]), ("FAT_TREE", [])])
    def test_how_coarse(self, topology, sizes):
        """linkmap notes the sizes of which routes differ so much that a slow link among them is hardly seen."""
        text = self.output(topology, 16, "linkmap/linkmap", "--visits=3")
        assert re.findall(r"^# note: (\d+) bytes: times vary \(routes", text, re.M) == sizes


class Algorithms(SmpiCase):
    @each("algorithm, links", [("flattree", 6), ("binomial_tree", 9)] if Case.full else [])
    def test_shape_of_64_hosts(self, algorithm, links):
        """A broadcast by an algorithm that SMPI is told takes 0.5 us for each link of its longest path: to the farthest
        host, or to host 63 by 32, 48, 56, 60 and 62, each 2 links or 1 away from the one before."""
        text = self.output("TORUS", 64, "collective/collective", *SHORT, "--operations=bcast", "--sizes=8",
                           settings=[f"--cfg=smpi/bcast:{algorithm}"])
        (row,) = read_tsv(text)
        assert abs(float(row["time_us"]) - 0.5 * links) < 0.005 * links, text

    def test_tuning(self):
        """tune.sh finds the algorithm that is best, by a launcher that tells SMPI which one to use: of 16 hosts the
        farthest is 4 links from the root, and 6 by a binomial tree, which is SMPI's own choice."""
        hosts = 64 if self.full else 16
        simulator, words = self.words("TORUS", hosts)
        launcher = self.folder / "simulate"
        launcher.write_text(f"""#!/bin/sh
            program=$2
            shift 2
            exec {simulator} "$program" ${{BCAST:+--cfg=smpi/bcast:$BCAST}} {" ".join(words)} "$@" \\
                {" ".join(SHORT)} --start=barrier
            """)
        launcher.chmod(0o755)
        done = command("tune", f"--build={self.build}/simulation", f"--launcher={launcher} {{ranks}}",
                       "--choices=BCAST=flattree", "--operations=bcast", "--sizes=8", f"--ranks={hosts}",
                       "--launches=6", "--max-time=0.001", f"--output={self.folder}/tune")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "export BCAST='flattree'" in read(self.folder / "tune/rules.sh").splitlines()
        (row,) = read_tsv(read(self.folder / "tune/evidence.tsv"))
        assert abs(float(row["found_pct"]) - (25 if self.full else 33)) < 1, row
