#!/usr/bin/env python3
"""Does every benchmark end on many ranks?

Runs each program that SMPI can run (RUNS; CANNOT says what it can't) on the simulated
clusters, with small sizes and few samples, and verifies what it moves where that takes no
clock of its own. It must end, with a row at least, and within the budget that it has with
defaults on the simulated clock. Some take as many samples as a time on that clock allows
(TIMED), and must keep to it.

Collectives of which SMPI's non-blocking forms send P * P messages at once are run up to
QUADRATIC_MAX ranks.

usage: finish_test.py [--full] [--only NAME] [--sizes RANKS...] BUILD LIBRARY
"""

import argparse
import glob
import os
import sys

from smpi import CLUSTERS, Failed, SIZES, Simulator, Torus

# What SMPI can run, by folders, and what it can't.
RUNS = {
    "overlap": [f"overlap_{name}" for name in (
        "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
        "ialltoallw", "ibarrier", "ibcast", "iexscan", "igather", "igatherv",
        "ireduce", "ireduce_scatter", "ireduce_scatter_block", "iscan", "iscatter",
        "iscatterv")],
    "mpi_overhead": ["mpi_overhead"],
    "msgrate": ["msgrate", "msgrate_rma"],
    "pingpong": ["pingpong"],
    "syncbench": ["syncbench"],
    "halo": ["halo"],
}
NO_NEIGHBOURS = ("SMPI 3.32 ends a program that calls a neighbourhood collective "
                 "(neighbor_collectives.c)")
CANNOT = {
    "overlap_ineighbor_allgather": NO_NEIGHBOURS,
    "overlap_ineighbor_alltoall": NO_NEIGHBOURS,
    "halo's neighbor_alltoallw": NO_NEIGHBOURS,
    # Found by that: in the first swap.
    "halo's persistent with --check": "SMPI 3.32 sends what was there at MPI_Send_init "
                                      "(persistent_types.c)",
    # Found by that: of 64 ranks all but the late one and rank 0 left early.
    "overlap_ibarrier's --check": "SMPI 3.32's MPI_Ibarrier lets ranks out before the "
                                  "last one enters",
    "monitor_overhead": "SMPI 3.32's mpi.h doesn't declare MPI's functions as the "
                        "standard does",
}

SHORT = ["--samples=2", "--warmup=0"]

OPTIONS = {
    "pingpong": ["--max-ndata=8", "--max-stride=4", "--check"],
    "syncbench": ["--inner=8", "--max-neighbours=4"],
    "halo": ["--local=2"],
    "msgrate": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "msgrate_rma": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "mpi_overhead": ["--msgsize=8,128K", "--both", "--check"],
}
OVERLAP = ["--data-driven", "--min-num-elts=1", "--max-num-elts=1", "--check"]

# Options of which a program is run with each.
EACH = {
    "msgrate_rma": [["--sync=fence"], ["--sync=lock"], ["--sync=flush"], ["--sync=pscw"]],
    "halo": [["--methods=put,get,isend/irecv types,isend/irecv packed", "--check"],
             ["--methods=persistent"]],
}

# By program or last option. SMPI's MPI_Win_post sends messages, and must not wait for
# MPI_Win_start. Who waits for a queue lock probes; a probe takes 100 us by default, and as
# long again more each time.
POST = {"smpi/send-is-detached-thresh": "65536"}
SETTINGS = {
    "--sync=pscw": POST,
    "syncbench": {**POST, "smpi/iprobe": "1e-5", "smpi/grow-injected-times": "no"},
}

# Samples that a row's time is too short for, and what a row may take of it: the least
# samples may take as long again.
TIMED = ("msgrate", "overlap_ibarrier")
ROW_S = 0.001
GRACE = 2
MANY = 10_000

# Of the simulator, for a program.
LIMIT_S = 1800

# Collectives that SMPI makes of a message from each rank to each other one, all at once,
# which take SimGrid 13 s with 64 ranks, and not less than five minutes with 256.
QUADRATIC = [f"overlap_{name}" for name in (
    "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv", "ialltoallw",
    "iexscan", "iscan", "ireduce_scatter", "ireduce_scatter_block")]
QUADRATIC_MAX = 64

# In CI on 64 ranks, what truth_test.py doesn't run, and a collective on 1,024; --full
# takes all.
SHARE = {64: ("msgrate_rma", "overlap_ibarrier", "overlap_igatherv", "syncbench"),
         1024: ("overlap_ibcast",)}


def check_programs(build):
    """Whether the programs of the build are those that are named here."""
    good = True
    named = {f"{folder}/{name}" for folder, names in RUNS.items() for name in names}
    built = {os.path.relpath(path, build) for path in glob.glob(os.path.join(build, "*/*"))
             if os.path.isfile(path) and os.access(path, os.X_OK) and
             "." not in os.path.basename(path) and
             os.path.basename(os.path.dirname(path)) in (*RUNS, "monitor")}
    for name in sorted(named - built):
        good = False
        print(f"FAILED: {name} is not built", flush=True)
    for name in sorted(built - named):
        good = False
        print(f"FAILED: {name} is built, but not among those that are run", flush=True)
    for name, reason in CANNOT.items():
        print(f"{name}: not run: {reason}", flush=True)
    return good


def options_of(name):
    if name == "overlap_ibarrier":
        return ["--data-driven"]
    return OVERLAP if name.startswith("overlap_") else OPTIONS[name]


def run(simulator, cluster, program, options, row_s=None):
    """Whether a program ended as it must; says so. With `row_s` that is the time of a row
    on the simulated clock."""
    name = os.path.basename(program)
    if row_s is not None:
        options = [*options, f"--max-time={row_s}", f"--min-samples={MANY}"]
    try:
        job = simulator.run(cluster, program, options, timeout_s=LIMIT_S,
                            settings=SETTINGS.get(name, SETTINGS.get(options[-1])))
    except Failed as error:
        print(f"FAILED: {error}", flush=True)
        return False
    allowed_s = job.budget_s if row_s is None else GRACE * row_s * len(job.rows)
    good = len(job.rows) > 0 and 0.0 < job.ran_s <= allowed_s
    print(f"{'' if good else 'FAILED: '}{cluster.name}: {name}: {len(job.rows)} rows, "
          f"{1e3 * job.ran_s:.3f} of {1e3 * allowed_s:g} ms simulated, "
          f"{job.seconds:.1f} s", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("build")
    parser.add_argument("library")
    arguments = parser.parse_args()
    simulator = Simulator(arguments.build, arguments.library)
    wrong, ran = not check_programs(arguments.build), 0
    programs = [f"{folder}/{name}" for folder, names in RUNS.items() for name in names]
    for hosts in arguments.sizes:
        for program in programs:
            name = os.path.basename(program)
            if arguments.only not in name or not (
                    arguments.full or arguments.only or name in SHARE.get(hosts, ())):
                continue
            if name in QUADRATIC and hosts > QUADRATIC_MAX:
                print(f"{name}: not on {hosts} ranks: P * P messages at once",
                      flush=True)
                continue
            everywhere = arguments.full or hosts == SIZES[0]
            for topology in CLUSTERS if everywhere else CLUSTERS[:1]:
                for added in EACH.get(name, [[]]):
                    ran += 1
                    wrong |= not run(simulator, topology(hosts), program, SHORT +
                                     options_of(name) + added)
        for program in programs:
            name = os.path.basename(program)
            if hosts == SIZES[0] and name in TIMED and arguments.only in name:
                ran += 1
                wrong |= not run(simulator, Torus(hosts), program, options_of(name),
                                 ROW_S)
    sys.exit(wrong or ran == 0)


if __name__ == "__main__":
    main()
