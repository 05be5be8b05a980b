"""Changes to a program that would save time: what it did (monitor_report) against the undisturbed cost
of that (machine_costs).

A rule is a function of a Program that returns Savings, in seconds of the run. Where the monitor and
the benchmarks both tell what calls cost, the lesser one counts, and the interval has both: what
calls took beyond that they may have waited, and nothing of what is proposed here changes
that.
"""

import math
import typing

from commcost.reading.intervals import Span, exactly
from commcost.reading.monitor_report import Calls, Monitored
from commcost.saying import machine_costs
from commcost.saying.machine_costs import Cost, OwnCosts, Way
from commcost.words import bytes_text, counted, number_text, short

BALANCE, HIDE, MERGE, MERGE_MESSAGES, DROP, PERSISTENT = (
    "balance", "hide", "merge-collectives", "merge-messages", "drop-flushes", "persistent")

STOP_S = 4e-3      # for which the system takes a processor: a tick of Linux' scheduler at 250 Hz
READING_S = 20e-9  # what the monitor's times of a call are right to
SAME_COUNT = 0.01  # sends and receives are exchanges where their numbers differ by less
US = 1e-6
CHANCE = 3         # standard errors, which what is no accident exceeds
COMPARED = 1024    # calls that the monitor compares, of more than 4,096, at least
ROOT_WAITS = ("MPI_Gather", "MPI_Gatherv", "MPI_Reduce")


class Saving(typing.NamedTuple):
    """A change to the program, and the time that it saves.

    change   one of the names above
    calls    Calls that it is about
    seconds  of the run that it saves, a Span
    rows     of benchmarks (tables.Row) that this rests on
    what     the change in a few words
    facts    how to do it, and what is so today: sentences
    """

    change: str
    calls: Calls
    seconds: Span
    rows: tuple
    what: str
    facts: tuple


class Exchange(typing.NamedTuple):
    """Messages or puts on a communicator, of one class of sizes, that a process sends, receives, or
    both, as many of each: then they are one operation."""

    sends: typing.Optional[Calls]
    receives: typing.Optional[Calls]

    @property
    def calls(self):
        """Those that stand for both."""
        return self.sends or self.receives

    @property
    def operation(self):
        """Of the overlap programs."""
        if self.sends and self.receives:
            return "sendrecv"
        return machine_costs.operation_of(self.calls.function)

    @property
    def parts(self):
        return [calls for calls in self if calls is not None]

    def total(self, name):
        """Of both, in seconds; None where the report doesn't say it."""
        values = [getattr(calls, name) for calls in self.parts]
        return None if None in values else sum(values)

    @property
    def is_started(self):
        return machine_costs.is_started(self.calls.function)

    @property
    def is_one_sided(self):
        return self.operation in ("put", "get")

    @property
    def told(self):
        return " and ".join(calls.function for calls in self.parts)


class Program(typing.NamedTuple):
    """A program, and the machine that it ran on."""

    run: Monitored
    costs: OwnCosts
    exchanges: list


def program_of(run, costs):
    return Program(run, costs, exchanges_of(run.by_size))


def exchanges_of(by_size):
    """The Exchanges of all messages, puts and gets."""
    found, taken = [], set()
    for sends in by_size:
        if machine_costs.operation_of(sends.function) != "isend":
            continue
        partner = next((place for place, calls in enumerate(by_size)
                        if place not in taken and are_exchanged(sends, calls)), None)
        if partner is not None:
            taken.add(partner)
        found.append(Exchange(sends, None if partner is None else by_size[partner]))
    alone = [Exchange(None, calls) for place, calls in enumerate(by_size)
             if place not in taken and machine_costs.operation_of(calls.function) == "irecv"]
    both_ways = [Exchange(calls, None) for calls in by_size
                 if machine_costs.operation_of(calls.function) in ("sendrecv", "put", "get")]
    return found + alone + both_ways


def are_exchanged(sends, receives):
    """Whether each process sends as many messages as it receives, all of them started by one call
    and completed by another."""
    return (machine_costs.operation_of(receives.function) == "irecv" and
            machine_costs.is_started(sends.function) and machine_costs.is_started(receives.function) and
            receives.place == sends.place and sends.size is not None and
            receives.size is not None and sends.callers == receives.callers and
            # Two processes of which one sends and the other receives have no exchange.
            sends.callers * 2 > (sends.ranks or 0) and
            abs(sends.size - receives.size) <= SAME_COUNT * sends.size and
            abs(sends.calls - receives.calls) <= SAME_COUNT * sends.calls)


# ---- the undisturbed cost of calls ----------------------------------------------------------------

def exchange_cost(program, exchange, size=None):
    """The Cost of one exchange, of its own size or another; None where it wasn't measured."""
    column = "ref_us" if exchange.is_started else "blocking_us"
    return program.costs.cost(Way(exchange.operation, column), exchange.calls.layout,
                              exchange.calls.size if size is None else size)


def exposed_of(program, operation, calls):
    """The Cost of what can't be hidden of an operation with plenty of work."""
    return program.costs.cost(Way(operation, "exposed_us"), calls.layout, calls.size)


def own_cost(program, exchange):
    """The same as exchange_cost, where those that could have gone with an earlier one are under way
    at the same time, and cost what one more does."""
    cost = exchange_cost(program, exchange)
    joined = exchange.calls.joined or 0.0
    if cost is None or joined == 0.0 or not (exchange.is_started or exchange.is_one_sided):
        return cost
    more = one_more(program, exchange)
    if more is None:
        return None
    return Cost(cost.us.times(1 - joined).plus(more.us.times(joined)), cost.rows + more.rows)


def one_more(program, exchange):
    """The Cost of an exchange that is under way together with others: what can't be hidden of one,
    or, if that is more, the time from one to the next where many go."""
    exposed = exposed_of(program, exchange.operation, exchange.calls)
    gap = (program.costs.gap(exchange.calls.layout, exchange.calls.size)
           if exchange.operation == "sendrecv" else None)
    if exposed is None or gap is None or exposed.us.value >= gap.us.value:
        return exposed
    return gap


def collective_cost(program, calls, size=None):
    """The Cost of a collective; None where it wasn't measured."""
    way = machine_costs.way_of(calls.function)
    if way is None:
        return None
    return program.costs.cost(way, calls.layout, calls.size if size is None else size)


def is_collective(calls):
    return machine_costs.operation_of(calls.function) not in (None, *machine_costs.OF_PAIRS)


def without_waiting(program, calls):
    """What calls took less what they waited for late processes, a Span of seconds."""
    waited = program.run.waiting_of(calls)
    if waited is None:
        return exactly(calls.in_s)
    return exactly(calls.in_s).minus(waited).within(0.0, calls.in_s)


# ---- the rules -----------------------------------------------------------------------------------

def late_processes(program):
    """Work spread evenly: where processes are late in turn, each waits as long as the others, and
    work doesn't help. So only what they wait beyond the one that waits least counts, or, where only
    the root waits, what the one that is last most often is late beyond its turn."""
    for calls in program.run.by_function:
        if calls.waited is None or calls.last is None or not calls.ranks or calls.ranks < 2:
            continue
        rank, share = calls.last
        if calls.function in ROOT_WAITS or calls.least_waited_s is None:
            # Spreading what one rank is late by helps all ranks.
            waited = calls.waited.times(calls.ranks - 1 if calls.function in ROOT_WAITS else 1)
            beyond = max(0.0, (share - 1 / calls.ranks) / (1 - 1 / calls.ranks))
        else:
            waited = calls.waited
            beyond = max(0.0, 1 - calls.least_waited_s / max(waited.value, calls.least_waited_s,
                                                             READING_S))
        # Few calls may happen to have one rank last.
        if beyond * math.sqrt(min(calls.calls, COMPARED)) < CHANCE:
            continue
        seconds = waited.times(beyond)
        yield Saving(
            BALANCE, calls, Span(seconds.value, seconds.low, waited.high), (),
            f"Spread work evenly before {calls.function}",
            (f"Give rank {rank} less to do: it comes last in {short(100 * share)} % of the calls.",
             f"A process waits {short(calls.waited.value)} s for late ones, on average."))


def hidden_messages(program):
    """Messages and puts that are under way while something is computed that doesn't need them."""
    for exchange in program.exchanges:
        cost = own_cost(program, exchange)
        exposed = exposed_of(program, exchange.operation, exchange.calls)
        after_s = exchange.total("after_s")
        if cost is None or exposed is None or after_s is None:
            continue
        times = exchange.calls.calls * US
        now = exactly(exchange.total("in_s")).at_most(cost.us.times(times))
        seconds = now.minus(exposed.us.times(times)).within(0.0, after_s)
        yield Saving(
            HIDE, exchange.calls, seconds, cost.rows + exposed.rows, hiding(exchange.told, exchange.calls),
            ("Flush after work that doesn't need their data." if exchange.is_one_sided else
             "Start them before work that doesn't need their data, and complete them after it.",
             *times_now(exchange.calls, exchange.total("in_s"), after_s, exposed)))


def hidden_collectives(program):
    """Collectives that are under way while something is computed that doesn't need them."""
    for calls in program.run.by_size:
        cost = collective_cost(program, calls) if is_collective(calls) else None
        if cost is None or calls.after_s is None:
            continue
        exposed = exposed_of(program, machine_costs.operation_of(calls.function), calls)
        if exposed is None:
            continue
        now = without_waiting(program, calls).at_most(cost.us.times(calls.calls * US))
        seconds = now.minus(exposed.us.times(calls.calls * US)).within(0.0, calls.after_s)
        name = "MPI_I" + machine_costs.operation_of(calls.function)[1:]
        yield Saving(
            HIDE, calls, seconds, cost.rows + exposed.rows, hiding(calls.function, calls),
            ("Wait after work that doesn't need the result." if machine_costs.is_started(calls.function) else
             f"Call {name} before work that doesn't need the result, and wait after it.",
             *times_now(calls, now.value, calls.after_s, exposed)))


def hiding(name, calls):
    return f"Hide {name}{of_size(calls)} under work"


def times_now(calls, in_s, after_s, exposed):
    """Sentences about what a call and the work around it take."""
    each = 1 / (calls.calls * US)
    yield f"Each takes {short(in_s * each)} µs inside MPI, of which {short(exposed.us.value)} µs can't be hidden."
    if calls.between_s is not None and machine_costs.is_started(calls.function):
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

    def mean(name):
        return sum(getattr(calls, name) * calls.calls for calls in every) / number

    def total(name):
        values = [getattr(calls, name) for calls in every]
        return None if None in values else sum(values)

    return every[0]._replace(calls=number, size=mean("size"), joined=mean("joined"),
                             in_s=total("in_s"), between_s=total("between_s"),
                             after_s=total("after_s"))


def grouped(values, key):
    """Lists of the values with the same key, in the order in which they are met."""
    groups = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups.values()


def merged_collectives(program):
    """Successive collectives as one."""
    collectives = [calls for calls in program.run.by_size if is_collective(calls)]
    for every in grouped(collectives, lambda calls: (calls.place, calls.function)):
        calls = all_sizes(every)
        if calls is None or not 0 < calls.joined < 1:
            continue
        together = 1 / (1 - calls.joined)
        one = collective_cost(program, calls)
        merged = collective_cost(program, calls, calls.size * together)
        if one is None or merged is None or one.us.low <= 0:
            continue
        own = without_waiting(program, calls).at_most(one.us.times(calls.calls * US))
        stays = merged.over(one).times(1 / together)
        seconds = own.part(exactly(1.0).minus(stays).within(0.0, 1.0))
        yield Saving(
            MERGE, calls, seconds.within(0.0, calls.in_s), one.rows + merged.rows, joining("Join", calls, together),
            ("Only if none of them needs the result of another.",
             f"{short(together)} calls follow each other, on average, with less than 1 µs between."))


def joining(verb, calls, together):
    """`together` calls of a size as one."""
    return (f"{verb} {number_text(round(together, 1))} {calls.function}{of_size(calls)} "
            f"into one of {bytes_text(round(calls.size * together))}")


def merged_messages(program):
    """Messages to the same process as one."""
    sending = [exchange for exchange in program.exchanges if exchange.sends is not None]
    for every in grouped(sending, lambda exchange: (
            exchange.sends.place, exchange.sends.function,
            exchange.receives and exchange.receives.function)):
        exchange = Exchange(*(all_sizes(parts) if None not in parts else None
                              for parts in zip(*every)))
        calls = exchange.sends
        if calls is None or not 0 < calls.joined < 1:
            continue
        together = 1 / (1 - calls.joined)
        one, merged = (own_cost(program, exchange),
                       exchange_cost(program, exchange, calls.size * together))
        if one is None or merged is None:
            continue
        now = exactly(exchange.total("in_s")).at_most(one.us.times(calls.calls * US))
        seconds = now.minus(merged.us.times(calls.calls / together * US))
        yield Saving(
            MERGE_MESSAGES, calls, seconds.within(0.0, exchange.total("in_s")),
            one.rows + merged.rows, joining("Pack", calls, together),
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
            DROP, calls, seconds, (), f"Leave out {counted(round(idle), 'call')} of {calls.function}",
            ("They have nothing to complete: no operation on that target came since the last one.",))


def persistent_requests(program):
    """Collectives whose requests are made once."""
    for calls in program.run.by_size:
        if not is_collective(calls) or calls.function.endswith("_init"):
            continue
        operation = machine_costs.operation_of(calls.function)
        now = collective_cost(program, calls)
        then = program.costs.cost(Way(operation, "ref_us", "persistent"), calls.layout, calls.size)
        if now is None or then is None or now.us.value <= 0:
            continue
        own = without_waiting(program, calls).at_most(now.us.times(calls.calls * US))
        ratio = then.us.value / now.us.value
        seconds = now.us.minus(then.us).times(own.value / now.us.value)
        yield Saving(
            PERSISTENT, calls, seconds.within(0.0, calls.in_s), now.rows + then.rows,
            f"Make requests of {calls.function}{of_size(calls)} once",
            (f"Call MPI_{operation[1:].capitalize()}_init once, and MPI_Start each time.",
             f"A persistent request takes {short(100 * ratio)} % of the time."))


RULES = (late_processes, hidden_messages, hidden_collectives, merged_collectives, merged_messages,
         useless_flushes, persistent_requests)


def by_chance_s(program):
    """By how much a run may differ from the next by the time that the system takes from it: two
    standard deviations, if it takes it in stops of STOP_S that don't know of each other."""
    return 2 * math.sqrt(program.costs.lost_share * program.run.seconds * STOP_S)


def savings_of(program, min_s):
    """All Savings of at least `min_s` that are sure to save something, the greatest first.
    Their intervals are of what the next run shows."""
    found = [saving for rule in RULES for saving in rule(program)
             if saving.seconds.low > 0 and saving.seconds.value >= min_s]
    chance_s = by_chance_s(program)
    found = [saving._replace(seconds=saving.seconds.wider(chance_s).within(0.0, math.inf))
             for saving in found]
    return sorted(found, key=lambda saving: -saving.seconds.value)
