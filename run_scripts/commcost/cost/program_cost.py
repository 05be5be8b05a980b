"""cost.sh: the communication cost of a program, and changes that save time.

Combines a monitor's report of the program (monitor_report) with results of benchmarks on the same machine
(machine_costs): time and undisturbed cost of the calls, waiting, and savings (program_changes).
"""

from commcost import command
from commcost.cost import call_ways, program_changes
from commcost.cost.program_account import SHOWN_PCT, Account, Spent, parse_machine, share_of_mpi
from commcost.page import Column, Items, Page, Section, Text, grid_of, readable
from commcost.result.result_writer import Output
from commcost.result.tables import read_tables
from commcost.words import counted, cut, decimals, short

PROGRAM = "cost.sh"
MIN_SAVING_PCT = 1.0  # of the run
WHAT, NOTE, CHANGE, CALLS = 32, 29, 60, 34  # characters of a table's cells: a line has at most 100
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


COLUMNS = [(name, role) for role, names in (
    ("key", "kind change comm members ranks operation size_bytes"), ("info", "calls"),
    ("less", "in_calls_s"), ("info", "in_waits_s"), ("less", "machine_us"), ("info", "machine_lo_us machine_hi_us"),
    ("less", "machine_s waited_s"),
    ("info", "waited_lo_s waited_hi_s unexplained_s saved_s saved_lo_s saved_hi_s saved_pct rests_on text"))
           for name in names.split()]


def rows_of(account):
    for line in account.lines:
        yield {"kind": "cost", **call_cells(line.calls), **span_cells("machine", "us", line.cost and line.cost.us, 3),
               "machine_s": decimals(line.own and line.own.value, 9), **span_cells("waited", "s", line.waited, 9),
               "unexplained_s": decimals(line.unexplained_s, 9),
               "rests_on": rows_text(line.cost.rows) if line.cost else "NA"}
    for saving in account.savings:
        yield {"kind": "saving", "change": saving.change, **call_cells(saving.calls),
               **span_cells("saved", "s", saving.seconds, 9), "rests_on": rows_text(saving.rows),
               "saved_pct": decimals(100 * saving.seconds.value / account.run.seconds, 3),
               "text": " ".join([f"{saving.what}.", *saving.facts])}
    for found in account.uncovered:
        yield {"kind": "uncovered", "operation": found.function, "in_calls_s": decimals(found.seconds, 9),
               "text": found.text}


def call_cells(calls):
    return {"comm": calls.comm, "members": calls.members, "ranks": "NA" if calls.ranks is None else calls.ranks,
            "operation": calls.function, "size_bytes": decimals(calls.size, 0), "calls": decimals(calls.calls, 1),
            "in_calls_s": decimals(calls.in_s, 9), "in_waits_s": decimals(calls.wait_s, 9)}


def span_cells(name, unit, span, digits):
    names = (f"{name}_{unit}", f"{name}_lo_{unit}", f"{name}_hi_{unit}")
    return {} if span is None else {name: decimals(end, digits) for name, end in zip(names, span)}


def table_of(account, words):
    run, output = account.run, Output(PROGRAM)
    output.begin(COLUMNS, [("ranks", run.ranks), ("run_s", f"{run.seconds:.9f}"),
                           ("inside_mpi_s", decimals(run.inside_s, 9)),
                           ("slowest_rank_s", decimals(run.slowest_s, 9))], words)
    for row in rows_of(account):
        output.row(row)
    for text in account.remarks:
        output.remark("warning", text)
    for spent in account.spent:
        note = f"; {spent.note}" if spent.note else ""
        output.remark("note", f"{spent.what}: {short(spent.seconds.value)} s, "
                      f"{share(spent.seconds.value, run.seconds)} of the run{note}")
    return output.text(command.EXIT_DONE)


def page_of(account):
    """Returns the Page. Tables have one line per entry."""
    run = account.run
    nodes = "" if run.nodes is None else f" on {counted(run.nodes, 'node')}"
    remedies = [part for saving in account.savings for part in (Text(f"{saving.what}:"), *items(
        [*saving.facts, f"Evidence: {rows_text(saving.rows)}."]))]
    uncovered = items([f"{short(found.seconds)} s in {found.function}: {found.reason or 'run'}" +
                       (f"\n{found.command}" if found.command else "") for found in account.uncovered])
    parts = {
        "Where the time went": [seconds_grid(run, "time", account.spent, WHAT)],
        "Savings": saving_parts(account),
        "Remedies": remedies,
        "Calls": calls_parts(account),
        "Not measured": uncovered and [*uncovered, Text(
            "Run the commands in the build folder, with the program's binding.", small=True)],
        "Caveats": items(account.remarks)}
    sections = [Section(f"part{place}", heading, of) for place, (heading, of) in enumerate(parts.items(), 1) if of]
    return Page(
        f"Communication cost of {cut(run.metadata.get('command', [''])[0] or 'a program', 74)}",
        [Text(f"{short(run.seconds)} s, {counted(run.ranks, 'rank')}{nodes}."), *sections],
        "cost.sh --format=tsv prints all of this as a table.", first_listed=3)


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


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... REPORT RESULTS",
        """Prints where the time of a program's communication went, and changes that save
time. REPORT is the monitor's report of the program (MPIRT_MONITOR=all,
output=REPORT). RESULTS is a folder of benchmark results from the same machine
(run_suite.sh). Times are seconds, means over the ranks that made such calls.""")
    made.add_argument("--format", choices=("text", "tsv", "html"), default="text",
                      help="text to read, a table or a page (default: text)")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("--min-saving", metavar="PERCENT", type=command.percent(0, 100), default=MIN_SAVING_PCT,
                      help=f"omit changes that save less of the run (default: {MIN_SAVING_PCT:g} %%)")
    made.add_argument("--what-if", metavar="CHANGES", type=parse_machine,
                      help="show the saving of another machine: latency=-20%%,bandwidth=x2")
    options = made.parse_with_results(words, 2, 2)
    report, results = options.paths
    account = Account(report, read_tables(PROGRAM, [results]), options.min_saving, options.what_if)
    if options.format == "tsv":
        text = table_of(account, words)
    elif options.format == "html":
        text = page_of(account).as_html()
    else:
        text = readable(page_of(account).as_text())
    command.write_to(options.output, text)
    return command.EXIT_DONE
