"""Does the overlap suite find what going non-blocking gains?

Runs the programs on the model MPI, where the exposed time of the non-blocking call and the time of
its blocking sister are known (lib/exposed.py), with values at random in each launch. Exposed time
and gain are compared in percent of the blocking call's time.
"""

import functools
import random
import typing

import pytest

from accuracy import binomial_at_most, cases
from exposed import blocking_us, operation_of, outside_us, partitioned_of, truth_of
from mpi_run import number

# Largest error of exposed_us and gain_us, as a share of blocking_us, by the operation's duration.
TARGETS = {200: 0.01, 20: 0.02}

SIZE = ["--data-driven", "--min-num-elts=1024", "--max-num-elts=1024"]
THRESHOLD_PCT = 2.0

# A truth nearer to the threshold than this may be undecided.
CLEAR_POINTS = 3.0
WRONG, UNDECIDED = 0.05, 0.10

# Intervals at 95 %: as in overlap_accuracy.py.
POOLED = 0.93
SIGNIFICANCE = 0.01


class Program(typing.NamedTuple):
    """A program, what switches its model on, and how the truth follows from the model's report."""

    __test__ = False
    name: str
    duration: str        # the variable of the non-blocking operation's duration
    operation: object    # of the report's rows and lib/exposed.py's `decides` and `stage`
    blocking: object     # of the report's rows: the sister, in us
    variables: dict = {}
    options: list = SIZE


def collective(name, persistent=False):
    started = name + "_init" if persistent else "i" + name
    return Program("overlap_i" + name, "MODEL_DURATION_US",
                   functools.partial(operation_of, names=[started]),
                   functools.partial(blocking_us, names=[name]),
                   options=[*SIZE, "--form=persistent"] if persistent else SIZE)


def message(name, started, sisters):
    return Program(name, "MODEL_LATENCY_US", functools.partial(operation_of, names=started),
                   functools.partial(blocking_us, names=sisters), {"MODEL_P2P": 1})


def one_sided(name, flushed):
    """The sister is flushed at once. A put is flushed after its wait, too; a get is complete then.
    """
    def operation(truths, **progress):
        flush = blocking_us(truths, ["win_flush"]) if flushed else 0.0
        return operation_of(truths, ["r" + name], flush=flush, **progress)

    def blocking(truths):
        return number(truth_of(truths, name)["duration_us"]) + blocking_us(truths, ["win_flush"])

    return Program("overlap_" + name, "MODEL_LATENCY_US", operation, blocking,
                   {"MODEL_RMA": 1, "MODEL_SYNC_US": 3})


def halo(method, started, sisters, calls):
    """A swap of six faces by two processes, four of which each keeps to itself."""
    def blocking(truths):
        return calls * blocking_us(truths, sisters)

    return Program("overlap_halo", "MODEL_DURATION_US" if calls == 1 else "MODEL_LATENCY_US",
                   functools.partial(operation_of, names=started), blocking, {"MODEL_P2P": 1},
                   ["--local=10", f"--methods={method}"])


def partitioned(parts, early):
    def operation(truths, **_):
        return partitioned_of(truths, parts, early)

    return Program("overlap_partitioned", "MODEL_LATENCY_US", operation,
                   functools.partial(blocking_us, names=["send"]),
                   {"MODEL_P2P": 1, "MODEL_EARLY_PARTITIONS": int(early)},
                   [*SIZE, f"--partitions={parts}"])


COLLECTIVES = ["allreduce", "bcast", "alltoallv", "reduce_scatter", "gather", "scan",
               "neighbor_alltoall"]
PERSISTENT = ["allreduce", "bcast", "alltoallv", "reduce_scatter"]
FACES = 6
PROGRAMS = {
    **{name: collective(name) for name in COLLECTIVES},
    **{f"{name}, persistent": collective(name, persistent=True) for name in PERSISTENT},
    "isend": message("overlap_isend", ["isend"], ["send"]),
    "irecv": message("overlap_irecv", ["irecv"], ["recv"]),
    "sendrecv": message("overlap_sendrecv", ["irecv", "isend"], ["recv", "send"]),
    "put": one_sided("put", flushed=True),
    "get": one_sided("get", flushed=False),
    "halo, types": halo("isend/irecv types", FACES * ["irecv", "isend"], ["recv", "send"], FACES),
    "halo, persistent": halo("persistent", FACES * ["recv_init", "send_init"], ["recv", "send"],
                             FACES),
    "halo, neighbor": halo("neighbor_alltoallw", ["ineighbor_alltoallw"], ["neighbor_alltoallw"],
                           1),
    "partitioned, early": partitioned(4, early=True),
    "partitioned, late": partitioned(4, early=False),
}
QUICK = {200: ["allreduce", "alltoallv", "irecv", "put", "halo, types", "partitioned, early"],
         20: ["bcast", "isend", "allreduce, persistent", "sendrecv", "get", "halo, persistent",
              "partitioned, late"]}

# Whose exposed time follows from one transfer's, and whose sister's from MODEL_BLOCKING_US alone.
SINGLE = {200: ["allreduce", "alltoallv", "irecv"], 20: ["bcast", "isend"]}

# Whose progress depends on calls of MPI_Test below.
TESTED = {200: [*SINGLE[200], "get"], 20: [*SINGLE[20], "sendrecv"]}


class Case(typing.NamedTuple):
    __test__ = False
    program: str
    duration_us: int

    def __str__(self):
        return f"{self.program} D={self.duration_us} us"


class Launch(typing.NamedTuple):
    """A row and its truth; times in us."""

    __test__ = False
    row: dict
    blocking: float
    exposed: float
    operation: object  # of lib/exposed.py

    def errors(self):
        """Of exposed_us and gain_us, as shares of blocking_us."""
        exposed = number(self.row["exposed_us"]) - self.exposed
        gain = number(self.row["gain_us"]) - (self.blocking - self.exposed)
        return {"exposed": exposed / self.blocking, "gain": gain / self.blocking}

    def gain_pct(self):
        return 100 * (self.blocking - self.exposed) / self.blocking

    def has_truth(self):
        """Whether the interval has the truth, which isn't known better than `outside_us` says."""
        unknown_pct = 100 * outside_us(self.row, self.operation) / self.blocking
        return (number(self.row["gain_lo_pct"]) - unknown_pct <= self.gain_pct() <=
                number(self.row["gain_hi_pct"]) + unknown_pct)


@pytest.fixture
def launch(on_model):
    """Runs a program on the model; what its rows say and what is true."""
    def run(program, duration_us, blocking_call_us, *options, calls=1, **variables):
        stage_us = variables.pop("stage_us", 0.0)
        decides_us = variables.get("MODEL_TEST_US", 0.0)
        if stage_us:
            variables["MODEL_PROGRESS_US"] = stage_us
        rows, truths = on_model(
            "overlap/" + program.name, *program.options, "--max-time=0.5", *options,
            **program.variables,
            **{program.duration: duration_us, "MODEL_BLOCKING_US": blocking_call_us}, **variables)
        operation = program.operation(truths, decides=decides_us, stage=stage_us)
        blocking = program.blocking(truths)
        assert len(rows) == calls
        found = []
        for row in rows:
            tests = row["best_test_calls"] if row["test_calls"] == "auto" else row["test_calls"]
            exposed = operation.exposed(int(tests), 2 * number(row["ref_us"]))
            found.append(Launch(row, blocking, exposed, operation))
        return found
    return run


def draw(duration_us):
    """A fraction that proceeds by itself, and a sister that is faster, as fast, or slower."""
    fraction = random.choice([0.0, 1.0, random.random(), random.random()])
    factor = random.choice([random.uniform(0.5, 0.95), 1.0, random.uniform(1.05, 2.0)])
    return fraction, duration_us * factor


@pytest.fixture(scope="module")
def inside():
    """Whether intervals have the truth, of all launches of this file."""
    return []


def all_cases():
    return [Case(name, duration) for duration in TARGETS for name in PROGRAMS]


def quick_cases():
    return [Case(name, duration) for duration, names in QUICK.items() for name in names]


def median_of_launches(full):
    return 5 if full else 3


@pytest.mark.parametrize("case", cases(all_cases(), quick_cases()))
def test_gain(case, accuracy, launch, inside, full):
    def once():
        fraction, blocking_call_us = draw(case.duration_us)
        found, = launch(PROGRAMS[case.program], case.duration_us, blocking_call_us,
                        MODEL_FRACTION=fraction)
        inside.append(found.has_truth())
        return found.errors()

    accuracy.check(str(case), once, TARGETS[case.duration_us], launches=median_of_launches(full))


# ---- progress in calls of MPI_Test ---------------------------------------------------------------

# The operation proceeds in this many stages, each of which but the first a call must start, so the
# best number of calls is one less; 0: as many as may be.
STAGES = [1, 2, 5, 17, 0]


def draw_stages(stages, duration_us):
    """The length of a stage, and what a test costs."""
    if stages == 0:
        stages = random.randint(60, 90)
    return duration_us / stages, duration_us / stages * random.uniform(0.02, 0.3)


class Staged(typing.NamedTuple):
    """An operation in stages."""

    __test__ = False
    stages: int
    duration_us: int

    def __str__(self):
        best = f"{self.stages - 1} calls are best" if self.stages else "more calls are better"
        return f"D={self.duration_us} us, {best}"


def all_staged():
    return [Staged(stages, duration) for stages in STAGES for duration in TARGETS]


def quick_staged(numbers):
    """These numbers of stages, each duration in turn."""
    return [Staged(stages, list(TARGETS)[i % len(TARGETS)]) for i, stages in enumerate(numbers)]


@pytest.mark.parametrize("staged", cases(all_staged(), quick_staged([2, 17])))
def test_calls(staged, accuracy, launch, inside, full):
    """The exposed time with any number of calls."""
    stages, duration_us = staged
    program = PROGRAMS[random.choice(TESTED[duration_us])]

    def once():
        stage_us, test_us = draw_stages(stages, duration_us)
        errors = {}
        for found in launch(program, duration_us, duration_us * random.uniform(0.5, 2),
                            "--test-calls=0,1,4,16", calls=4, MODEL_FRACTION=1,
                            stage_us=stage_us, MODEL_TEST_US=test_us):
            inside.append(found.has_truth())
            for quantity, error in found.errors().items():
                errors[f"{quantity} with {found.row['test_calls']} calls"] = error
        return errors

    accuracy.check(f"{program.name} {staged}", once,
                   TARGETS[duration_us], launches=median_of_launches(full))


@pytest.mark.parametrize("staged", cases(all_staged(), quick_staged([1, 5, 0])))
def test_auto(staged, accuracy, launch, full):
    """The calls that were found leave hardly more exposed than the best number would."""
    stages, duration_us = staged
    program = PROGRAMS[random.choice(TESTED[duration_us])]

    def once():
        stage_us, test_us = draw_stages(stages, duration_us)
        found, = launch(program, duration_us, duration_us * random.uniform(0.5, 2),
                        "--test-calls=auto", MODEL_FRACTION=1, stage_us=stage_us,
                        MODEL_TEST_US=test_us)
        work_us = 2 * number(found.row["ref_us"])
        best = found.operation.best_calls(work_us, 200)
        missed_us = found.exposed - found.operation.exposed(best, work_us)
        return {"missed": missed_us / found.blocking}

    accuracy.check(f"auto: {program.name} {staged}", once,
                   0.02, launches=median_of_launches(full))


# ---- the verdict ---------------------------------------------------------------------------------

def draw_gain(threshold_pct):
    """A gain in percent that is clear of the threshold."""
    while True:
        gain_pct = random.choice([random.uniform(-60, 90), random.uniform(-12, 12)])
        if min(abs(gain_pct - threshold_pct), abs(gain_pct + threshold_pct)) > CLEAR_POINTS:
            return gain_pct


def right_verdict(gain_pct, threshold_pct):
    if gain_pct > threshold_pct:
        return "pays"
    return "loses" if gain_pct < -threshold_pct else "even"


@pytest.mark.parametrize("threshold_pct", [THRESHOLD_PCT, 5.0])
def test_verdict(threshold_pct, launch, inside, full, say):
    """Right, and rarely undecided, where the truth is clear of the threshold. With a threshold of
    5 % half of the truths are 0."""
    launches = 100 if full else 6
    wrong, undecided = [], []
    for _ in range(launches):
        even = threshold_pct > CLEAR_POINTS and random.random() < 0.5
        gain_pct = 0.0 if even else draw_gain(threshold_pct)
        duration_us = random.choice(list(TARGETS))
        program = PROGRAMS[random.choice(SINGLE[duration_us])]
        # f = 0: all of the operation is exposed.
        fraction = max(0.0, gain_pct / 100) if gain_pct > 50 else 0.0
        blocking_call_us = duration_us * (1 - fraction) / (1 - gain_pct / 100)
        found, = launch(program, duration_us, blocking_call_us,
                        f"--threshold={threshold_pct}", MODEL_FRACTION=fraction)
        inside.append(found.has_truth())
        verdict = found.row["verdict"]
        if verdict in ("can't tell", "NA"):
            undecided.append(found.row)
        elif verdict != right_verdict(found.gain_pct(), threshold_pct):
            wrong.append(found.row)
    say(f"threshold {threshold_pct:g} %: {len(wrong)} wrong and {len(undecided)} undecided of "
        f"{launches}")
    for found, allowed in ((wrong, WRONG), (undecided, UNDECIDED)):
        # As many or more would come with the allowed share in at least this part of such trials.
        chance = 1 - binomial_at_most(len(found) - 1, launches, allowed) if found else 1.0
        assert chance >= SIGNIFICANCE, found


def test_intervals(inside, full, say):
    """Of all launches before it."""
    say(f"{sum(inside)} of {len(inside)} intervals of gain_pct contain the truth")
    assert len(inside) >= 30
    if full:
        assert sum(inside) >= POOLED * len(inside)
    else:
        assert binomial_at_most(sum(inside), len(inside), POOLED) >= SIGNIFICANCE
