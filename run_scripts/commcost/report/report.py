# SPDX-License-Identifier: BSD-3-Clause
"""report.sh and report_text.sh."""

import os
import re
import tempfile

from commcost import command
from commcost.command import Parser, complain
from commcost.page import readable
from commcost.report.report_page import Report
from commcost.result import json_text
from commcost.result.tables import read_tables
from commcost.scorecard.card_text import text_of


def path_beside(result, ending, output=None):
    """Returns the path of a report: `output` if given, else next to the result."""
    return command.output_path(result, output, os.path.join(result, "report." + ending) if os.path.isdir(result) else
                               re.sub(r"\.tsv$", "", result) + "." + ending)


def write_html(program, report, output, is_named):
    """Writes the page with pictures."""
    with tempfile.TemporaryDirectory() as folder:
        text = report.page_with_pictures(folder, lambda text: complain(program, text)).as_html()
    command.write_to(output, text, is_named)


def main(words):
    program = "report.sh"
    made = Parser(
        program, f"{program} [OPTION]... [--base=BASE_RESULTS] RESULTS",
        """Makes one HTML page of a results folder, or of one file: the scorecard, then for
each subject a picture, a table of answers and all rows, then warnings and the
machine. With a base, pictures and tables show both, and changes come first. The
page is one file that needs no script and no network.""")
    made.add_argument("--output", metavar="FILE", help="default: RESULTS/report.html, or beside the file")
    made.add_argument("--format", choices=("html", "json"), metavar="html|json", default="html",
                      help="json prints one file as JSON (default: html)")
    options = made.parse_with_base(words)
    if options.format == "json":
        if len(options.paths) > 1 or os.path.isdir(options.paths[0]):
            raise command.UsageError("--format=json needs one file")
        command.write_to(options.output, json_text.report_of(options.paths[0]))
        return command.EXIT_DONE
    tables = read_tables(program, options.paths)
    output = path_beside(options.paths[0], "html", options.output)
    write_html(program, Report(options.paths, tables), output, bool(options.output))
    print(output)
    return command.EXIT_DONE


def text_main(words):
    program = "report_text.sh"
    made = Parser(
        program, f"{program} [OPTION]... RESULTS",
        """Writes the report of report.sh as Markdown to stdout, without pictures and without
the tables of all rows.""")
    made.add_argument("--beside", action="store_true", help="write RESULTS/report.md, or beside the file")
    made.add_argument("--short", action="store_true", help="print the scorecard alone, as text")
    options = made.parse_with_results(words, 1)
    report = Report(options.paths, read_tables(program, options.paths))
    text = readable(text_of(report.card)) if options.short else report.page({}).as_markdown()
    command.write_to(path_beside(options.paths[0], "md") if options.beside else None, text, False)
    return command.EXIT_DONE
