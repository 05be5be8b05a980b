"""What results say: a rule for each question, which comes to findings by the intervals of what launches found.

A rule is a function of the results (tables.Tables) that returns Findings, none where the results have
nothing on its question. RULES has them in the order in which they are shown. Their words are in sentences.py.
"""

import re

from commcost.reading import benchmarks, placing
from commcost.reading.intervals import LAUNCHES_ENOUGH, is_above, is_below, is_less
from commcost.reading.results import is_number
from commcost.saying import compare, nonblocking, sentences, vary

MOST = 12           # sentences
HIDES_PCT = 50      # an operation that hides so much of its time is worth starting early
HIDES_NOT_PCT = 10
FREE_PCT = 90       # of a transfer's time, from which on the network does the work
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


# ---- a base, varied settings ---------------------------------------------------------------------

def what_changed(changes):
    """How many rows changed from the base, and which the most."""
    counts = {verdict: sum(change.verdict == verdict for change in changes) for verdict in
              (compare.SLOWER, compare.FASTER, compare.FAILED, compare.MISSING, compare.ADDED, compare.SAME)}
    slower = [change for change in changes
              if change.verdict == compare.SLOWER and change.change_pct is not None]
    most = max(slower, key=lambda change: abs(change.change_pct), default=None)
    unsure = sum(change.verdict == compare.CANT_TELL for change in changes)
    return sentences.what_changed(counts, len(changes), most, unsure)


def best_settings(best):
    """In how many rows which setting is best, or that none is."""
    by_name = {}
    for row in best:
        if row.sure:
            by_name.setdefault(row.name, []).append(row)
    said = [sentences.best_setting(name, rows, len(best)) for name, rows in
            sorted(by_name.items(), key=lambda item: (-len(item[1]), item[0]))]
    unsure = sum(not row.sure for row in best)
    if unsure:
        said.append(sentences.no_best_setting(unsure, vary.launches_needed(best), len(best)))
    return said


# ---- overlap -------------------------------------------------------------------------------------

def hidden_work(tables):
    """Which collectives hide work at the size that takes about a millisecond, and which don't."""
    pairs = plain(tables.measured("overlap", "overlap_pct"))
    hide = [pair for pair in pairs if is_above(pair[1], HIDES_PCT)]
    bare = [pair for pair in pairs if is_below(pair[1], HIDES_NOT_PCT)]
    # The interval reaches from what is too little to what is worth the while.
    unsure = [pair for pair in pairs if pair[1].low is not None and
              pair[1].low < HIDES_NOT_PCT and pair[1].high > HIDES_PCT]
    said = [sentences.hidden_work(sorted(several, key=lambda pair: -pair[1].value), len(pairs), what)
            for several, what in ((hide, sentences.hides(HIDES_PCT)),
                                  (bare, sentences.hides_not(HIDES_NOT_PCT))) if several]
    return said + ([sentences.unclear_work(unsure)] if unsure else [])


def plain(pairs):
    """The pairs of a row and a value of each operation as it is called usually: nonblocking, without
    calls of MPI_Test; where it wasn't measured so, all others."""
    for column, usual in (("form", "nonblocking"), ("test_calls", "0")):
        so = {sentences.operation_of(row) for row, _ in pairs if row.keys[column] == usual}
        pairs = [(row, value) for row, value in pairs
                 if row.keys[column] == usual or sentences.operation_of(row) not in so]
    return pairs


def sizes_that_hide(tables):
    """From which size on collectives hide work, which do at no size, and of which that isn't sure."""
    since, never, unsure = [], [], []
    for name, pairs in overlap_by_size(tables):
        first = first_of_the_rest(pairs, lambda value: is_above(value, HIDES_PCT))
        if first is not None:
            since.append((first[0], name))
        elif all(is_below(value, HIDES_PCT) for _, value in pairs):
            never.append((pairs[-1][0], name))
        elif not is_below(pairs[-1][1], HIDES_PCT):
            unsure.append((pairs[-1][0], name))
    return [say(found) for say, found in ((sentences.hides_from, since), (sentences.hides_never, never),
                                          (sentences.unclear_size, unsure)) if found]


def overlap_by_size(tables):
    """Pairs of an operation and its overlap, itself pairs of a row and a value by size."""
    found = {}
    for kind in tables.kinds():
        if benchmarks.entry_of(kind).kind == "overlap_sweep":
            for pair in plain(tables.measured(kind, "overlap_pct")):
                found.setdefault(sentences.operation_of(pair[0]), []).append(pair)
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
        pairs, free = (sorted((pair for pair in tables.measured("mpi_overhead", column, direction=direction)
                               if pair[0].keys["pair"] in ("0", "NA")), key=lambda pair: pair[0].size("msgsize"))
                       for column in ("overhead", "avail(%)"))
        if pairs:
            since = first_of_the_rest(free, lambda value: is_above(value, FREE_PCT))
            last = free[-1] if free and is_below(free[-1][1], FREE_PCT) else None
            said.append(sentences.message_cost(direction, pairs[:1] + pairs[1:][-1:], since, last, FREE_PCT))
    return said


def put_against_send(tables):
    """What a put needs against a send, at the smallest and the largest size that both have."""
    sends, puts = {}, {}
    for pattern, by_size in (("MPI Send", sends), ("put", puts)):
        for row, value in tables.measured("pingpong", "latency_us", arrangement="single", pattern=pattern):
            size = row.keys["ndata"]
            # The quickest of several ways to put.
            if is_number(size) and (pattern != "put" or size not in puts or value.value < puts[size][1].value):
                by_size[size] = (row, value)
    sizes = sorted((size for size in puts if size in sends and sends[size][1].value > 0), key=float)
    compared = [(puts[size], sends[size], is_less(puts[size][1], sends[size][1]) or
                 is_less(sends[size][1], puts[size][1])) for size in dict.fromkeys(sizes[:1] + sizes[-1:])]
    return [sentences.put_against_send(compared)] if compared else []


def message_rate(tables):
    """How fast messages go with cold caches, and which way of exchanging them is the best."""
    pairs = [pair for pair in tables.measured("msgrate", "rate_per_s") if is_number(pair[0].keys["nbytes"])]
    if not pairs:
        return []
    # Only what differs in nothing but the pattern is compared.
    first = min(pairs, key=lambda pair: pair[0].size("nbytes"))[0]
    pairs = [pair for pair in pairs if all(pair[0].keys[key] == first.keys[key]
                                           for key in first.keys if key != "pattern")]
    best, worst = (choose(pairs, key=lambda pair: pair[1].value) for choose in (max, min))
    if worst[1].value <= 0:
        return []
    rivals = [row for row, value in pairs if row is not best[0] and not is_less(value, best[1])]
    return [sentences.message_rate(best, worst, rivals, is_less(worst[1], best[1]))]


# ---- synchronisation and halo swaps --------------------------------------------------------------

def barrier_cost(tables):
    """What a barrier costs."""
    pairs = tables.measured("syncbench", "sync_us", sync="MPI barrier")
    return [sentences.barrier_cost(*pair) for pair in pairs[:1]]


def cheapest_halo(tables):
    """The cheapest way to swap a halo, by size."""
    return best_methods(tables.measured("halo", "latency_us"), sentences.HALO)


def cheapest_overlapped_halo(tables):
    """The way to swap a halo that leaves the least exposed under work, by size."""
    return best_methods([pair for kind in tables.kinds() if benchmarks.entry_of(kind).kind == "overlap_sweep"
                         for pair in plain(tables.measured(kind, "exposed_us", collective="halo"))],
                        sentences.OVERLAPPED_HALO)


def best_methods(pairs, words):
    """Findings on the method with the least value for each box, of pairs of a row and a value."""
    by_box = {}
    for row, value in pairs:
        by_box.setdefault((row.keys["local"], row.keys.get("dims", "NA")), []).append((row, value))
    best, unsure, rows = [], [], []
    for of_box in by_box.values():
        if len(of_box) < 2:
            continue
        first, second = sorted(of_box, key=lambda pair: pair[1].value)[:2]
        rows += [first[0], second[0]]
        if is_less(first[1], second[1]):
            best.append(first)
        else:
            unsure.append((first[0], second[0]))
    return [say(words, found, rows) for say, found in ((sentences.best_methods, best),
                                                       (sentences.unclear_methods, unsure)) if found]


# ---- links ---------------------------------------------------------------------------------------

def slow_links(tables):
    """The nodes and pairs that linkmap names in half of the launches or more; or that there are none,
    if each launch says so of every size."""
    whole = tables.rows("linkmap", scope="whole")
    launches = {row.keys["nbytes"]: len(row.launches) for row in whole}
    named, judged = [], set()
    for row in tables.rows("linkmap"):
        said = [cells.get("verdict", "NA") for cells in row.launches]
        verdict = max(sorted(set(said)), key=said.count)
        is_whole = row.keys["scope"] == "whole"
        judged.update(said if is_whole else ())
        # A pair has a row in those launches alone that name it.
        if 2 * said.count(verdict) >= launches.get(row.keys["nbytes"], len(said)) and (
                verdict in sentences.NODE_FAULTS or is_whole and verdict.startswith("two groups")):
            named.append((row, verdict))
    if named:
        return [sentences.slow_links(named)]
    if judged == {"even"}:
        return [sentences.even_links(whole)]
    return [] if judged <= {"NA"} else [sentences.unclear_links(judged <= {"even", "NA"}, whole)]


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
    is_little = shares and 2 * sum(shares) < stopped.value
    return [sentences.stops(row, stopped, [source for source, _ in sources],
                            sum(shares) if is_little else None, bool(found))]


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


def slowed_down(tables):
    """The operation that the stops of all ranks should slow down most, and by how much it was slower."""
    pairs = tables.measured("noise", "predicted_pct", scope="collective")
    if not pairs:
        return []
    row, predicted = max(pairs, key=lambda pair: pair[1].value)
    return [sentences.slowed_down(row, predicted, tables.value(row, "noise", "slowdown_pct"))]


# ---- the monitor, and what matters for all -------------------------------------------------------

def monitor_cost(tables):
    """What monitoring adds to a call, in rows of one call or several."""
    pairs = [(row, value.scaled(1 / calls_in(row.keys["call"])))
             for row, value in tables.measured("monitor_overhead", "added_ns", mode="on")]
    return [sentences.monitor_cost(*max(pairs, key=lambda pair: pair[1].value))] if pairs else []


def calls_in(text):
    """How many calls a row of the monitor's is of: 17 of "8 MPI_Irecv 8 MPI_Isend MPI_Waitall"."""
    return sum(int(times or 1) for times in re.findall("(?:([0-9]+) )?MPI_", text)) or 1


def time_inside_mpi(tables):
    """How long a monitored program was inside MPI, in which calls, and what of that was waiting."""
    every = tables.measured("mpirtmon", "in_calls_s", rank="NA")
    whole = [pair for pair in every if pair[0].keys["kind"] == "total"]
    if not whole:
        return []
    parts = sorted((pair for pair in every if pair[0].keys["kind"] in ("pttopt", "coll", "calls")),
                   key=lambda pair: -pair[1].value)
    said = [sentences.time_inside_mpi(*whole[0], parts)]
    waits = [pair for pair in tables.measured("mpirtmon", "waited_s", rank="NA") if pair[1].value > 0]
    if waits:
        row, value = max(waits, key=lambda pair: pair[1].value)
        last = set(row.texts("last_rank"))
        said.append(sentences.waiting(row, value, last.pop() if len(last) == 1 else None))
    return said


def monitored_time(tables):
    """The message and the collective in which a monitored program spent the most time."""
    most = {}
    for kind, what in (("pttopt", "messages"), ("coll", "collectives")):
        pairs = [pair for pair in tables.measured("mpirtmon", "total_s") if pair[0].keys["kind"] == kind]
        if pairs:
            most[what] = max(pairs, key=lambda pair: pair[1].value)
    return [sentences.monitored_time(most)] if most else []


def wrong_data(tables):
    """Rows whose data was wrong."""
    rows = [row for kind in tables.kinds() for row in tables.rows(kind)
            if any(cells.get("status") == "FAIL" for cells in row.launches)]
    return [sentences.wrong_data(rows)] if rows else []


def lost_time(tables):
    """Rows in which the system took much of the time, by the median of launches: one stop is much of
    a short row's time. What noise finds of that is its result."""
    lost = [(row, row.median("lost_pct") or 0.0) for kind in tables.kinds() if kind != "noise"
            for row in tables.rows(kind)]
    lost = sorted((pair for pair in lost if pair[1] > LOST_PCT), key=lambda pair: -pair[1])
    return [sentences.lost_time(lost, LOST_PCT)] if lost else []


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
