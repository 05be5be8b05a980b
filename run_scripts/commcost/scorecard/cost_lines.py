# SPDX-License-Identifier: BSD-3-Clause
"""Lines about costs, one function per question, which yields nothing without results. Texts are in card_table.py.

The fastest of several methods is named if the launches prove it.
"""

import functools
import operator
import re

from commcost.result import benchmarks, rank_hosts
from commcost.result.intervals import THRESHOLD_PCT, is_above, measured
from commcost.result.row_labels import PUT_ENDS
from commcost.result.tables import NEW
from commcost.scorecard import card_table
from commcost.scorecard.card_table import COST_LINES, FAULTS
from commcost.scorecard.fact_lines import SHARE, Line, range_text, size_text, value_text
from commcost.words import UNSURE, counted, is_number

LARGE_BYTES = 1 << 16  # min size of messages with a bandwidth
BOXES = 3              # max lines about halo exchanges
SOURCES = 3            # max lines about sources of interruptions


def pairs_of(tables, cost):
    """Returns pairs of a row that a CostLine may show and its Measured value."""
    kinds = [kind for kind in tables.kinds() if benchmarks.entry_of(kind).kind == cost.benchmark]
    return [pair for kind in kinds for pair in tables.measured(kind, cost.column, **cost.keys)]


def line_of(cost, pair, note="", scale=1.0, remedy="", label="", **fields):
    """Returns the Line of a CostLine and a pair of a row and its Measured value. Notes launches without a value."""
    row, found = pair
    values = [scale * float(text) for text in row.texts(cost.column)]
    found = found.scaled(scale)
    if len(values) < len(row.launches):
        note = "; ".join(filter(None, [note, card_table.SOME_LAUNCHES.format(len(values), len(row.launches))]))
    return Line(label or cost.label.format(**fields), value_text(found, cost.units), "",
                range_text(found, values, cost.units), note, (row.identity,), remedy)


def saved_value(row, other, column):
    """Returns the time that a row saves over another one, in percent, launch by launch, or 0 if no launch has both."""
    saved = row.saved_pct(other, column)
    return saved.value if saved else 0.0


def is_better(row, other, column):
    """True if a row surely takes less time than another one, by a relevant amount."""
    saved = row.saved_pct(other, column)
    return saved is not None and is_above(saved, THRESHOLD_PCT)


def lines_of_best(cost, named, more=False, **fields):
    """Yields the Line of the best of pairs of a name and a pair, and of the next best one if the best is clear."""
    first = named[0][1][0]
    (name, best), *others = sorted(named, key=lambda one: saved_value(one[1][0], first, cost.column), reverse=not more)
    rivals = [other for other, (row, _) in others
              if not is_better(*((row, best[0]) if more else (best[0], row)), cost.column)]
    if len(rivals) > 1:
        note = card_table.NONE_FASTEST.format(name, cost.way)
    elif others:
        note = card_table.FASTEST.format(" or ".join([name, *rivals]))
    else:
        note = name
    yield line_of(cost, best, note, **fields)
    if others and not rivals:
        label = card_table.NEXT_FASTEST.format(cost.label.format(**fields))
        yield line_of(cost, others[0][1], others[0][0], label=label)


# ---- messages ------------------------------------------------------------------------------------

def pingpong_pairs(tables, cost):
    """Returns pairs of pingpong's rows with one pair of ranks, by size."""
    pairs = [pair for pair in pairs_of(tables, cost) if is_number(pair[0].keys["blksize"])]
    return sorted(pairs, key=lambda pair: bytes_of(pair[0]))


def bytes_of(row):
    """Returns the size of a row of pingpong whose data is one block, from columns that short results also have."""
    return 8 * row.size("blksize")


def messages(tables):
    """Yields the latency of the smallest message and the bandwidth of the largest one."""
    latency, bandwidth = COST_LINES["latency"], COST_LINES["bandwidth"]
    for pair in pingpong_pairs(tables, latency)[:1]:
        yield line_of(latency, pair, size=size_text(bytes_of(pair[0])))
    for pair in pingpong_pairs(tables, bandwidth)[-1:]:
        if bytes_of(pair[0]) >= LARGE_BYTES:
            yield line_of(bandwidth, pair, size=size_text(bytes_of(pair[0])))


def host_overhead(tables):
    """Yields the host overhead of the smallest and the largest message."""
    for cost in (COST_LINES["send"], COST_LINES["receive"]):
        pairs = [pair for pair in values_of_direction(tables, cost.column, cost.keys["direction"])
                 if pair[1] is not None or all(cells.get("status") == "no-knee" for cells in pair[0].launches)]
        for row, found in pairs[:1] + pairs[1:][-1:]:
            size = size_text(row.size("msgsize"))
            if found is None:
                yield Line(cost.label.format(size=size), UNSURE, note=card_table.NO_KNEE, rows=(row.identity,),
                           remedy=cost.remedy)
            elif is_lost(found):
                yield Line(cost.label.format(size=size), UNSURE)
            else:
                yield line_of(cost, (row, found), size=size)


def is_lost(found):
    """True if a Measured difference of two times is negative and has no interval to bound it."""
    return found.value < 0 and found.low is None


def values_of_direction(tables, column, direction):
    """Returns pairs of mpi_overhead's rows with one pair of ranks, by size, and their Measured value or None."""
    return [(row, measured(row, column))
            for row in sorted(tables.rows("mpi_overhead", direction=direction), key=lambda row: row.size("msgsize"))
            if row.keys["pair"] in ("0", "NA")]


def message_rate(tables):
    """Yields the message rate of the smallest size, with cold and with warm caches, of the best pattern."""
    cost = COST_LINES["rate"]
    pairs = [pair for pair in pairs_of(tables, cost) if is_number(pair[0].keys["nbytes"])]
    for caches in CACHES:
        of_state = [pair for pair in pairs if caches_of(pair[0]) == caches]
        for first, _ in sorted(of_state, key=lambda pair: pair[0].size("nbytes"))[:1]:
            # Rows that differ only in the pattern.
            named = [(pair[0].keys["pattern"], pair) for pair in of_state
                     if {**pair[0].keys, "pattern": ""} == {**first.keys, "pattern": ""}]
            yield from lines_of_best(cost, named, more=True, caches=caches, size=size_text(first.size("nbytes")))


CACHES = ("cold caches, ", "warm caches, ", "")


def caches_of(row):
    """Returns the state of caches before messages, or "" if the result lacks it."""
    flushed = row.keys.get("cache_size", "NA")
    return CACHES[2] if not is_number(flushed) else CACHES[1] if float(flushed) == 0 else CACHES[0]


def put(tables):
    """Yields the smallest put, including the notification of its partner, in the fastest way."""
    pairs = pingpong_pairs(tables, COST_LINES["put"])
    smallest = [pair for pair in pairs if pair[0].keys["blksize"] == pairs[0][0].keys["blksize"]]
    for pair in sorted(smallest, key=lambda pair: pair[1].value)[:1]:
        yield line_of(COST_LINES["put"], pair, end=put_end(pair[0]),
                      size=size_text(bytes_of(pair[0])))


def put_end(row):
    """Returns the synchronisation that ends a put of pingpong."""
    return PUT_ENDS.get(row.keys["sync"], "flush")


# ---- collectives, halo exchanges -----------------------------------------------------------------

def barrier(tables):
    """Yields a barrier of `collective`, or else of syncbench."""
    ranks = [table.metadata.get("ranks", ["?"])[0] for table in tables.of(NEW, "collective")]
    lines = [line_of(COST_LINES["barrier"], pair, ranks=ranks[0]) for pair in blocking(tables, "barrier")]
    cost = COST_LINES["syncbench barrier"]
    yield from (lines or [line_of(cost, pair, ranks=pair[0].keys["ranks"]) for pair in pairs_of(tables, cost)])[:1]


def collectives(tables):
    """Yields the blocking calls of the smallest size, of `collective` or else of the overlap programs."""
    for operation in ("allreduce", "bcast"):
        cost, pairs = COST_LINES[operation], blocking(tables, operation)
        if not pairs:
            cost = COST_LINES[f"overlap {operation}"]
            pairs = pairs_of(tables, cost)
        for pair in sorted(pairs, key=lambda pair: pair[0].size())[:1]:
            yield line_of(cost, pair, size=size_text(pair[0].size()))


def blocking(tables, operation):
    """Returns pairs of rows of `collective` with an operation as programs usually call it."""
    usual = (("type", "double"), ("op", "sum"), ("in_place", "no"), ("root", "0"))
    return [pair for pair in tables.measured("collective", "time_us", operation=operation)
            if all(pair[0].keys.get(key, "NA") in (cell, "NA") for key, cell in usual)]


def halo(tables):
    """Yields the fastest halo exchange of up to BOXES boxes, without work and under work."""
    for cost in (COST_LINES["halo"], COST_LINES["exposed halo"]):
        boxes = {}
        for row, found in pairs_of(tables, cost):
            boxes.setdefault((row.keys["local"], row.keys.get("dims")), []).append((method_of(row), (row, found)))
        last = len(boxes) - 1
        for place in sorted({round(place * last / (BOXES - 1)) for place in range(BOXES)} if boxes else ()):
            named = list(boxes.values())[place]
            yield from lines_of_best(cost, named, box=box_text(named[0][1][0].keys["local"]))


def box_text(box):
    """Returns a box as "50 × 50 × 50"."""
    return box.replace("x", " × ")


def method_of(row):
    """Returns the method of a halo exchange, with its synchronisation or form if that is unusual."""
    method, sync, form = row.keys["method"], row.keys.get("sync", "NA"), row.keys.get("form", "nonblocking")
    end = f" + {PUT_ENDS[sync]}" if sync in PUT_ENDS else ""
    return method + end + (f" ({form})" if form not in ("NA", "nonblocking", method) else "")


# ---- noise ---------------------------------------------------------------------------------------

MUCH_LOST_PCT = 1               # of the time, min for a remedy
SAME_PERIOD, SAME_LENGTH = 0.02, 2.0  # max differences of a source between launches: a share, a factor


def noise(tables):
    """Yields the share of time lost to interruptions, the sources that at least half of the launches name (others are
    passing disturbances), and the largest slowdown that results."""
    for row, stopped in pairs_of(tables, COST_LINES["lost"])[:1]:
        sources = [source for source in sources_of_all(tables.rows("noise", **COST_LINES["source"].keys))
                   if 2 * len(set(source.runs)) >= len(row.launches)]
        shares = [(source, measured(source, "stopped_pct")) for source in sources
                  if measured(source, "stop_us")]
        shares = sorted((pair for pair in shares if pair[1]), key=lambda pair: -pair[1].value)
        can_do = stopped.is_sure and stopped.low > MUCH_LOST_PCT and has_no_processor_left(tables)
        yield line_of(COST_LINES["lost"], (row, stopped), causes_note(tables, stopped, shares),
                      remedy=COST_LINES["lost"].remedy if can_do else "")
        for source, share in shares[:SOURCES]:
            yield source_line(source, share)
    # The largest predicted slowdown. The measured one is too low, since usual steps are also interrupted.
    slowdown = COST_LINES["slowdown"]
    for row, predicted in sorted(pairs_of(tables, slowdown), key=lambda pair: -pair[1].value)[:1]:
        work = "" if row.keys["grain_us"] == "0" else f" + {row.keys['grain_us']} µs of work"
        yield line_of(slowdown, (row, predicted), card_table.PREDICTED, operation=row.keys["operation"], work=work)


def has_no_processor_left(tables):
    """True if each processor of the nodes has a rank, in all launches of noise."""
    said = [[table.metadata.get(key, ["NA"])[0] for key in ("processors", "ranks_per_node")]
            for table in tables.of(NEW, "noise")]
    return all(is_number(text) for texts in said for text in texts) and all(
        float(ranks) >= float(processors) for processors, ranks in said)


def causes_note(tables, stopped, shares):
    """Returns the share of time that the sources explain, if it is less than half of the lost time."""
    if not shares:
        return card_table.NO_CAUSE
    rows = [row for scope in ("host", "rank") for row in tables.rows("noise", scope=scope)]
    ranks = count_of(functools.reduce(operator.or_, (ranks_of(row) or 0 for row in rows), 0))
    known = sum(share.value * (count_of(ranks_of(source) or 0) or ranks) / ranks for source, share in shares if ranks)
    is_little = ranks and 2 * known < stopped.value
    share = value_text(stopped._replace(value=known, low=None), SHARE)
    return card_table.KNOWN_CAUSES.format(share) if is_little else ""


def count_of(ranks):
    """Returns the number of ranks in a result of ranks_of."""
    return ranks.to_bytes(ranks.bit_length() // 8 + 1, "little").count(1)


def source_line(source, share):
    """Returns the Line of a source of interruptions. `share` is the share of time that it takes."""
    often, period = map(source.median, ("stops_per_s", "period_ms"))
    when = (f"every {period:.3g} ms" if period is not None else
            f"{often:.3g} a second" if often is not None else "now and then")
    ranks = source.keys["ranks"]
    return line_of(COST_LINES["source"], (source, measured(source, "stop_us")),
                   card_table.OF_THE_TIME.format(value_text(share, SHARE)), when=when,
                   ranks=f"rank {ranks}" if ranks.isdigit() else f"ranks {ranks.replace('-', '–'):.20}")


def sources_of_all(rows):
    """Returns the sources of noise. Merges rows of launches that differ slightly in period, length or ranks. Keys are
    those of most launches."""
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
    """Returns the ranks of a row, a cell like "0-1,4", as one number with a byte for each rank, or None if the cell
    only counts them."""
    found = rank_hosts.ranks_of(row.keys["ranks"])
    return None if found is None else int.from_bytes(rank_hosts.marks_of(found), "little")


# ---- the monitor ---------------------------------------------------------------------------------

def monitor(tables):
    """Yields the max time that monitoring adds to a call, from rows of one or several calls."""
    cost = COST_LINES["monitor"]
    pairs = [(1 / calls_in(pair[0].keys["call"]), pair) for pair in pairs_of(tables, cost)]
    for scale, pair in sorted(pairs, key=lambda one: -one[0] * one[1][1].value)[:1]:
        yield line_of(cost, pair, pair[0].keys["call"], scale)


def calls_in(text):
    """Returns the number of calls in a row of monitor_overhead: 17 in "8 MPI_Irecv 8 MPI_Isend MPI_Waitall"."""
    return sum(int(times or 1) for times in re.findall("(?:([0-9]{1,9}) )?MPI_", text)) or 1


QUESTIONS = (messages, host_overhead, message_rate, barrier, collectives, halo, put, noise, monitor)


# ---- a monitored program -------------------------------------------------------------------------

def time_in_mpi(tables):
    """Yields the time of a monitored program inside MPI, by call, the part spent waiting, and the message and the
    collective that took longest from start to completion."""
    for cost, kinds, count in card_table.TIME_LINES:
        pairs = [(row, found) for row, found in pairs_of(tables, cost)
                 if row.keys["kind"] in kinds and row.keys["rank"] == "NA" and found.value > 0]
        for pair in sorted(pairs, key=lambda pair: -pair[1].value)[:count]:
            yield line_of(cost, pair, last_rank(pair[0]) if cost.column == "waited_s" else "", call=call_of(pair[0]))


def last_rank(row):
    """Returns the rank that all launches name as the last one, or "" if they differ."""
    last = set(row.texts("last_rank"))
    return card_table.LAST_RANK.format(last.pop()) if len(last) == 1 else ""


def call_of(row):
    """Returns a call like "MPI_Send on grid"."""
    on = row.keys.get("comm", "NA")
    return row.keys["operation"] + (f" on {on:.30}" if on != "NA" else "")


# ---- links ---------------------------------------------------------------------------------------

def slow_links(tables):
    """Returns the Lines of nodes and pairs that linkmap names in at least half of the launches, or a Line that there
    are none."""
    whole = tables.rows("linkmap", scope="whole")
    launches = {row.keys["nbytes"]: len(row.launches) for row in whole}
    lines, are_ranks = [], bool(tables.rows("linkmap", scope="rank"))
    for row in tables.rows("linkmap"):
        named = verdicts_of(row)
        verdict = max(sorted(set(named)), key=named.count)
        scope = row.keys["scope"]
        fault = FAULTS.get(("node" if scope == "rank" else scope, verdict.split(",")[0]))
        # A pair has rows only in launches that name it.
        count, of_all = named.count(verdict), launches.get(row.keys["nbytes"], len(named))
        if fault and 2 * count >= of_all:
            note = card_table.IN_LAUNCHES.format(size_text(row.size("nbytes")), count,
                                                 counted(of_all, "launch", "launches"))
            label = fault.label.replace("nodes", "ranks").replace("Node", "Rank") if are_ranks else fault.label
            lines.append(Line(label.format(**row.keys), fault.verdict, note=note, rows=(row.identity,),
                              remedy="" if are_ranks else fault.remedy))
    judged = {verdict for row in whole for verdict in verdicts_of(row)}
    if lines or judged <= {"NA"}:
        return lines
    why = ("" if judged == {"even"} else card_table.NOT_RETIMED if judged == {"even", "NA"} else card_table.CHANGING)
    return [Line(f"{'Ranks' if are_ranks else 'Nodes'} and links", UNSURE if why else card_table.NO_FAULT, note=why,
                 rows=tuple(row.identity for row in whole))]


def verdicts_of(row):
    return [cells.get("verdict", "NA") for cells in row.launches]
