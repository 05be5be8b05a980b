#!/usr/bin/env python3
"""Do the benchmarks find what a simulated cluster costs?

The expected times are computed from the platform's own numbers, see smpi.py, and
results must agree within 5 %.

usage: truth_test.py [--full] BUILD LIBRARY
"""

import argparse
import sys

from smpi import CLUSTERS, FatTree, SIZES, Simulator, Torus, wire_us

TARGET = 0.05

SHORT = ["--samples=4", "--warmup=1"]


class Case:
    """A program's rows, with what a column of some must say."""

    def __init__(self, program, options, column, expected):
        self.program, self.options = program, options
        self.column = column
        # (cluster, row) -> expected us, or None where nothing is expected
        self.expected = expected


def ping_pong_us(cluster, row):
    """One message each way; a put or get, complete before the notification that
    follows it, which takes one more latency."""
    latency = cluster.latency_us(0, cluster.hosts - 1)
    transfer = latency + wire_us(8 * int(row["ndata"]))
    if row["pattern"] == "MPI Send":
        return transfer
    return transfer + latency + wire_us(0)


def overhead_us(cluster, row):
    """A message across half of the ranks, of each of the lower half or to it. Those
    of ranks that differ in the torus's last dimension only share its cables."""
    half = cluster.hosts // 2
    shared = 1
    if isinstance(cluster, Torus):
        lower = range(0, half, cluster.hosts // cluster.dims[-1])
        pairs = [(rank, rank + half) for rank in lower]
        if row["direction"] == "recv":
            pairs = [(upper, rank) for rank, upper in pairs]
        shared = cluster.shared_by(pairs)
    return (cluster.latency_us(0, half) +
            shared * wire_us(int(row["msgsize"])))


def sync_us(cluster, row):
    """Messages of no bytes there and back at once: one latency, of the farthest
    neighbour. Barrier and all-reduce as chosen in smpi.py."""
    if row["sync"] == "pairwise":
        return cluster.largest_us(lambda rank: rank + cluster.hosts // 2)
    if row["sync"] == "ring":
        return max(cluster.largest_us(lambda rank, away=away: rank + away)
                   for away in range(1, int(row["neighbours"]) // 2 + 1))
    return cluster.exchanges_us()


def halo_us(cluster, row):
    """The farthest neighbour's latency, and the faces: each on a cable of its own on
    the torus, one after the other up the only cable of a host of the fat tree."""
    dims = [int(word) for word in row["dims"].split("x")]
    strides = (dims[1] * dims[2], dims[2], 1)
    latency = 0.0
    for stride, dim in zip(strides, dims):
        latency = max(latency, cluster.largest_us(
            lambda rank, s=stride, d=dim: rank - s * (d - 1)
            if rank // s % d == d - 1 else rank + s))
    face = wire_us(8 * int(row["local"].split("x")[0]) ** 2)
    return latency + face * (6 if isinstance(cluster, FatTree) else 1)


def single_direction_us(cluster, row):
    if row["pattern"] != "single direction":
        return None
    return cluster.latency_us(0, cluster.hosts // 2)


def bcast_us(cluster, row):
    """SMPI's MPI_Ibcast: the root sends to each rank, all at once; what goes to the
    farthest ones arrives last, and there shares the root's cable."""
    farthest = cluster.farthest_us(0)
    many = sum(cluster.latency_us(0, rank) == farthest
               for rank in range(cluster.hosts))
    return farthest + many * wire_us(8 * int(row["elements"]))


CASES = [
    Case("pingpong/pingpong",
         SHORT + ["--arrangements=single", "--patterns=MPI Send",
                  "--max-ndata=32K"], "latency_us", ping_pong_us),
    Case("pingpong/pingpong",
         SHORT + ["--arrangements=single", "--patterns=put,get",
                  "--coarray-sync=images", "--max-ndata=32K"], "latency_us", ping_pong_us),
    Case("mpi_overhead/mpi_overhead", SHORT + ["--msgsize=128K"],
         "transfer_us", overhead_us),
    Case("mpi_overhead/mpi_overhead", SHORT + ["--msgsize=128K", "--recv"],
         "transfer_us", overhead_us),
    Case("syncbench/syncbench",
         SHORT + ["--types=MPI barrier,pairwise,ring,allreduce 1 byte"],
         "sync_us", sync_us),
    Case("halo/halo", SHORT + ["--methods=isend/irecv types,isend/irecv packed,"
                               "persistent", "--local=1,4"],
         "latency_us", halo_us),
    Case("msgrate/msgrate", SHORT + ["--peers=1", "--messages=4", "--size=1",
                                     "--cache=0", "--ppn=1"],
         "iter_us", single_direction_us),
    Case("overlap/overlap_ibcast",
         SHORT + ["--data-driven", "--max-num-elts=1"], "ref_us", bcast_us),
]
# A share: one of each program.
SHARE = [CASES[0], CASES[2], CASES[4], CASES[5], CASES[6], CASES[7]]


def check(simulator, cluster, case):
    """The rows of a case that are off, and the largest deviation."""
    job = simulator.run(cluster, case.program, case.options)
    wrong, largest, checked = 0, 0.0, 0
    for row in job.rows:
        expected = case.expected(cluster, row)
        if expected is None:
            continue
        found = float(row[case.column])
        deviation = found / expected - 1
        largest = max(largest, abs(deviation), key=abs)
        checked += 1
        if not abs(deviation) <= TARGET:
            wrong += 1
            name = " ".join(list(row.values())[:7])
            print(f"WRONG: {cluster.name}: {case.program}: {name}: {found:.3f} us, "
                  f"expected {expected:.3f}", flush=True)
    print(f"{cluster.name}: {case.program}: {checked} rows, at most "
          f"{100 * largest:.2f} % off, {job.seconds:.1f} s", flush=True)
    return wrong + (checked == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("build")
    parser.add_argument("library")
    arguments = parser.parse_args()
    simulator = Simulator(arguments.build, arguments.library)
    wrong = 0
    for hosts in arguments.sizes if arguments.full else SIZES[:1]:
        for topology in CLUSTERS:
            for case in CASES if arguments.full else SHARE:
                wrong += check(simulator, topology(hosts), case)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
