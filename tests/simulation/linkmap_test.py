"""Does linkmap name what is slow in a simulated network, and nothing else?

Networks, faults and noise are drawn at random (networks.py). With --full 100 of each fault, of which
95 must be named right, and 100 without one, in 99 of which nothing may be named; and a torus and a
fat tree of 256 hosts with one slow cable, over which 90 % of the named pairs must go."""

import random

import pytest

import networks
from networks import DIRECTION, FAULTS, GROUPS, NODE, NONE, PAIR

PROGRAM = "linkmap/linkmap"
TRIALS, MIN_RIGHT, MIN_QUIET = 100, 95, 99
ROUTED_SHARE = 0.9
LIMIT_S = 1800  # of the simulator


class Verdict:
    """What a result names.

    nodes   each node's verdicts but even, by node
    pairs   the same of pairs
    groups  the group of each node, or None
    """

    __test__ = False

    def __init__(self, rows):
        self.nodes, self.pairs, self.groups = {}, {}, None
        groups = {}
        for row in rows:
            names = tuple(int(row[end].rpartition("-")[2]) for end in "ab" if row[end] != "NA")
            if row["group"] != "NA":
                groups[names[0]] = int(row["group"])
            if row["verdict"] in ("NA", "even") or row["scope"] == "whole":
                continue
            to = self.nodes if row["scope"] == "node" else self.pairs
            to.setdefault(names if len(names) > 1 else names[0], set()).add(row["verdict"])
        if groups:
            self.groups = [groups[node] for node in sorted(groups)]

    def is_right(self, trial):
        found = self.nodes, self.pairs, self.groups
        if trial.fault == NODE:
            return found == ({trial.of: {"slow"}}, {}, None)
        if trial.fault == DIRECTION:
            node, way = trial.of
            return found == ({node: {f"slow {way}"}}, {}, None)
        if trial.fault == PAIR:
            return found == ({}, {trial.of: {"slow"}}, None)
        return found == ({}, {}, trial.of if trial.fault == GROUPS else None)

    def __str__(self):
        return f"nodes {self.nodes}, pairs {self.pairs}, groups {self.groups}"


def run(simulator, network, noise, options=("--visits=6",)):
    """With as many visits as a run with defaults has on a real machine."""
    return simulator.run(network, PROGRAM, options, timeout_s=LIMIT_S,
                         variables={"SIMULATION_NOISE": noise})


def trials_of(fault, full):
    if full:
        return [networks.draw(fault, seed) for seed in range(TRIALS)]
    return [networks.draw(fault, random.randrange(1 << 20)) for _ in range(2)]


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(simulator, say, full, fault):
    trials = trials_of(fault, full)
    right = 0
    for trial in trials:
        verdict = Verdict(run(simulator, trial.network, trial.noise).rows)
        right += verdict.is_right(trial)
        if not verdict.is_right(trial):
            say(f"{trial}: {verdict}")
    say(f"{fault}: {right} of {len(trials)} right")
    # Without --full one miss in two would be one in 20 at best; both are wrong by no chance.
    needed = (MIN_QUIET if fault == NONE else MIN_RIGHT) / TRIALS * len(trials) if full else 1
    assert right >= needed


SLOW = [("torus", lambda **slow: networks.torus((4, 8, 8), **slow), networks.cable_name(0, 4)),
        ("fat tree", lambda **slow: networks.fat_tree(16, **slow), "up3-5")]


@pytest.mark.full
@pytest.mark.parametrize("name, made, cable", SLOW, ids=[name for name, _, _ in SLOW])
def test_a_cable_of_many_pairs(simulator, say, name, made, cable):
    network = made(slow=cable, latency=20.0, bandwidth=4.0)
    # Few messages: a million take SimGrid minutes.
    pairs = Verdict(run(simulator, network, "1,0.05,200,20", ["--samples=6"]).rows).pairs
    over = [pair for pair in pairs
            if cable in network.routes[pair] or cable in network.routes[pair[::-1]]]
    say(f"{name}: {len(pairs)} pairs named, {len(over)} of them go over the slow cable")
    assert pairs and len(over) >= ROUTED_SHARE * len(pairs)
