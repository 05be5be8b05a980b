# SPDX-License-Identifier: BSD-3-Clause
"""Options common to all scripts that launch programs, and their record in a results folder."""

import argparse
import os
import re
import time

from commcost import command
from commcost.command import Failure, UsageError
from commcost.suite import launchers, suite_folder
from commcost.system import IS_TREE, TOP, short_path, script, shell_command

KEPT_PLACE = ("launcher", "ranks", "ranks_per_node", "hosts", "bind")  # in the order of the record
FLAGS = ("--quick", "--essentials")
REPEATED = ("options", "vary", "choices")
# Options that --resume takes from a folder with any value.
TRUSTED = ("benchmarks", "runs", "quick", "essentials", "limit", "ranks", "ranks-per-node", "operations", "sizes",
         "min-gain", "launches", "max-time", "programs", "memory")
RANKS_HELP = "ranks (default: those of the job or the hosts, else one per core, between 2 and 8)"
FILE_OPTIONS = ("--dump-samples", "--exclude")  # options of programs that write a file


def text(value):
    """Parses the value of an option with a single line."""
    if not value:
        raise argparse.ArgumentTypeError("needs a value")
    if has_controls(value):
        raise argparse.ArgumentTypeError("no tabs, line breaks or other control characters")
    return value


def has_controls(value):
    return re.search(f"[{command.CONTROLS}]", value) is not None


def count(value):
    if not re.fullmatch("[1-9][0-9]{0,5}", value):
        raise argparse.ArgumentTypeError(f"'{value:.200}': use a whole number from 1")
    return int(value)


def duration(value):
    """Parses 90, 90s, 30m, 2h or 1:30:00 as seconds."""
    found = re.fullmatch("([0-9]{1,9})([smh]?)|([0-9]{1,5}):([0-9][0-9]):([0-9][0-9])", value)
    if not found:
        raise argparse.ArgumentTypeError(f"'{value:.200}': use a time like 90, 30m, 2h or 1:30:00")
    number, unit, *parts = found.groups()
    if number:
        return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]
    return sum(int(part) * seconds for part, seconds in zip(parts, (3600, 60, 1)))


def limit(value):
    """Parses a launch's time limit."""
    seconds = duration(value)
    if not seconds:
        raise argparse.ArgumentTypeError(f"'{value:.200}': needs at least 1 s")
    return seconds


def existing_folder(value):
    if not os.path.isdir(text(value)):
        raise argparse.ArgumentTypeError(f"no folder '{value:.200}'")
    return os.path.abspath(value)


def launcher(value):
    return launchers.absolute(text(value))


def list_of(taken, what):
    """Makes the type of a comma-separated option. taken(word) returns a value or None."""
    def parse(words):
        found = [taken(word) for word in text(words).split(",")]
        if None in found:
            raise argparse.ArgumentTypeError(f"'{words:.200}': {what}")
        return list(dict.fromkeys(found))
    return parse


def sizes(fits):
    """Makes the argument of list_of for sizes like 8, 64K and 4M that satisfy fits(size)."""
    def taken(word):
        found = re.fullmatch("([0-9]{1,9})([KMG]?)", word)
        size = int(found.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[found.group(2)] if found else 0
        return size if size >= 8 and fits(size) else None
    return taken


def add_shared(made, output, bind="core", **ranks):
    """Adds the options of all scripts that launch programs: where to run, and where results go. `bind` is --bind's
    default as its help states it; `ranks` are arguments of add_argument for --ranks. Returns the last group's
    add_argument."""
    add = made.add_argument_group("Where to run").add_argument
    add("--launcher", metavar="WHICH", type=launcher, help="hydra, openmpi, srun, or a command with {ranks} "
        "(default: srun under Slurm, else the build's)")
    add("--ranks", **ranks)
    add("--ranks-per-node", metavar="N", type=count, help="ranks on each node")
    add("--hosts", metavar="LIST", type=text, help="hosts, with commas")
    add("--bind", metavar="TO", type=text, help=f"core, socket, none or a word of the launcher (default: {bind})")
    add("--build", metavar="FOLDER", type=existing_folder, help="build folder (default: build)")
    add = made.add_argument_group("Where results go").add_argument
    add("--output", metavar="FOLDER", type=text, help="results folder; resume an unfinished one "
        f"(default: results/{output})")
    add("--resume", metavar="FOLDER", type=existing_folder, help="resume this folder with its own options")
    return add


def parsed(made, kept, words):
    """Returns the options of a call, including those of the folder that it resumes. `kept` names the options that
    determine the results; in the returned options it holds these options as words."""
    options = made.parse_args(words)
    if options.resume:
        options = made.parse_args(resumed_words(made, kept, options) + words)
        options.output = options.resume
    options.kept = kept_words(made, kept, options)
    return options


def fill_in(options, prefix=""):
    """Fills in --build, --hosts, --launcher, --bind and --output if they are not given. Sets `is_new` if --output isn't
    given. Failure without a build."""
    options.build = options.build or own_build()
    if not options.build:
        raise Failure(f"no folder {os.path.join(TOP, 'build')}: build first, or use --build=FOLDER")
    for name in ("launcher", "hosts", "bind"):
        setattr(options, name, getattr(options, name) or "")
    options.is_new = not options.output
    # The user may not write to an installed tree.
    options.output = options.output or short_path(os.path.join(
        TOP if IS_TREE else os.getcwd(), "results", prefix + time.strftime("%Y-%m-%d_%H%M%S")))


def kept_words(made, kept, options):
    """Returns the given options of these names as words: --name=value, or --name for a flag."""
    words = []
    for name in kept:
        value = getattr(options, name)
        for one in value if name in REPEATED else [value]:
            if one and one != made.get_default(name):
                shown = ",".join(map(str, one)) if isinstance(one, list) else one
                words.append(f"--{name.replace('_', '-')}" + ("" if one is True else f"={shown}"))
    return words


def own_build():
    """Returns the build folder of the tree, or that of installed programs (share/commcost), or "" without either."""
    folders = (os.path.join(TOP, "build"), os.path.join(TOP, "../../libexec/commcost"))
    return next((os.path.abspath(path) for path in folders if os.path.isdir(path)), "")


def resumed_words(made, kept, options):
    """Returns the folder's options as words, except options that are given again. The folder may come from somebody
    else, so options that could do harm are refused."""
    path, given = options.resume, kept_words(made, kept, options)
    there = suite_folder.Folder(path)
    there.check()
    if not os.path.exists(there.suite_file("options")):
        raise UsageError(f"--resume: '{path:.200}' is no folder of {made.prog}")
    lines = there.read("options").splitlines()
    for line in lines:
        if not is_kept(line, kept):
            raise UsageError(f"--resume: '{line:.200}' in '{path:.200}/suite/options' is no option of {made.prog}")
    named = dict(word[2:].partition("=")[::2] for word in given)
    words = [line for line in lines if line[2:].partition("=")[0] not in named]
    lacking = untrusted_options(words, named.get("build") or own_build())
    if lacking:
        raise UsageError(f"--resume: {shell_command(*lacking)} is not taken from a results folder: give it again")
    return words


def is_kept(line, kept):
    name, equals, value = line[2:].partition("=")
    return line.startswith("--") and not has_controls(line) and (
        line in FLAGS or name.replace("-", "_") in kept and bool(equals and value))


def untrusted_options(words, build):
    """Returns the folder's options that must be given again with --resume: all of a name, to keep their order."""
    names = {word.partition("=")[0] for word in words
             if not is_trusted(word, own_build() if word.startswith("--build=") else build)}
    return [word for word in words if word.partition("=")[0] in names]


def is_trusted(word, build):
    """True if --resume may take an option from the folder: it can't start a foreign program, use a different host, or
    name a file."""
    name, _, value = word[2:].partition("=")
    if name == "build":
        return bool(build) and os.path.realpath(value) == os.path.realpath(build)
    if name == "launcher":
        return value in launchers.KINDS or value == launchers.built_launcher(build)
    if name == "bind":
        return re.fullmatch("[A-Za-z][A-Za-z0-9_.,:=-]*", value) is not None
    if name == "options":
        return not names_any(value.partition(":")[2].split(), FILE_OPTIONS)
    return name in TRUSTED


def names_any(words, options):
    """True if any of a program's words is one of these options, possibly abbreviated."""
    names = [word.split("=")[0] for word in words]
    return any(len(name) > 2 and option.startswith(name) for name in names for option in options)


def options_of(path, kept):
    """Returns the recorded options of these names as words, or None if the folder has a different record."""
    there = suite_folder.Folder(path)
    words = there.read("options").splitlines()
    return words if there.read("plan.tsv") and all(is_kept(word, kept) for word in words) else None


def resume_command(program, path, kept, *more):
    """Returns the command that resumes a folder, with further options."""
    build = next((word[len("--build="):] for word in kept if word.startswith("--build=")), own_build())
    return shell_command(script(program), f"--resume={os.path.abspath(path)}", *untrusted_options(kept, build), *more)


def main(words):
    """Prints a command for users, for shell scripts."""
    print(shell_command(*words))
    return command.EXIT_DONE
