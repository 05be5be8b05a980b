"""Does linkmap name what is slow in a simulated network, and nothing else?

Networks, faults and noise are drawn at random (networks.py). With --full 100 of each fault, of which
95 must be named right, and 100 without one, in 99 of which nothing may be named; these trials are in
BUILD/trials/linkmap.tsv, and a run that was interrupted goes on there, unless the program was built
anew. And a torus and a fat tree of 256 hosts with one slow cable, over which 90 % of the named pairs
must go; and 1,024 ranks, which must be at work soon."""

import math
import os
import random
import re
import typing

import pytest

import networks
import smpi
from networks import DIRECTION, FAULTS, GROUPS, MINORITY, NODE, NONE, PAIR
from trials import Record

PROGRAM = "linkmap/linkmap"
TRIALS, MIN_RIGHT, MIN_QUIET = 100, 95, 99
# A test that fails is tried once more: of a program that is right in 99 of 100 hardly any then fails, of
# one that is in 60 four in ten of each fault.
QUICK_TRIALS, QUICK_RIGHT = 2, 2
ROUTED_SHARE = 0.9
LIMIT_S = 3000  # of the simulator, which takes 18 minutes for 256 hosts on a busy machine


SMALL, LARGE = 8, 1 << 20


class Verdict:
    """What a result names with one size.

    whole   what is said of all
    nodes   each node's verdict if it isn't even, by node
    pairs   the same of pairs
    groups  the group of each node; empty: one
    """

    __test__ = False

    def __init__(self, rows, size):
        self.whole, self.nodes, self.pairs, self.groups = None, {}, {}, []
        for row in rows:
            if row["nbytes"] != str(size):
                continue
            names = tuple(int(row[end].rpartition("-")[2]) for end in "ab" if row[end] != "NA")
            if row["scope"] == "whole":
                self.whole = row["verdict"]
            elif row["scope"] == "pair" and row["verdict"] != "even":
                self.pairs[names] = row["verdict"]
            elif row["scope"] == "node" and row["verdict"] != "even":
                self.nodes[names[0]] = row["verdict"]
            if row["group"] != "NA":
                self.groups.append(int(row["group"]))

    def is_right(self, fault, of):
        """Whether this is what such a fault shows."""
        found = self.whole, self.nodes, self.pairs, self.groups
        if fault in (NODE, MINORITY):
            return found == ("out of line", dict.fromkeys(of, "slow"), {}, [])
        if fault == DIRECTION:
            return found == ("out of line", {of[0]: f"slow {of[1]}"}, {}, [])
        if fault == PAIR:
            return found == ("out of line", {}, {of: "slow"}, [])
        if fault == GROUPS:
            return found == ("two groups", {}, {}, of)
        return found == ("even", {}, {}, [])

    def __str__(self):
        return f"{self.whole}: nodes {self.nodes}, pairs {self.pairs}, groups {self.groups}"


def are_right(verdicts, trial):
    """Of both sizes: what is slow one way is so for large messages alone."""
    small = NONE if trial.fault == DIRECTION else trial.fault
    return verdicts[0].is_right(small, trial.of) and verdicts[1].is_right(trial.fault, trial.of)


def run(simulator, network, noise, options=("--visits=6",)):
    """With as many visits as a run with defaults has on a real machine."""
    return simulator.run(network, PROGRAM, options, timeout_s=LIMIT_S,
                         variables={"SIMULATION_NOISE": noise})


class Judged(typing.NamedTuple):
    """A trial that was made."""

    __test__ = False
    fault: str
    seed: float
    right: float  # 0 or 1
    found: str


@pytest.fixture(scope="module")
def record(build, full, tmp_path_factory):
    """The trials so far."""
    folder = os.path.join(build, "trials") if full else tmp_path_factory.mktemp("trials")
    os.makedirs(folder, exist_ok=True)
    kept = Record(os.path.join(folder, "linkmap.tsv"), Judged)
    kept.forget_older_than([os.path.join(build, "simulation", PROGRAM), networks.__file__])
    return kept


def judge(simulator, fault, seed):
    trial = networks.draw(fault, seed)
    rows = run(simulator, trial.network, trial.noise).rows
    verdicts = [Verdict(rows, size) for size in (SMALL, LARGE)]
    return Judged(fault, seed, int(are_right(verdicts, trial)),
                  f"{trial}: {verdicts[0]}; {verdicts[1]}")


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(simulator, say, full, record, fault):
    judged = [trial for trial in record.launches if trial.fault == fault]
    seeds = (range(len(judged), TRIALS) if full else
             [random.randrange(TRIALS, 1 << 20) for _ in range(QUICK_TRIALS)])
    for seed in seeds:
        judged.append(judge(simulator, fault, seed))
        record.append(judged[-1])
    for trial in judged:
        if not trial.right:
            say(f"seed {trial.seed:g}: {trial.found}")
    right = int(sum(trial.right for trial in judged))
    say(f"{fault}: {right} of {len(judged)} right")
    assert right >= ((MIN_QUIET if fault == NONE else MIN_RIGHT) if full else QUICK_RIGHT)


@pytest.mark.parametrize("network, sizes", [(networks.torus((4, 4, 1)), [SMALL]), (networks.fat_tree(4), [])],
                         ids=["torus", "fat tree"])
def test_how_coarse(simulator, network, sizes):
    """A note says of which sizes routes differ so much that a slow link among them is hardly seen."""
    job = run(simulator, network, "1,0.05,200,20", ["--visits=3"])
    found = re.findall(r"^# note: (\d+) bytes: links differ by so much", job.text, re.M)
    assert [int(size) for size in found] == sizes


SLOW = [("torus", lambda **slow: networks.torus((4, 8, 8), **slow), networks.cable_name(0, 4)),
        ("fat tree", lambda **slow: networks.fat_tree(16, **slow), "up3-5")]


@pytest.mark.full
@pytest.mark.parametrize("name, made, cable", SLOW, ids=[name for name, _, _ in SLOW])
def test_a_cable_of_many_pairs(simulator, say, name, made, cable):
    network = made(slow=cable, latency=20.0, bandwidth=4.0)
    # Few messages: a million take SimGrid minutes.
    rows = run(simulator, network, "1,0.05,200,20", ["--samples=6"]).rows
    pairs = {**Verdict(rows, SMALL).pairs, **Verdict(rows, LARGE).pairs}
    over = [pair for pair in pairs
            if cable in network.routes[pair] or cable in network.routes[pair[::-1]]]
    say(f"{name}: {len(pairs)} pairs named, {len(over)} of them go over the slow cable")
    assert pairs and len(over) >= ROUTED_SHARE * len(pairs)


# On the simulated clock; and how many more bytes a rank may keep for each rank more.
START_S, RANK_BYTES = 5.0, 2048


def messages_to_start(job):
    """Of the largest rank, sent and received."""
    return sum(max(numbers[0] + numbers[2] for numbers in job.of_phase(phase))
               for phase in ("job", "begin"))


@pytest.mark.full
def test_many_ranks(simulator, say):
    """The start's messages of the largest rank grow no faster than log2(P), and memory no faster than
    P; a tournament of single messages, the first sample among them, is over on the simulated clock
    within what the start may take."""
    few, many = 64, 1024
    jobs = [simulator.run(smpi.Torus(ranks), PROGRAM,
                          ["--sizes=8", "--visits=1", "--samples=1"], timeout_s=LIMIT_S)
            for ranks in (few, many)]
    memory = [max(numbers[1] for numbers in job.of_phase("memory")) for job in jobs]
    for job, bytes_at_most in zip(jobs, memory):
        say(f"{len(job.rows) - 1} ranks: {job.ran_s:.3f} s simulated, {job.seconds:.0f} s; to start "
            f"{messages_to_start(job)} messages of a rank; {bytes_at_most} bytes of a rank at most")
        assert job.ran_s <= START_S
    assert [len(job.rows) for job in jobs] == [1 + few, 1 + many]
    before, after = map(messages_to_start, jobs)
    assert after <= 1.1 * math.log2(many) / math.log2(few) * before
    assert memory[1] - memory[0] <= RANK_BYTES * (many - few)
