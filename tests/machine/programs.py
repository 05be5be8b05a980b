# SPDX-License-Identifier: BSD-3-Clause
"""How the tests of this folder start programs, and end them in time."""

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time

NOT_JUDGED = 77


def arguments(text, tests, seconds):
    """The command line: the build, the launcher, and one of these tests; by default it may take
    seconds(its name)."""
    parser = argparse.ArgumentParser(description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the build's folder")
    parser.add_argument("--mpirun", required=True, help="mpirun and its flags")
    parser.add_argument("test", choices=sorted(tests))
    parser.add_argument("--seconds", type=float, help="that the test may take")
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = seconds(options.test)
    return options


class OutOfTime(Exception):
    """A program was ended since the test's time was up."""


def in_time(source):
    """The pairs that a source yields before the time is up."""
    try:
        yield from source
    except OutOfTime:
        pass


def family(process):
    """A process with all that it and its children started."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="ascii") as stream:
            parent = int(stream.read().rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found


class Programs:
    """Starts programs of the build until the time of a test is up. Ends the process that is left."""

    def __init__(self, options):
        self.build, self.mpirun = options.build, shlex.split(options.mpirun)
        self.is_openmpi = any("openmpi" in word or "oversubscribe" in word for word in self.mpirun)
        self.end_s = time.monotonic() + options.seconds
        self.process = None
        self.also_stop = lambda: None  # what a process started elsewhere

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the present process with all that it started: a launcher that has no time to may leave
        ranks behind, which are in sessions of their own."""
        if self.process is None or self.process.poll() is not None:
            return
        started = family(self.process.pid)
        self.also_stop()
        for end in (signal.SIGTERM, signal.SIGKILL):
            for process in started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, end)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)

    def line(self, ranks, program, options, environment):
        """The command."""
        words = self.mpirun + ["-np", str(ranks)]
        for name, value in environment.items():
            words += ["-x", f"{name}={value}"] if self.is_openmpi else ["-genv", name, str(value)]
        if not os.path.isabs(program):
            program = os.path.join(self.build, "tests", "machine", program)
        return words + [program] + [str(option) for option in options]

    def start(self, words, stderr, **how):
        """Starts a command, which is ended when the time is up."""
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=stderr, universal_newlines=True,
                                        start_new_session=True, **how)
        timer = threading.Timer(max(self.end_s - time.monotonic(), 0), self.stop)
        timer.daemon = True
        timer.start()
        return timer

    def finish(self, words, printed):
        """Raises an exception if the program failed."""
        status = self.process.wait()
        if status == NOT_JUDGED:
            print(printed)
            raise SystemExit(NOT_JUDGED)
        if time.monotonic() >= self.end_s:
            raise OutOfTime
        if status != 0:
            raise SystemExit(f"{' '.join(words)}: exit status {status}\n{printed}")

    def lines(self, ranks, program, *options, environment=None):
        """The lines of a program's stdout as it prints them, without one that its end cut off."""
        words = self.line(ranks, program, options, environment or {})
        timer = self.start(words, None)
        printed = ""
        for line in self.process.stdout:
            if line.startswith("#"):
                printed += line
            elif line.endswith("\n"):
                yield line
        timer.cancel()
        self.finish(words, printed)

    def run(self, ranks, program, *options, environment=None, **how):
        """A program's stdout and stderr, once it has ended."""
        return self.run_line(self.line(ranks, program, options, environment or {}), **how)

    def run_line(self, words, **how):
        """The same for a command."""
        with tempfile.TemporaryFile("w+") as stderr:
            timer = self.start(words, stderr, **how)
            text = self.process.stdout.read()
            timer.cancel()
            stderr.seek(0)
            printed = stderr.read()
            self.finish(words, text[-2000:] + printed[-2000:])
            return text, printed
