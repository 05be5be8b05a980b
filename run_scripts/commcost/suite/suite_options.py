# SPDX-License-Identifier: BSD-3-Clause
"""Options of run_suite.sh."""

import argparse
import os

from commcost import command
from commcost.suite import launch_options, launchers
from commcost.suite.launch_options import count, duration, names_any, text
from commcost.system import script, shell_command
from commcost.words import listed

PROGRAM = "run_suite.sh"
# Options that determine the results, in the order of the record.
KEPT = ("build", "benchmarks", "runs", "quick", "essentials", "options", "vary", "limit", *launch_options.KEPT_PLACE)
OWN = ("--output", "--format", "--columns", "--metadata", "--no-metadata", "--no-header", "--nohdr")  # set by the suite


def parser():
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]...",
        """Runs the benchmarks several times, one after the other, each with a new mpirun,
since results vary more between launches than within one. Prints the expected time.

FOLDER/NAME.tsv        all launches of a program, with a first column run
FOLDER/summary.tsv     a row for each quantity of all benchmarks
FOLDER/runs/N/         the result of each launch, and its output (NAME.log)
FOLDER/suite/          plan, versions, environment, topology; run_again.sh

SIGINT and SIGTERM end the current launch, SIGUSR1 lets it finish; then the
suite ends, and the same command resumes it. In a Slurm job the suite ends
before the job does.

Exit status: 0 done, or the budget is used up and each program has a result; 1
a launch failed or found wrong data, a program has no result (even if the budget
is used up), or SIGINT or SIGTERM; 2 wrong usage; 3 SIGUSR1, or the job's time
is nearly up: resume the suite.""",
        allow_abbrev=False)
    made.add_argument("-v", "--verbose", action="store_true", help="print each command")
    group = made.add_argument_group("What to run")
    add = group.add_argument
    add("--benchmarks", metavar="LIST", type=text, default="all",
        help="names (see --dry-run) or groups: overlap, rate, monitor, all (default: all)")
    add("--runs", metavar="N", type=count, help="launches of each program (default: 6, or 1 with --quick)")
    shorter = group.add_mutually_exclusive_group()
    shorter.add_argument("--quick", action="store_true", help="one short launch of each: 2 to 3 minutes")
    shorter.add_argument("--essentials", action="store_true",
                         help="six short launches of quickstart.sh's programs: 2 minutes")
    add("--options", metavar="'WHO: ...'", type=program_options, action="append", default=[],
        help="options of a name or group, like 'halo: --local=10,50'; repeatable")
    add("--vary", metavar="'NAME=A,B'", type=varied, action="append", default=[],
        help="alternate between values of a variable, builds or launchers; repeatable")
    add("--budget", metavar="TIME", type=duration, help="time for this call: 90, 30m, 2h or 1:30:00")
    add("--limit", metavar="TIME", type=launch_options.limit,
        help="time of a launch (default: 10 minutes plus 20 times the expected time)")
    add = launch_options.add_shared(made, "DATE_TIME", metavar="N", type=count, help=launch_options.RANKS_HELP)
    add("--dry-run", action="store_true", help="print the missing launches and their time")
    return made


def varied(value):
    """Checks a value of --vary and makes its paths absolute."""
    name, colon, values = text(value).partition(":")
    absolute = {"build": os.path.abspath, "launcher": launchers.absolute}.get(name)
    if not absolute:
        return value
    sign = ";" if ";" in values else ","
    return name + colon + sign.join(one and absolute(one) for one in values.split(sign))


def program_options(value):
    """Refuses options that the suite sets; without metadata a result has no end. Also refuses colons, after which
    launchers expect another program."""
    who, colon, words = text(value).partition(":")
    words = words.split()
    if not colon or ":" in words:
        raise argparse.ArgumentTypeError(f"'{value:.200}': use 'NAME: --option ...', with one colon")
    # --form is a valid option of overlap programs.
    if names_any([word for word in words if not (who.startswith("overlap") and word.split("=")[0] == "--form")], OWN):
        raise argparse.ArgumentTypeError(f"'{value:.200}': only the suite may set {listed(OWN)}")
    # Short forms of these options; -n differs between programs.
    short = "-n" if "mpi_overhead" in who else "-o" if who.startswith("msgrate") else None
    if short and any(word.startswith(short) for word in words):
        raise argparse.ArgumentTypeError(f"'{value:.200}': results need their header")
    return value


def read_options(words):
    options = launch_options.parsed(parser(), KEPT, words)
    options.suite = "quick" if options.quick else "essentials" if options.essentials else "full"
    options.runs = options.runs or (1 if options.quick else 6)
    launch_options.fill_in(options)
    return options


def resume_command(path, *more):
    """Returns the command that resumes a suite's folder with further options, or starts a suite in another folder."""
    begun = launch_options.options_of(path, KEPT)
    return (shell_command(script(PROGRAM), *more) if begun is None else
            launch_options.resume_command(PROGRAM, path, begun, *more))
