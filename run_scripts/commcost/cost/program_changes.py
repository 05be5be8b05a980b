# SPDX-License-Identifier: BSD-3-Clause
"""Changes to a program that save time.

A rule is a function of a Program that yields Savings, in seconds of the run. It compares the time in calls
(monitor_report) with their undisturbed cost (machine_costs). If both are known, the lower one is used and the interval
includes both: the rest may be waiting, which none of these changes reduces.
"""

import math
import typing

from commcost.cost import call_ways
from commcost.cost.call_ways import Way
from commcost.cost.machine_costs import Cost, OwnCosts
from commcost.cost.monitor_report import Calls, Monitored
from commcost.result.intervals import Span, exactly
from commcost.words import bytes_text, counted, grouped, number_text, short

STOP_S = 4e-3      # length of an interruption: a tick of the Linux scheduler at 250 Hz
READING_S = 20e-9  # error of the time of a call in the monitor
SAME_COUNT = 0.01  # max difference between the numbers of sends and receives of an exchange, a share
US = 1e-6
CHANCE = 3         # standard errors beyond which a difference is significant
COMPARED = 1024    # min calls that the monitor compares, of more than 4,096
ROOT_WAITS = ("MPI_Gather", "MPI_Gatherv", "MPI_Reduce")


class Saving(typing.NamedTuple):
    """A change to the program, and the time that it saves."""

    change: str    # balance, hide, merge-collectives, merge-messages, drop-flushes or persistent
    calls: Calls   # to change
    seconds: Span  # of the run
    rows: tuple    # evidence: rows of benchmarks (tables.Row)
    what: str      # the change in a few words
    facts: tuple   # sentences: the remedy, and the current times


class Operation(typing.NamedTuple):
    """A collective, a put, a get, a message, or an exchange (equal numbers of sends and receives of each rank on a
    communicator, of one class of sizes)."""

    parts: tuple               # its Calls, sends first
    way: typing.Optional[Way]  # rows with its cost; None if no benchmark measures it

    @property
    def calls(self):
        return self.parts[0]

    @property
    def functions(self):
        return tuple(calls.function for calls in self.parts)

    @property
    def is_started(self):
        return call_ways.is_started(self.calls.function)

    @property
    def is_one_sided(self):
        return self.way.operation in ("put", "get")

    @property
    def is_collective(self):
        return self.way.operation not in call_ways.PAIR_OPERATIONS

    def total(self, name):
        """Returns the seconds of all parts, or None if the report lacks them."""
        return total(self.parts, name)


def operations_of(by_size):
    found, left = [], list(by_size)
    for sends in by_size:
        receives = next((calls for calls in left if are_exchanged(sends, calls)), None)
        if receives is not None:
            found.append(Operation((sends, receives), Way("sendrecv", "ref_us")))
            left = [calls for calls in left if calls is not sends and calls is not receives]
    return found + [Operation((calls,), call_ways.way_of(calls.function)) for calls in left]


def are_exchanged(sends, receives):
    """True if each rank sends and receives equal numbers of messages, started by one call and completed by another."""
    return (call_ways.operation_of(sends.function) == "isend" and
            call_ways.operation_of(receives.function) == "irecv" and
            call_ways.is_started(sends.function) and call_ways.is_started(receives.function) and
            receives.place == sends.place and sends.size is not None and
            receives.size is not None and sends.callers == receives.callers and
            # Excludes pairs in which one rank sends and the other receives.
            sends.callers * 2 > (sends.ranks or 0) and
            abs(sends.size - receives.size) <= SAME_COUNT * sends.size and
            abs(sends.calls - receives.calls) <= SAME_COUNT * sends.calls)


class Program(typing.NamedTuple):
    """A program and the costs of its machine."""

    run: Monitored
    costs: OwnCosts
    operations: list

    def cost(self, operation, size=None, way=None):
        """Returns the Cost of an operation, by default at its own size and Way, or None if it wasn't measured."""
        calls, way = operation.calls, way or operation.way
        return None if way is None else self.costs.cost(way, calls.layout, calls.size if size is None else size)

    def exposed(self, operation):
        """Returns the Cost that no work can hide."""
        return self.cost(operation, way=Way(operation.way.operation, "exposed_us"))

    def own_cost(self, operation):
        """Returns cost(), except for messages that could join an earlier one. These overlap each other, so each costs
        the part that can't be hidden, or the gap between messages at msgrate's rate if that is longer."""
        cost, joined = self.cost(operation), operation.calls.joined or 0.0
        if cost is None or operation.is_collective or joined == 0.0 or not (
                operation.is_started or operation.is_one_sided):
            return cost
        more = self.exposed(operation)
        gap = self.cost(operation, way=call_ways.GAP) if operation.way.operation == "sendrecv" else None
        if more is None:
            return None
        if gap is not None and more.us.value < gap.us.value:
            more = gap
        return Cost(cost.us.times(1 - joined).plus(more.us.times(joined)), cost.rows + more.rows)

    def now(self, operation, cost):
        """Returns the Span of seconds that an operation takes, from the monitor (without waiting of collectives) and
        from its Cost."""
        in_s = exactly(operation.total("in_s"))
        waited = self.run.waiting_of(operation.calls) if operation.is_collective else None
        if waited is not None:
            in_s = in_s.minus(waited).within(0.0, in_s.value)
        return in_s.at_most(cost.us.times(operation.calls.calls * US))


def late_ranks(program):
    """Yields load balance. If ranks are late alternately, all wait equally long, and balance doesn't help. So the
    saving is the waiting beyond that of the rank that waits least. If only the root waits, it is the lateness of the
    rank that is last most often, beyond an equal share."""
    for calls in program.run.by_function:
        waited, ranks = calls.waited_for_work, calls.ranks
        if waited is None or calls.files is None or calls.last is None or not ranks or ranks < 2:
            continue
        rank, share = calls.last
        if calls.function in ROOT_WAITS or calls.least_waited_s is None:
            # All ranks gain if one rank's work is spread.
            waited = waited.times(ranks - 1 if calls.function in ROOT_WAITS else 1)
            beyond = max(0.0, (share - 1 / ranks) / (1 - 1 / ranks))
        else:
            least_s = calls.least_waited_s * (1 - calls.files)
            beyond = max(0.0, 1 - least_s / max(waited.value, least_s, READING_S))
        # In few calls one rank may be last by chance.
        if beyond * math.sqrt(min(calls.calls, COMPARED)) < CHANCE:
            continue
        yield Saving(
            "balance", calls, waited.times(beyond)._replace(high=waited.high), (),
            f"Balance the load before {calls.function}",
            (f"Give rank {rank} less work: it comes last in {short(100 * share)} % of the calls.",
             f"A rank waits {short(waited.value)} s for late ranks, on average."))


def hidden_operations(program):
    """Yields overlap with work that doesn't need the data."""
    for operation in program.operations:
        cost, calls, after_s = program.own_cost(operation), operation.calls, operation.total("after_s")
        exposed = cost and program.exposed(operation)
        if exposed is None or after_s is None:
            continue
        now = program.now(operation, cost)
        seconds = now.minus(exposed.us.times(calls.calls * US)).within(0.0, after_s)
        in_s = now.value if operation.is_collective else operation.total("in_s")
        yield Saving(
            "hide", calls, seconds, cost.rows + exposed.rows,
            f"Overlap {' and '.join(operation.functions)}{size_phrase(calls)} with work",
            (overlap_remedy(operation), *call_facts(calls, in_s, after_s, exposed)))


def overlap_remedy(operation):
    if operation.is_one_sided:
        return "Flush after work that doesn't need the data."
    if not operation.is_collective:
        return "Start them before work that doesn't need the data, and complete them after it."
    if operation.is_started:
        return "Call MPI_Wait after work that doesn't need the result."
    return (f"Call MPI_I{operation.way.operation[1:]} before work that doesn't need the result, and MPI_Wait after it.")


def call_facts(calls, in_s, after_s, exposed):
    each = 1 / (calls.calls * US)
    yield f"Each takes {short(in_s * each)} µs in MPI, of which {short(exposed.us.value)} µs can't be hidden."
    if calls.wait_s is not None and call_ways.is_started(calls.function):
        yield (f"{calls.function} takes {short((calls.in_s - calls.wait_s) * each)} µs to start and "
               f"{short(calls.wait_s * each)} µs to complete.")
    if calls.between_s is not None and call_ways.is_started(calls.function):
        yield f"The program works {short(calls.between_s * each)} µs between start and wait."
    yield f"The program works {short(after_s * each)} µs after it."


def size_phrase(calls):
    return f" of {bytes_text(round(calls.size))}" if calls.size else ""


def all_sizes(every):
    """Merges a function's Calls of several sizes on a communicator. None if a part is unknown."""
    number = sum(calls.calls for calls in every)
    if number <= 0 or any(calls.size is None or calls.joined is None for calls in every):
        return None
    means = {name: sum(getattr(calls, name) * calls.calls for calls in every) / number for name in ("size", "joined")}
    return every[0]._replace(calls=number, **means, **{name: total(every, name) for name in (
        "in_s", "wait_s", "between_s", "after_s")})


def total(every, name):
    """Returns the sum of an attribute of Calls, or None if one lacks it."""
    values = [getattr(calls, name) for calls in every]
    return None if None in values else sum(values)


def merged_operations(program):
    """Yields merges of successive collectives, and of messages to the same rank."""
    measured = [operation for operation in program.operations
                if operation.way is not None and operation.way.operation != "irecv"]
    for every in grouped(measured, lambda operation: (operation.calls.place, operation.functions)):
        parts = tuple(map(all_sizes, zip(*(operation.parts for operation in every))))
        if None in parts or not 0 < parts[0].joined < 1:
            continue
        operation, calls = Operation(parts, every[0].way), parts[0]
        together = 1 / (1 - calls.joined)
        one, merged = program.own_cost(operation), program.cost(operation, calls.size * together)
        if one is None or merged is None or one.us.low <= 0:
            continue
        now, rows = program.now(operation, one), one.rows + merged.rows
        what = (f"{number_text(round(together, 1))} {calls.function}{size_phrase(calls)} "
                f"into one of {bytes_text(round(calls.size * together))}")
        if operation.is_collective:
            stays = merged.over(one).times(1 / together)
            seconds = now.part(exactly(1.0).minus(stays).within(0.0, 1.0))
            yield Saving(
                "merge-collectives", calls, seconds.within(0.0, calls.in_s), rows, f"Merge {what}",
                ("Only possible if none of them needs the result of another.",
                 f"{short(together)} calls follow each other within 1 µs, on average."))
        else:
            seconds = now.minus(merged.us.times(calls.calls / together * US))
            yield Saving(
                "merge-messages", calls, seconds.within(0.0, operation.total("in_s")), rows, f"Pack {what}",
                (f"{short(together)} messages go to the same rank before it answers, on average.",
                 "The saving excludes the time to pack them."))


def useless_flushes(program):
    for calls in program.run.others:
        if not calls.function.startswith("MPI_Win_flush") or not calls.joined:
            continue
        idle = calls.calls * calls.joined
        seconds = exactly(calls.in_s * calls.joined).wider(idle * READING_S)
        yield Saving(
            "drop-flushes", calls, seconds, (), f"Remove {counted(round(idle), 'call')} of {calls.function}",
            ("They complete nothing: no operation on their target since the last flush.",))


def persistent_requests(program):
    """Yields persistent requests of collectives."""
    for operation in program.operations:
        calls, now = operation.calls, program.cost(operation)
        if now is None or not operation.is_collective or calls.function.endswith("_init"):
            continue
        then = program.cost(operation, way=Way(operation.way.operation, "ref_us", "persistent"))
        if then is None or now.us.value <= 0:
            continue
        seconds = now.us.minus(then.us).times(program.now(operation, now).value / now.us.value)
        yield Saving(
            "persistent", calls, seconds.within(0.0, calls.in_s), now.rows + then.rows,
            f"Use persistent requests for {calls.function}{size_phrase(calls)}",
            (f"Call MPI_{operation.way.operation[1:].capitalize()}_init once, and MPI_Start each time.",
             f"A persistent request takes {short(100 * then.us.value / now.us.value)} % of the time."))


RULES = (late_ranks, hidden_operations, merged_operations, useless_flushes, persistent_requests)


def savings_of(program, min_s):
    """Returns the Savings of at least `min_s` whose interval excludes 0, the greatest first. Intervals predict the next
    run: independent interruptions of STOP_S widen them by two standard deviations."""
    found = [saving for rule in RULES for saving in rule(program)
             if saving.seconds.low > 0 and saving.seconds.value >= min_s]
    chance_s = 2 * math.sqrt(program.costs.lost_share * program.run.seconds * STOP_S)
    return sorted((saving._replace(seconds=saving.seconds.wider(chance_s).within(0.0, math.inf)) for saving in found),
                  key=lambda saving: -saving.seconds.value)
