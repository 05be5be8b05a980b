"""What results say in sentences: each a fact with its number, interval and rows, or what can't be
told and why.

A rule is a function of the results (Facts) that returns Findings, none where the results have
nothing on its question. RULES has them in the order in which they are shown.
"""

import re

from commcost.reading.results import is_number
from commcost.reading import benchmarks, placing
from commcost.saying import compare, nonblocking, vary
from commcost.saying.finding import NAMES, Finding, can_not_tell
from commcost.reading.intervals import LAUNCHES_ENOUGH, Measured, is_above, is_below, is_less
from commcost.reading.tables import NEW
from commcost.words import bytes_text, counted, listed, short

MOST = 12           # sentences
HIDES_PCT = 50      # an operation that hides so much of its time is worth starting early
HIDES_NOT_PCT = 10
FREE_PCT = 90       # of a transfer's time, from which on the network does the work
CALLS = 4           # functions that a sentence has
LOST_PCT = 10       # of the time, above which intervals may miss the truth


def find_all(tables, best=()):
    """All Findings of the results, at most MOST; `best` has what varied settings make of rows
    (vary.Best). Where they vary, other rules would count each row once a setting."""
    groups = [rule(tables) for rule in RULES[:FIRST]] + [best_settings(best)]
    if not best:
        groups += [rule(tables) for rule in RULES[FIRST:]]
    return shared_out(groups, MOST)


def shared_out(groups, most):
    """At most `most` of all groups, in their order: the first of each, then the second of each,
    and so on."""
    places = sorted((depth, number) for number, group in enumerate(groups)
                    for depth in range(len(group)))[:most]
    return [groups[number][depth] for number, depth in
            sorted((number, depth) for depth, number in places)]


# ---- a base --------------------------------------------------------------------------------------

def what_changed(changes):
    """How many rows changed from the base, and which the most."""
    counts = {verdict: [change for change in changes if change.verdict == verdict]
              for verdict in compare.VERDICTS}
    told = [f"{len(counts[verdict])} {verdict}" for verdict in
            (compare.SLOWER, compare.FASTER, compare.FAILED, compare.MISSING, compare.ADDED,
             compare.SAME) if counts[verdict]]
    slower = sorted((change for change in counts[compare.SLOWER] if change.change_pct is not None),
                    key=lambda change: -abs(change.change_pct))
    most = ""
    if slower:
        one = slower[0]
        keys = listed_keys(one.series.schema.keys, one.series.keys)
        most = (f" The most: {one.series.schema.benchmark} {one.series.quantity} ({keys}), "
                f"{one.change_pct:+.1f} {'points' if one.points else '%'}.")
    unsure = len(counts[compare.CANT_TELL])
    also = f" In {counted(unsure, 'row')} it can't be told." if unsure else ""
    return Finding(f"Against the base, of {counted(len(changes), 'row')}: "
                   f"{', '.join(told) or 'none for sure'}.{most}{also}")


# ---- varied settings -----------------------------------------------------------------------------

def best_settings(best):
    """In how many rows which setting is best, or that none is."""
    if not best:
        return []
    sure = [row for row in best if row.sure]
    said = []
    for name in sorted({row.name for row in sure},
                       key=lambda name: -sum(row.name == name for row in sure)):
        rows = [row for row in sure if row.name == name]
        gains = [f"{short(max(of_unit))} {unit}" for unit, of_unit in
                 ((unit, [row.gain_pct for row in rows
                          if row.points == points and row.gain_pct is not None])
                  for unit, points in (("%", False), ("points", True))) if of_unit]
        by = f", by up to {listed(gains)}" if gains else ""
        said.append(Finding(f"{name} is best in {counted(len(rows), 'row')} of {len(best)}{by}: "
                            f"{listed((row_told(row) for row in rows), NAMES)}."))
    if len(sure) < len(best):
        count = len(best) - len(sure)
        said.append(can_not_tell(
            f"which setting is best in {counted(count, 'row')}",
            "the launches of the settings differ too little, or are fewer than the "
            f"{vary.launches_needed(best)} of each that are needed for {counted(len(best), 'row')}",
            ()))
    return said


def row_told(best):
    return (f"{best.schema.benchmark} {best.quantity} "
            f"({listed_keys(best.schema.keys, best.keys)})")


def listed_keys(names, values):
    return ", ".join(named_keys(zip(names, values)))


def named_keys(pairs):
    """The keys of a row that say something."""
    return [f"{name} {value}" for name, value in pairs if value not in ("NA", "none")]


# ---- overlap -------------------------------------------------------------------------------------

def hidden_work(tables):
    """Which collectives hide work at the size that takes about a millisecond, and which don't."""
    pairs = plain(tables.measured("overlap", "overlap_pct"))
    hide = [pair for pair in pairs if is_above(pair[1], HIDES_PCT)]
    bare = [pair for pair in pairs if is_below(pair[1], HIDES_NOT_PCT)]
    unsure = [pair for pair in pairs if is_unsure(pair[1])]
    said = []
    for several, text in ((hide, f"at least {HIDES_PCT} % of their time can be used for work"),
                          (bare, f"starting them early gains less than {HIDES_NOT_PCT} % of their "
                                 "time")):
        if several:
            order = sorted(several, key=lambda pair: -pair[1].value)
            said.append(Finding(
                f"In {len(several)} of {counted(len(pairs), 'collective')} at the size that takes "
                f"about a millisecond, {text}: {listed(map(overlap_told, order), NAMES)}.",
                tuple(row for row, _ in order)))
    if unsure:
        said.append(can_not_tell(
            f"whether work fits under {listed((operation_of(row) for row, _ in unsure), NAMES)}",
            f"the intervals are up to {short(max(value.width for _, value in unsure))} points wide",
            [row for row, _ in unsure]))
    return said


def overlap_told(pair):
    return f"{operation_of(pair[0])} {pair[1].told('%')}"


def plain(pairs):
    """The pairs of a row and a value of each operation as it is called usually: nonblocking, without
    calls of MPI_Test; where it wasn't measured so, all others."""
    for column, usual in (("form", "nonblocking"), ("test_calls", "0")):
        so = {operation_of(row) for row, _ in pairs if row.keys[column] == usual}
        pairs = [(row, value) for row, value in pairs
                 if row.keys[column] == usual or operation_of(row) not in so]
    return pairs


def operation_of(row):
    """The operation of a row, with its method or number of parts."""
    return " ".join([row.keys["collective"], *named_values(row, "method", "partitions")])


def named_values(row, *columns):
    return [f"({row.keys[column]})" for column in columns if row.keys.get(column, "NA") != "NA"]


def is_unsure(value):
    """Whether an overlap's interval reaches from what is too little to what is worth the while."""
    return value.low is not None and value.low < HIDES_NOT_PCT and value.high > HIDES_PCT


def sizes_that_hide(tables):
    """From which size on collectives hide work, which do at no size, and of which that isn't sure."""
    since, never, since_rows, never_rows, unsure = [], [], [], [], []
    for name, pairs in overlap_by_size(tables):
        first = first_of_the_rest(pairs, lambda value: is_above(value, HIDES_PCT))
        if first is not None:
            since.append((first[0].size(), name))
            since_rows.append(first[0])
        elif pairs and all(is_below(value, HIDES_PCT) for _, value in pairs):
            never.append(name)
            never_rows += [row for row, _ in pairs[-1:]]
        elif pairs and not is_below(pairs[-1][1], HIDES_PCT):
            unsure.append((pairs[-1][0], name))
    parts = []
    for size in sorted({size for size, _ in since}):
        names = [name for of, name in since if of == size]
        parts.append(f"{listed(names, NAMES)} from {bytes_text(size)} on")
    said = []
    if parts:
        said.append(Finding(f"At least half of their time can be used for work: "
                            f"{'; '.join(parts)}.", tuple(since_rows)))
    if never:
        said.append(Finding(f"Less than half of their time can be used for work at any size that "
                            f"was measured: {listed(never, NAMES)}.", tuple(never_rows)))
    if unsure:
        said.append(can_not_tell(
            f"from which size on half of their time can be used for work: "
            f"{listed((name for _, name in unsure), NAMES)}",
            "at the largest size the launches don't tell",
            [row for row, _ in unsure]))
    return said


def overlap_by_size(tables):
    """Pairs of an operation and its overlap, itself pairs of a row and a value by size."""
    found = {}
    for kind in tables.kinds():
        if benchmarks.entry_of(kind).kind == "overlap_sweep":
            for pair in plain(tables.measured(kind, "overlap_pct")):
                found.setdefault(operation_of(pair[0]), []).append(pair)
    return [(name, sorted(pairs, key=lambda pair: pair[0].size()))
            for name, pairs in found.items()]


def first_of_the_rest(pairs, holds):
    """The first pair from which on a condition holds to the end; None if it doesn't at the end."""
    first = None
    for pair in reversed(pairs):
        if not holds(pair[1]):
            break
        first = pair
    return first


# ---- messages ------------------------------------------------------------------------------------

def message_cost(tables):
    """What a message takes of the processor, and from which size on the network does the work."""
    said = []
    for direction in ("send", "recv"):
        pairs = [pair for pair in tables.measured("mpi_overhead", "overhead", direction=direction)
                 if pair[0].keys["pair"] in ("0", "NA")]
        pairs.sort(key=lambda pair: pair[0].size("msgsize"))
        if not pairs:
            continue
        ends = [pairs[0], pairs[-1]] if len(pairs) > 1 else pairs
        free = sorted((pair for pair in tables.measured("mpi_overhead", "avail(%)",
                                                       direction=direction)
                       if pair[0].keys["pair"] in ("0", "NA")),
                      key=lambda pair: pair[0].size("msgsize"))
        since = first_of_the_rest(free, lambda value: is_above(value, FREE_PCT))
        costs = listed(f"{value.told('µs')} for {bytes_text(row.size('msgsize'))}"
                       for row, value in ends)
        verb = "sending" if direction == "send" else "receiving"
        text = f"Of the processor's time, {verb} a message takes {costs}"
        if since is not None:
            text += (f"; from {bytes_text(since[0].size('msgsize'))} on more than {FREE_PCT} % "
                     "of the transfer's time is free for other work")
        elif free and is_below(free[-1][1], FREE_PCT):
            text += (f"; of the largest transfer's time {free[-1][1].told('%')} is free for other "
                     "work")
        rows = [row for row, _ in ends] + ([since[0]] if since is not None else [])
        said.append(Finding(text + ".", tuple(rows)))
    return said


def put_against_send(tables):
    """What a put needs against a send, by size."""
    said, rows = [], []
    sends = {row.keys["ndata"]: (row, value) for row, value in
             tables.measured("pingpong", "latency_us", arrangement="single", pattern="MPI Send")}
    puts = [(row, value) for row, value in
            tables.measured("pingpong", "latency_us", arrangement="single", pattern="put")
            if is_number(row.keys["ndata"]) and row.keys["ndata"] in sends and
            sends[row.keys["ndata"]][1].value > 0]
    if not puts:
        return []
    quickest = {}
    for row, value in puts:
        size = row.keys["ndata"]
        if size not in quickest or value.value < quickest[size][1].value:
            quickest[size] = (row, value)
    sizes = sorted(quickest, key=float)
    for size in dict.fromkeys([sizes[0], sizes[-1]]):
        (put, value), (send, other) = quickest[size], sends[size]
        what = bytes_text(8 * float(size))
        rows += [put, send]
        if is_less(other, value) or is_less(value, other):
            said.append(f"of {what} {short(value.value / other.value)} times as long as MPI_Send "
                        f"({value.told('µs')} and {other.told('µs')})")
        else:
            said.append(f"of {what} as long as MPI_Send, as far as can be told "
                        f"({value.told('µs')} and {other.told('µs')})")
    return [Finding(f"A put takes, with what its partner needs to know of it, {listed(said)}.",
                    tuple(rows))]


def message_rate(tables):
    """How fast messages go with cold caches, and which way of exchanging them is the best."""
    pairs = tables.measured("msgrate", "rate_per_s")
    pairs = [pair for pair in pairs if is_number(pair[0].keys["nbytes"])]
    if not pairs:
        return []
    # Only what differs in nothing but the pattern is compared.
    first = min(pairs, key=lambda pair: float(pair[0].keys["nbytes"]))[0]
    size = first.keys["nbytes"]
    pairs = [pair for pair in pairs if all(pair[0].keys[key] == first.keys[key]
                                           for key in first.keys if key != "pattern")]
    best = max(pairs, key=lambda pair: pair[1].value)
    worst = min(pairs, key=lambda pair: pair[1].value)
    if worst[1].value <= 0:
        return []
    rivals = [row.keys["pattern"] for row, value in pairs
              if row is not best[0] and not is_less(value, best[1])]
    also = f"; {listed(rivals, NAMES)} may be as quick" if rivals else ""
    text = (f"{after_flush(best[0])} a process exchanges {per_second(best[1])} messages of "
            f"{bytes_text(float(size))} a second at best ({best[0].keys['pattern']}{also})")
    if is_less(worst[1], best[1]):
        text += (f", {short(best[1].value / worst[1].value)} times as many as at worst "
                 f"({worst[0].keys['pattern']})")
    return [Finding(text + ".", (best[0], worst[0]))]


def after_flush(row):
    """In which state the caches were."""
    flush = row.size("cache_size")
    return f"After a flush of {bytes_text(flush)} of cache" if flush > 0 else "With warm caches"


def per_second(value):
    """A rate in words, in millions where it has any."""
    return scaled(value, 1e-6).told() + " million" if value.value >= 1e6 else value.told()


def scaled(value, factor):
    """A Measured in another unit."""
    ends = [None if end is None else end * factor for end in (value.low, value.high)]
    return Measured(value.value * factor, *ends, value.launches)


# ---- synchronisation and halo swaps --------------------------------------------------------------

def barrier_cost(tables):
    """What a barrier costs."""
    pairs = tables.measured("syncbench", "sync_us", sync="MPI barrier")
    return [Finding(f"A barrier of {row.keys['ranks']} processes costs {value.told('µs')}.", (row,))
            for row, value in pairs[:1]]


def cheapest_halo(tables):
    """The cheapest way to swap a halo, by size."""
    return best_methods(tables.measured("halo", "latency_us"), "A halo is swapped quickest",
                        "which is quicker in a halo swap")


def cheapest_overlapped_halo(tables):
    """The way to swap a halo that leaves the least exposed under work, by size."""
    pairs = [pair for kind in tables.kinds() if benchmarks.entry_of(kind).kind == "overlap_sweep"
             for pair in plain(tables.measured(kind, "exposed_us", collective="halo"))]
    return best_methods(pairs, "With plenty of work a halo swap leaves the least exposed",
                        "which leaves less exposed in a halo swap with work")


def best_methods(pairs, words, what):
    """Findings on the method with the least value for each box, of pairs of a row and a value."""
    by_box = {}
    for row, value in pairs:
        by_box.setdefault((row.keys["local"], row.keys.get("dims", "NA")), []).append((row, value))
    best, unsure, rows = {}, [], []
    for (box, _), of_box in by_box.items():
        if len(of_box) < 2:
            continue
        first, second = sorted(of_box, key=lambda pair: pair[1].value)[:2]
        rows += [first[0], second[0]]
        if is_less(first[1], second[1]):
            best.setdefault(method_of(first[0]), []).append((box, first[1]))
        else:
            unsure.append(f"{method_of(first[0])} or {method_of(second[0])} (box {box})")
    said = []
    if best:
        parts = []
        for method, boxes in best.items():
            told = listed(f"{box} ({value.told('µs')})" for box, value in boxes)
            parts.append(f"by {method} for {told}")
        said.append(Finding(f"{words} {'; '.join(parts)}.", tuple(rows)))
    if unsure:
        said.append(can_not_tell(f"{what}: {listed(unsure, NAMES)}",
                                 "their intervals are as wide as what they differ by", rows))
    return said


def method_of(row):
    sync = row.keys.get("sync", "NA")
    return row.keys["method"] + ("" if sync in ("NA", "none") else f" ({sync})")


# ---- links ---------------------------------------------------------------------------------------

NODE_FAULTS = {"slow": "{a} is slow", "slow out": "{a} is slow to send",
               "slow in": "{a} is slow to receive"}
PAIR_FAULTS = {"slow": "the link of {a} and {b} is slow",
               "slow out": "the way from {a} to {b} is slow",
               "slow in": "the way from {b} to {a} is slow"}


def slow_links(tables):
    """The nodes and pairs that linkmap names in half of the launches or more; or that there are none,
    if each launch says so of every size."""
    whole = [row for row in tables.rows("linkmap") if row.keys["scope"] == "whole"]
    launches = {row.keys["nbytes"]: len(row.launches) for row in whole}
    named, judged = [], set()
    for row in tables.rows("linkmap"):
        said = [cells.get("verdict", "NA") for cells in row.launches]
        verdict = max(sorted(set(said)), key=said.count)
        # A pair has a row in those launches alone that name it.
        often = 2 * said.count(verdict) >= launches.get(row.keys["nbytes"], len(said))
        if row.keys["scope"] == "whole":
            judged.update(said)
        if row.keys["scope"] == "whole" and verdict.startswith("two groups") and often:
            named.append((row, "links between two groups of nodes take another time than those "
                               "within them"))
        elif verdict in NODE_FAULTS and often:
            texts = PAIR_FAULTS if row.keys["scope"] == "pair" else NODE_FAULTS
            named.append((row, texts[verdict].format(**row.keys)))
    if named:
        texts = listed([f"with {bytes_text(row.size('nbytes'))} {text}" for row, text in named],
                       NAMES)
        return [Finding(texts[0].upper() + texts[1:] + ".", tuple(row for row, _ in named))]
    if judged == {"even"}:
        return [Finding("No node and no link is out of line.", tuple(whole))]
    if judged <= {"NA"}:
        return []
    why = ("not all that was suspected was timed again" if judged <= {"even", "NA"} else
           "what launches name is another node or link each time")
    return [can_not_tell("which node or link is out of line", why, whole)]


# ---- noise ---------------------------------------------------------------------------------------

SAME_PERIOD, SAME_LENGTH = 0.02, 2.0  # of a source in two launches: share, and factor


def what_stops_ranks(tables):
    """For how much of the time ranks are stopped, by which sources that half of the launches name, or
    more, and how much these explain: what one launch of several names is a disturbance that passed."""
    whole = tables.measured("noise", "stopped_pct", scope="job")
    if not whole:
        return []
    row, stopped = whole[0]
    found = sources_of_all(tables.rows("noise", scope="source"))
    sources = [(source, tables.value(source, "noise", "stopped_pct")) for source in found
               if 2 * len(set(source.runs)) >= len(row.launches)]
    sources.sort(key=lambda pair: -pair[1].value)
    ranks = set().union(*(ranks_in(host.keys["ranks"]) or set()
                          for scope in ("host", "rank") for host in tables.rows("noise", scope=scope)))
    shares = [value.value * len(ranks_in(source.keys["ranks"]) or ranks) / len(ranks)
              for source, value in sources if ranks]
    named = listed([source_text(source) for source, _ in sources], NAMES)
    if not named:
        named = "no source stands out" + (" in half of the launches" if found else "")
    elif shares and 2 * sum(shares) < stopped.value:
        named += f"; that is {short(sum(shares))} %, and what takes the rest can't be told"
    return [Finding(f"Processes are stopped for {stopped.told('%')} of the time"
                    f"{':' if sources else ';'} {named}.",
                    (row, *(source for source, _ in sources)))]


def sources_of_all(rows):
    """The sources of noise, each with the launches of all rows that mean it: launches don't agree to
    the digit on a period, a length or the ranks. The keys are those that most launches have."""
    joined = []
    for row in sorted(rows, key=lambda row: -len(row.launches)):
        for number, source in enumerate(joined):
            if is_same_source(source, row):
                joined[number] = source._replace(launches=source.launches + row.launches,
                                                 runs=source.runs + row.runs)
                break
        else:
            joined.append(row)
    return joined


def is_same_source(one, other):
    ranks = [ranks_in(row.keys["ranks"]) for row in (one, other)]
    if one.keys["source"] != other.keys["source"] or (None not in ranks and
                                                      not ranks[0] & ranks[1]):
        return False
    lengths, periods = ([row.median(column) for row in (one, other)] for column in ("stop_us", "period_ms"))
    return (None not in lengths and max(lengths) < SAME_LENGTH * min(lengths) and
            (None in periods or abs(periods[0] - periods[1]) <= SAME_PERIOD * periods[0]))


def ranks_in(text):
    """The ranks of a cell like "0-1,4"; None where it says how many only."""
    found = placing.ranks_of(text)
    return None if found is None else set().union(*found)


def source_text(row):
    """A source of noise in words."""
    often, length, period = map(row.median, ("stops_per_s", "stop_us", "period_ms"))
    how = (f"{short(often)} times a second more often than others" if period is None
           else f"every {short(period)} ms")
    ranks = row.keys["ranks"]
    return f"rank{'' if ranks.isdigit() else 's'} {ranks} {how} for {short(length)} µs"


def slowed_down(tables):
    """The operation that the stops of all ranks should slow down most, and by how much it was slower."""
    pairs = tables.measured("noise", "predicted_pct", scope="collective")
    if not pairs:
        return []
    row, most = max(pairs, key=lambda pair: pair[1].value)
    work, operation = row.keys["grain_us"], row.keys["operation"]
    article = "an" if operation[0] == "a" else "a"
    step = (f"{work} µs of work and {article} {operation}" if work != "0"
            else f"{article} {operation} without work before it")
    measured = [value for other, value in tables.measured("noise", "slowdown_pct", scope="collective")
                if other is row]
    found = f"; measured: {measured[0].told('%')}" if measured else ""
    return [Finding(f"These stops should slow down {step} by {most.told('%')}{found}.", (row,))]


# ---- the monitor, and what matters for all -------------------------------------------------------

def monitor_cost(tables):
    """What monitoring adds to a call, in rows of one call or several."""
    pairs = [(row, scaled(value, 1 / calls_in(row.keys["call"])))
             for row, value in tables.measured("monitor_overhead", "added_ns", mode="on")]
    if not pairs:
        return []
    row, most = max(pairs, key=lambda pair: pair[1].value)
    return [Finding(f"Monitoring adds at most {most.told('ns')} to a call ({row.keys['call']}).",
                    (row,))]


def calls_in(text):
    """How many calls a row of the monitor's is of: 17 of "8 MPI_Irecv 8 MPI_Isend MPI_Waitall"."""
    return sum(int(times or 1) for times in re.findall("(?:([0-9]+) )?MPI_", text)) or 1


def time_inside_mpi(tables):
    """How long a monitored program was inside MPI, in which calls, and what of that was waiting."""
    every = [(row, value) for row, value in tables.measured("mpirtmon", "in_calls_s")
             if row.keys["rank"] == "NA"]
    whole = [pair for pair in every if pair[0].keys["kind"] == "total"]
    if not whole:
        return []
    parts = sorted((pair for pair in every if pair[0].keys["kind"] in ("pttopt", "coll", "calls")),
                   key=lambda pair: -pair[1].value)
    row, total = whole[0]
    said = listed((f"{value.told('s')} in {call_of(part)}" for part, value in parts), CALLS)
    findings = [Finding(f"The program's processes together were inside MPI for {total.told('s')}: "
                        f"{said}.", (row, *(part for part, _ in parts[:CALLS])))]
    waits = [(row, value) for row, value in tables.measured("mpirtmon", "waited_s")
             if row.keys["rank"] == "NA" and value.value > 0]
    if waits:
        row, most = max(waits, key=lambda pair: pair[1].value)
        last = row.texts("last_rank", NEW)
        findings.append(Finding(
            f"Processes waited for late ones most in {call_of(row)}, {most.told('s')} together"
            + (f"; rank {last[0]} came last most often." if len(set(last)) == 1 else "."), (row,)))
    return findings


def call_of(row):
    """MPI_Send on grid."""
    on = row.keys.get("comm", "NA")
    return row.keys["operation"] + (f" on {on}" if on != "NA" else "")


def monitored_time(tables):
    """The message and the collective in which a monitored program spent the most time."""
    every = tables.measured("mpirtmon", "total_s")
    rows, said = [], []
    for kind, what in (("pttopt", "messages"), ("coll", "collectives")):
        pairs = [pair for pair in every if pair[0].keys["kind"] == kind]
        if pairs:
            row, value = max(pairs, key=lambda pair: pair[1].value)
            rows.append(row)
            said.append(f"of its {what} in {row.keys['operation']} on {row.keys['comm']}, "
                        f"{value.told('s')}")
    if not said:
        return []
    return [Finding(f"The program spent most time, from start to completion and over all "
                    f"processes, {' and '.join(said)}.", tuple(rows))]


def wrong_data(tables):
    """Rows whose data was wrong."""
    rows = [row for kind in tables.kinds() for row in tables.rows(kind)
            if any(cells.get("status") == "FAIL" for cells in row.launches)]
    if not rows:
        return []
    return [Finding(f"Wrong data came in {counted(len(rows), 'row')}: what they measured is worth "
                    "nothing until that is mended.", tuple(rows))]


def lost_time(tables):
    """Rows in which the system took much of the time, by the median of launches: one stop is much of
    a short row's time. What noise finds of that is its result."""
    lost = [(row, row.median("lost_pct") or 0.0) for kind in tables.kinds() if kind != "noise"
            for row in tables.rows(kind)]
    lost = sorted((pair for pair in lost if pair[1] > LOST_PCT), key=lambda pair: -pair[1])
    if not lost:
        return []
    return [Finding(f"In {counted(len(lost), 'row')} the system took more than {LOST_PCT} % of the "
                    f"time from the processes, most in {row_name(lost[0][0])}, "
                    f"{short(lost[0][1])} %: measure these again on a quieter machine.",
                    tuple(row for row, _ in lost))]


def row_name(row):
    """Of a tables.Row: its kind and keys."""
    return f"{row.identity.rpartition('-')[0]} ({', '.join(named_keys(row.keys.items()))})"


RULES = (wrong_data, lost_time, slow_links, nonblocking.what_pays, nonblocking.tests_that_help,
         nonblocking.persistent_requests, hidden_work, sizes_that_hide, message_cost, put_against_send, cheapest_halo,
         cheapest_overlapped_halo, barrier_cost, what_stops_ranks, slowed_down, message_rate,
         monitor_cost, time_inside_mpi,
         monitored_time)
FIRST = 2  # rules that hold for settings, too
# What a person is told of how sure all this is.
FEW_LAUNCHES = ("Of one launch a difference is said only where it exceeds twice the interval: launches "
                f"differ by more than one shows. With {LAUNCHES_ENOUGH} launches "
                f"(--runs={LAUNCHES_ENOUGH}) their own differences decide.")
