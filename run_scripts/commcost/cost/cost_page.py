# SPDX-License-Identifier: BSD-3-Clause
"""The page of cost.sh: efficiencies, where the time went, savings, calls."""

from commcost.cost import call_ways, program_changes
from commcost.cost.monitor_report import EFFICIENCIES
from commcost.cost.program_account import SHOWN_PCT, Spent, share_of_mpi
from commcost.page import Column, Items, Page, Section, Text, grid_of, readable
from commcost.words import counted, cut, short

WHAT, NOTE, CHANGE, CALLS = 32, 29, 60, 34  # characters of a table's cells: a line has at most 100
PLACE, CALL, FOR = 29, 15, 32
LINES, WAITS, PLACES = 12, 12, 3  # source lines, pairs of ranks, and lines of a change that are shown
WAIT_PCT = 1.0  # of the run, min for a pair of ranks
USUAL = (("form", "nonblocking"), ("test_calls", "0"))  # keys not shown


def range_text(span):
    """Returns low and high, or "" if both are equal."""
    return "" if span.low == span.high else f"{short(span.low)}–{short(span.high)}"


def share(seconds, whole):
    return f"{short(100 * seconds / whole)} %"


def rows_text(rows):
    """Returns the names of benchmarks' rows (evidence)."""
    names = []
    for row in rows:
        program = row.identity.rpartition("-")[0].replace("_sweep", "")
        keys = " ".join(f"{name}={value}" for name, value in row.keys.items()
                        if value != "NA" and (name, value) not in USUAL and program != f"overlap_{value}")
        names.append(f"{program} ({keys})" if keys else program)
    return "; ".join(dict.fromkeys(names)) or "the monitor's report alone"


def page_of(account, places):
    """Returns the Page. Tables have one line per entry."""
    run = account.run
    nodes = "" if run.nodes is None else f" on {counted(run.nodes, 'node')}"
    remedies = [part for saving in account.savings for part in (Text(f"{saving.what}:"), *items(
        [*saving.facts, *places_of(account.run, places, saving), f"Evidence: {rows_text(saving.rows)}."]))]
    uncovered = items([f"{short(found.seconds)} s in {found.function}: {found.reason or 'run'}" +
                       (f"\n{found.command}" if found.command else "") for found in account.uncovered])
    parts = {
        "Efficiency": efficiency_parts(run),
        "Where the time went": [seconds_grid(run, "time", account.spent, WHAT)],
        "By source line": line_parts(account, places),
        "Who waits for whom": wait_parts(account.run, places),
        "Savings": saving_parts(account),
        "Remedies": remedies,
        "Calls": calls_parts(account),
        "Not measured": uncovered and [*uncovered, Text(
            "Run the commands in the build folder, with the program's binding.", small=True)],
        "Caveats": items([*account.remarks, *places.remarks])}
    sections = [Section(f"part{place}", heading, of) for place, (heading, of) in enumerate(parts.items(), 1) if of]
    return Page(
        f"Communication cost of {cut(run.metadata.get('command', [''])[0] or 'a program', 74)}",
        [Text(f"{short(run.seconds)} s, {counted(run.ranks, 'rank')}{nodes}."), *sections],
        "cost.sh --format=tsv prints calls and savings as a table, --format=json all of this.", first_listed=3)


def text_of(account, places):
    return readable(page_of(account, places).as_text())


def efficiency_parts(run):
    known = [(name, run.efficiencies[column], note) for column, name, note in EFFICIENCIES
             if column in run.efficiencies]
    if not known:
        return []
    missing = [name for column, name, _ in EFFICIENCIES if column not in run.efficiencies]
    unknown = [Text("Serialisation and transfer are unknown: most waiting is in messages.", small=True)] \
        if missing else []
    return [grid_of({Column("efficiency", "what"): [name for name, _, _ in known],
                     Column("%", "value", True): [f"{value:.1f}" for _, value, _ in known],
                     Column("", "note"): [note for _, _, note in known]}, "facts"), *unknown]


def line_parts(account, places):
    """Returns a Grid with the source lines that have most of the time in MPI."""
    run = account.run
    least_s = SHOWN_PCT / 100 * (run.inside_s or 0.0)
    lines = [line for line in places.by_line if line.in_s > least_s][:LINES]
    if not lines:
        return []
    return [grid_of({
        Column("line", "site"): [cut(line.place, PLACE) for line in lines],
        Column("call", "operation"): [cut(line.function, CALL) for line in lines],
        Column("s", "in_calls_s", True): [short(line.in_s / run.ranks) for line in lines],
        Column("of the run", "share", True): [share(line.in_s / run.ranks, run.seconds) for line in lines],
        Column("", "note"): [cut(places.note_on(line), FOR) for line in lines]}, "facts"),
            Text("Seconds inside MPI, means over all ranks. Late: the time of a message beyond the mean cost of the "
                 "program's receives, in all receives from that rank.", small=True)]


def wait_parts(run, places):
    """Returns a Grid with the pairs of ranks of which one waits longest for the other, and what less work saves."""
    waits = [wait for wait in places.waits if wait.seconds >= WAIT_PCT / 100 * run.seconds][:WAITS]
    parts = [grid_of({
        Column("rank", "rank", True): [wait.rank for wait in waits],
        Column("for rank", "peer", True): [wait.peer for wait in waits],
        Column("s", "in_calls_s", True): [short(wait.seconds) for wait in waits],
        Column("of the run", "share", True): [share(wait.seconds, run.seconds) for wait in waits],
        Column("messages", "calls", True): [round(wait.messages) for wait in waits],
        Column("each (µs)", "each_us", True): [short(wait.each_us) for wait in waits],
        Column("late (µs)", "late_us", True): ["" if wait.late_us is None else short(wait.late_us) for wait in waits],
        Column("", "note"): [wait.note for wait in waits]}, "facts")] if waits else []
    moved = places.moved_s()
    if moved is not None and (waits or places.by_line):
        saves = (f"saves at most {short(moved[0])} s of the run. It doesn't save the other" if moved[0] else
                 "doesn't save the")
        parts.append(Text(f"Less work on the late ranks {saves} {short(moved[1])} s of waiting: ranks then wait in other "
                          "calls.", small=True))
    return parts


def places_of(run, places, saving):
    """Yields the source lines and pairs of ranks of the calls that a saving changes."""
    lines = [f"{line.place} ({short(line.in_s / run.ranks)} s)"
             for line in places.lines_of(saving.calls.function)[:PLACES]]
    if lines:
        yield f"Lines: {', '.join(lines)}."
    pairs = [f"rank {rank} with {peer} ({short(seconds)} s)"
             for rank, peer, seconds in places.pairs_of(saving.calls.function)[:PLACES]]
    if pairs:
        yield f"Most time: {', '.join(pairs)}."


def items(texts):
    return [Items(texts, "short")] if texts else []


def saving_parts(account):
    if not account.savings:
        where = " among the measured calls" if account.uncovered else ""
        return [Text(f"No change{where} is certain to save {account.min_saving_pct:g} % of the run.")]
    changes = [Spent(saving.what, saving.seconds) for saving in account.savings]
    return [seconds_grid(account.run, "change", changes, CHANGE),
            Text("Savings of changes to the same calls don't add up.", small=True)]


def seconds_grid(run, heading, every, most):
    """Returns a Grid with a line for each Spent, its name cut to `most` characters."""
    return grid_of({
        Column(heading, "what"): [cut(spent.what, most) for spent in every],
        Column("s", "seconds", True): [short(spent.seconds.value) for spent in every],
        Column("range", "", True): [range_text(spent.seconds) for spent in every],
        Column("of the run", "share", True): [share(spent.seconds.value, run.seconds) for spent in every],
        Column("", "note"): [cut(spent.note, NOTE) for spent in every]}, "facts")


def calls_parts(account):
    """Returns a Grid with a line for each function and size, with the communicator if there are several."""
    lines = [line for line in account.lines if line.calls.in_s >= share_of_mpi(account.run, SHOWN_PCT)]
    comms = {line.calls.place for line in lines if line.calls.comm != "NA"}

    def name_of(calls):
        on = f" on {calls.comm}" if len(comms) > 1 and calls.comm != "NA" else ""
        return cut(calls.function + program_changes.size_phrase(calls) + on, CALLS)

    def seconds(values):
        return ["" if value is None else short(value) for value in values]

    return [grid_of({
        Column("calls", "operation"): [name_of(line.calls) for line in lines],
        Column("times", "calls", True): [round(line.calls.calls) for line in lines],
        Column("in MPI", "in_calls_s", True): seconds(line.calls.in_s for line in lines),
        Column("in waits", "in_waits_s", True): seconds(waits_of(line.calls) for line in lines),
        Column("each", "machine_us", True): seconds(line.cost and line.cost.us.value for line in lines),
        Column("undisturbed", "machine_s", True): seconds(line.own and line.own.value for line in lines),
        Column("waiting", "waited_s", True): seconds(line.waited and line.waited.value for line in lines),
        Column("other", "unexplained_s", True): seconds(line.unexplained_s for line in lines)}),
            Text("Seconds, means over the ranks that made such calls. In waits: the part of \"in MPI\" in the calls "
                 "that complete them. Each: undisturbed cost of a call in µs. Calls below "
                 f"{SHOWN_PCT:g} % of the time in MPI aren't shown.", small=True)]


def waits_of(calls):
    """Returns the time of the calls that complete these, or None for calls that return complete."""
    return calls.wait_s if calls.wait_s or call_ways.is_started(calls.function) else None
