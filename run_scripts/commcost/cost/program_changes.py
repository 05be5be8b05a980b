"""Changes to a program that would save time: what it did (monitor_report) against the undisturbed cost of that
(machine_costs).

A rule is a function of a Program that returns Savings, in seconds of the run. Where the monitor and the benchmarks both
tell what calls cost, the lesser one counts, and the interval has both: what calls took beyond that they may have
waited, and nothing of what is proposed here changes that.
"""

import math
import typing

from commcost.cost import call_ways
from commcost.cost.call_ways import Way
from commcost.cost.machine_costs import Cost, OwnCosts
from commcost.cost.monitor_report import Calls, Monitored
from commcost.result.intervals import Span, exactly
from commcost.words import bytes_text, counted, grouped, number_text, short

STOP_S = 4e-3      # for which the system takes a processor: a tick of Linux' scheduler at 250 Hz
READING_S = 20e-9  # what the monitor's times of a call are right to
SAME_COUNT = 0.01  # sends and receives are exchanges where their numbers differ by less
US = 1e-6
CHANCE = 3         # standard errors, which what is no accident exceeds
COMPARED = 1024    # calls that the monitor compares, of more than 4,096, at least
ROOT_WAITS = ("MPI_Gather", "MPI_Gatherv", "MPI_Reduce")


class Saving(typing.NamedTuple):
    """A change to the program, and the time that it saves."""

    change: str    # balance, hide, merge-collectives, merge-messages, drop-flushes or persistent
    calls: Calls   # that it is about
    seconds: Span  # of the run
    rows: tuple    # of benchmarks (tables.Row) that this rests on
    what: str      # the change in a few words
    facts: tuple   # how to do it, and what is so today: sentences


class Operation(typing.NamedTuple):
    """What the overlap programs measure as one: a collective, a put, a get, a message; or the messages of one class of
    sizes that a process sends and receives on a communicator, as many of each."""

    parts: tuple               # its Calls, those that send first
    way: typing.Optional[Way]  # that has, or would have, its cost; None: no benchmark measures it

    @property
    def calls(self):
        """Those that stand for all."""
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
        return self.way.operation not in call_ways.OF_PAIRS

    def total(self, name):
        """Of all parts, in seconds; None where the report doesn't say it."""
        return total(self.parts, name)


def operations_of(by_size):
    """The Operations of all Calls of kind sizes."""
    found, left = [], list(by_size)
    for sends in by_size:
        receives = next((calls for calls in left if are_exchanged(sends, calls)), None)
        if receives is not None:
            found.append(Operation((sends, receives), Way("sendrecv", "ref_us")))
            left = [calls for calls in left if calls is not sends and calls is not receives]
    return found + [Operation((calls,), call_ways.way_of(calls.function)) for calls in left]


def are_exchanged(sends, receives):
    """Whether each process sends as many messages as it receives, all of them started by one call
    and completed by another."""
    return (call_ways.operation_of(sends.function) == "isend" and
            call_ways.operation_of(receives.function) == "irecv" and
            call_ways.is_started(sends.function) and call_ways.is_started(receives.function) and
            receives.place == sends.place and sends.size is not None and
            receives.size is not None and sends.callers == receives.callers and
            # Two processes of which one sends and the other receives have no exchange.
            sends.callers * 2 > (sends.ranks or 0) and
            abs(sends.size - receives.size) <= SAME_COUNT * sends.size and
            abs(sends.calls - receives.calls) <= SAME_COUNT * sends.calls)


class Program(typing.NamedTuple):
    """A program, and the machine that it ran on."""

    run: Monitored
    costs: OwnCosts
    operations: list

    def cost(self, operation, size=None, way=None):
        """The Cost of an operation, of its own size or another, by its own way or another; None where it wasn't
        measured."""
        calls, way = operation.calls, way or operation.way
        return None if way is None else self.costs.cost(way, calls.layout, calls.size if size is None else size)

    def exposed(self, operation):
        """The Cost of what can't be hidden of it with plenty of work."""
        return self.cost(operation, way=Way(operation.way.operation, "exposed_us"))

    def own_cost(self, operation):
        """The same as cost(), where messages that could have gone with an earlier one are under way at the same time,
        and cost what can't be hidden of one, or, if that is more, the time from one to the next where many go."""
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
        """What an operation takes, a Span of seconds: by the monitor, of collectives less what they waited for late
        processes, and by its Cost."""
        in_s = exactly(operation.total("in_s"))
        waited = self.run.waiting_of(operation.calls) if operation.is_collective else None
        if waited is not None:
            in_s = in_s.minus(waited).within(0.0, in_s.value)
        return in_s.at_most(cost.us.times(operation.calls.calls * US))


# ---- the rules -----------------------------------------------------------------------------------

def late_processes(program):
    """Work spread evenly: where processes are late in turn, each waits as long as the others, and
    work doesn't help. So only what they wait beyond the one that waits least counts, or, where only
    the root waits, what the one that is last most often is late beyond its turn."""
    for calls in program.run.by_function:
        waited, ranks = calls.waited_for_work, calls.ranks
        if waited is None or calls.files is None or calls.last is None or not ranks or ranks < 2:
            continue
        rank, share = calls.last
        if calls.function in ROOT_WAITS or calls.least_waited_s is None:
            # Spreading what one rank is late by helps all ranks.
            waited = waited.times(ranks - 1 if calls.function in ROOT_WAITS else 1)
            beyond = max(0.0, (share - 1 / ranks) / (1 - 1 / ranks))
        else:
            least_s = calls.least_waited_s * (1 - calls.files)
            beyond = max(0.0, 1 - least_s / max(waited.value, least_s, READING_S))
        # Few calls may happen to have one rank last.
        if beyond * math.sqrt(min(calls.calls, COMPARED)) < CHANCE:
            continue
        yield Saving(
            "balance", calls, waited.times(beyond)._replace(high=waited.high), (),
            f"Spread work evenly before {calls.function}",
            (f"Give rank {rank} less to do: it comes last in {short(100 * share)} % of the calls.",
             f"A process waits {short(waited.value)} s for late ones, on average."))


def hidden_operations(program):
    """What is under way while something is computed that doesn't need it."""
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
            f"Hide {' and '.join(operation.functions)}{of_size(calls)} under work",
            (how_to_hide(operation), *times_now(calls, in_s, after_s, exposed)))


def how_to_hide(operation):
    if operation.is_one_sided:
        return "Flush after work that doesn't need their data."
    if not operation.is_collective:
        return "Start them before work that doesn't need their data, and complete them after it."
    if operation.is_started:
        return "Wait after work that doesn't need the result."
    return f"Call MPI_I{operation.way.operation[1:]} before work that doesn't need the result, and wait after it."


def times_now(calls, in_s, after_s, exposed):
    """Sentences about the time of a call and of the work around it."""
    each = 1 / (calls.calls * US)
    yield f"Each takes {short(in_s * each)} µs inside MPI, of which {short(exposed.us.value)} µs can't be hidden."
    if calls.wait_s is not None and call_ways.is_started(calls.function):
        yield (f"{calls.function} takes {short((calls.in_s - calls.wait_s) * each)} µs to start and "
               f"{short(calls.wait_s * each)} µs in the wait.")
    if calls.between_s is not None and call_ways.is_started(calls.function):
        yield f"Between start and wait there are {short(calls.between_s * each)} µs of work today."
    yield f"After it there are {short(after_s * each)} µs of work."


def of_size(calls):
    return f" of {bytes_text(round(calls.size))}" if calls.size else ""


def all_sizes(every):
    """The Calls of several sizes, of one function and communicator, as if of their mean size: what
    could be joined may have any size. None where something isn't known."""
    number = sum(calls.calls for calls in every)
    if number <= 0 or any(calls.size is None or calls.joined is None for calls in every):
        return None
    means = {name: sum(getattr(calls, name) * calls.calls for calls in every) / number for name in ("size", "joined")}
    return every[0]._replace(calls=number, **means, **{name: total(every, name) for name in (
        "in_s", "wait_s", "between_s", "after_s")})


def total(every, name):
    """The sum of what Calls have; None where one doesn't have it."""
    values = [getattr(calls, name) for calls in every]
    return None if None in values else sum(values)


def merged_operations(program):
    """Successive collectives as one, and messages to the same process."""
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
        what = (f"{number_text(round(together, 1))} {calls.function}{of_size(calls)} "
                f"into one of {bytes_text(round(calls.size * together))}")
        if operation.is_collective:
            stays = merged.over(one).times(1 / together)
            seconds = now.part(exactly(1.0).minus(stays).within(0.0, 1.0))
            yield Saving(
                "merge-collectives", calls, seconds.within(0.0, calls.in_s), rows, f"Join {what}",
                ("Only if none of them needs the result of another.",
                 f"{short(together)} calls follow each other, on average, with less than 1 µs between."))
        else:
            seconds = now.minus(merged.us.times(calls.calls / together * US))
            yield Saving(
                "merge-messages", calls, seconds.within(0.0, operation.total("in_s")), rows, f"Pack {what}",
                (f"{short(together)} messages go to the same process before it answers, on average.",
                 "The time to pack them isn't counted."))


def useless_flushes(program):
    """Flushes that had nothing to complete."""
    for calls in program.run.others:
        if not calls.function.startswith("MPI_Win_flush") or not calls.joined:
            continue
        idle = calls.calls * calls.joined
        seconds = exactly(calls.in_s * calls.joined).wider(idle * READING_S)
        yield Saving(
            "drop-flushes", calls, seconds, (), f"Leave out {counted(round(idle), 'call')} of {calls.function}",
            ("They have nothing to complete: no operation on that target came since the last one.",))


def persistent_requests(program):
    """Collectives whose requests are made once."""
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
            f"Make requests of {calls.function}{of_size(calls)} once",
            (f"Call MPI_{operation.way.operation[1:].capitalize()}_init once, and MPI_Start each time.",
             f"A persistent request takes {short(100 * then.us.value / now.us.value)} % of the time."))


RULES = (late_processes, hidden_operations, merged_operations, useless_flushes, persistent_requests)


def savings_of(program, min_s):
    """All Savings of at least `min_s` that are sure to save something, the greatest first. Their intervals are of what
    the next run shows: runs differ by the time that the system takes from them, by two standard deviations if it takes
    it in stops of STOP_S that don't know of each other."""
    found = [saving for rule in RULES for saving in rule(program)
             if saving.seconds.low > 0 and saving.seconds.value >= min_s]
    chance_s = 2 * math.sqrt(program.costs.lost_share * program.run.seconds * STOP_S)
    return sorted((saving._replace(seconds=saving.seconds.wider(chance_s).within(0.0, math.inf)) for saving in found),
                  key=lambda saving: -saving.seconds.value)
