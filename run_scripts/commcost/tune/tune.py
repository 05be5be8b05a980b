# SPDX-License-Identifier: BSD-3-Clause
"""tune.sh: finds the best of the MPI library's algorithms for each operation and size, by a race of launches
(algorithm_race), writes the library's own file (mpi_libraries), and proves it.

The procedure depends only on recorded launches, so an interrupted tuning starts over without repeating them.
"""

import argparse
import os
import re
import textwrap

from commcost import command
from commcost.command import Failure, UsageError, say
from commcost.page import WIDTH, readable
from commcost.suite import launch_options, launchers
from commcost.suite.launch_options import count, duration, list_of, sizes
from commcost.tune import mpi_libraries
from commcost.tune.library_tuning import PROGRAM, BENCHMARK, FILE, Left, Tuning
from commcost.tune.tune_outputs import write_all
from commcost.words import listed, parsed_number, size_text



def ranks_of(word):
    return int(word) if re.fullmatch("[1-9][0-9]{0,5}", word) and int(word) > 1 else None


def operation_of(word):
    return word if re.fullmatch("[a-z_]{1,40}", word) else None


def seconds_of(text):
    value = parsed_number(text)
    if value is None or not 0.001 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"'{text:.100}': use seconds, like 0.1")
    return value


def read_options(words):
    made = command.Parser(PROGRAM, f"{PROGRAM} [OPTION]...", """\
Finds the MPI library's best algorithm for each collective operation, size and
number of ranks on this machine, and writes the library's own tuning file.
Without sufficient evidence the library's own choice stays.

Race: a few launches of each choice, then more of the best ones. A choice that
is faster by --min-gain gets a rule. Proof: fresh launches with and without the
file. A rule that a corrected test doesn't confirm is removed.

FOLDER/rules.json      the file (MPICH, Open MPI 6); rules.conf for Open MPI 4
                       and 5, rules.sh for others
FOLDER/evidence.tsv    the evidence; tune.html: the page

Exit status: 0 done, with or without rules; 1 stopped early without a rule, or
failed; 2 wrong usage.""", allow_abbrev=False)
    add = made.add_argument_group("What to tune").add_argument
    add("--list", action="store_true", help="print the library's choices and exit")
    add("--dry-run", action="store_true", help="print the time and the first launch of each choice")
    add("--operations", metavar="LIST", default=[], type=list_of(operation_of, "use names like allreduce,bcast"),
        help="operations, with commas (default: all that the file supports)")
    add("--sizes", metavar="LIST", default=[8 << 3 * power for power in range(6)],
        type=list_of(sizes(lambda size: size % 8 == 0), "use multiples of 8 like 8,64K,1M"),
        help="bytes of a block, with commas (default: 8,64,512,4K,32K,256K)")
    add("--choices", metavar="'VARIABLE=A,B'", type=launch_options.text, action="append", default=[],
        help="values of an environment variable, for unknown libraries; repeatable")
    add = made.add_argument_group("How sure").add_argument
    add("--min-gain", metavar="PERCENT", type=command.percent(0.1, 90), default=5.0,
        help="minimum gain of a rule (default: 5)")
    add("--launches", metavar="N", type=count, default=24,
        help="maximum launches per choice, twice that in the proof (default: 24)")
    add("--max-time", metavar="SECONDS", type=seconds_of, default=0.1,
        help="measuring time of a size in a launch (default: 0.1)")
    add("--budget", metavar="TIME", type=duration, help="time for this call: 90, 30m, 2h or 1:30:00")
    add("--limit", metavar="TIME", type=launch_options.limit, default=120,
        help="time after which a launch counts as a hang (default: 2m)")
    launch_options.add_shared(made, "tune_DATE_TIME", metavar="LIST", default=[],
                              type=list_of(ranks_of, "use numbers from 2, like 4,16"),
                              help=launch_options.RANKS_HELP)
    kept = ("build", "operations", "sizes", "choices", "min_gain", "launches", "max_time", "limit")
    options = launch_options.parsed(made, (*kept, *launch_options.KEPT_PLACE), words)
    if not 6 <= options.launches < 100:
        raise UsageError(f"--launches: '{options.launches}': use 6 to 99")
    launch_options.fill_in(options, "tune_")
    options.ranks = sorted(options.ranks or [launchers.default_ranks(options.hosts, options.ranks_per_node)])
    return options


def chosen_contests(options, library):
    """Returns the Contests chosen by the options. UsageError if there are none."""
    asked = options.operations
    contests = mpi_libraries.given_contests(library, options.choices, tuple(asked))
    if contests and not any(contest.operations for contest in contests):
        raise UsageError("--choices: the variable's operations are unknown: add --operations=allreduce,bcast")
    offered = contests or library.contests()
    if not offered:
        raise UsageError(f"{library.name} has no known variables: use --choices='VARIABLE=A,B'")
    known = {operation for contest in offered for operation in contest.operations}
    for operation in asked:
        if operation not in known:
            raise UsageError(f"--operations: {library.name}'s file has no choice of {operation}: use some of "
                             f"{listed(sorted(known))}")
    if options.ranks[-1] * max(options.sizes) > mpi_libraries.SIZE_MOST:
        raise UsageError(f"--sizes: {size_text(max(options.sizes))} of {options.ranks[-1]} ranks exceed 2 GiB: "
                         "use smaller ones")
    return [contest for contest in offered if not asked or set(contest.operations) <= set(asked)]


def main(words):
    options = read_options(words)
    program = os.path.join(options.build, BENCHMARK)
    if not os.access(program, os.X_OK):
        raise Failure(f"no program {program}: build it first")
    library, path = mpi_libraries.library_of(program, launchers.find(options.launcher, options.build))
    contests = chosen_contests(options, library)
    tuning = Tuning(options, library, contests)
    if options.list:
        print("#", library.name, *filter(None, [library.version]), f"({path})")
        for contest in contests:
            print(f"{listed(contest.operations)} ({contest.variable})", *textwrap.wrap(
                ", ".join(contest.choices), WIDTH, initial_indent="    ", subsequent_indent="    ",
                break_on_hyphens=False), sep="\n")
        print(f"# All of them: {tuning.expected()}")
        return command.EXIT_DONE
    tuning.ask_library()
    if options.dry_run:
        steps = tuning.steps()
        print(*(f"# warning: {text}" for text in tuning.warnings()),
              f"# {tuning.expected()}; the first of each choice:", *(step.command for step in steps), sep="\n")
        return command.EXIT_DONE
    tuning.begin()
    for text in tuning.warnings():
        say(f"Warning: {text}")
    again = launch_options.resume_command(PROGRAM, tuning.trials.folder.path, options.kept)
    try:
        race, proof, is_cut = tuning.decide()
    except Left:
        say(f"Ended by {tuning.trials.left_by} without a file. To resume: {again}")
        return command.EXIT_FAILED
    rejected = [choice for _, _, choice in tuning.out if choice == FILE]
    status = command.EXIT_FAILED if rejected or is_cut and not any(
        found.choice == FILE for found in proof.decisions.values()) else command.EXIT_DONE
    page = write_all(tuning, race, proof, words, status)
    print(readable(page.as_text()), end="", flush=True)
    if is_cut:
        say(f"The budget ended before all decisions. To resume: {again}")
    return status
