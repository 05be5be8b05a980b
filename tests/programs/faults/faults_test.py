# SPDX-License-Identifier: BSD-3-Clause
"""Faults of a user, a launcher or a machine in a run: signals, a full disk, a folder that is removed, no /dev/shm, and
somebody else on the processor. A run ends, reports the fault in one line, and its rows until then are there
and whole."""

import os
import re
import shutil
import signal
import subprocess
import time

from case import Case, each, in_full
from mounts import own_mounts, with_small_fs
from mpi_run import WHOLE, call, read, read_if_there, read_tsv, run_raw
from processes import kill_all, kill_session, processes_with, ranks_of, wait_for

# A run ends within this after a signal or a fault, the row in hand included.
END_S = 10.0
ROW_S = 0.2

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
NO_SPACE = "No space left on device"


class Run:
    """A run of halo that takes a few seconds, with a row each ROW_S."""

    def __init__(self, launcher, program, folder):
        self.launcher, self.program, self.folder = launcher, program, str(folder)
        self.output = os.path.join(self.folder, "a", "halo.tsv")
        os.mkdir(os.path.dirname(self.output))
        self.begun = []

    def start(self, *options):
        return self.begin(self.launcher.line(2, {}, [
            self.program, "--local=4,6,8", f"--max-time={ROW_S}", "--precision=0.001",
            "--max-samples=900M", "--visits=1", f"--output={self.output}", *options]))

    def begin(self, line, environment=None):
        """Begins a command in a session of its own. What an earlier one left is not taken for this one's."""
        self.end_all()
        if os.path.isfile(self.output):
            os.remove(self.output)
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        self.begun.append(process)
        return process

    def end_all(self):
        """Kills all that was begun, and what has a session of its own: it has the test's folder in its command line."""
        for process in self.begun:
            kill_session(process.pid)
        kill_all(processes_with(self.folder))
        for process in self.begun:
            process.communicate(timeout=END_S)
        self.begun.clear()

    def end_of(self, process):
        """Exit status and stderr of what must end now."""
        before_s = time.monotonic()
        said = process.communicate(timeout=3 * END_S)[1]
        self.begun.remove(process)
        assert time.monotonic() - before_s < END_S, said
        # mpirun may leave a little earlier than its ranks.
        assert wait_for(lambda: not self.at_work(), END_S), self.at_work()
        return process.returncode, said

    def at_work(self):
        """The ranks."""
        return ranks_of(self.program, self.output)

    def rows(self, text=None):
        """All of them are whole."""
        text = read(self.output) if text is None else text
        bare = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
        for line in bare:
            assert line.endswith("\n"), line
            assert line.count("\t") == bare[0].count("\t"), line
        return max(len(bare) - 1, 0)

    def await_rows(self):
        """Waits for the first two."""
        assert wait_for(lambda: len(read_tsv(read_if_there(self.output))) >= 2), "no rows"

    def assert_interrupted(self, text, name):
        """The end of the result has the signal."""
        assert f"# warning: interrupted by {name}" in text
        assert text.endswith(f"\n# end: {self.rows()} rows, exit 1\n"), text[-200:]

    def assert_lost(self, process, path, reason):
        """Exit status 1, one line of ours."""
        status, said = self.end_of(process)
        assert status == 1, said
        ours = [line for line in said.splitlines() if line.startswith("halo: ")]
        assert ours == [f"halo: output was lost: cannot write {path}: {reason}"], said


class RunCase(Case):
    """Programs that the test starts end with it."""

    def setUp(self):
        super().setUp()
        self.run_of_halo = Run(self.launcher, self.built("halo/halo"), self.folder)
        self.addCleanup(self.run_of_halo.end_all)


class Signals(RunCase):
    @each("number, victim", zip(SIGNALS, (0, 0, 1)))
    def test_to_a_rank(self, number, victim):
        """Each of them, to either rank. The row in hand is the last one."""
        run = self.run_of_halo
        process = run.start()
        run.await_rows()
        rows = run.rows()
        os.kill(run.at_work()[victim], number)
        status, said = run.end_of(process)
        assert status != 0, said
        run.assert_interrupted(read(run.output), f"{number.name}\n")
        assert rows <= run.rows() <= rows + 3

    @each("number", SIGNALS)
    def test_to_mpirun(self, number):
        """mpirun treats a signal in its own way: it passes it on, or another one, or kills the ranks. The job ends,
        and no row is lost."""
        run = self.run_of_halo
        process = run.start()
        run.await_rows()
        before = read(run.output)
        process.send_signal(number)
        status, said = run.end_of(process)
        text = read(run.output)
        assert text.startswith(before)
        # hydra takes what it was told to do for done; with SIGUSR1 half of the time, of any program whose ranks exit
        # with 1.
        if self.launcher.is_openmpi:
            assert status != 0, said
        if "# end: " in text:
            run.assert_interrupted(text, "SIG")


class Files(RunCase):
    def test_full_disk(self):
        run = self.run_of_halo
        real, run.output = run.output, "/dev/full"
        run.assert_lost(run.start(), "/dev/full", NO_SPACE)
        run.output = real
        run.assert_lost(run.start("--dump-samples=/dev/full"), "/dev/full", NO_SPACE)
        text = read(run.output)
        assert re.search("\n# end: [12] rows?, exit 1\n$", text), text
        assert run.rows(text) <= 2

    @each("kibibytes, rows_min", [(8, 0), (12, 1)])
    def test_disk_that_becomes_full(self, kibibytes, rows_min):
        """The rows that fitted are whole, and there is no end. One of the sizes has room for rows. Since nobody else
        sees the small file system, the result is copied in the end."""
        run = self.run_of_halo
        run.output = os.path.join(self.folder, "small", "halo.tsv")
        os.mkdir(os.path.dirname(run.output))
        copy = os.path.join(self.folder, "copy")
        script = 'output=$1 copy=$2; shift 2; "$@"; status=$?; cp "$output" "$copy"; exit "$status"'
        process = run.begin([
            *with_small_fs(os.path.dirname(run.output), kibibytes), "sh", "-c", script, "sh", run.output, copy,
            *self.launcher.line(2, {}, [run.program, f"--local={','.join(map(str, range(4, 30)))}",
                                        f"--output={run.output}", "--max-time=0.02", "--visits=1"])])
        run.assert_lost(process, run.output, NO_SPACE)
        text = read(copy)
        assert "# end:" not in text
        lines = text.splitlines(keepends=True)
        if not lines[-1].endswith("\n"):
            lines.pop()
        assert run.rows("".join(lines)) >= rows_min

    def test_removed_folder(self):
        run = self.run_of_halo
        process = run.start()
        run.await_rows()
        shutil.rmtree(os.path.dirname(run.output))
        run.assert_lost(process, run.output, "it was removed")

    def test_removed_samples(self):
        run, samples = self.run_of_halo, os.path.join(self.folder, "samples")
        process = run.start(f"--dump-samples={samples}")
        run.await_rows()
        os.remove(samples)
        run.assert_lost(process, samples, "it was removed")
        assert re.search("\n# end: [0-9]+ rows, exit 1\n$", read(run.output))


class SharedMemory(Case):
    def test_bus_error(self):
        """A page that /dev/shm has no room for ends the process with a line of ours; what else is behind a file's end,
        as it ends any."""
        def write(folder, room, written, *before):
            done = call([*before, self.built("tests/programs/faults/bus_error"), f"{folder}/mapped", room, written])
            return done.returncode, done.stderr
        megabyte = 1 << 20
        small = with_small_fs("/dev/shm", 256)
        status, said = write("/dev/shm", megabyte, megabyte, *small)
        assert status == 1, said
        assert re.search("^commcost: /dev/shm, the shared memory .*\n$", said), said
        assert write("/dev/shm", megabyte // 8, megabyte // 8, *small) == (0, "")
        assert write(self.folder, 0, megabyte) == (-signal.SIGBUS, "")

    @each("kibibytes", [4, 9216, *in_full(1024, 10240)])
    def test_none(self, kibibytes):
        """A full /dev/shm: a run that the library can do without it is done; any other one ends, with a line of ours or
        the library's that names the place."""
        small = self.launcher.behind(with_small_fs("/dev/shm", kibibytes))
        done = run_raw(small, 2, [self.built("halo/halo"), "--local=4", "--max-time=0.02"], timeout_s=30)
        if done.returncode == 0:
            assert re.search("\n# end: [0-9]+ rows, exit 0\n$", done.stdout)
        else:
            assert "/dev/shm, the shared memory" in done.stderr
            assert "# end:" not in done.stdout


class Memory(Case):
    """The control group's free memory counts, not only the machine's."""

    GROUP = """set -eu
    mount -t tmpfs tmpfs /sys/fs/cgroup
    for folder in /sys/fs/cgroup /sys/fs/cgroup/memory; do
        mkdir -p "$folder"
        for limit in memory.max memory.limit_in_bytes; do echo 67108864 >"$folder/$limit"; done
        for taken in memory.current memory.usage_in_bytes; do echo 1048576 >"$folder/$taken"; done
    done
    exec "$@"
    """

    @each("size, status", [("8M", 0), ("32M", 2)])
    def test_limit_of_a_group(self, size, status):
        words = [self.built("mpi_overhead/mpi_overhead"), "-m", size, "--samples=1", "-b", "1.5", "-i", "1"]
        limited = self.launcher.behind([*own_mounts(), "sh", "-c", self.GROUP, "sh"])
        assert run_raw(self.launcher, 2, words).returncode == 0
        done = run_raw(limited, 2, words)
        assert done.returncode == status, done.stderr
        if status != 0:
            assert re.search("--msgsize: .* do not fit into memory: use at most [0-9]+\n", done.stderr), done.stderr


class Competitor(Case):
    def test_warning(self):
        """Somebody else computes on the rank's only processor: its rows report it."""
        if not os.path.exists("/proc/thread-self/schedstat"):
            self.skipTest("this kernel has no waiting times of a process")
        here = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        with subprocess.Popen([*here, "sh", "-c", "while :; do :; done"]) as competitor:
            try:
                done = run_raw(self.launcher, 1, [*here, self.built("monitor/monitor_overhead"), "--max-time=0.05",
                                                   *WHOLE])
            finally:
                competitor.kill()
        assert done.returncode == 0, done.stderr
        warned = re.findall("(?m)^# warning: row [0-9]+: rank 0 waited", done.stdout)
        assert len(warned) >= len(read_tsv(done.stdout)) / 2, done.stdout
