#!/usr/bin/env python3
"""Does every benchmark end on many ranks?

Runs each program that SMPI can run on the simulated clusters, with small sizes
and few samples, and verifies what it moves where that takes no clock of its own. It
must end in time, with a row at least, and within its time budget on the simulated clock.

Left out, for what SMPI 3.32 lacks or does:
  overlap_ineighbor_*, halo's neighbor_alltoallw: no neighbourhood collectives (not
      built; neighbor_collectives.c)
  monitor_overhead: mpi.h doesn't declare MPI as the standard does (not built)

Collectives of which SMPI's non-blocking forms send P * P messages at once are run with a
message of one element, and up to QUADRATIC_MAX ranks.

usage: finish_test.py [--full] [--only NAME] BUILD LIBRARY
"""

import argparse
import glob
import os
import sys

from smpi import CLUSTERS, Failed, SIZES, Simulator

SHORT = ["--samples=2", "--warmup=0"]

OPTIONS = {
    "pingpong": ["--max-ndata=8", "--max-stride=4"],
    "syncbench": ["--inner=8", "--max-neighbours=4"],
    "halo": ["--local=2", "--check"],
    "msgrate": ["--messages=2", "--size=8", "--cache=64K", "--check"],
    "msgrate_rma": ["--messages=2", "--size=8", "--cache=64K"],
    "mpi_overhead": ["--msgsize=8,128K", "--both", "--check"],
}
OVERLAP = ["--data-driven", "--min-num-elts=1", "--max-num-elts=1"]

QUADRATIC = ("iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
             "ialltoallw", "iexscan", "iscan", "ireduce_scatter",
             "ireduce_scatter_block")
QUADRATIC_MAX = 256

# In CI on 64 ranks, what truth_test.py doesn't run, and a collective on 1,024; --full
# takes all.
SHARE = {64: ("msgrate_rma", "overlap_ibarrier", "overlap_igatherv"),
         1024: ("overlap_ibcast",)}


def programs(build):
    paths = []
    for folder in ("overlap", "mpi_overhead", "msgrate", "pingpong", "syncbench",
                   "halo"):
        for path in sorted(glob.glob(os.path.join(build, folder, "*"))):
            if os.path.isfile(path) and os.access(path, os.X_OK) and \
                    "." not in os.path.basename(path):
                paths.append(os.path.relpath(path, build))
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("build")
    parser.add_argument("library")
    arguments = parser.parse_args()
    simulator = Simulator(arguments.build, arguments.library)
    failed, ran = 0, 0
    for hosts in arguments.sizes:
        for program in programs(arguments.build):
            name = os.path.basename(program)
            collective = name[len("overlap_"):] if "overlap_" in name else ""
            if arguments.only not in name or not (
                    arguments.full or arguments.only or name in SHARE.get(hosts, ())):
                continue
            if collective in QUADRATIC and hosts > QUADRATIC_MAX:
                print(f"{name}: not on {hosts} ranks: P * P messages at once",
                      flush=True)
                continue
            options = SHORT + (OVERLAP if collective else OPTIONS[name])
            everywhere = arguments.full or hosts == SIZES[0]
            for topology in CLUSTERS if everywhere else CLUSTERS[:1]:
                ran += 1
                try:
                    job = simulator.run(topology(hosts), program, options)
                    print(f"{topology(hosts).name}: {name}: {len(job.rows)} rows, "
                          f"{job.seconds:.1f} s", flush=True)
                    failed += not job.rows
                except Failed as error:
                    failed += 1
                    print(f"FAILED: {error}", flush=True)
    sys.exit(failed > 0 or ran == 0)


if __name__ == "__main__":
    main()
