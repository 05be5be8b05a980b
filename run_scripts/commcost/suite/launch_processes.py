# SPDX-License-Identifier: BSD-3-Clause
"""Launches as processes. Each has a separate session, so that all of its processes can be ended, by the suite's signals
or at the time limit. Signals are blocked and polled, so nothing wakes up while a program measures.
"""

import os
import signal
import subprocess
import tempfile
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # end the current launch
ALL = (*ENDING, signal.SIGUSR1)                          # SIGUSR1 lets it finish
TERM_S, KILL_S = 3.0, 5.0  # from SIGTERM to SIGKILL, after a signal and after the time limit
TIMED_OUT, KILLED = 124, 137


class Signals:
    """Signals that the suite has received."""

    def __init__(self):
        self.last = None
        # Signals ignored by nohup or a background shell stay ignored.
        self._awaited = {signal.SIGCHLD, *(one for one in ALL if signal.getsignal(one) != signal.SIG_IGN)}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._awaited)

    def end(self):
        """Restores the default actions."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._awaited)

    @property
    def ends_now(self):
        return self.last in ENDING

    def look(self, timeout_s=0.0):
        """Waits at most timeout_s for a signal or the end of a child."""
        if self.ends_now:
            return
        found = signal.sigtimedwait(self._awaited, max(0.0, timeout_s))
        if found is not None and found.si_signo != signal.SIGCHLD:
            self.last = signal.Signals(found.si_signo)


def session_of(process):
    """Returns the session of a process, or None if it has ended or is a zombie."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stream:
            state, _, _, session = stream.read().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else int(session)


def all_processes():
    return map(int, filter(str.isdigit, os.listdir("/proc")))


def writes_below(process, folder):
    """True if a process of this user was started with --output=FOLDER/N/NAME.tsv.part, like a suite's launches."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as stream:
            words = os.fsdecode(stream.read()).split("\0")
        if os.stat(f"/proc/{process}").st_uid != os.getuid():
            return False
    except OSError:
        return False
    files = [word[len("--output="):] for word in words if word.startswith("--output=/") and word.endswith(".tsv.part")]
    return any(os.path.realpath(os.path.dirname(os.path.dirname(file))) == folder for file in files)


def left_behind(folder):
    """Yields processes that write results below a folder, launchers first."""
    folder = os.path.realpath(folder)
    for is_launcher in (True, False):
        for process in all_processes():
            if writes_below(process, folder) and (session_of(process) == process or not is_launcher):
                yield process


def send(number, process, to=os.kill):
    """Sends a signal to a process or, with os.killpg, its group, if it still exists."""
    try:
        to(process, number)
    except OSError:
        pass


def end_session(leader):
    """Waits until the session is empty, since a launcher may end before its ranks, and kills the rest after 3 s. Ranks
    of Open MPI have separate process groups, but share the session."""
    for attempt in range(50):
        left = [process for process in all_processes() if session_of(process) == leader]
        if not left:
            return
        for process in left if attempt >= 30 else []:
            send(signal.SIGKILL, process)
        time.sleep(0.1)


def end(leader, wait_s=TERM_S, to=os.kill):
    """Ends a launch with all of its processes: by SIGTERM to its launcher, or with to=os.killpg to its group, and by
    SIGKILL after wait_s. True if SIGTERM was enough."""
    send(signal.SIGTERM, leader, to)
    end_s = time.monotonic() + wait_s
    while session_of(leader) is not None and time.monotonic() < end_s:
        time.sleep(0.05)
    in_time = session_of(leader) is None
    for to in (os.kill, os.killpg):
        send(signal.SIGKILL, leader, to)
    end_session(leader)
    return in_time


def begin(words, log):
    """Starts a command and appends its output to a file. OSError if the file can't be written."""
    def prepare():
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ALL, signal.SIGCHLD})

    with open(log, "ab") as stream:
        # left_behind() identifies the process by these words.
        return subprocess.Popen(["sh", "-c", 'exec "$@"', "sh", *words], stdin=subprocess.DEVNULL,
                                stdout=stream, stderr=stream, preexec_fn=prepare)


def run_limited(words, limit_s, environment=None):
    """Runs a command, and ends it with all of its processes after limit_s or at an exception. Returns its exit status,
    None after limit_s, and its output. OSError if it can't be started."""
    # Not a pipe, which processes that outlive the command may keep open.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   env=environment, start_new_session=True)
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            status = None
            end(process.pid, KILL_S, os.killpg)
            process.wait()
        except BaseException:
            send(signal.SIGKILL, process.pid, os.killpg)
            end_session(process.pid)
            raise
        if status:
            end_session(process.pid)
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def await_end(process, limit_s, signals):
    """Waits for the end of a launch. Returns its exit status as in a shell, or None if a signal ended it."""
    end_s = time.monotonic() + limit_s
    while process.poll() is None:
        if signals.ends_now:
            end(process.pid)
            process.wait()
            return None
        if time.monotonic() >= end_s:
            # A shell script as launcher waits for its child, so the whole group gets the signal.
            status = TIMED_OUT if end(process.pid, KILL_S, os.killpg) else KILLED
            process.wait()
            return status
        signals.look(end_s - time.monotonic())
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    # A killed launcher may leave ranks behind.
    if status >= TIMED_OUT:
        end_session(process.pid)
    return status
