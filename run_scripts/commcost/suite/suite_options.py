"""Options of run_suite.sh."""

import argparse
import os

from commcost import command
from commcost.suite import launch_options, launchers
from commcost.suite.launch_options import count, duration, names_any, text
from commcost.system import script, to_paste

PROGRAM = "run_suite.sh"
# Options that determine the results, in the order of the record.
KEPT = ("build", "benchmarks", "runs", "quick", "essentials", "options", "vary", "limit", *launch_options.KEPT_PLACE)
OWN = ("--output", "--format", "--columns", "--metadata", "--no-metadata", "--no-header", "--nohdr")  # the suite's


def parser():
    made = command.Parser(
        PROGRAM, f"{PROGRAM} [OPTION]...",
        """Runs every benchmark, or those chosen, as many times as --runs says, in turn:
all of them, then all again, each time with a new mpirun, since launches differ
by more than one launch shows. Says first how long that will take.

FOLDER/NAME.tsv has the rows of all launches, with a first column run;
FOLDER/summary.tsv has one row a quantity of all benchmarks, for spreadsheets;
FOLDER/runs/N/NAME.tsv what each launch wrote, and NAME.log what it said
besides; FOLDER/suite/ what it takes to run the suite again: run_again.sh,
plan.tsv, versions, environment, topology, hosts, and launches.tsv with the time
each took.

SIGINT and SIGTERM end the launch in hand, SIGUSR1 lets it finish; then the
suite ends, and the same command resumes it. In a Slurm job the suite
ends before the job's time is up.

Exit status: 0 done, or the budget is used up and there is a result of each; 1
a launch failed, found wrong data, or was not reached; 2 wrong usage; 3 SIGUSR1,
or the job's time is nearly up: resume it.""",
        allow_abbrev=False)
    made.add_argument("-v", "--verbose", action="store_true", help="print each command when it runs")
    group = made.add_argument_group("What to run")
    add = group.add_argument
    add("--benchmarks", metavar="LIST", type=text, default="all", help="names and groups, with commas "
        "(default: all). Names: overlap_COLLECTIVE, overlap_COLLECTIVE_sweep, of messages "
        "overlap_isend_sweep and so on, overlap_halo_sweep, msgrate, msgrate_warm, msgrate_rma, pingpong, syncbench, "
        "halo, collective, mpi_overhead, monitor_overhead, noise, linkmap. Groups: overlap, rate, monitor, all")
    add("--runs", metavar="N", type=count, help="launches of each (default: 6, from which on there are "
        "intervals over launches; with --quick 1). A comparison of two versions wants 10")
    shorter = group.add_mutually_exclusive_group()
    shorter.add_argument("--quick", action="store_true", help="shorter launches, one of each: 2 to 3 minutes")
    shorter.add_argument("--essentials", action="store_true", help="what quickstart.sh measures: the programs "
        "that answer the first questions, in short launches, 6 of each: 2 minutes")
    add("--options", metavar="'WHO: ...'", type=program_options, action="append", default=[],
        help="more options for a name, a group or all, for example --options='halo: --local=10,50'; may be repeated")
    add("--vary", metavar="'NAME=A,B'", type=varied, action="append", default=[], help="launches of each "
        "in turn with a variable of the environment set to A, to B and so on (values that have commas: "
        "with ; between them; an empty value: not set, as in NAME=,A); build:FOLDER,FOLDER and "
        "launcher:WHICH,WHICH vary these. May be repeated: "
        "all combinations. Results have a column setting, and the report says by row which is best")
    add("--budget", metavar="TIME", type=duration, help="time for this call (90, 30m, 2h, 1:30:00). A "
        "launch that wouldn't end in it isn't started, one that doesn't is ended and forgotten; no "
        "result has half its rows")
    add("--limit", metavar="TIME", type=launch_options.limit, help="for each launch, after which it has failed "
        "(default: 10 minutes and 20 times what it should take)")
    add = launch_options.add_shared(made, "DATE_TIME", "; --hosts, --vary, and --options that name a file. More --runs than "
                               "before are added", metavar="N", type=count, help=launch_options.RANKS_HELP)
    add("--dry-run", action="store_true", help="print the commands of launches without a result, and "
        "how long they will take")
    return made


def varied(value):
    """Checks a value of --vary, and makes its paths absolute."""
    name, colon, values = text(value).partition(":")
    absolute = {"build": os.path.abspath, "launcher": launchers.absolute}.get(name)
    if not absolute:
        return value
    sign = ";" if ";" in values else ","
    return name + colon + sign.join(one and absolute(one) for one in values.split(sign))


def program_options(value):
    """Refuses the suite's own options: without metadata a result has no end. A colon makes launchers look for another
    program."""
    who, colon, words = text(value).partition(":")
    words = words.split()
    if not colon or ":" in words:
        raise argparse.ArgumentTypeError(f"'{value:.200}': use 'NAME: --option ...', with one colon")
    # Overlap programs have an option --form.
    if names_any([word for word in words if not (who.startswith("overlap") and word.split("=")[0] == "--form")], OWN):
        raise argparse.ArgumentTypeError(f"'{value:.200}': --output, --format, --columns, --metadata, "
                                         "--no-metadata, --no-header and --nohdr are the suite's own")
    # Short options for the same; -n differs between programs.
    short = "-n" if "mpi_overhead" in who else "-o" if who.startswith("msgrate") else None
    if short and any(word.startswith(short) for word in words):
        raise argparse.ArgumentTypeError(f"'{value:.200}': what leaves out the header is the suite's own")
    return value


def read_options(words):
    options = launch_options.parsed(parser(), KEPT, words)
    options.suite = "quick" if options.quick else "essentials" if options.essentials else "full"
    options.runs = options.runs or (1 if options.quick else 6)
    launch_options.fill_in(options)
    return options


def resuming_with(path, *more):
    """Returns the command that resumes a suite's folder with more options; for another folder, that of a new suite."""
    begun = launch_options.begun_with(path, KEPT)
    return (to_paste(script(PROGRAM), *more) if begun is None else
            launch_options.going_on(PROGRAM, path, begun, *more))
