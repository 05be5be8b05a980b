# SPDX-License-Identifier: BSD-3-Clause
"""tune.sh with libraries whose best algorithms are planted: its file is right, has no rule where nothing is to be
gained, and costs a third of measuring all choices alike."""

import contextlib
import io
import json
import math
import os
import random
import re
import shlex
import stat
import unittest.mock

import virtual
from launches import Folder
from commcost.suite import trial_launches
from commcost.tune import algorithm_race, mpi_libraries, tune, tune_outputs, library_tuning
from commcost.tune.algorithm_race import DEFAULT

OPERATIONS = ("allgather", "allreduce", "alltoall", "bcast", "reduce_scatter_block")
OF_ALL_BLOCKS = {"MPICH": ("allgather", "reduce_scatter_block"), "Open MPI": ("allgather", "alltoall",
                                                                              "reduce_scatter_block")}
MIN_GAIN, LAUNCHES = 5.0, 24
# A rule is right if it gains half of the minimum and no choice is better by more than the minimum; none is right where
# no choice gains twice the minimum.
LEAST_PCT, MISSED_PCT = MIN_GAIN / 2, 2 * MIN_GAIN
RIGHT, NO_FALSE, COST = 0.95, 0.99, 1 / 3


# ---- libraries, and how they read their files: after their sources, not after mpi_libraries.py ---------

def program_that_says(folder, name, text):
    """The path of a program that prints a text."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as stream:
        stream.write("#!/bin/sh\ncat <<END\n{}END\n".format(text))
    os.chmod(path, stat.S_IRWXU)
    return path


def mpich_of(choices, folder):
    """MPICH with its own tree, and the algorithms that it knows."""
    tree = {"collective={}".format(operation): {
        "comm_type=intra": {"comm_size<8": {"algorithm=MPIR_{}_intra_usual".format(operation.capitalize()): {}},
                            "comm_size=any": {"algorithm=MPIR_{}_intra_usual".format(operation.capitalize()): {}}},
        "comm_type=inter": {"algorithm=MPIR_Bcast_inter_flat": {}}} for operation in OPERATIONS}
    path = program_that_says(folder, "mpivars", "".join(
        "\tMPIR_CVAR_{}_INTRA_ALGORITHM=0\tVariable to select it\n{}".format(operation.upper(), "".join(
            "{} - Force it\n".format(choice) for choice in several)) for operation, several in choices.items()))
    return mpi_libraries.Mpich("\0".join(["", json.dumps(tree, separators=(",", ":")), ""]).encode(), lambda name: path)


def openmpi_of(choices, folder, version):
    path = program_that_says(folder, "ompi_info", "ompi:version:full:{}\n".format(version) + "".join(
        "mca:coll:tuned:param:coll_tuned_{}_algorithm:enumerator:value:{}:{}\n".format(operation, number, choice)
        for operation, several in choices.items() for number, choice in enumerate(["ignore", *several])))
    return mpi_libraries.OpenMpi(None, lambda name: path)


def mpich_chooses(path, operation, ranks, size):
    """Returns the choice of a file of MPICH's, for a built-in operator, of a communicator without nodes."""
    with open(path, encoding="ascii") as stream:
        text = stream.read()
    assert len(text) % 4096, "no byte of 0 behind it"
    blocks = ranks if operation in OF_ALL_BLOCKS["MPICH"] else 1
    values = {"collective": operation, "comm_type": "intra", "comm_size": ranks, "avg_msg_size": size * blocks,
              "total_msg_size": size * blocks, "is_op_built_in": "yes", "is_commutative": "yes",
              "is_sendbuf_inplace": "no", "count": size // 8}
    word = "total_msg_size" if operation in OF_ALL_BLOCKS["MPICH"] else "avg_msg_size"
    assert ("total_msg_size" in text if word == "avg_msg_size" else "avg_msg_size" in text) or word in text or (
        "msg_size" not in text)
    node = json.loads(text)
    while True:
        for key, below in node.items():
            name, how, value = re.fullmatch("(\\w+)(<=|<|=)(\\w+)", key).groups()
            if name == "algorithm":
                choice = value.split("_intra_")[1]
                return DEFAULT if choice == "usual" else choice
            is_true = value == "any" or (str(values[name]) == value if how == "=" else
                                         values[name] < int(value) + (how == "<="))
            if is_true:
                node = below
                break
        else:
            raise AssertionError("nothing is true of {} {}".format(key, values))


def openmpi6_chooses(path, operation, ranks, size):
    """Returns the choice of a file of Open MPI's from 6.0 on: the first rules whose numbers of ranks hold, and of these the first
    one whose sizes hold. A word that the library doesn't know makes it ignore the file."""
    with open(path, encoding="ascii") as stream:
        text = json.load(stream)
    assert (text.pop("rule_file_version"), text.pop("module"), list(text)) == (3, "tuned", ["collectives"])
    bytes_ = size * (ranks if operation in OF_ALL_BLOCKS["Open MPI"] else 1)
    assert set(text["collectives"]) <= set(OPERATIONS)
    for of_ranks in text["collectives"].get(operation, []):
        assert sorted(of_ranks) == ["comm_size_max", "comm_size_min", "rules"]
        if of_ranks["comm_size_min"] <= ranks <= of_ranks["comm_size_max"]:
            for rule in of_ranks["rules"]:
                assert sorted(rule) == ["alg", "msg_size_max", "msg_size_min"]
                if rule["msg_size_min"] <= bytes_ <= rule["msg_size_max"]:
                    return rule["alg"]
            break
    return DEFAULT


def openmpi_chooses(path, choices, operation, ranks, size):
    """Returns the choice of a file of Open MPI's up to 5.0."""
    with open(path, encoding="ascii") as stream:
        numbers = iter([int(word) for line in stream for word in line.split("#")[0].split()])
    order = ("allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce "
             "reduce_scatter reduce_scatter_block").split()
    bytes_ = size * (ranks if operation in OF_ALL_BLOCKS["Open MPI"] else 1)
    found = 0
    for _ in range(next(numbers)):
        of = order[next(numbers)]
        for place in range(next(numbers)):
            is_of = next(numbers) <= ranks or place == 0
            for first in range(next(numbers)):
                least, algorithm, _, _ = (next(numbers) for _ in range(4))
                assert first or least == 0
                if of == operation and is_of and least <= bytes_:
                    found = algorithm
    assert next(numbers, None) is None
    return choices[operation][found - 1] if found else DEFAULT


# ---- machines ------------------------------------------------------------------------------------

class Machine:
    """The time of each choice. Launches differ by a spread, and some are late by half. A third of the machines is in one
    of two states, for some 50 launches, in which everything takes longer."""

    def __init__(self, seed, folder, nothing_to_gain=False):
        chance = self.chance = random.Random(seed)
        self.spread = 10 ** chance.uniform(-3, -1.2)
        doublings = chance.randint(1, 3)
        self.sizes = [8 << doublings * power for power in range(chance.randint(4, 8))]
        self.ranks = chance.choice(([4], [2, 6], [6, 7]))
        self.choices = {operation: ["way{}".format(number) for number in range(chance.randint(1, 7))]
                        for operation in chance.sample(OPERATIONS, chance.randint(1, 2))}
        self.gains = {}
        for operation, several in self.choices.items():
            for ranks in self.ranks:
                for choice in several:
                    # In a straight line over sizes, so that some cross.
                    ends = [chance.uniform(-1, 0) if nothing_to_gain else chance.uniform(-1, 0.5) for _ in range(2)]
                    if nothing_to_gain and chance.random() < 0.5:
                        ends = [0, 0]
                    for place, size in enumerate(self.sizes):
                        share = place / (len(self.sizes) - 1)
                        self.gains[operation, ranks, size, choice] = ends[0] + (ends[1] - ends[0]) * share
                for size in self.sizes:
                    self.gains[operation, ranks, size, DEFAULT] = 0.0
        self.slow, self.is_slow = (chance.uniform(1.5, 3) if chance.random() < 1 / 3 else 1), False
        self.version = chance.choice(("MPICH", ("5.0.3", "6.0.0a1")[seed % 2]))
        self.library = (mpich_of(self.choices, folder) if self.version == "MPICH" else
                        openmpi_of(self.choices, folder, self.version))

    def chosen(self, path, *of):
        return (mpich_chooses(path, *of) if self.version == "MPICH" else openmpi6_chooses(path, *of)
                if self.version == "6.0.0a1" else openmpi_chooses(path, self.choices, *of))

    def times(self, choice_of, operations, ranks, sizes):
        """The rows of a launch; `choice_of` returns its choice for an operation of a size."""
        self.is_slow ^= self.chance.random() < 1 / 50
        launch = math.exp(self.spread * self.chance.gauss(0, 1)) * (self.slow if self.is_slow else 1)
        rows = []
        for operation in operations:
            for size in sizes:
                late = 1.5 if self.chance.random() < 0.02 else 1
                time_us = (2 + size / 1e3) * (1 - self.gains[operation, ranks, size, choice_of(operation, size)])
                time_us *= launch * late * math.exp(self.spread / 2 * self.chance.gauss(0, 1))
                rows.append({"operation": operation, "size_bytes": str(size), "time_us": repr(time_us), "status": "ok"})
        return rows


class Launches(trial_launches.Trials):
    """Launches on a Machine, in place of real ones; of the race, at most `most`."""

    def __init__(self, machine, path, most=math.inf):
        super().__init__(path, 60)
        self.machine, self.found, self.cost, self.most = machine, {}, 0, most

    def rows(self, step):
        return self.found[step.run, step.name], ["# mpi_library: model"], []

    def launch(self, step):
        if step.run < library_tuning.PROOF_RUNS_FROM and len(self.found) >= self.most:
            self.left_by = trial_launches.BUDGET
            return False
        words = shlex.split(step.command)
        given = dict(word.lstrip("-").split("=", 1) for word in words if "=" in word)
        sizes = [mpi_libraries.re.fullmatch("([0-9]+)([KM]?)", word).groups() for word in given["sizes"].split(",")]
        sizes = [int(number) << {"": 0, "K": 10, "M": 20}[unit] for number, unit in sizes]
        ranks, operations = int(words[words.index("true") + 1]), given["operations"].split(",")
        path = next((value for name, value in given.items() if name.endswith(("JSON_FILE", "rules_filename"))), None)
        forced = {name.lower(): value for name, value in given.items() if name.lower().endswith("_algorithm")}

        def choice_of(operation, size):
            if path:
                return self.machine.chosen(path, operation, ranks, size)
            return next((value for name, value in forced.items() if name.endswith(
                ("cvar_{}_intra_algorithm".format(operation), "tuned_{}_algorithm".format(operation)))), DEFAULT)
        self.found[step.run, step.name] = self.machine.times(choice_of, operations, ranks, sizes)
        self._outcomes[str(step.run), step.name] = (1, trial_launches.WORKS)
        self.cost += len(operations) * len(sizes) if step.run < library_tuning.PROOF_RUNS_FROM else 0
        return True


def decided(tuning):
    with contextlib.redirect_stderr(io.StringIO()):
        return tuning.decide()


class Tune(virtual.Test):
    target = "95 of 100 files right, no rule in 99 of 100 where nothing is to be gained, a third of the cost"

    def setUp(self):
        self.folder = Folder(self).path
        for library in (mpi_libraries.Mpich, mpi_libraries.OpenMpi):
            safe = unittest.mock.patch.object(library, "SAFE", {
                operation: ["way{}".format(number) for number in range(7)] for operation in OPERATIONS})
            safe.start()
            self.addCleanup(safe.stop)

    def tuning(self, machine, name):
        output = os.path.join(self.folder, name)
        os.makedirs(os.path.join(output, "suite"))
        options = tune.read_options(["--launcher=true {ranks}", "--build=" + self.folder, "--output=" + output,
                                     "--sizes=" + ",".join(map(str, machine.sizes)), "--launches={}".format(LAUNCHES),
                                     "--ranks=" + ",".join(map(str, machine.ranks)), "--min-gain={}".format(MIN_GAIN)])
        tuning = library_tuning.Tuning(options, machine.library, machine.library.contests())
        tuning.trials = Launches(machine, output)
        return tuning

    def tuned(self, machine, name):
        """The Tuning of a machine after all, and the file's path."""
        tuning = self.tuning(machine, name)
        made, proof, _ = decided(tuning)
        tune_outputs.write_all(tuning, made, proof, ["--launches={}".format(LAUNCHES)], 0)
        return tuning, os.path.join(self.folder, name, "rules" + machine.library.suffix)

    def wrong_of(self, machine, path):
        """Yields the faults of a file."""
        for (operation, ranks, size, choice) in machine.gains:
            if choice == DEFAULT:
                of = operation, ranks, size
                chosen = machine.chosen(path, *of) if os.path.exists(path) else DEFAULT
                best = max(machine.gains[(*of, one)] for one in [DEFAULT, *machine.choices[operation]])
                gain = machine.gains[(*of, chosen)]
                lost_pct = 100 * (1 - (1 - best) / (1 - gain))
                if chosen == DEFAULT and 100 * best > MISSED_PCT or chosen != DEFAULT and (
                        100 * gain < LEAST_PCT or lost_pct > MIN_GAIN):
                    yield "{} {}: {} gains {:.3f}, best {:.3f}".format(machine.spread, of, chosen, gain, best)

    def check_beside(self, machine, path):
        """No rule covers sizes and numbers of ranks that weren't measured, except between neighbours that agree."""
        for operation in machine.choices:
            for ranks in {1, 2, 3, 4, 5, 6, 7, 8, 100} - set(machine.ranks):
                for size in machine.sizes:
                    self.assertEqual(machine.chosen(path, operation, ranks, size), DEFAULT)
            for ranks in machine.ranks:
                found = [machine.chosen(path, operation, ranks, size) for size in machine.sizes]
                self.assertEqual({machine.chosen(path, operation, ranks, size) for size in (
                    0, machine.sizes[0] - 1, machine.sizes[-1] + 1, 100 * machine.sizes[-1])}, {DEFAULT})
                for place, size in enumerate(machine.sizes[1:]):
                    between = machine.chosen(path, operation, ranks, (machine.sizes[place] + size) // 2)
                    self.assertEqual(between, found[place] if found[place] == found[place + 1] else DEFAULT)

    def test_planted(self):
        cases = virtual.by_tier(plain=10, run=40, full=300)
        wrong, cost, alike, rules = [], 0, 0, 0
        for seed in range(cases):
            machine = Machine(seed, self.folder)
            tuning, path = self.tuned(machine, str(seed))
            cost += tuning.trials.cost
            alike += LAUNCHES * len(machine.gains)
            found = list(self.wrong_of(machine, path))
            wrong += ["{}: {}".format(seed, found)] if found else []
            if os.path.exists(path):
                rules += 1
                self.check_beside(machine, path)
        virtual.say("{} files with rules, at {:.2f} of the cost\n{}".format(rules, cost / alike, "\n".join(wrong)))
        self.mostly(cases - len(wrong), cases, RIGHT, "right files")
        self.assertLessEqual(cost, COST * alike)
        self.assertGreater(rules, cases / 2)

    def test_nothing_to_gain(self):
        cases = virtual.by_tier(plain=10, run=40, full=300)
        false = 0
        for seed in range(cases):
            _, path = self.tuned(Machine(1000 + seed, self.folder, nothing_to_gain=True), str(seed))
            false += os.path.exists(path)
        self.mostly(cases - false, cases, NO_FALSE, "files without a rule where nothing is to be gained")

    def test_cut(self):
        """Races that a budget cut, and that were resumed: each file is proved at its own share of ALPHA."""
        proved = set()
        for seed in range(virtual.by_tier(plain=5, run=20)):
            tuning, files = self.tuning(Machine(seed, self.folder), str(seed)), []
            for tuning.trials.most in (80, 160, 240, math.inf):
                with unittest.mock.patch.object(library_tuning, "level_of", side_effect=algorithm_race.level_of) as called:
                    _, proof, is_cut = decided(tuning)
                (file, earlier, was_cut), _ = called.call_args
                self.assertEqual((list(dict.fromkeys(earlier)), was_cut), (files, is_cut))
                self.assertEqual(proof.level, algorithm_race.level_of(file, files, is_cut))
                self.assertLessEqual(max([found.p for found in proof.decisions.values() if found.choice == library_tuning.FILE],
                                         default=0), proof.level / 4, "of the looks at 6, 12, 24 and 48 launches")
                files += [file] if proof.decisions and file not in files else []
                proved.add((len(files), is_cut))
        self.assertLess({(1, True), (2, True), (1, False), (2, False)}, proved)


if __name__ == "__main__":
    virtual.main()
