"""The words of findings: a sentence for each that findings.py and nonblocking.py come to.

What is passed are rows (tables.Row), mostly in pairs with what they measured (intervals.Measured), and Cases of
nonblocking.py.
"""

import typing

from commcost.words import bytes_text, counted, listed, short

NAMES = 6    # that a sentence has
CALLS = 4    # functions that a sentence has
DETAILS = 3  # operations of a sentence that have numbers
OTHERS = 3   # ranges of sizes with another verdict that are said of an operation


class Finding(typing.NamedTuple):
    """A sentence, and the rows that it is about."""

    text: str
    rows: tuple = ()

    @property
    def sentence(self):
        """With "one launch" where there is no more than that."""
        return self.text + (" One launch." if self.is_from_one else "")

    @property
    def is_from_one(self):
        return bool(self.rows) and max(len(row.launches) for row in self.rows) == 1


def not_clear(what, why, rows):
    return Finding(f"It is not clear {what}, because {why}.", tuple(rows))


def cut(texts):
    """At most NAMES texts, the last one how many more there are."""
    texts = list(texts)
    more = len(texts) - NAMES
    return texts if more <= 0 else [*texts[:NAMES - 1], f"{more + 1} more"]


def rows_of(pairs):
    return tuple(row for row, _ in pairs)


# ---- rows and values -----------------------------------------------------------------------------

def named_keys(pairs):
    """The keys of a row that say something."""
    return [f"{name} {value}" for name, value in pairs if value not in ("NA", "none")]


def keys_told(schema, keys):
    return ", ".join(named_keys(zip(schema.keys, keys)))


def operation_of(row):
    """The operation of a row, with its method or number of parts."""
    return " ".join([row.keys["collective"], *(f"({row.keys[column]})" for column in ("method", "partitions")
                                               if row.keys.get(column, "NA") != "NA")])


def method_of(row):
    sync = row.keys.get("sync", "NA")
    return row.keys["method"] + ("" if sync in ("NA", "none") else f" ({sync})")


def call_of(row):
    """MPI_Send on grid."""
    on = row.keys.get("comm", "NA")
    return row.keys["operation"] + (f" on {on}" if on != "NA" else "")


# ---- a base, settings ----------------------------------------------------------------------------

def what_changed(counts, total, most, unsure):
    """`counts` by verdict; `most` is the Change of the row that got slower most, or None."""
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) or "none for sure"
    text = f"Against the base, of {counted(total, 'row')}: {told}."
    if most is not None:
        text += (f" The most: {most.series.schema.benchmark} {most.series.quantity} "
                 f"({keys_told(most.series.schema, most.series.keys)}), "
                 f"{most.change_pct:+.1f} {'points' if most.points else '%'}.")
    return Finding(text + (f" Not clear in {counted(unsure, 'row')}." if unsure else ""))


def best_setting(name, rows, total):
    """`rows` are the vary.Best of the rows in which the setting is best."""
    gains = [f"{short(max(of_unit))} {unit}" for unit, of_unit in
             ((unit, [row.gain_pct for row in rows if row.points == points and row.gain_pct is not None])
              for unit, points in (("%", False), ("points", True))) if of_unit]
    by = f", by up to {listed(gains)}" if gains else ""
    told = (f"{row.schema.benchmark} {row.quantity} ({keys_told(row.schema, row.keys)})" for row in rows)
    return Finding(f"{name} is best in {counted(len(rows), 'row')} of {total}{by}: {listed(told, NAMES)}.")


def no_best_setting(count, needed, total):
    return not_clear(f"which setting is best in {counted(count, 'row')}",
                     "the launches of the settings differ too little, or are fewer than the "
                     f"{needed} of each that are needed for {counted(total, 'row')}", ())


# ---- overlap -------------------------------------------------------------------------------------

def hidden_work(pairs, total, what):
    told = (f"{operation_of(row)} {value.told('%')}" for row, value in pairs)
    return Finding(f"In {len(pairs)} of {counted(total, 'collective')} at the size that takes about a "
                   f"millisecond, {what}: {listed(told, NAMES)}.", rows_of(pairs))


def hides(pct):
    return f"at least {pct} % of their time can be used for work"


def hides_not(pct):
    return f"starting them early gains less than {pct} % of their time"


def unclear_work(pairs):
    return not_clear(f"whether work fits under {listed(map(operation_of, rows_of(pairs)), NAMES)}",
                     f"the intervals are up to {short(max(value.width for _, value in pairs))} points wide",
                     rows_of(pairs))


def hides_from(since):
    """`since`: pairs of the first row and an operation."""
    parts = []
    for size in sorted({row.size() for row, _ in since}):
        names = [name for row, name in since if row.size() == size]
        parts.append(f"{listed(names, NAMES)} from {bytes_text(size)} on")
    return Finding(f"At least half of their time can be used for work: {'; '.join(parts)}.", rows_of(since))


def hides_never(never):
    return Finding("Less than half of their time can be used for work at any size that was measured: "
                   f"{listed((name for _, name in never), NAMES)}.", rows_of(never))


def unclear_size(unsure):
    return not_clear("from which size on half of their time can be used for work: "
                     f"{listed((name for _, name in unsure), NAMES)}",
                     "at the largest size the launches don't tell", rows_of(unsure))


# ---- messages ------------------------------------------------------------------------------------

def message_cost(direction, ends, since, last, free_pct):
    """The cost at the smallest and largest size; `since`: the first pair from which on the network does
    the work, or None; `last`: the largest one's pair where it surely doesn't, or None."""
    costs = listed(f"{value.told('µs')} for {bytes_text(row.size('msgsize'))}" for row, value in ends)
    verb = "sending" if direction == "send" else "receiving"
    text = f"Of the processor's time, {verb} a message takes {costs}"
    if since is not None:
        text += (f"; from {bytes_text(since[0].size('msgsize'))} on more than {free_pct} % of the "
                 "transfer's time is free for other work")
    elif last is not None:
        text += f"; of the largest transfer's time {last[1].told('%')} is free for other work"
    return Finding(text + ".", rows_of(ends) + (since[:1] if since is not None else ()))


def put_against_send(compared):
    """`compared`: of each size the pairs of put and send, and whether they surely differ."""
    said = []
    for (row, put), (_, send), differ in compared:
        how = (f"{short(put.value / send.value)} times as long as MPI_Send" if differ else
               "not clearly more or less than MPI_Send")
        said.append(f"of {bytes_text(8 * row.size('ndata'))} {how} ({put.told('µs')} and {send.told('µs')})")
    return Finding(f"A put takes, with what its partner needs to know of it, {listed(said)}.",
                   tuple(row for put, send, _ in compared for row in rows_of((put, send))))


def message_rate(best, worst, rivals, is_worse):
    """The pairs of the best and the worst pattern, the rows of those that may be as quick as the best."""
    flush = best[0].size("cache_size")
    state = f"After a flush of {bytes_text(flush)} of cache" if flush > 0 else "With warm caches"
    rate = best[1].scaled(1e-6).told() + " million" if best[1].value >= 1e6 else best[1].told()
    also = f"; {listed((row.keys['pattern'] for row in rivals), NAMES)} may be as quick" if rivals else ""
    text = (f"{state} a process exchanges {rate} messages of {bytes_text(best[0].size('nbytes'))} a second "
            f"at best ({best[0].keys['pattern']}{also})")
    if is_worse:
        text += (f", {short(best[1].value / worst[1].value)} times as many as at worst "
                 f"({worst[0].keys['pattern']})")
    return Finding(text + ".", rows_of((best, worst)))


# ---- synchronisation and halo swaps --------------------------------------------------------------

def barrier_cost(row, value):
    return Finding(f"A barrier of {row.keys['ranks']} processes costs {value.told('µs')}.", (row,))


HALO = ("A halo is swapped quickest", "which is quicker in a halo swap")
OVERLAPPED_HALO = ("With plenty of work a halo swap leaves the least exposed",
                   "which leaves less exposed in a halo swap with work")


def best_methods(words, pairs, rows):
    """`pairs`: the best of each box."""
    by_method = {}
    for row, value in pairs:
        by_method.setdefault(method_of(row), []).append(f"{row.keys['local']} ({value.told('µs')})")
    parts = [f"by {method} for {listed(boxes)}" for method, boxes in by_method.items()]
    return Finding(f"{words[0]} {'; '.join(parts)}.", tuple(rows))


def unclear_methods(words, pairs, rows):
    """`pairs`: of each box the rows of the two best methods."""
    told = [f"{method_of(one)} or {method_of(other)} (box {one.keys['local']})" for one, other in pairs]
    return not_clear(f"{words[1]}: {listed(told, NAMES)}",
                     "their intervals are as wide as what they differ by", rows)


# ---- links ---------------------------------------------------------------------------------------

NODE_FAULTS = {"slow": "{a} is slow", "slow out": "{a} is slow to send",
               "slow in": "{a} is slow to receive"}
PAIR_FAULTS = {"slow": "the link of {a} and {b} is slow",
               "slow out": "the way from {a} to {b} is slow",
               "slow in": "the way from {b} to {a} is slow"}


def slow_links(named):
    """`named`: pairs of a row and its verdict."""
    texts = []
    for row, verdict in named:
        faults = PAIR_FAULTS if row.keys["scope"] == "pair" else NODE_FAULTS
        what = ("links between two groups of nodes take another time than those within them"
                if verdict.startswith("two groups") else faults[verdict].format(**row.keys))
        texts.append(f"with {bytes_text(row.size('nbytes'))} {what}")
    text = listed(texts, NAMES)
    return Finding(text[0].upper() + text[1:] + ".", rows_of(named))


def even_links(rows):
    return Finding("No node and no link is out of line.", tuple(rows))


def unclear_links(all_agree, rows):
    why = ("not all that was suspected was timed again" if all_agree else
           "what launches name is another node or link each time")
    return not_clear("which node or link is out of line", why, rows)


# ---- noise ---------------------------------------------------------------------------------------

def stops(row, stopped, sources, share_pct, passed):
    """The row of the job and for how much of the time it is stopped; `share_pct`: what the sources explain
    where that is little, else None; `passed`: whether sources were left out, since few launches name them."""
    named = listed(map(source_of_stops, sources), NAMES)
    if not named:
        named = "no source stands out" + (" in half of the launches" if passed else "")
    elif share_pct is not None:
        named += f"; these explain {short(share_pct)} % of the time, the rest has no known source"
    return Finding(f"Processes are interrupted for {stopped.told('%')} of the time"
                   f"{':' if sources else ';'} {named}.", (row, *sources))


def source_of_stops(row):
    often, length, period = map(row.median, ("stops_per_s", "stop_us", "period_ms"))
    how = (f"{short(often)} times a second more often than others" if period is None
           else f"every {short(period)} ms")
    ranks = row.keys["ranks"]
    return f"rank{'' if ranks.isdigit() else 's'} {ranks} {how} for {short(length)} µs"


def slowed_down(row, predicted, measured):
    work, operation = row.keys["grain_us"], row.keys["operation"]
    article = "an" if operation[0] == "a" else "a"
    step = (f"{work} µs of work and {article} {operation}" if work != "0"
            else f"{article} {operation} without work before it")
    found = f"; measured: {measured.told('%')}" if measured else ""
    return Finding(f"These interruptions should slow down {step} by {predicted.told('%')}{found}.", (row,))


# ---- the monitor, and what matters for all -------------------------------------------------------

def monitor_cost(row, value):
    return Finding(f"Monitoring adds at most {value.told('ns')} to a call ({row.keys['call']}).", (row,))


def time_inside_mpi(row, total, parts):
    said = listed((f"{value.told('s')} in {call_of(part)}" for part, value in parts), CALLS)
    return Finding(f"The program's processes together were inside MPI for {total.told('s')}: {said}.",
                   (row, *rows_of(parts[:CALLS])))


def waiting(row, value, last_rank):
    last = f"; rank {last_rank} came last most often." if last_rank else "."
    return Finding(f"Processes waited for late ones most in {call_of(row)}, {value.told('s')} together{last}",
                   (row,))


def monitored_time(most):
    """`most`: by messages and collectives the pair that took the most time."""
    said = " and ".join(f"of its {what} in {row.keys['operation']} on {row.keys['comm']}, {value.told('s')}"
                        for what, (row, value) in most.items())
    return Finding(f"The program spent most time, from start to completion and over all processes, {said}.",
                   rows_of(most.values()))


def wrong_data(rows):
    return Finding(f"Wrong data came in {counted(len(rows), 'row')}: what they measured is worth nothing until "
                   "that is mended.", tuple(rows))


def lost_time(pairs, least_pct):
    """`pairs`: rows and the percent that the system took, the most first."""
    row, pct = pairs[0]
    name = f"{row.identity.rpartition('-')[0]} ({', '.join(named_keys(row.keys.items()))})"
    return Finding(f"In {counted(len(pairs), 'row')} the system took more than {least_pct} % of the time from "
                   f"the processes, most in {name}, {short(pct)} %: measure these again on a quieter machine.",
                   rows_of(pairs))


# ---- going non-blocking --------------------------------------------------------------------------

WIDE = "the intervals of what stays exposed are as wide as what they differ by"


def name_of(way):
    """The calls of a nonblocking.Way."""
    form = " (persistent)" if way.form == "persistent" else ""
    if way.collective == "halo":
        return f"a halo swap by {way.method}" + ("" if "persistent" in way.method else form)
    if way.collective == "partitioned":
        return f"a message in {way.partitions} partitions"
    if way.collective == "sendrecv":
        return "MPI_Isend with MPI_Irecv" + form
    if way.collective in ("put", "get"):
        return f"MPI_R{way.collective}"
    return f"MPI_{way.collective.capitalize()}{form}"


def size_of(case):
    """"" for what has no size."""
    box = case.row.keys.get("local", "NA")
    return f"box {box}" if box != "NA" else bytes_text(case.size) if case.size else ""


def of_size(case):
    return f" of {size_of(case)}" if size_of(case) else ""


def calls_of(case):
    best = case.row.median("best_test_calls") if case.calls == "auto" else None
    if best is None:
        return case.calls
    return f"{int(best) if best == int(best) else short(best)} (auto)"


def pays(verdict, group):
    """`group`: a name, its cases and their verdicts for each operation with this verdict. Those with the
    largest gains or losses first, with numbers, at the largest size that has it."""
    words = {"pays": "Going non-blocking pays with plenty of work",
             "loses": "Going non-blocking loses even with plenty of work",
             "is even": "Going non-blocking makes no difference even with plenty of work"}[verdict]
    shown = [(name, several, verdicts, [case for case, own in zip(several, verdicts)
                                        if own == verdict][-1])
             for name, several, verdicts in group]
    shown.sort(key=lambda one: -abs(one[3].gain.value))
    parts = []
    for place, (name, several, verdicts, case) in enumerate(shown):
        text = f"{name} {ranges_told(several, verdicts, verdict)}".rstrip()
        if place < DETAILS:
            at = of_size(case)[1:] + ": " if len(several) > 1 and of_size(case) else ""
            takes = f", the blocking call takes {case.blocking.told('µs')}" if case.blocking is not None else ""
            text += (f" ({at}{case.exposed.told('µs')} stay exposed{takes}: a gain of "
                     f"{case.gain.told('%')})")
        parts.append(text)
    return Finding(f"{words}: {'; '.join(cut(parts))}.", tuple(case.row for _, _, _, case in shown))


def unclear_gain(group):
    widths = [case.gain.width for _, several, _ in group for case in several]
    why = ("their gains have no intervals" if None in widths else
           f"the intervals of their gains are up to {short(max(widths))} points wide")
    return not_clear(f"whether going non-blocking pays for {listed((name for name, _, _ in group), NAMES)}", why,
                     [case.row for _, several, _ in group for case in several[-1:]])


def ranges_told(cases, verdicts, wanted):
    """At which sizes a verdict holds, and which ones hold at others: "from 64KiB on, loses
    below"."""
    if len(cases) == 1:
        return of_size(cases[0])[1:]
    runs = []  # of sizes with the same verdict: the verdict, the first and the last place
    for place, verdict in enumerate(verdicts):
        if runs and runs[-1][0] == verdict:
            runs[-1][2] = place
        else:
            runs.append([verdict, place, place])
    own = [run for run in runs if run[0] == wanted]
    others = [run for run in runs if run[0] != wanted]
    text = listed(range_told(cases, *run[1:]) for run in own)
    if len(others) > OTHERS:
        return f"{text}, not at other sizes"
    for run in others:
        where = range_told(cases, *run[1:])
        if len(own) == 1 and len(others) == 1:
            where = "below" if run[1] < own[0][1] else "above"
        text += f", {run[0]} {where}"
    return text


def range_told(cases, first, last):
    least, most = size_of(cases[first]), size_of(cases[last])
    if first == 0 and last == len(cases) - 1:
        return "at every size that was measured"
    if last == len(cases) - 1:
        return f"from {least} on"
    if first == 0:
        return f"up to {most}"
    return f"at {least}" if first == last else f"from {least} to {most}"


def tests_help(found):
    """`found`: of each way the best case, the one without calls, and those that may be as good as the best."""
    parts = []
    for best, without, as_good in found:
        calls = " or ".join(map(calls_of, as_good))
        parts.append(f"{name_of(best.way)}{of_size(best)}, least at {calls} "
                     f"{'call' if calls == '1' else 'calls'} ({best.exposed.told('µs')}, without "
                     f"{without.exposed.told('µs')}{turned(best, without)})")
    return Finding(f"With calls of MPI_Test during the work less stays exposed: {'; '.join(cut(parts))}.",
                   tuple(case.row for best, without, _ in found for case in (best, without)))


def tests_cost(pairs):
    parts = (f"{name_of(best.way)}{of_size(best)} ({best.exposed.told('µs')} at best with calls, "
             f"{without.exposed.told('µs')} without)" for best, without in pairs)
    return Finding(f"Calls of MPI_Test during the work only cost time: {'; '.join(cut(parts))}.",
                   tuple(case.row for pair in pairs for case in pair))


def unclear_tests(cases):
    names = (f"{name_of(case.way)}{of_size(case)}" for case in cases)
    return not_clear(f"whether calls of MPI_Test help {listed(names, NAMES)}", WIDE, [case.row for case in cases])


def turned(one, other):
    """Both verdicts where they are sure and differ."""
    first, second = one.sure_verdict, other.sure_verdict
    return f"; going non-blocking {first} with them, {second} without" if first and second and first != second else ""


def persistent(word, pairs):
    """`pairs`: a case of persistent requests and one of nonblocking calls."""
    parts = []
    for case, other in pairs:
        tests = f" with calls of MPI_Test ({other.calls})" if other.calls != "0" else ""
        parts.append(f"{name_of(other.way)}{of_size(other)}{tests} ({case.exposed.told('µs')}, nonblocking "
                     f"{other.exposed.told('µs')}{turned(case, other)})")
    return Finding(f"With persistent requests {word} stays exposed, the most so of: {'; '.join(cut(parts))}.",
                   tuple(case.row for pair in pairs for case in pair))


def unclear_persistent(pairs):
    return not_clear("whether persistent requests leave less exposed of "
                     f"{listed((name_of(other.way) for _, other in pairs), NAMES)}", WIDE,
                     [case.row for pair in pairs for case in pair])
