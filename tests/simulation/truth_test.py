"""Do the benchmarks find what a simulated cluster costs?

The expected times are computed from the platform's own numbers, see smpi.py, and results must agree
within 5 %."""

import pytest

import smpi
from smpi import CLUSTERS, SIZES, wire_us

TARGET = 0.05

SHORT = ["--samples=4", "--warmup=1"]


def ping_pong_us(cluster, row):
    """One message each way; a put or get, complete before the notification that follows it, which
    takes one more latency."""
    latency = cluster.latency_us(0, cluster.hosts - 1)
    transfer = latency + wire_us(8 * int(row["ndata"]))
    if row["pattern"] == "MPI Send":
        return transfer
    return transfer + latency + wire_us(0)


def overhead_us(cluster, row):
    """A message across half of the ranks, of each of the lower half or to it. Those of ranks that
    differ in the torus's last dimension only share its cables."""
    half = cluster.hosts // 2
    shared = 1
    if isinstance(cluster, smpi.Torus):
        lower = range(0, half, cluster.hosts // cluster.dims[-1])
        pairs = [(rank, rank + half) for rank in lower]
        if row["direction"] == "recv":
            pairs = [(upper, rank) for rank, upper in pairs]
        shared = cluster.shared_by(pairs)
    return cluster.latency_us(0, half) + shared * wire_us(int(row["msgsize"]))


def sync_us(cluster, row):
    """Messages of no bytes there and back at once: one latency, of the farthest neighbour. Barrier
    and all-reduce as chosen in smpi.py."""
    if row["sync"] == "pairwise":
        return cluster.largest_us(lambda rank: rank + cluster.hosts // 2)
    if row["sync"] == "ring":
        return max(cluster.largest_us(lambda rank, away=away: rank + away)
                   for away in range(1, int(row["neighbours"]) // 2 + 1))
    return cluster.exchanges_us()


def halo_us(cluster, row):
    """The farthest neighbour's latency, and the faces: each on a cable of its own on the torus, one
    after the other up the only cable of a host of the fat tree."""
    dims = [int(word) for word in row["dims"].split("x")]
    strides = (dims[1] * dims[2], dims[2], 1)
    latency = 0.0
    for stride, dim in zip(strides, dims):
        latency = max(latency, cluster.largest_us(
            lambda rank, s=stride, d=dim: rank - s * (d - 1)
            if rank // s % d == d - 1 else rank + s))
    face = wire_us(8 * int(row["local"].split("x")[0]) ** 2)
    return latency + face * (6 if isinstance(cluster, smpi.FatTree) else 1)


def single_direction_us(cluster, row):
    if row["pattern"] != "single direction":
        return None
    return cluster.latency_us(0, cluster.hosts // 2)


def bcast_us(cluster, row):
    """SMPI's MPI_Ibcast: the root sends to each rank, all at once; what goes to the farthest ones
    arrives last, and there shares the root's cable."""
    farthest = cluster.farthest_us(0)
    many = sum(cluster.latency_us(0, rank) == farthest for rank in range(cluster.hosts))
    return farthest + many * wire_us(8 * int(row["elements"]))


# A program, options, what of its rows must be what: a column, and a function of cluster and row
# with what is expected in us, or None where nothing is. --full runs all, else one of each program
# is run: those that are marked.
CASES = [
    ("pingpong/pingpong", ["--arrangements=single", "--patterns=MPI Send", "--max-ndata=32K"],
     "latency_us", ping_pong_us, True),
    ("pingpong/pingpong", ["--arrangements=single", "--patterns=put,get", "--coarray-sync=images",
                           "--max-ndata=32K"], "latency_us", ping_pong_us, False),
    ("mpi_overhead/mpi_overhead", ["--msgsize=128K"], "transfer_us", overhead_us, True),
    ("mpi_overhead/mpi_overhead", ["--msgsize=128K", "--recv"], "transfer_us", overhead_us, False),
    ("syncbench/syncbench", ["--types=MPI barrier,pairwise,ring,allreduce 1 byte"], "sync_us",
     sync_us, True),
    ("halo/halo", ["--methods=isend/irecv types,isend/irecv packed,persistent", "--local=1,4"],
     "latency_us", halo_us, True),
    ("msgrate/msgrate", ["--peers=1", "--messages=4", "--size=1", "--cache=0", "--ppn=1"],
     "iter_us", single_direction_us, True),
    ("overlap/overlap_ibcast", ["--data-driven", "--max-num-elts=1"], "ref_us", bcast_us, True),
]


def each_case():
    """All cases on all clusters; the marked ones always, on a small cluster of either kind in
    turn."""
    for hosts in SIZES:
        for topology in CLUSTERS:
            for number, (*case, marked) in enumerate(CASES):
                cluster = topology(hosts)
                turn = CLUSTERS[number % len(CLUSTERS)]
                quick = marked and hosts == SIZES[0] and topology is turn
                marks = () if quick else pytest.mark.full
                name = f"{cluster.name}: {case[0].split('/')[1]} {number}"
                yield pytest.param(cluster, *case, id=name, marks=marks)


@pytest.mark.parametrize("cluster, program, options, column, expected_us", each_case())
def test_truth(simulator, say, cluster, program, options, column, expected_us):
    job = simulator.run(cluster, program, SHORT + options)
    wrong, deviations = [], []
    for row in job.rows:
        expected = expected_us(cluster, row)
        if expected is None:
            continue
        found = float(row[column])
        deviations.append(found / expected - 1)
        if not abs(deviations[-1]) <= TARGET:
            name = " ".join(list(row.values())[:7])
            wrong.append(f"{name}: {found:.3f} us, expected {expected:.3f}")
    assert deviations
    say(f"{cluster.name}: {program}: {len(deviations)} rows, at most "
        f"{100 * max(deviations, key=abs):.2f} % off, {job.seconds:.1f} s")
    assert not wrong, "\n".join(wrong)
