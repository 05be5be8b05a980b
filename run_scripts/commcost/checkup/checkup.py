# SPDX-License-Identifier: BSD-3-Clause
"""checkup.sh: is anything wrong with how MPI runs here, what does it cost, and what to write?"""

import os
import re
import signal
import sys
import time

from commcost.checkup import checkup_output, job_start, result_lines
from commcost.checkup.checks import CHECKS
from commcost.checkup.findings import PROBLEM, SUSPICION, WARNING, Job
from commcost.checkup.jobs import SHORT, jobs_of
from commcost.command import Failure, Parser, UsageError, complain, write_to
from commcost.suite import launch_options

PROGRAM = "checkup.sh"
EXIT_WELL, EXIT_FOUND, EXIT_NO_START = 0, 1, 3
HANGING = 20  # times as long as the first launch
HASTY_S = 20  # with less time for everything, launches are short


def parser():
    made = Parser(PROGRAM, "checkup.sh [OPTION]...",
                  "Checks how MPI runs here: starts a job, reads its facts, measures messages, and tries remedies.")
    add = made.add_argument
    add("--launcher", metavar="WHICH", type=launch_options.launcher,
        help="hydra, openmpi, srun, or a command; default: the build's mpirun")
    add("--ranks", metavar="N", type=launch_options.count,
        help="ranks of the job; default: one per core, between 2 and 8")
    add("--ranks-per-node", metavar="N", type=launch_options.count, help="ranks on each node")
    add("--hosts", metavar="LIST", type=launch_options.text, help="hosts, with commas")
    add("--seconds", metavar="S", type=launch_options.duration, default=60, help="time for everything; default: 60")
    add("--limit", metavar="TIME", type=launch_options.limit, default=60,
        help="time after which a launch counts as a hang; default: 60")
    add("--build", metavar="FOLDER", type=launch_options.existing_folder, help="folder of the build; default: build")
    add("--output", metavar="FILE", help="file for the findings; default: checkup.tsv")
    add("--format", choices=("text", "json"), metavar="text|json", default="text",
        help="format of stdout (default: text)")
    return made


def end_by_signal(number, _):
    """Raises SystemExit, so the launch ends and its files go."""
    sys.exit(128 + number)


def main(words):
    options = parser().parse_args(words)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_by_signal)
    output = options.output or "checkup.tsv"
    # Launches write there, since other nodes may not see /tmp of this one.
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder) or os.path.isdir(output):
        raise UsageError(f"--output: cannot write '{output:.200}': use another file")
    try:
        return check_up(options, jobs_of(options, folder if os.access(folder, os.W_OK) else None), output)
    except Failure as failure:
        complain(PROGRAM, failure)
        return EXIT_NO_START


def check_up(options, jobs, output):
    """Makes the check-up and prints its lines. Returns the exit status."""
    begin_s = time.monotonic()
    ranks, deadline_s = jobs.job.ranks, begin_s + options.seconds
    outcome = jobs.measure(options=SHORT if 0 < options.seconds < HASTY_S else ())
    is_started = job_start.starts(outcome, ranks)
    if not is_started and re.search("^checkup: --output", outcome.text, re.M):
        raise UsageError(f"--output: ranks can't write beside '{output:.200}': use a folder that all nodes see")
    if is_started:
        jobs.limit_s = min(jobs.limit_s, HANGING * (time.monotonic() - begin_s) + 10)
    facts = outcome.facts if is_started else jobs.facts_without_mpi()
    judged = Job(facts, ranks, jobs.launcher.name, dict(os.environ), installation=jobs.installation(facts))
    if is_started:
        judged = judged._replace(transports=jobs.transports(SHORT))
        found = result_lines.found_by_checks(judged)
        lines = result_lines.lines_of(found, result_lines.try_remedies(jobs, found, deadline_s))
        lines = [*result_lines.well_lines(judged, lines), *lines]
    else:
        found = result_lines.found_by_checks(judged) if facts.ranks else []
        sure = [finding for finding in found if finding.status != SUSPICION]
        lines = result_lines.without_repeats([*job_start.start_lines(jobs, outcome, judged, found),
                                              *result_lines.lines_of(sure, {})])
    lines.sort(key=lambda line: next((at for at, (name, _) in enumerate(CHECKS) if name == line.check), 99))
    write_to(output, checkup_output.table_of(judged, lines))
    if options.format == "json":
        print(checkup_output.json_of(judged, lines), end="")
    else:
        print(checkup_output.title(judged, time.monotonic() - begin_s) + "\n")
        checkup_output.print_lines(lines)
        print(checkup_output.closing(lines, output))
    sys.stdout.flush()
    return EXIT_NO_START if not is_started else EXIT_FOUND if any(
        line.status in (WARNING, PROBLEM) for line in lines) else EXIT_WELL
