"""What does the harness itself cost, by the number of ranks?

Counts every message and its bytes on every rank (messages.c), those that SMPI's collectives are made of included, apart
by whose they are: of the operation that a benchmark measures, of what releases and brings together samples, of the job's
description, of the rest of the start-up. What a sample costs is the difference between a run with few samples and one
with more, over the samples in between. A rank's messages are those it sends and those it receives; the largest rank's
must grow no faster than log2(P) from the fewest ranks to the most, and by no more than one word a rank the bytes that
rank 0's program itself has allocated.

syncbench checks without being asked whether an allreduce of no bytes synchronises: the messages of that, too, must grow
no faster than log2(P), of the largest rank.

With --start=window the start-up finds the shared clock and each sample has its starts' agreements. There cables are so
slow that a pair of ranks exchanges the fewest messages that it may, however far it is, and every start is missed: all
samples that may be are taken again, and counted."""

import math
import re
import statistics

from case import each
from smpi import ENVELOPE_BYTES, SIZES, Simulated, torus

# The first sample is reduced alone, all others together: what differs between two runs is but the samples' own messages,
# and the bytes of the reduction.
FEW, MORE = 4, 12
# With --start=window there are five times as many.
WINDOW_FEW, WINDOW_MORE = 2, 4

# Growth against log2(P), and what rounding may add.
SLACK = 1.1
ALLOWED = SLACK * math.log2(SIZES[-1]) / math.log2(SIZES[0])
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

# A tournament of linkmap's, on the simulated clock; and how many more bytes a rank may keep for each rank more.
START_S, RANK_BYTES, LINKMAP_S = 5.0, 2048, 3000


def totals(job, phase, kind):
    """Each rank's messages (kind 0) or bytes without SMPI's envelopes (1), sent and received."""
    return [(sent + received, sent_bytes - ENVELOPE_BYTES * sent + received_bytes)[kind]
            for sent, sent_bytes, received, received_bytes in job.of_phase(phase)]


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


class Cost(Simulated):
    def two_runs(self, cluster, program, options):
        """With few samples and with more; the samples between them; rank 0's memory."""
        def run(samples):
            return self.run_simulated(cluster, program, [*options, "--warmup=0", f"--samples={samples}"])

        if WINDOW not in options:
            few, more = run(FEW), run(MORE)
            # Each trial of overlap's search has the samples, too.
            rounds = MORE * (1 + trials(more)) - FEW * (1 + trials(few))
            return few, more, rounds, more.counts[0, "memory"]
        few, more = run(WINDOW_FEW), run(WINDOW_MORE)
        memory = more.counts[0, "memory"]
        if updates(few) != updates(more):
            # The clock was measured again in between, which is no sample's cost and not to be done again soon. It keeps
            # what was measured.
            memory = few.counts[0, "memory"]
            few, more = more, run(2 * WINDOW_MORE - WINDOW_FEW)
            assert updates(few) == updates(more), "the clock is measured again every few samples"
        return few, more, starts(more) - starts(few), memory

    def costs(self, cluster, program, options):
        """By name: what a program costs on so many ranks, and rank 0's memory at the end and at most."""
        few, more, rounds, memory = self.two_runs(cluster, program, options)
        found = {}
        for kind, name in enumerate(("messages", "bytes")):
            of_ranks = [(after - before) / rounds for before, after in
                        zip(totals(few, "harness", kind), totals(more, "harness", kind))]
            found[f"{name} a sample"] = max(of_ranks)
            found[f"mean {name} a sample"] = statistics.mean(of_ranks)
        found.update({f"messages of the {phase}": max(totals(more, phase, 0)) for phase in ("job", "begin")})
        print(f"{program} {cluster.hosts} ranks: {found}; {memory} bytes of rank 0, {few.seconds + more.seconds:.0f} s")
        return found, memory

    def test_counter(self):
        """The counter against messages that are known: those of MPI_Send's ping-pong between the first and the last
        rank, of so many bytes; a repetition that isn't timed comes before each sample that has several, and then there
        is a single repetition for each sample, with one before it, too."""
        cluster = torus(64)
        jobs = [self.run_simulated(cluster, "pingpong/pingpong", [
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

    @each("program, added", [*((program, []) for program in OPTIONS), ("syncbench/syncbench", [WINDOW])])
    def test_growth(self, program, added):
        """Nothing grows faster than it may from the fewest to the most ranks, and all is there."""
        (fewest, memory), (most, most_memory) = (
            self.costs(torus(ranks)._replace(**({"cable_us": SLOW_CABLES_US} if added else {})), program,
                       OPTIONS[program] + added)
            for ranks in (SIZES[0], SIZES[-1]))
        for name, cost in fewest.items():
            assert cost > 0 or "bytes" in name, name
            assert "mean" in name or most[name] <= ALLOWED * cost, name
        for when, before, after in zip(("at the end", "at most"), memory, most_memory):
            assert after - before <= WORD * (SIZES[-1] - SIZES[0]), f"rank 0's memory {when}"

    def test_check(self):
        """The messages that find out if an allreduce of no bytes synchronises."""
        few, many = (max(totals(self.run_simulated(torus(ranks), "syncbench/syncbench", [
            "--types=allreduce 0 bytes", "--inner=1", "--warmup=0", "--samples=1"]), "check", 0))
                     for ranks in (SIZES[0], SIZES[-1]))
        assert 0 < many <= ALLOWED * few

    def test_linkmap(self):
        """The start's messages of the largest rank grow no faster than log2(P), and memory no faster than P; a
        tournament of single messages, the first sample among them, is over within what the start may take."""
        messages, memory = [], []
        for ranks in (SIZES[0], SIZES[-1]):
            job = self.run_simulated(torus(ranks), "linkmap/linkmap", ["--sizes=8", "--visits=1", "--samples=1"],
                                     LINKMAP_S)
            messages.append(sum(max(totals(job, phase, 0)) for phase in ("job", "begin")))
            memory.append(max(numbers[1] for numbers in job.of_phase("memory")))
            print(f"{ranks} ranks: {job.ran_s:.3f} s simulated, {messages[-1]} messages to start, {memory[-1]} bytes")
            assert job.ran_s <= START_S
            assert len(job.rows) == 1 + ranks
        assert messages[1] <= ALLOWED * messages[0]
        assert memory[1] - memory[0] <= RANK_BYTES * (SIZES[-1] - SIZES[0])
