"""A launch as a process: it has a session of its own, so that all that it starts can be ended, and
is ended with the suite's signals or its time. Signals are blocked and waited for, so nothing wakes
up while a program measures."""

import os
import signal
import subprocess
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the launch in hand is ended
AFTERWARDS = signal.SIGUSR1                              # it ends by itself
ALL = (*ENDING, AFTERWARDS)
TERM_S, KILL_S = 3.0, 5.0  # from SIGTERM to SIGKILL: of the suite's signals, of the time's end
TIMED_OUT, KILLED = 124, 137


class Signals:
    """The signals that came to the suite, since this was made."""

    def __init__(self):
        self.last = None
        # What nohup, or a shell in the background, has ignored stays so.
        self._awaited = {signal.SIGCHLD, *(one for one in ALL
                                           if signal.getsignal(one) != signal.SIG_IGN)}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._awaited)

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


def stat_of(process):
    """The fields of /proc/PROCESS/stat after the command's name; [] for a process that is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()
    except OSError:
        return []


def leads_session(process):
    return stat_of(process)[3:4] == [str(process)]


def writes_below(process, folder):
    """Whether a process of this user was started with --output=FOLDER/N/NAME.tsv.part, as launches of a
    suite are."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as stream:
            words = os.fsdecode(stream.read()).split("\0")
        if os.stat(f"/proc/{process}").st_uid != os.getuid():
            return False
    except OSError:
        return False
    files = [word[len("--output="):] for word in words
             if word.startswith("--output=/") and word.endswith(".tsv.part")]
    return any(os.path.realpath(os.path.dirname(os.path.dirname(file))) == folder for file in files)


def left_behind(folder):
    """The processes that write results below a folder, launchers first, each looked for when the one
    before it has been dealt with."""
    folder = os.path.realpath(folder)
    for is_launcher in (True, False):
        for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if writes_below(process, folder) and (leads_session(process) or not is_launcher):
                yield process


def in_session(leader):
    """The processes, zombies left out, whose session this one began. Open MPI's ranks have process
    groups of their own, but the session stays."""
    found = []
    for name in os.listdir("/proc"):
        fields = stat_of(name) if name.isdigit() else []
        if len(fields) > 3 and fields[3] == str(leader) and fields[0] != "Z":
            found.append(int(name))
    return found


def kill(number, *processes):
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            pass


def kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except OSError:
        kill(signal.SIGKILL, leader)


def end_session(leader):
    """Waits until the session is empty, which a launcher may leave before its ranks do, and ends by
    force what is still there after 3 s."""
    for attempt in range(50):
        left = in_session(leader)
        if not left:
            return
        if attempt >= 30:
            kill(signal.SIGKILL, *left)
        time.sleep(0.1)


def end_group(leader, process=None):
    """Ends a launch with all that it started, within a few seconds. `process`: it is this one's
    child."""
    kill(signal.SIGTERM, leader)
    end_s = time.monotonic() + TERM_S
    while time.monotonic() < end_s + 2 and is_there(leader, process):
        if time.monotonic() >= end_s:
            kill_group(leader)
        time.sleep(0.05)
    kill_group(leader)
    if process is not None:
        process.wait()
    end_session(leader)


def is_there(leader, process):
    return process.poll() is None if process is not None else bool(stat_of(leader))


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
    """Waits for the end of a launch: its exit status as a shell has it; None where a signal ended
    it."""
    end_s = time.monotonic() + limit_s
    while process.poll() is None:
        if signals.ends_now:
            end_group(process.pid, process)
            return None
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            return end_for_time(process)
        signals.look(left_s)
    status = process.returncode
    if status < 0:
        status = 128 - status
    # Ended by force, a launcher may leave ranks behind.
    if status >= TIMED_OUT:
        end_session(process.pid)
    return status


def end_for_time(process):
    """A shell ends when what it waits for does, so all of its group is told."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except OSError:
        pass
    status = TIMED_OUT
    try:
        process.wait(KILL_S)
    except subprocess.TimeoutExpired:
        kill(signal.SIGKILL, process.pid)
        process.wait()
        status = KILLED
    end_session(process.pid)
    return status
