# SPDX-License-Identifier: BSD-3-Clause
"""Operations with buffers on a GPU, and launches that try them. A new operation is a row of OPERATIONS."""

import os
import re
import typing

from commcost.command import say
from commcost.page import Mark
from commcost.suite import launchers, suite_plan, trial_launches
from commcost.suite.trial_launches import WORKS, Trials
from commcost.system import lines_of, quoted
from commcost.words import duration_text, is_number, short


class Operation(typing.NamedTuple):
    """An operation, and the program that tries it."""

    name: str     # in the matrix
    program: str  # below the build folder
    options: str  # with the size as {bytes}, {doubles}, {twice} the doubles, or {edge} of a face of this size
    column: str   # of its time in µs, if any


COMMON = "--check --max-time=0.5"
PINGPONG = "--arrangements=single --coarray-sync=all --patterns="
SIZES = " --min-ndata={doubles} --max-ndata={doubles}"
STRIDED = " --max-stride=2 --max-ndata={twice}"  # every other double
HALO = "--local=2x{edge}x{edge} --methods="
OVERLAP = "--no-blocking --sizes={bytes} "
IN_PLACE = ("allgather", "allreduce", "alltoall")  # also tried in place


def collectives():
    """Yields the calls of each collective, such as MPI_Allreduce and MPI_Iallreduce for iallreduce."""
    for name in suite_plan.collectives():
        blocking = name[1:]
        if blocking == "barrier":
            continue
        for place, option in (("", ""), (" in place", " --in-place"))[:1 + (blocking in IN_PLACE)]:
            yield Operation(f"MPI_{blocking.capitalize()}{place}", "collective/collective",
                            f"--operations={blocking} --sizes={{bytes}}{option}", "time_us")
        yield Operation(f"MPI_{name.capitalize()}", f"overlap/overlap_{name}", OVERLAP, "ref_us")


OPERATIONS = (
    *(Operation(name, "pingpong/pingpong", PINGPONG + pattern, "latency_us") for name, pattern in (
        ("MPI_Send", "MPISend" + SIZES), ("MPI_Put", "put" + SIZES), ("MPI_Get", "get" + SIZES),
        ("MPI_Put strided", "stridedput" + STRIDED), ("MPI_Get strided", "stridedget" + STRIDED))),
    *(Operation(name, f"overlap/overlap_{program}", OVERLAP + more, "ref_us")
      for name, program, more in (
          ("MPI_Isend", "isend", ""), ("MPI_Irecv", "irecv", ""), ("MPI_Rput", "put", ""), ("MPI_Rget", "get", ""),
          ("MPI_Psend_init", "partitioned", "--partitions=1"))),
    Operation("message rate", "msgrate/msgrate", "-p 1 -m 4 -c 0 -s {bytes}", "iter_us"),
    Operation("host overhead", "mpi_overhead/mpi_overhead", "-m {bytes}", "overhead"),
    *(Operation(name, "halo/halo", HALO + method, "latency_us") for name, method in (
        ("halo packed", "isend/irecvpacked"), ("halo datatypes", "isend/irecvtypes"))),
    *collectives())


class Trial(typing.NamedTuple):
    """An operation with buffers of a kind and a size."""

    operation: Operation
    memory: str
    size: int  # in bytes

    @property
    def name(self):
        return re.sub("[^A-Za-z_]+", "_", f"{self.operation.name} {self.memory} ") + str(self.size)

    def line(self, build, launch):
        """Returns the words of its launch that follow those of the launcher."""
        options = f"{self.operation.options} {COMMON}".format(
            doubles=self.size // 8, twice=self.size // 4, edge=round((self.size / 8) ** 0.5), bytes=self.size)
        return [*launch, os.path.join(build, self.operation.program), f"--memory={self.memory}", *options.split()]


def can_have(operation, memory):
    """True if the operation can use such buffers. In place it has a single buffer, not a pair of kinds."""
    return "--in-place" not in operation.options or len(set(memory.split(":"))) == 1


class Found(typing.NamedTuple):
    """The outcome of a trial."""

    trial: Trial
    outcome: str
    seconds: int
    message: str  # if it doesn't work
    row: dict     # cells of the result by column; empty without a result

    @property
    def verdict(self):
        """Returns the verdict on direct against staged, or "" if unknown."""
        return {"pays": "direct faster", "loses": "staged faster", "even": "even"}.get(
            self.row.get("direct_verdict"), "") if self.outcome == WORKS else ""

    def mark(self):
        if self.outcome != WORKS:
            return Mark(self.outcome, "loses")
        time_us = self.row.get(self.trial.operation.column, "NA")
        text = f"{short(float(time_us))} µs" if is_number(time_us) else WORKS
        kind = "even" if self.verdict == "staged faster" else "pays"
        return Mark(", ".join(filter(None, (text, self.verdict))), kind)


class Matrix:
    """The operations to try, in their folder. Recorded trials aren't repeated."""

    def __init__(self, options, tried):
        self.options, self.tried = options, tried
        self.trials = Trials(options.output, options.limit, None, options.is_new)
        self.launcher = launchers.find(options.launcher, options.build)
        job = launchers.Job(options.ranks, options.ranks_per_node, options.hosts, options.bind)
        launch = self.launcher.line(job, launchers.Launch(options.ranks, 1, {}))
        self.steps = [suite_plan.Step(1, one.name, one.name, "", trial_launches.FIRST_S,
                                      quoted(one.line(options.build, launch))) for one in tried]

    def left(self):
        """Returns the Steps without a record."""
        return [step for step in self.steps if self.trials.known(step) is None]

    def run(self):
        """Runs the launches. True if all have run."""
        programs = {self.options.build: {one.operation.program for one in self.tried}}
        self.trials.begin(suite_plan.Plan(self.steps, programs, []), [self.launcher], self.options)
        left, total = self.left(), len(self.steps)
        for place, step in enumerate(left):
            say(f"[{total - len(left) + place + 1:{len(str(total))}}/{total}] {step.name:<40} about "
                f"{duration_text((len(left) - place) * self.trials.usual_s)} left")
            if not self.trials.launch(step):
                return False
            outcome = self.trials.known(step)[1]
            if outcome != WORKS:
                say(f"    {outcome}")
        return True

    def found(self):
        """Returns the outcomes of recorded trials."""
        found = []
        for trial, step in zip(self.tried, self.steps):
            if self.trials.known(step):
                seconds, outcome = self.trials.known(step)
                message = "" if outcome == WORKS else self.trials.message(step)
                rows, *_ = self.trials.rows(step)
                found.append(Found(trial, outcome, seconds, message, rows[-1] if rows else {}))
        return found

    def device_head(self):
        """Returns head and remarks of the first result that names its GPU, as lines."""
        for step in self.steps:
            lines = lines_of(self.trials.folder.launch_file(step))
            if any("; the MPI library " in line for line in lines):
                return [line for line in lines if line.startswith("#")]
        return []
