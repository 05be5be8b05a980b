"""A launch as a process: it has a session of its own, so that all that it starts can be ended, and is ended with the
suite's signals or its time. Signals are blocked and waited for, so nothing wakes up while a program measures."""

import os
import signal
import subprocess
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the launch in hand is ended
ALL = (*ENDING, signal.SIGUSR1)                          # with SIGUSR1 it ends by itself
TERM_S, KILL_S = 3.0, 5.0  # from SIGTERM to SIGKILL: of the suite's signals, of the time's end
TIMED_OUT, KILLED = 124, 137


class Signals:
    """The signals that came to the suite, since this was made."""

    def __init__(self):
        self.last = None
        # What nohup, or a shell in the background, has ignored stays so.
        self._awaited = {signal.SIGCHLD, *(one for one in ALL if signal.getsignal(one) != signal.SIG_IGN)}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._awaited)

    def end(self):
        """From now on signals do what they do by default."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._awaited)

    @property
    def ends_now(self):
        return self.last in ENDING

    def look(self, timeout_s=0.0):
        """Waits for a signal or the end of a child, at most timeout_s."""
        if self.ends_now:
            return
        found = signal.sigtimedwait(self._awaited, max(0.0, timeout_s))
        if found is not None and found.si_signo != signal.SIGCHLD:
            self.last = signal.Signals(found.si_signo)


def session_of(process):
    """The process whose session this one is in; None for one that is gone, or a zombie."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stream:
            state, _, _, session = stream.read().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else int(session)


def all_processes():
    return map(int, filter(str.isdigit, os.listdir("/proc")))


def writes_below(process, folder):
    """Whether a process of this user was started with --output=FOLDER/N/NAME.tsv.part, as launches of a suite are."""
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
    """The processes that write results below a folder, launchers first, each looked for when the one
    before it has been dealt with."""
    folder = os.path.realpath(folder)
    for is_launcher in (True, False):
        for process in all_processes():
            if writes_below(process, folder) and (session_of(process) == process or not is_launcher):
                yield process


def send(number, process, to=os.kill):
    """Sends a signal to a process or, with os.killpg, its group, if it is still there."""
    try:
        to(process, number)
    except OSError:
        pass


def end_session(leader):
    """Waits until the session is empty, which a launcher may leave before its ranks do, and ends by force what is still
    there after 3 s. Open MPI's ranks have process groups of their own, but the session stays."""
    for attempt in range(50):
        left = [process for process in all_processes() if session_of(process) == leader]
        if not left:
            return
        for process in left if attempt >= 30 else []:
            send(signal.SIGKILL, process)
        time.sleep(0.1)


def end(leader, wait_s=TERM_S, to=os.kill):
    """Ends a launch with all that it started: by SIGTERM to its launcher, or `to` its group, and after wait_s by
    force. Whether it ended in that time."""
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
    """Starts a command, its output to the end of a file. OSError where that can't be written."""
    def prepare():
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ALL, signal.SIGCHLD})

    with open(log, "ab") as stream:
        # The words are this process' own from the start: left_behind() knows it by them.
        return subprocess.Popen(["sh", "-c", 'exec "$@"', "sh", *words], stdin=subprocess.DEVNULL,
                                stdout=stream, stderr=stream, preexec_fn=prepare)


def await_end(process, limit_s, signals):
    """Waits for the end of a launch: its exit status as a shell has it; None where a signal ended it."""
    end_s = time.monotonic() + limit_s
    while process.poll() is None:
        if signals.ends_now:
            end(process.pid)
            process.wait()
            return None
        if time.monotonic() >= end_s:
            # A shell ends when what it waits for does, so all of its group is told.
            status = TIMED_OUT if end(process.pid, KILL_S, os.killpg) else KILLED
            process.wait()
            return status
        signals.look(end_s - time.monotonic())
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    # Ended by force, a launcher may leave ranks behind.
    if status >= TIMED_OUT:
        end_session(process.pid)
    return status
