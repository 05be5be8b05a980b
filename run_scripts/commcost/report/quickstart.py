# SPDX-License-Identifier: BSD-3-Clause
"""quickstart.sh after the build: runs the suite, and reads its results once for scorecard, page and summary table."""

import glob
import os

from commcost.command import EXIT_FAILED, Failure, UsageError, complain, write_to
from commcost.page import readable
from commcost.report.report import path_beside, write_html
from commcost.report.report_page import Report
from commcost.result.result_reader import KeptResults
from commcost.result.tables import read_tables
from commcost.scorecard.card_text import text_of
from commcost.suite import benchmark_suite

PROGRAM = "quickstart.sh"


def main(words):
    """Runs the suite with its options and reports its results, even after failed launches, but not after a signal."""
    results = KeptResults()
    suite, status = benchmark_suite.run_suite(words, results.opened)
    suite.signals.end()
    path = suite.options.output
    if suite.ended_by_signal or not glob.glob(os.path.join(glob.escape(path), "*.tsv")):
        return status
    report = Report([path], read_tables(PROGRAM, [path], results.opened))
    write_to(path_beside(path, "md"), report.page({}).as_markdown(), False)
    page = path_beside(path, "html")
    try:
        write_html(PROGRAM, report, page, False)
    except (UsageError, Failure, OSError) as error:
        complain(PROGRAM, error)
        page, status = None, EXIT_FAILED
    print(readable(text_of(report.card)), end="")
    if page:
        print(f"Page: {below_here(page)}    Table: {below_here(path)}/summary.tsv")
    return status


def below_here(path):
    """Returns the path relative to the current folder, if it is below it."""
    here = os.getcwd() + "/"
    return path[len(here):] if path.startswith(here) else path
