# SPDX-License-Identifier: BSD-3-Clause
"""Other processes of this machine, as /proc shows them."""

import collections
import os
import signal
import time

Process = collections.namedtuple("Process", "number line session")


def wait_for(condition, timeout_s=30.0, every_s=0.01):
    """True if the condition became true in that time; it is evaluated every `every_s`."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end_s:
            return False
        time.sleep(every_s)
    return True


def state_and_session(number):
    """Both as /proc/NUMBER/stat has them; None if there is no such process."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return fields[0], int(fields[3])


def is_alive(number):
    """Also a process that has ended may still be listed: that one is not."""
    found = state_and_session(number)
    return found is not None and found[0] not in "ZX"


def processes():
    """Each that hasn't ended: its number, its command line with blanks between the
    words, its session."""
    for number in map(int, filter(str.isdigit, os.listdir("/proc"))):
        found = state_and_session(number)
        if found is None or found[0] in "ZX":
            continue
        try:
            with open(f"/proc/{number}/cmdline", "rb") as stream:
                line = stream.read().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        yield Process(number, line, found[1])


def processes_with(text):
    """Those that have this in their command line, except for this process."""
    return [process for process in processes()
            if text in process.line and process.number != os.getpid()]


def ranks_of(program, text):
    """The numbers, in order, of the processes that run this program and have the text
    in their command line: unlike mpirun, which has it, too."""
    program = os.path.realpath(program)
    found = []
    for process in processes_with(text):
        try:
            if os.readlink(f"/proc/{process.number}/exe") == program:
                found.append(process.number)
        except OSError:
            pass
    return sorted(found)


def kill_all(found):
    """SIGKILL to each of these processes that is still there."""
    for process in found:
        try:
            os.kill(process.number, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_session(leader):
    """SIGKILL to all that is in the session that this process began."""
    kill_all(process for process in processes() if process.session == leader)
