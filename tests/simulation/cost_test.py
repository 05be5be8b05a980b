"""What does the harness itself cost, by the number of ranks?

Counts every message and its bytes on every rank (messages.c), those that SMPI's collectives are
made of included, apart by whose they are: of the operation that a benchmark measures, of what
releases and brings together samples, of the job's description, of the rest of the start-up. What a
sample costs is the difference between a run with few samples and one with more, over the samples in
between. A rank's messages are those it sends and those it receives; the largest rank's must grow no
faster than log2(P) from the fewest ranks to the most, and by no more than one word a rank the bytes
that rank 0's program itself has allocated.

syncbench checks without being asked whether an allreduce of no bytes synchronises: the messages of
that, too, must grow no faster than log2(P), of the largest rank.

With --start=window the start-up finds the shared clock and each sample has its starts' agreements.
There cables are so slow that a pair of ranks exchanges the fewest messages that it may, however far
it is, and every start is missed: all samples that may be are taken again, and counted."""

import math
import re
import statistics

import pytest

import smpi
from smpi import ENVELOPE_BYTES, SIZES

# The first sample is reduced alone, all others together: what differs between two runs is but the
# samples' own messages, and the bytes of the reduction.
FEW, MORE = 4, 12
# With --start=window there are five times as many.
WINDOW_FEW, WINDOW_MORE = 2, 4

# Growth against log2(P), and what rounding may add.
SLACK = 1.1

WORD = 8

SLOW_CABLES_US = 1000

# Each with an operation that is cheap to simulate.
OPTIONS = {
    "syncbench/syncbench": ["--types=pairwise", "--inner=2"],
    "pingpong/pingpong": ["--arrangements=single", "--patterns=MPI Send", "--max-ndata=1"],
    "halo/halo": ["--methods=persistent", "--local=1"],
    "msgrate/msgrate": ["--peers=1", "--messages=1", "--size=1", "--cache=0", "--ppn=1"],
    "mpi_overhead/mpi_overhead": ["--msgsize=8"],
    "overlap/overlap_ibcast": ["--data-driven", "--max-num-elts=1", "--debug"],
    "overlap/overlap_ibarrier": ["--data-driven", "--debug"],
}
WINDOW = "--start=window"

# Of a sample: messages and bytes of the rank that has most, and the mean; the job's description,
# without MPI's making of communicators, and the rest of the start-up; bytes of rank 0 at the end
# and at most, and at most of any other.
HEADER = ("program                 ranks messages     mean     bytes      mean    job job bytes  "
          "begin    at end   at most    others seconds")


@pytest.fixture
def sizes(full):
    """The numbers of ranks to compare."""
    return SIZES if full else SIZES[:2]


def messages_and_bytes(numbers):
    """Of a rank, sent and received; the bytes without SMPI's envelopes."""
    sent, sent_bytes, received, received_bytes = numbers
    return sent + received, sent_bytes - ENVELOPE_BYTES * sent + received_bytes


def totals(job, phase, kind):
    """Each rank's messages (kind 0) or bytes (1)."""
    return [messages_and_bytes(numbers)[kind] for numbers in job.of_phase(phase)]


def test_counter(simulator):
    """The counter against messages that are known: those of MPI_Send's ping-pong between the first
    and the last rank, of so many bytes; a repetition that isn't timed comes before each sample that
    has several, and then there is a single repetition for each sample, with one before it, too."""
    cluster = smpi.Torus(64)
    jobs = [simulator.run(cluster, "pingpong/pingpong", [
        "--arrangements=single", "--patterns=MPI Send", "--max-ndata=512", "--warmup=0",
        f"--samples={samples}"]) for samples in (2, 3)]
    repetitions, size = 0, 0
    for before, after in zip(jobs[0].rows, jobs[1].rows):
        batch = int(after["nrep"]) - int(before["nrep"])
        batch += 3 if batch > 1 else 0
        repetitions += batch
        size += batch * 8 * int(after["ndata"])
    for rank in range(cluster.hosts):
        few, more = (job.counts[rank, "operation"] for job in jobs)
        expected = [0, 0, 0, 0]
        if rank in (0, cluster.hosts - 1):
            expected = [repetitions, size + ENVELOPE_BYTES * repetitions, repetitions, size]
        assert [after - before for before, after in zip(few, more)] == expected, rank


class Cost:
    """What a program costs on so many ranks."""

    __test__ = False

    def __init__(self, simulator, cluster, program, options):
        def run(samples):
            return simulator.run(cluster, program,
                                 options + ["--warmup=0", f"--samples={samples}"])

        both = (WINDOW_FEW, WINDOW_MORE) if WINDOW in options else (FEW, MORE)
        few, more = map(run, both)
        self.memory = more.counts[0, "memory"]
        if WINDOW in options and updates(few) != updates(more):
            # The clock was measured again in between, which is no sample's cost and not to be done
            # again soon. It keeps what was measured.
            self.memory = few.counts[0, "memory"]
            few, more = more, run(2 * WINDOW_MORE - WINDOW_FEW)
            assert updates(few) == updates(more), "the clock is measured again every few samples"
        rounds = MORE - FEW
        if WINDOW in options:
            rounds = starts(more) - starts(few)
        elif program.startswith("overlap"):
            # Each trial of the search has the samples, too.
            rounds = MORE * (1 + trials(more)) - FEW * (1 + trials(few))
        self.seconds = few.seconds + more.seconds
        self.ranks = cluster.hosts
        self.a_sample = {}
        for kind, name in enumerate(("messages", "bytes")):
            each = [(after - before) / rounds for before, after in
                    zip(totals(few, "harness", kind), totals(more, "harness", kind))]
            self.a_sample[name] = max(each)
            self.a_sample["mean " + name] = statistics.mean(each)
        self.job = max(totals(more, "job", 0))
        self.job_bytes = max(totals(more, "job", 1))
        self.begin = max(totals(more, "begin", 0))
        self.others = max(numbers[1] for (rank, name), numbers in more.counts.items()
                          if name == "memory" and rank)

    def line(self, name):
        found = self.a_sample
        return (f"{name:23} {self.ranks:5} "
                f"{found['messages']:8.2f} {found['mean messages']:8.2f} "
                f"{found['bytes']:9.1f} {found['mean bytes']:9.1f} "
                f"{self.job:6} {self.job_bytes:9} {self.begin:6} "
                f"{self.memory[0]:9} {self.memory[1]:9} {self.others:9} {self.seconds:6.1f}")


def trials(job):
    """The amounts of work that a search tried, from --debug's remarks."""
    return sum(line.startswith("# debug: trial:") for line in job.text.splitlines())


def starts(job):
    """The samples that were taken with --start=window; all must have been missed."""
    (missed, taken), = re.findall(r"in (\d+) of (\d+) rounds a rank was late", job.text)
    assert missed == taken, "not all rounds had a late rank"
    return int(taken)


def updates(job):
    """How often --start=window measured the clock again."""
    return int(re.search(r"clock was measured again (\d+) times", job.text)[1])


def allowed_growth(sizes):
    return SLACK * math.log2(sizes[-1]) / math.log2(sizes[0])


@pytest.mark.parametrize("program, added", [
    pytest.param(program, added, id=" ".join([program, *added]))
    for program, added in [*((name, []) for name in OPTIONS), ("syncbench/syncbench", [WINDOW])]])
def test_growth(simulator, say, sizes, program, added):
    """Nothing grows faster than it may from the fewest to the most ranks, and all is there."""
    say(HEADER)
    costs = []
    for ranks in sizes:
        cluster = smpi.Torus(ranks)
        if WINDOW in added:
            cluster.cable_us = SLOW_CABLES_US
        costs.append(Cost(simulator, cluster, program, OPTIONS[program] + added))
        say(costs[-1].line(" ".join([program.split("/")[1], *added]).replace("--start=", "")))
    fewest, most = costs[0], costs[-1]
    for cost in (fewest, most):
        assert cost.a_sample["messages"] > 0
        assert cost.job > 0
        assert cost.begin > 0
    allowed = allowed_growth(sizes)
    for name in ("messages", "bytes"):
        assert most.a_sample[name] <= allowed * fewest.a_sample[name], f"{name} a sample"
    assert most.job <= allowed * fewest.job
    assert most.begin <= allowed * fewest.begin
    for when, before, after in zip(("at the end", "at most"), fewest.memory, most.memory):
        assert after - before <= WORD * (most.ranks - fewest.ranks), f"rank 0's memory {when}"


def test_check(simulator, say, sizes):
    """The messages that find out if an allreduce of no bytes synchronises."""
    most = []
    for ranks in sizes:
        job = simulator.run(smpi.Torus(ranks), "syncbench/syncbench", [
            "--types=allreduce 0 bytes", "--inner=1", "--warmup=0", "--samples=1"])
        most.append(max(totals(job, "check", 0)))
        say(f"syncbench's check {ranks:11} {most[-1]:8}")
    assert 0 < most[-1] <= allowed_growth(sizes) * most[0]
