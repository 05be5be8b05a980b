"""What things cost, for the scorecard: a function for each question, which comes to Lines, none where the results
have nothing on it. Which of several ways is best is said where launches make it clear."""

import functools
import operator
import re

from commcost.result import benchmarks, rank_hosts
from commcost.result.intervals import THRESHOLD_PCT, is_above, measured
from commcost.result.tables import NEW
from commcost.scorecard.fact_lines import (RATE, SHARE, SPEED_MBS, TIME_NS, TIME_S, TIME_US, Line, ranged, size_text,
                                           typical)
from commcost.words import UNSURE, counted, is_number

LARGE_BYTES = 1 << 16  # from where on a message has a bandwidth
BOXES = 3              # lines about halo swaps
SOURCES = 3            # lines about what interrupts ranks
FUNCTIONS = 4          # lines about functions in which a program was
CALLS = ("pttopt", "coll", "calls")  # of the monitor: rows about functions
BLOCKING = (("allreduce", "Allreduce"), ("bcast", "Broadcast"))
WITH = {"all": "with a barrier", "images": "with a notification"}  # what ends a put


def line_of(what, pair, column, units, note="", scale=1.0):
    """The Line of a pair of a row and what it measured in a column, with how many launches found it if not all did."""
    row, found = pair
    values = [scale * float(text) for text in row.texts(column)]
    found = found.scaled(scale)
    if len(values) < len(row.launches):
        note = "; ".join(filter(None, [note, f"only {len(values)} of {len(row.launches)} launches found it"]))
    return Line(what, typical(found, units), "", ranged(found, values, units), note, (row.identity,))


def saved_value(row, other, column):
    """What a row takes less than another one, in percent, launch by launch; 0 where no launch has both."""
    saved = row.saved_pct(other, column)
    return saved.value if saved else 0.0


def is_better(row, other, column):
    """Whether that is surely so much that it makes a difference."""
    saved = row.saved_pct(other, column)
    return saved is not None and is_above(saved, THRESHOLD_PCT)


def best_of(named, column, units, more=False):
    """The pair with the best value of pairs of a name and a pair; and a note: its name and what the second
    takes, or how many may be as good."""
    first = named[0][1][0]
    (name, best), *others = sorted(named, key=lambda one: saved_value(one[1][0], first, column), reverse=not more)
    rivals = [other for other, (row, _) in others if not is_better(*((row, best[0]) if more else (best[0], row)), column)]
    if rivals:
        return best, f"best: {name} or {rivals[0]}" if len(rivals) == 1 else f"no clear best of {1 + len(rivals)} ways"
    return best, "".join(f"best: {name}; next: {other}, {typical(found, units)}"
                         for other, (_, found) in others[:1]) or name


# ---- messages ------------------------------------------------------------------------------------

def of_pattern(tables, column, pattern):
    """Pairs of pingpong's rows of one pair of ranks, by size."""
    pairs = tables.measured("pingpong", column, arrangement="single", pattern=pattern)
    return sorted((pair for pair in pairs if is_number(pair[0].keys["blksize"])), key=lambda pair: bytes_of(pair[0]))


def bytes_of(row):
    """Of a row of pingpong whose data is one block, which short results have, too."""
    return 8 * row.size("blksize")


def messages(tables):
    """The smallest one's time, and the largest one's bandwidth."""
    for pair in of_pattern(tables, "latency_us", "MPI Send")[:1]:
        yield line_of(f"Message of {size_text(bytes_of(pair[0]))}, one way", pair, "latency_us", TIME_US)
    for pair in of_pattern(tables, "bwidth_mbs", "MPI Send")[-1:]:
        if bytes_of(pair[0]) >= LARGE_BYTES:
            yield line_of(f"Bandwidth, messages of {size_text(bytes_of(pair[0]))}", pair, "bwidth_mbs", SPEED_MBS)


def host_overhead(tables):
    """What the smallest and the largest message take of the processor."""
    for direction, name in (("send", "send"), ("recv", "receive")):
        pairs = [pair for pair in values_of_direction(tables, "overhead", direction)
                 if pair[1] is not None or all(cells.get("status") == "no-knee" for cells in pair[0].launches)]
        for row, found in pairs[:1] + pairs[1:][-1:]:
            what = f"Processor time of a {name}, {size_text(row.size('msgsize'))}"
            if found is None:
                yield Line(what, UNSURE, note="no launch found it", rows=(row.identity,),
                           todo="give mpi_overhead more --max-time")
            else:
                yield Line(what, UNSURE) if is_lost(found) else line_of(what, (row, found), "overhead", TIME_US)


def is_lost(found):
    """Whether a Measured difference of two times is below 0, and has no interval that would bound it."""
    return found.value < 0 and found.low is None


def values_of_direction(tables, column, direction):
    """Pairs of mpi_overhead's rows of one pair of ranks, by size, and what each measured, or None."""
    return [(row, measured(row, column))
            for row in sorted(tables.rows("mpi_overhead", direction=direction), key=lambda row: row.size("msgsize"))
            if row.keys["pair"] in ("0", "NA")]


def of_direction(tables, column, direction):
    """The same where there is a value."""
    return [pair for pair in values_of_direction(tables, column, direction) if pair[1] is not None]


def message_rate(tables):
    """Messages of the smallest size, with flushed and with warm caches, by the best pattern."""
    pairs = [pair for pair in tables.measured("msgrate", "rate_per_s") if is_number(pair[0].keys["nbytes"])]
    for caches in CACHES:
        of_state = [pair for pair in pairs if caches_of(pair[0]) == caches]
        for first, _ in sorted(of_state, key=lambda pair: pair[0].size("nbytes"))[:1]:
            # What differs in nothing but the pattern.
            named = [(pair[0].keys["pattern"], pair) for pair in of_state
                     if {**pair[0].keys, "pattern": ""} == {**first.keys, "pattern": ""}]
            best, note = best_of(named, "rate_per_s", RATE, more=True)
            size = size_text(first.size("nbytes"))
            yield line_of(f"Messages a second, {caches}{size}", best, "rate_per_s", RATE, note)


CACHES = ("caches flushed, ", "warm caches, ", "")


def caches_of(row):
    """How caches are before messages go; "" where the result doesn't say."""
    flushed = row.keys.get("cache_size", "NA")
    return CACHES[2] if not is_number(flushed) else CACHES[1] if float(flushed) == 0 else CACHES[0]


def put(tables):
    """The smallest put, with what tells its partner, by the quickest way."""
    pairs = of_pattern(tables, "latency_us", "put")
    smallest = [pair for pair in pairs if pair[0].keys["blksize"] == pairs[0][0].keys["blksize"]]
    for pair in sorted(smallest, key=lambda pair: pair[1].value)[:1]:
        yield line_of(f"Put of {size_text(bytes_of(pair[0]))} {WITH.get(pair[0].keys['sync'], '')}".rstrip(), pair,
                      "latency_us", TIME_US)


# ---- collectives, halo swaps ---------------------------------------------------------------------

def barrier(tables):
    """Of `collective`, else of syncbench."""
    column, pairs = "time_us", blocking(tables, "barrier")
    ranks = [table.metadata.get("ranks", ["?"])[0] for table in tables.of(NEW, "collective")]
    if not pairs:
        column, pairs = "sync_us", tables.measured("syncbench", "sync_us", sync="MPI barrier")
        ranks = [pair[0].keys["ranks"] for pair in pairs]
    for pair in pairs[:1]:
        yield line_of(f"Barrier of {ranks[0]} processes", pair, column, TIME_US)


def collectives(tables):
    """The blocking calls of the smallest size: of `collective`, else of the overlap programs."""
    for operation, name in BLOCKING:
        column, pairs = "time_us", blocking(tables, operation)
        if not pairs:
            column, pairs = "blocking_us", over_sizes(tables, "blocking_us", collective="i" + operation)
        for pair in sorted(pairs, key=lambda pair: pair[0].size())[:1]:
            yield line_of(f"{name} of {size_text(pair[0].size())}", pair, column, TIME_US)


def blocking(tables, operation):
    """Pairs of the rows of `collective` with an operation as programs usually call it."""
    usual = (("type", "double"), ("op", "sum"), ("in_place", "no"), ("root", "0"))
    return [pair for pair in tables.measured("collective", "time_us", operation=operation)
            if all(pair[0].keys.get(key, "NA") in (cell, "NA") for key, cell in usual)]


def over_sizes(tables, column, **keys):
    """Pairs of the rows of overlap_* over sizes."""
    return [pair for kind in tables.kinds() if benchmarks.entry_of(kind).kind == "overlap_sweep"
            for pair in tables.measured(kind, column, **keys)]


def halo(tables):
    """The quickest way to swap the halo of some boxes, from the first to the last, alone and under work."""
    for what, pairs, column in (
            ("", tables.measured("halo", "latency_us"), "latency_us"),
            (", exposed under work", over_sizes(tables, "exposed_us", collective="halo", test_calls="0"),
             "exposed_us")):
        boxes = {}
        for row, found in pairs:
            boxes.setdefault((row.keys["local"], row.keys.get("dims")), []).append((method_of(row), (row, found)))
        last = len(boxes) - 1
        for place in sorted({round(place * last / (BOXES - 1)) for place in range(BOXES)} if boxes else ()):
            best, note = best_of(list(boxes.values())[place], column, TIME_US)
            yield line_of(f"Halo of {best[0].keys['local'].replace('x', ' x ')}{what}", best, column, TIME_US, note)


def method_of(row):
    method, sync, form = row.keys["method"], row.keys.get("sync", "NA"), row.keys.get("form", "nonblocking")
    more = [word for word in (sync, form) if word not in ("NA", "none", "nonblocking", method)]
    return method + (f" ({', '.join(more)})" if more else "")


# ---- noise ---------------------------------------------------------------------------------------

MUCH_LOST_PCT = 1               # of the time, from which on something should be done about it
SAME_PERIOD, SAME_LENGTH = 0.02, 2.0  # of a source in two launches: share, and factor


def noise(tables):
    """The share of the time for which ranks are interrupted; by which sources that half of the launches name, or more:
    what one launch of several names is a disturbance that passed; and what that should cost most."""
    for row, stopped in tables.measured("noise", "stopped_pct", scope="job")[:1]:
        sources = [source for source in sources_of_all(tables.rows("noise", scope="source"))
                   if 2 * len(set(source.runs)) >= len(row.launches)]
        shares = [(source, measured(source, "stopped_pct")) for source in sources
                  if measured(source, "stop_us")]
        shares = sorted((pair for pair in shares if pair[1]), key=lambda pair: -pair[1].value)
        lost = line_of("Time lost to interruptions", (row, stopped), "stopped_pct", SHARE,
                       explained(tables, stopped, shares))
        can_do = stopped.is_sure and stopped.low > MUCH_LOST_PCT and has_no_processor_left(tables)
        yield lost._replace(todo="try with a processor left free" if can_do else "")
        for source, share in shares[:SOURCES]:
            yield of_source(tables, source, share)
    # The operation that interruptions of all ranks should slow down most. The measured slowdown is too low, since usual
    # steps are interrupted, too.
    for row, predicted in sorted(tables.measured("noise", "predicted_pct", scope="collective"),
                                 key=lambda pair: -pair[1].value)[:1]:
        work = "" if row.keys["grain_us"] == "0" else f" after {row.keys['grain_us']} µs of work"
        yield line_of(f"Slowdown, {row.keys['operation']}{work}", (row, predicted), "predicted_pct", SHARE,
                      "predicted from interruptions")


def has_no_processor_left(tables):
    """Whether each processor of the nodes has a rank, in all launches of noise."""
    said = [[table.metadata.get(key, ["NA"])[0] for key in ("processors", "ranks_per_node")]
            for table in tables.of(NEW, "noise")]
    return all(is_number(text) for texts in said for text in texts) and all(
        float(ranks) >= float(processors) for processors, ranks in said)


def explained(tables, stopped, shares):
    """How much sources explain, where that is less than half of the time."""
    if not shares:
        return "no single cause stands out"
    ranks = count_of(functools.reduce(operator.or_, (ranks_of(row) or 0 for scope in ("host", "rank")
                                                     for row in tables.rows("noise", scope=scope)), 0))
    known = sum(found.value * (count_of(ranks_of(source) or 0) or ranks) / ranks for source, found in shares if ranks)
    little = ranks and 2 * known < stopped.value
    return f"known causes take {typical(stopped._replace(value=known, low=None), SHARE)}" if little else ""


def of_source(tables, source, share):
    often, period = map(source.median, ("stops_per_s", "period_ms"))
    when = (f"every {period:.3g} ms" if period is not None else
            f"{often:.3g} a second" if often is not None else "now and then")
    ranks = source.keys["ranks"]
    return line_of(f"Interruptions {when}, rank{'' if ranks.isdigit() else 's'} {ranks:.20}",
                   (source, measured(source, "stop_us")), "stop_us", TIME_US,
                   f"{typical(share, SHARE)} of the time")


def sources_of_all(rows):
    """The sources of noise, each with the launches of all rows that mean it: launches don't agree to
    the digit on a period, a length or the ranks. The keys are those that most launches have."""
    joined = []
    for row in sorted(rows, key=lambda row: -len(row.launches)):
        same = next((place for place, source in enumerate(joined) if is_same_source(source, row)), len(joined))
        joined[same:same + 1] = [source._replace(launches=source.launches + row.launches, runs=source.runs + row.runs)
                                 for source in joined[same:same + 1]] or [row]
    return joined


def is_same_source(one, other):
    ranks = [ranks_of(row) for row in (one, other)]
    if one.keys["source"] != other.keys["source"] or (None not in ranks and not ranks[0] & ranks[1]):
        return False
    lengths, periods = ([row.median(column) for row in (one, other)] for column in ("stop_us", "period_ms"))
    return (None not in lengths and max(lengths) < SAME_LENGTH * min(lengths) and
            (None in periods or abs(periods[0] - periods[1]) <= SAME_PERIOD * periods[0]))


def ranks_of(row):
    """The ranks of a row, a cell like "0-1,4", as one number with a byte for each; None where it says how many only."""
    found = rank_hosts.ranks_of(row.keys["ranks"])
    return None if found is None else int.from_bytes(rank_hosts.marks_of(found), "little")


def count_of(ranks):
    """How many they are."""
    return ranks.to_bytes(ranks.bit_length() // 8 + 1, "little").count(1)


# ---- the monitor ---------------------------------------------------------------------------------

def monitor(tables):
    """What monitoring adds to a call, at most, in rows of one call or several."""
    pairs = [(1 / calls_in(pair[0].keys["call"]), pair)
             for pair in tables.measured("monitor_overhead", "added_ns", mode="on")]
    for scale, pair in sorted(pairs, key=lambda one: -one[0] * one[1][1].value)[:1]:
        yield line_of("Monitoring, added to a call at most", pair, "added_ns", TIME_NS, pair[0].keys["call"], scale)


def calls_in(text):
    """How many calls a row of the monitor's is of: 17 of "8 MPI_Irecv 8 MPI_Isend MPI_Waitall"."""
    return sum(int(times or 1) for times in re.findall("(?:([0-9]{1,9}) )?MPI_", text)) or 1


COSTS = (messages, host_overhead, message_rate, barrier, collectives, halo, put, noise, monitor)


# ---- a monitored program -------------------------------------------------------------------------

def where_time_went(tables):
    """How long a monitored program was inside MPI, in which calls, what of that was waiting, and the message and the
    collective that took longest from start to completion."""
    for column, what, kinds, count in (
            ("in_calls_s", "Inside MPI, all processes together", ("total",), 1), ("in_calls_s", "{}", CALLS, FUNCTIONS),
            ("waited_s", "Waiting for late processes in {}", CALLS, 1),
            ("total_s", "{}, from start to completion", ("pttopt",), 1),
            ("total_s", "{}, from start to completion", ("coll",), 1)):
        pairs = [(row, found) for row, found in tables.measured("mpirtmon", column)
                 if row.keys["kind"] in kinds and row.keys["rank"] == "NA" and found.value > 0]
        for pair in sorted(pairs, key=lambda pair: -pair[1].value)[:count]:
            yield line_of(what.format(call_of(pair[0])), pair, column, TIME_S,
                          last_of(pair[0]) if column == "waited_s" else "")


def last_of(row):
    last = set(row.texts("last_rank"))
    return f"rank {last.pop()} came last most often" if len(last) == 1 else ""


def call_of(row):
    """MPI_Send on grid."""
    on = row.keys.get("comm", "NA")
    return row.keys["operation"] + (f" on {on:.30}" if on != "NA" else "")


# ---- links ---------------------------------------------------------------------------------------

# What is out of line, by scope and verdict.
FAULTS = {("whole", "two groups"): ("Links between two groups of nodes", "differ"),
          ("node", "slow"): ("Node {a}", "slow"), ("node", "slow out"): ("Node {a}", "slow to send"),
          ("node", "slow in"): ("Node {a}", "slow to receive"),
          ("pair", "slow"): ("Link of {a} and {b}", "slow"), ("pair", "slow out"): ("Link from {a} to {b}", "slow"),
          ("pair", "slow in"): ("Link from {b} to {a}", "slow")}
# What to do where they are nodes.
AGAINST_FAULTS = {"whole": "keep a job's nodes in one group", "node": "leave it out (linkmap --exclude)",
                  "pair": "look at the switches' ports between them"}


def slow_links(tables):
    """The nodes and pairs that linkmap names in half of the launches or more; or that there are none,
    if each launch says so of every size."""
    whole = tables.rows("linkmap", scope="whole")
    launches = {row.keys["nbytes"]: len(row.launches) for row in whole}
    lines, are_ranks = [], bool(tables.rows("linkmap", scope="rank"))
    for row in tables.rows("linkmap"):
        said = verdicts_of(row)
        verdict = max(sorted(set(said)), key=said.count)
        scope = row.keys["scope"]
        fault = FAULTS.get(("node" if scope == "rank" else scope, verdict.split(",")[0]))
        # A pair has a row in those launches alone that name it.
        count, of_all = said.count(verdict), launches.get(row.keys["nbytes"], len(said))
        if fault and 2 * count >= of_all:
            note = f"messages of {size_text(row.size('nbytes'))}, in {count} of {counted(of_all, 'launch', 'launches')}"
            what = fault[0].replace("nodes", "processes").replace("Node", "Process") if are_ranks else fault[0]
            lines.append(Line(what.format(**row.keys), fault[1], note=note, rows=(row.identity,),
                              todo="" if are_ranks else AGAINST_FAULTS[scope]))
    judged = {verdict for row in whole for verdict in verdicts_of(row)}
    if lines or judged <= {"NA"}:
        return lines
    why = ("" if judged == {"even"} else "suspects were not timed again" if judged == {"even", "NA"} else
           "launches name others each time")
    return [Line(f"{'Processes' if are_ranks else 'Nodes'} and links", "not clear" if why else "all alike", note=why,
                 rows=tuple(row.identity for row in whole))]


def verdicts_of(row):
    return [cells.get("verdict", "NA") for cells in row.launches]
