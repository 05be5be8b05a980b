# SPDX-License-Identifier: BSD-3-Clause
"""Commands of run_scripts/commcost, each in a fork of the test's process: as in a process of its own, but without the
time that it takes to start one and to read the sources."""

import importlib
import os
import subprocess
import sys
import tempfile
import traceback

from commcost.__main__ import COMMANDS
from commcost.command import run


def command(name, *words, cwd=None, environment=None):
    """Runs the command of this name (COMMANDS) with these words, in a folder and with all variables of an
    environment: a finished process with its texts."""
    program, module, function = COMMANDS[name]
    entry = getattr(importlib.import_module("commcost." + module), function)
    words = [str(word) for word in words]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            if environment is not None:
                os.environ.clear()
                os.environ.update(environment)
            os.chdir(cwd or ".")
            in_this_process(program, entry, words, output, errors)
        _, status = os.waitpid(child, 0)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return subprocess.CompletedProcess([program, *words], code, text_of(output), text_of(errors))


def in_this_process(program, entry, words, output, errors):
    """Runs a command, its stdout and stderr to files, and ends the process."""
    status = 1
    try:
        for number, stream in ((0, open(os.devnull, "rb")), (1, output), (2, errors)):
            os.dup2(stream.fileno(), number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        run(program, entry, words)
    except SystemExit as error:
        status = error.code or 0
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def text_of(stream):
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")
