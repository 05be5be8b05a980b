"""Does every benchmark end on many ranks?

Runs each program that SMPI can run (RUNS; CANNOT says what it can't) on the simulated clusters, with small sizes and few
samples, and verifies what it moves where that takes no clock of its own. It must end, with a row at least, and within
the budget that it has with defaults on the simulated clock. Some take as many samples as a time on that clock allows
(TIMED), and must keep to it.

Collectives of which SMPI's non-blocking forms send P * P messages at once are run up to QUADRATIC_MAX ranks, there on
one kind of cluster. With defaults their largest size is one of which a rank's buffers take 64 MiB."""

import glob
import os
import re

from case import Case, each
from smpi import SIZES, Simulated, fat_tree, torus

# What SMPI can run, by folders, and what it can't.
RUNS = {
    "overlap": [f"overlap_{name}" for name in (
        "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv", "ialltoallw",
        "ibarrier", "ibcast", "iexscan", "igather", "igatherv", "ireduce", "ireduce_scatter",
        "ireduce_scatter_block", "iscan", "iscatter", "iscatterv",
        "isend", "irecv", "sendrecv", "put", "get", "halo")],
    "msgrate": ["msgrate", "msgrate_rma"],
    **{name: [name] for name in ("mpi_overhead", "pingpong", "syncbench", "halo", "linkmap", "noise")},
}
NO_NEIGHBOURS = "SMPI 3.32 ends a program that calls a neighbourhood collective, though its mpi.h declares them"
CANNOT = {
    "overlap_ineighbor_allgather": NO_NEIGHBOURS,
    "overlap_ineighbor_alltoall": NO_NEIGHBOURS,
    "halo's neighbor_alltoallw": NO_NEIGHBOURS,
    # Found by that: in the first swap.
    "halo's persistent with --check": "SMPI 3.32 sends of a derived datatype what was there at MPI_Send_init",
    # Found by that: of 64 ranks all but the late one and rank 0 left early.
    "overlap_ibarrier's --check": "SMPI 3.32's MPI_Ibarrier lets ranks out before the last one enters",
    "monitor_overhead": "SMPI 3.32's mpi.h doesn't declare MPI's functions as the standard does",
}

SHORT = ["--samples=2", "--warmup=0", "--visits=1"]

OPTIONS = {
    "pingpong": ["--max-ndata=8", "--max-stride=4", "--check"],
    "syncbench": ["--inner=8", "--max-neighbours=4"],
    "halo": ["--local=2"],
    "linkmap": ["--sizes=8", "--check"],
    "noise": ["--per=rank"],
    "msgrate": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "msgrate_rma": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "mpi_overhead": ["--msgsize=8,128K", "--both", "--check"],
    "overlap_ibarrier": ["--data-driven"],
    "overlap_halo": ["--local=2", "--methods=isend/irecv types,isend/irecv packed", "--check"],
}
OVERLAP = ["--data-driven", "--min-num-elts=1", "--max-num-elts=1", "--check"]

# Options of which a program is run with each.
EACH = {
    "msgrate_rma": [["--sync=fence"], ["--sync=lock"], ["--sync=flush"], ["--sync=pscw"]],
    "halo": [["--methods=put,get,isend/irecv types,isend/irecv packed", "--check"],
             ["--methods=persistent"]],
}

# By program or last option. SMPI's MPI_Win_post sends messages, and must not wait for MPI_Win_start. Who waits for a
# queue lock probes; a probe takes 100 us by default, and as long again more each time.
POST = {"smpi/send-is-detached-thresh": "65536"}
SETTINGS = {"--sync=pscw": POST,
            "syncbench": {**POST, "smpi/iprobe": "1e-5", "smpi/grow-injected-times": "no"}}

# Samples that a row's time is too short for, and what a row may take of it: the least samples may take as long again.
TIMED = ("msgrate/msgrate", "overlap/overlap_ibarrier")
ROW_S = 0.001
GRACE = 2
SPAN = 1  # the visits of a row are spread over its time
MANY = 10_000

# Of the simulator, for a program.
LIMIT_S = 1800

# Collectives that SMPI makes of a message from each rank to each other one, all at once, of which one takes SimGrid
# 0.2 s with 64 ranks, and 8 s with 256, if it solves for all messages together: else up to 36 s.
QUADRATIC = [f"overlap_{name}" for name in (
    "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv", "ialltoallw",
    "iexscan", "iscan", "ireduce_scatter", "ireduce_scatter_block")]
QUADRATIC_MAX = 256
TOGETHER = {"network/optim": "Full"}

# In CI a share on 64 ranks, and a collective on 256, on one kind of cluster; --full takes all, up to 1,024 ranks.
SHARE = {64: ("halo", "linkmap", "mpi_overhead", "msgrate", "msgrate_rma", "noise", "overlap_get", "overlap_halo",
              "overlap_ibarrier", "overlap_igatherv", "overlap_sendrecv", "syncbench"),
         256: ("overlap_ibcast",)}


def options_of(program):
    return OPTIONS.get(os.path.basename(program), OVERLAP)


def is_run(name, topology, hosts):
    if name in QUADRATIC and (hosts > QUADRATIC_MAX or hosts == QUADRATIC_MAX and topology is not fat_tree):
        return False
    return Case.full or topology is torus and name in SHARE.get(hosts, ())


class Finish(Simulated):
    def test_programs(self):
        """The programs of the build are those that are named here."""
        build = os.path.join(self.build, "simulation")
        named = {f"{folder}/{name}" for folder, names in RUNS.items() for name in names}
        there = {os.path.relpath(path, build) for path in glob.glob(os.path.join(build, "*/*"))
                 if os.path.isfile(path) and os.access(path, os.X_OK) and
                 "." not in os.path.basename(path) and
                 os.path.basename(os.path.dirname(path)) in (*RUNS, "monitor")}
        for name, reason in CANNOT.items():
            print(f"{name}: not run: {reason}")
        assert there == named

    def ends(self, cluster, program, options, row_s=None):
        """A program ends as it must. With `row_s` that is the time of a row on the simulated clock."""
        name = os.path.basename(program)
        if row_s is not None:
            options = [*options, f"--max-time={row_s}", f"--min-samples={MANY}"]
        settings = TOGETHER if name in QUADRATIC else SETTINGS.get(name, SETTINGS.get(options[-1]))
        job = self.run_simulated(cluster, program, options, LIMIT_S, settings)
        allowed_s = job.budget_s if row_s is None else (GRACE * len(job.rows) + SPAN) * row_s
        print(f"{cluster}: {name}: {len(job.rows)} rows, {1e3 * job.ran_s:.3f} of {1e3 * allowed_s:g} ms simulated, "
              f"{job.seconds:.1f} s")
        assert job.rows
        assert 0.0 < job.ran_s <= allowed_s

    @each("cluster, program, added", [
        (topology(hosts), f"{folder}/{name}", added)
        for hosts in SIZES for folder, names in RUNS.items() for name in names for topology in (torus, fat_tree)
        if is_run(name, topology, hosts) for added in EACH.get(name, [[]])])
    def test_finish(self, cluster, program, added):
        self.ends(cluster, program, SHORT + options_of(program) + added)

    @each("program", TIMED)
    def test_row_time(self, program):
        self.ends(torus(64), program, options_of(program), ROW_S)

    def test_largest_size(self):
        """By default the root of a gather of 64 ranks takes half of what it takes with two. Options say otherwise."""
        for smallest, sizes in ((32768, ["32768", "65536"]), (131072, ["131072"])):
            options = [*SHORT, "--data-driven", f"--min-num-elts={smallest}"]
            job = self.run_simulated(fat_tree(64), "overlap/overlap_igather", options, LIMIT_S)
            assert [row["elements"] for row in job.rows] == sizes
            assert (len(sizes) == 2) == ("# note: the largest size is 65536 elements: with 64 ranks more do not fit "
                                         "into the 64 MiB that a rank takes by default" in job.text)

    @each("topology, sizes", [(torus, ["8"]), (fat_tree, [])])
    def test_how_coarse(self, topology, sizes):
        """linkmap says of which sizes routes differ so much that a slow link among them is hardly seen."""
        job = self.run_simulated(topology(16), "linkmap/linkmap", ["--visits=3"], LIMIT_S)
        assert re.findall(r"^# note: (\d+) bytes: links differ by so much", job.text, re.M) == sizes
