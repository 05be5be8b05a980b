# SPDX-License-Identifier: BSD-3-Clause
"""cost.sh: the communication cost of a program, and changes that save time.

Combines a monitor's report of the program (monitor_report) with results of benchmarks on the same machine
(machine_costs): time and undisturbed cost of the calls, waiting, and savings (program_changes).
"""

from commcost import command
from commcost.cost import cost_json
from commcost.cost.cost_page import page_of, rows_text, share, text_of
from commcost.cost.program_account import Account, parse_machine
from commcost.cost.time_places import TimePlaces
from commcost.result.result_writer import Output
from commcost.result.tables import read_tables
from commcost.words import decimals, short

PROGRAM = "cost.sh"
MIN_SAVING_PCT = 1.0  # of the run

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


def main(words):
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]... REPORT RESULTS",
        """Prints where the time of a program's communication went, and changes that save
time. REPORT is the monitor's report of the program (MPIRT_MONITOR=all,
output=REPORT). RESULTS is a folder of benchmark results from the same machine
(run_suite.sh). Times are seconds, means over the ranks that made such calls.""")
    made.add_argument("--format", choices=("text", "tsv", "html", "json"), default="text",
                      help="text to read, a table, a page or JSON (default: text)")
    made.add_argument("--output", metavar="FILE", help="write to FILE instead of stdout")
    made.add_argument("--min-saving", metavar="PERCENT", type=command.percent(0, 100), default=MIN_SAVING_PCT,
                      help=f"omit changes that save less of the run (default: {MIN_SAVING_PCT:g} %%)")
    made.add_argument("--what-if", metavar="CHANGES", type=parse_machine,
                      help="show the saving of another machine: latency=-20%%,bandwidth=x2")
    options = made.parse_with_results(words, 2, 2, "REPORT RESULTS")
    report, results = options.paths
    account = Account(report, read_tables(PROGRAM, [results]), options.min_saving, options.what_if)
    places = TimePlaces(account)
    if options.format == "json":
        text = cost_json.text_of(account, places)
    elif options.format == "tsv":
        text = table_of(account, words)
    elif options.format == "html":
        text = page_of(account, places).as_html()
    else:
        text = text_of(account, places)
    command.write_to(options.output, text)
    return command.EXIT_DONE
