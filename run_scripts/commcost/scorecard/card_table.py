# SPDX-License-Identifier: BSD-3-Clause
"""The texts of all lines of the scorecard: headings, labels, units, notes and remedies, one row per line. cost_lines.py
and gain_lines.py choose the results that a line shows."""

import typing

from commcost.scorecard.fact_lines import RATE, SHARE, SPEED_MBS, TIME_NS, TIME_S, TIME_US


class CostLine(typing.NamedTuple):
    """A line about a cost: its label, with {fields}; its units; the benchmark, column and keys of the rows that it may
    show; the noun for alternatives; and the remedy for a missing or bad value."""

    label: str
    units: tuple
    benchmark: str
    column: str
    keys: dict = {}
    way: str = ""
    remedy: str = ""


class Fault(typing.NamedTuple):
    """A line about a slow node or link."""

    label: str
    verdict: str
    remedy: str


CHANGES, BEST, COSTS, TIMES, LINKS, GUIDELINES, PLACEMENTS, GAINS, CAVEATS = (
    "Changes", "Best setting", "Costs", "Time in MPI", "Slow nodes and links", "Slower than other calls",
    "Placement of buffers", "Worth it?", "Caveats")
COLUMNS = "median", "range", "note"  # of lines with ranges

MESSAGE = {"arrangement": "single", "pattern": "MPI Send"}
COST_LINES = {
    "latency": CostLine("Latency, {size}", TIME_US, "pingpong", "latency_us", MESSAGE),
    "bandwidth": CostLine("Bandwidth, {size}", SPEED_MBS, "pingpong", "bwidth_mbs", MESSAGE),
    "send": CostLine("Host overhead of MPI_Isend, {size}", TIME_US, "mpi_overhead", "overhead",
                     {"direction": "send"}, remedy="raise mpi_overhead's --max-time"),
    "receive": CostLine("Host overhead of MPI_Irecv, {size}", TIME_US, "mpi_overhead", "overhead",
                        {"direction": "recv"}, remedy="raise mpi_overhead's --max-time"),
    "rate": CostLine("Message rate, {caches}{size}", RATE, "msgrate", "rate_per_s", way="pattern"),
    "barrier": CostLine("Barrier, {ranks} ranks", TIME_US, "collective", "time_us", {"operation": "barrier"}),
    "allreduce": CostLine("Allreduce, {size}", TIME_US, "collective", "time_us", {"operation": "allreduce"}),
    "bcast": CostLine("Broadcast, {size}", TIME_US, "collective", "time_us", {"operation": "bcast"}),
    "overlap allreduce": CostLine("Allreduce, {size}", TIME_US, "overlap_sweep", "blocking_us",
                                  {"collective": "iallreduce"}),
    "overlap bcast": CostLine("Broadcast, {size}", TIME_US, "overlap_sweep", "blocking_us", {"collective": "ibcast"}),
    "syncbench barrier": CostLine("Barrier, {ranks} ranks", TIME_US, "syncbench", "sync_us", {"sync": "MPI barrier"}),
    "halo": CostLine("Halo exchange, {box}", TIME_US, "halo", "latency_us", way="method"),
    "exposed halo": CostLine("Exposed halo exchange, {box}", TIME_US, "overlap_sweep", "exposed_us",
                             {"collective": "halo", "test_calls": "0"}, way="method"),
    "put": CostLine("MPI_Put + {end}, {size}", TIME_US, "pingpong", "latency_us",
                    {"arrangement": "single", "pattern": "put"}),
    "lost": CostLine("Time lost to interruptions", SHARE, "noise", "stopped_pct", {"scope": "job"},
                     remedy="try leaving a processor free"),
    "source": CostLine("Length of interruptions {when}, {ranks}", TIME_US, "noise", "stop_us", {"scope": "source"}),
    "slowdown": CostLine("Slowdown of {operation}{work}", SHARE, "noise", "predicted_pct", {"scope": "collective"}),
    "monitor": CostLine("Monitoring overhead of a call, at most", TIME_NS, "monitor_overhead", "added_ns",
                        {"mode": "on"}),
}
# Lines of a monitored program: the kinds of its rows, and the max number of lines.
CALLS = ("pttopt", "coll", "calls")
TIME_LINES = (
    (CostLine("Inside MPI, all ranks together", TIME_S, "mpirtmon", "in_calls_s"), ("total",), 1),
    (CostLine("{call}", TIME_S, "mpirtmon", "in_calls_s"), CALLS, 4),
    (CostLine("Waiting for late ranks in {call}", TIME_S, "mpirtmon", "waited_s"), CALLS, 1),
    (CostLine("{call}, from start to completion", TIME_S, "mpirtmon", "total_s"), ("pttopt",), 1),
    (CostLine("{call}, from start to completion", TIME_S, "mpirtmon", "total_s"), ("coll",), 1))

# Notes on costs.
FASTEST, NONE_FASTEST, NEXT_FASTEST = "fastest: {}", "{}; no {} clearly best", "{}, next best"
SOME_LAUNCHES, NO_KNEE = "from {} of {} launches", "no launch found it"
NO_CAUSE, KNOWN_CAUSES, OF_THE_TIME = "no single cause", "known causes take {}", "{} of the time"
PREDICTED, LAST_RANK, DISTURBED = "predicted from interruptions", "rank {} came last most often", "disturbed"

# By scope and verdict of linkmap.
OTHER_GROUP, EXCLUDE, PORTS = ("keep a job in one group", "leave it out (linkmap --exclude)",
                               "look at the switch ports between them")
FAULTS = {("whole", "two groups"): Fault("Links between two groups of nodes", "differ", OTHER_GROUP),
          ("node", "slow"): Fault("Node {a}", "slow", EXCLUDE),
          ("node", "slow out"): Fault("Node {a}", "slow to send", EXCLUDE),
          ("node", "slow in"): Fault("Node {a}", "slow to receive", EXCLUDE),
          ("pair", "slow"): Fault("Link of {a} and {b}", "slow", PORTS),
          ("pair", "slow out"): Fault("Link from {a} to {b}", "slow", PORTS),
          ("pair", "slow in"): Fault("Link from {b} to {a}", "slow", PORTS)}
NO_FAULT, IN_LAUNCHES = "all alike", "{} messages, in {} of {}"
NOT_RETIMED, CHANGING = "suspects were not timed again", "launches name different ones"

# Of collectives beside other calls that do their work.
TIMES_OF = ((0, 1, " ×"),)
TIME_OF, TUNE = "the time of {}", "run_scripts/tune.sh --operations={} --sizes={}"
GENERIC = {"two halves": "two calls with half of the data", "twice the data": "one call with twice the data"}

# Of buffers: the call and its size, the times, and the best placement.
ALIGN, INSTEAD_OF = "Align send and receive buffers alike: {}, {}", "{} instead of {}"
ON_PAGES, AT_MULTIPLES = "on page boundaries", "at multiples of {} bytes"

# Answers: {} stands for one or more MPI calls, methods or numbers.
GAIN_LINES = {"collective": "{}", "message": "{} + work + MPI_Wait", "halo": "Non-blocking halo exchange, {}",
              "partitioned": "MPI_Psend_init with {} partitions", "work": "CPU availability during {}",
              "test": "MPI_Test during {}", "persistent": "{} instead of new requests",
              "put": "Put + {} vs. MPI_Send"}
ALL_SIZES, SOME_SIZES = "all sizes", "some sizes"
SAVES, HIDES, AVAILABLE = "saves {}", "hides {}", "{}"
WITH_CALLS, LITTLE = " with {} call{}", "less than {} %"
EVEN_NOTE, NO_NOTE = "no difference", "saves nothing"
MORE_TIME, TIMES_AS_LONG = "up to {} % more time", "up to {} × the time"
DISAGREE, TOO_FEW = "launches disagree", "needs more launches"

# Caveats. A command follows a line break.
MORE_KEYS = "Results differ in {}: {} of {} combinations shown, report.sh shows all"
WRONG_DATA = "{} wrong data, first {} ({}): try another version of the MPI library"
LOST_TIME = "{} of {} lost more than {} % of the time to interruptions: rerun on a quiet machine"
PROGRAM_WARNINGS = "{}: see \"Warnings\" on the page of report.sh"
CHECKUP = "{:.60}{}. Cost and remedies:\n{}"
UNSTEADY = "{} of {} vary more than {} × between launches: rerun on a quiet machine"
DECIDE = "To settle \"not clear\"{}:\n{}"
