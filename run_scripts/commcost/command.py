# SPDX-License-Identifier: BSD-3-Clause
"""Command lines: options as the benchmarks have them, and errors of one line."""

import argparse
import errno
import math
import os
import re
import stat
import sys

from commcost import __version__
from commcost.system import replace_file
from commcost.words import counted

EXIT_DONE, EXIT_FAILED, EXIT_USAGE = 0, 1, 2
ERROR_MAX = 500  # characters
CONTROLS = "\x00-\x1f\x7f-\x9f"


class UsageError(Exception):
    """Wrong usage: one line that names the option, its value and the remedy."""


class Failure(Exception):
    """An error with exit status 1: one line."""


def plain(text):
    """Returns the text as one line for a terminal: spaces replace control characters, those that reorder text and
    those that XML forbids, question marks replace bytes that aren't UTF-8."""
    if text.isprintable() and "\ufffd" not in text:
        return text
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(f"[{CONTROLS}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]", " ", text).replace("\ufffd", "?")


def complain(program, text):
    say(f"{program}: {plain(str(text)):.{ERROR_MAX}}")


def say(text):
    try:
        print(plain(text), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream):
    """Redirects the stream to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows options as --name=VALUE."""

    def __init__(self, prog):
        super().__init__(prog, max_help_position=10, width=78)

    def _format_action_invocation(self, action):
        if not action.option_strings:
            return super()._format_action_invocation(action)
        # A single name is aligned with second names.
        names = ("    " if len(action.option_strings) == 1 else "") + ", ".join(action.option_strings)
        values = action.metavar if action.nargs == "+" else self._format_args(action, action.dest.upper())
        return names if action.nargs == 0 else f"{names}={values}"


class Parser(argparse.ArgumentParser):
    """Parses options; an error is one line on stderr and exit status 2."""

    def __init__(self, program, usage, description, **more):
        super().__init__(prog=program, usage=argparse.SUPPRESS, add_help=False, formatter_class=Formatter,
                         description=f"Usage: {usage}\n\n{description}", **more)
        self._usage = usage
        self.add_argument("-h", "--help", action="help", help="print this help and exit")
        self.add_argument("--version", action="version", help="print the version and exit",
                          version=f"{program} (commcost) {__version__}")

    def parse_with_paths(self, words, what=argparse.SUPPRESS, name="RESULTS"):
        """Returns the options, with all other words as `paths`, which the help calls by this name."""
        self.add_argument("paths", metavar=name, nargs="*", help=what)
        options, others = self.parse_known_args(words)
        unknown = [word for word in others if word.startswith("-") and word != "--"]
        if unknown:
            self.unknown(unknown[0])
        options.paths += [word for word in others if word != "--"]
        return options

    def parse_with_results(self, words, most, least=1, name="RESULTS"):
        """Returns the options, with `least` to `most` results as `paths`."""
        options = self.parse_with_paths(words, "folders or files", name)
        if not least <= len(options.paths) <= most:
            what = f"got {counted(len(options.paths), 'result')}:" if options.paths else "which results?"
            raise UsageError(f"{what} use {self._usage}")
        return options

    def parse_with_base(self, words):
        """Returns the options, with one result and that of --base, if given, as `paths`."""
        self.add_argument("--base", metavar="BASE_RESULTS", help="results to compare with")
        options = self.parse_with_results(words, 1)
        options.paths += [options.base] if options.base else []
        return options

    def parse_known_args(self, args=None, namespace=None):
        for word in args:
            if word.startswith("-") and word.endswith("=--"):  # argparse takes this as the end of options
                self.error(f"argument {word[:-len('=--')]}: '--' is no value")
        return super().parse_known_args(args, namespace)

    def parse_args(self, args=None, namespace=None):
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.unknown(unknown[0])
        return options

    def unknown(self, word):
        """Ends the program with an error about an unknown option."""
        if not word.startswith("-"):
            self.error(f"'{word:.200}' is no option: see --help")
        name = word.partition("=")[0]
        self.error(f"{name:.200}: no such option: see --help")

    def error(self, message):
        complain(self.prog, message)
        sys.exit(EXIT_USAGE)


def output_path(path, output, default):
    """Returns `output` if given, else `default`, a path next to the result. UsageError if the result is a pipe."""
    if not (output or os.path.isdir(path) or os.path.isfile(path)):
        raise UsageError(f"'{path:.200}' is no file or folder: use --output")
    return output or default


_inputs = set()  # device and inode of each file that results were read from


def protect_input(stream):
    """Records a file that is open for reading: no output may replace it."""
    file = os.fstat(stream.fileno())
    if stat.S_ISREG(file.st_mode):
        _inputs.add((file.st_dev, file.st_ino))


def is_input(path, is_followed):
    """True if a path leads to a file that was read. Links count only if they are followed."""
    try:
        file = os.stat(path, follow_symlinks=is_followed)
    except OSError:
        return False
    return (file.st_dev, file.st_ino) in _inputs


def write_to(path, text, is_named=True):
    """Writes text or bytes to a file, or to stdout for None. UsageError if the user named the file and it can't be
    written, or was read. Failure if the disk is full, or for any other file."""
    if path is None:
        sys.stdout.write(text)
        return
    if is_input(path, is_named):
        raise UsageError(f"--output: '{path:.200}' is an input: use another file")
    try:
        replace_file(path, text, is_named)
    except OSError as error:
        if is_named and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise UsageError(f"--output: cannot write '{path:.200}': {error.strerror}: use another file") from None
        raise Failure(f"output was lost: cannot write '{path:.200}': {error.strerror}") from None


def percent(low, high):
    """Makes the type of an option in percent, with or without the % sign."""
    def parse(text):
        try:
            value = float(text[:-1] if text.endswith("%") else text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}': use a number from {low:.9g} to {high:.9g}")
        return value
    return parse


def run(program, main, words=None):
    """Ends the program with the exit status of main(words). Exceptions become one line on stderr."""
    # Otherwise the next file to be opened would get the number of a closed stream. This file can't be written.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    # Independent of the locale; file names may be any bytes.
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    try:
        status = main(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
    except (UsageError, Failure) as error:
        complain(program, error)
        status = EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
    except OSError as error:
        # The reader closed the pipe, or the disk is full.
        if not isinstance(error, BrokenPipeError):
            what = "output was lost" if error.filename is None else f"'{error.filename:.200}'"
            complain(program, f"{what}: {error.strerror}")
        discard(sys.stdout)
        status = EXIT_FAILED
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
