"""What a user, a launcher or a machine does to a run: signals, a full disk, a folder that is
removed, no /dev/shm, and somebody else on the processor. A run ends, says what was wrong in one
line, and what it had found until then is there and whole."""

import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import time
from typing import NamedTuple

import pytest

from mounts import own_mounts, with_small_fs
from mpi_run import on_two_processors, read, read_if_there, read_tsv, run_raw
from processes import kill_all, kill_session, processes_with, ranks_of, wait_for

# A run ends within this after a signal or a fault, the row in hand included.
END_S = 10.0
ROW_S = 0.2

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
EACH_SIGNAL = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
NO_SPACE = "No space left on device"


class Run:
    """A run of halo that takes a few seconds, with a row each ROW_S."""

    __test__ = False

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
        """Begins a command in a session of its own. What an earlier one left is not taken for this
        one's."""
        self.end_all()
        if os.path.isfile(self.output):
            os.remove(self.output)
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, **(environment or {})},
                                   start_new_session=True)
        self.begun.append(process)
        return process

    def end_all(self):
        """Kills all that was begun, what has a session of its own, too: it has the test's folder in
        its command line."""
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
        """The end of the result says so."""
        assert f"# warning: interrupted by {name}" in text
        assert text.endswith(f"\n# end: {self.rows()} rows, exit 1\n"), text[-200:]

    def assert_lost(self, process, path, reason):
        """Exit status 1, one line of ours."""
        status, said = self.end_of(process)
        assert status == 1, said
        ours = [line for line in said.splitlines() if line.startswith("halo: ")]
        assert ours == [f"halo: output was lost: cannot write {path}: {reason}"], said


@pytest.fixture
def run(launcher, built, tmp_path):
    """What it begins ends with the test."""
    made = Run(launcher, built("halo/halo"), tmp_path)
    yield made
    made.end_all()


@pytest.fixture
def kind(launcher):
    """The launcher as run_suite.sh calls it."""
    return "openmpi" if launcher.is_openmpi else "hydra"


class Signals:
    @pytest.mark.parametrize("number, victim", zip(SIGNALS, (0, 0, 1)),
                             ids=lambda value: getattr(value, "name", value))
    def test_to_a_rank(self, run, number, victim):
        """Each of them, to either rank. The row in hand is the last one."""
        process = run.start()
        run.await_rows()
        rows = run.rows()
        os.kill(run.at_work()[victim], number)
        status, said = run.end_of(process)
        assert status != 0, said
        run.assert_interrupted(read(run.output), f"{number.name}\n")
        assert rows <= run.rows() <= rows + 3

    @EACH_SIGNAL
    def test_to_mpirun(self, run, kind, number):
        """What mpirun makes of a signal is its own: it passes it on, or another one, or kills the
        ranks. The job ends, and no row is lost."""
        process = run.start()
        run.await_rows()
        before = read(run.output)
        process.send_signal(number)
        status, said = run.end_of(process)
        text = read(run.output)
        assert text.startswith(before)
        # hydra takes what it was told to do for done; with SIGUSR1 half of the time, of any program
        # whose ranks exit with 1.
        if kind != "hydra":
            assert status != 0, said
        if "# end: " in text:
            run.assert_interrupted(text, "SIG")


@pytest.mark.full
class SuiteSignals:
    """Those to the scripts, with real benchmarks; suite_test.py has pretending ones. Later runs of
    a test go on where earlier ones ended."""

    def test_to_run_suite(self, run, kind, source, build):
        results = os.path.join(run.folder, "results")
        line = ["sh", os.path.join(source, "run_scripts", "run_suite.sh"), f"--build={build}",
                f"--output={results}", "--ranks=2", "--benchmarks=overlap_ibarrier,halo",
                "--runs=1", f"--launcher={kind}", f"--options=all: --max-time={ROW_S} --visits=1",
                "--options=halo: --local=4,6"]
        run.output = os.path.join(results, "runs", "1", "halo.tsv.part")
        for number in SIGNALS:
            process = run.begin(line)
            run.await_rows()
            process.send_signal(number)
            status, said = run.end_of(process)
            assert status == 1, said
            assert f"Ended by {number.name}" in said
            # The last one lets the launch in hand end by itself.
            count = 2 if number == signal.SIGUSR1 else 1
            assert f"{count} of 2 launches" in said
            assert os.path.exists(f"{results}/halo.tsv") == (count == 2), number.name
        done = subprocess.run(line, stdin=subprocess.DEVNULL, text=True, capture_output=True,
                              check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert read(f"{results}/halo.tsv").endswith(", exit 0\n")

    def test_to_quickstart(self, run, source, build):
        """In a tree that is built already."""
        top = os.path.join(run.folder, "top")
        os.makedirs(top + "/build")
        os.makedirs(top + "/bin")
        os.symlink(os.path.join(source, "run_scripts"), top + "/run_scripts")
        for name in os.listdir(build):
            if name != "mpicc":
                os.symlink(os.path.join(build, name), f"{top}/build/{name}")
        for name in ("cmake", "mpicc.of.nobody"):
            with open(f"{top}/bin/{name}", "w", encoding="utf-8") as stream:
                stream.write("#!/bin/sh\n")
            os.chmod(f"{top}/bin/{name}", 0o755)
        environment = {"MPICC": "mpicc.of.nobody", "RANKS": "2",
                       "PATH": f"{top}/bin:{os.environ['PATH']}"}
        results = os.path.join(run.folder, "results")
        for number in SIGNALS:
            process = run.begin(["sh", top + "/run_scripts/quickstart.sh", results], environment)
            count = len(self.finished(results))
            assert wait_for(lambda: len(self.finished(results)) > count)  # noqa: B023
            time.sleep(0.3)
            before = self.finished(results)
            process.send_signal(number)
            status, said = run.end_of(process)
            assert status == 1, said
            # What runs in the background has SIGINT ignored, so it is passed on as SIGTERM.
            assert f"Ended by {number.name.replace('INT', 'TERM')}" in said
            assert "To go on: run_suite.sh --resume=" in said
            after = self.finished(results)
            assert {path: after[path] for path in before} == before

    @staticmethod
    def finished(results):
        """When each was."""
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(results + "/runs")
                 for name in names if name.endswith(".tsv")]
        return {path: os.stat(path).st_mtime_ns for path in paths}


class Files:
    def test_full_disk(self, run):
        real, run.output = run.output, "/dev/full"
        run.assert_lost(run.start(), "/dev/full", NO_SPACE)
        run.output = real
        run.assert_lost(run.start("--dump-samples=/dev/full"), "/dev/full", NO_SPACE)
        text = read(run.output)
        assert re.search("\n# end: [12] rows?, exit 1\n$", text), text
        assert run.rows(text) <= 2

    @pytest.mark.parametrize("kibibytes, rows_min", [(8, 0), (12, 1)])
    def test_disk_that_becomes_full(self, run, kibibytes, rows_min):
        """The rows that fitted are whole, and there is no end. One of the sizes has room for
        rows. Since nobody else sees the small file system, the result is copied in the end."""
        run.output = os.path.join(run.folder, "small", "halo.tsv")
        os.mkdir(os.path.dirname(run.output))
        copy = os.path.join(run.folder, "copy")
        script = 'output=$1 copy=$2; shift 2; "$@"; status=$?; cp "$output" "$copy"; exit "$status"'
        process = run.begin([
            *with_small_fs(os.path.dirname(run.output), kibibytes),
            "sh", "-c", script, "sh", run.output, copy,
            *run.launcher.line(2, {}, [
                run.program, f"--local={','.join(map(str, range(4, 30)))}",
                f"--output={run.output}", "--max-time=0.02", "--visits=1"])])
        run.assert_lost(process, run.output, NO_SPACE)
        text = read(copy)
        assert "# end:" not in text
        lines = text.splitlines(keepends=True)
        if not lines[-1].endswith("\n"):
            lines.pop()
        assert run.rows("".join(lines)) >= rows_min

    def test_removed_folder(self, run):
        process = run.start()
        run.await_rows()
        shutil.rmtree(os.path.dirname(run.output))
        run.assert_lost(process, run.output, "it was removed")

    def test_removed_samples(self, run):
        samples = os.path.join(run.folder, "samples")
        process = run.start(f"--dump-samples={samples}")
        run.await_rows()
        os.remove(samples)
        run.assert_lost(process, samples, "it was removed")
        assert re.search("\n# end: [0-9]+ rows, exit 1\n$", read(run.output))


class SharedMemory:
    def test_bus_error(self, built, tmp_path):
        """A page that /dev/shm has no room for ends the process with a line of ours; what else is
        behind a file's end, as it ends any."""
        def write(folder, room, written, *before):
            done = subprocess.run([*before, built("tests/faults/bus_error"), f"{folder}/mapped",
                                   str(room), str(written)],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stderr
        megabyte = 1 << 20
        small = with_small_fs("/dev/shm", 256)
        status, said = write("/dev/shm", megabyte, megabyte, *small)
        assert status == 1, said
        assert re.search("^commcost: /dev/shm, where MPI puts .*\n$", said), said
        assert write("/dev/shm", megabyte // 8, megabyte // 8, *small) == (0, "")
        assert write(tmp_path, 0, megabyte) == (-signal.SIGBUS, "")

    @pytest.mark.parametrize("kibibytes", [
        4, pytest.param(1024, marks=pytest.mark.full), 9216,
        pytest.param(10240, marks=pytest.mark.full)])
    def test_none(self, launcher, built, kibibytes):
        """A full /dev/shm: a run that the library can do without it is done; any other one ends,
        with a line of ours or the library's that names the place."""
        small = launcher.behind(with_small_fs("/dev/shm", kibibytes))
        begin_s = time.monotonic()
        done = run_raw(small, 2, [built("halo/halo"), "--local=4", "--max-time=0.02"],
                       timeout_s=30)
        assert time.monotonic() - begin_s < END_S
        if done.returncode == 0:
            assert re.search("\n# end: [0-9]+ rows, exit 0\n$", done.stdout)
        else:
            assert "/dev/shm, where MPI puts" in done.stderr
            assert "# end:" not in done.stdout


class Memory:
    """What a control group leaves counts, not only what the machine has."""

    GROUP = """set -eu
    mount -t tmpfs tmpfs /sys/fs/cgroup
    for folder in /sys/fs/cgroup /sys/fs/cgroup/memory; do
        mkdir -p "$folder"
        for limit in memory.max memory.limit_in_bytes; do echo 67108864 >"$folder/$limit"; done
        for taken in memory.current memory.usage_in_bytes; do echo 1048576 >"$folder/$taken"; done
    done
    exec "$@"
    """

    @pytest.mark.parametrize("size, status", [("8M", 0), ("32M", 2)])
    def test_limit_of_a_group(self, launcher, built, size, status):
        words = [built("mpi_overhead/mpi_overhead"), "-m", size, "--samples=1", "-b", "1.5",
                 "-i", "1"]
        limited = launcher.behind([*own_mounts(), "sh", "-c", self.GROUP, "sh"])
        assert run_raw(launcher, 2, words).returncode == 0
        done = run_raw(limited, 2, words)
        assert done.returncode == status, done.stderr
        if status != 0:
            assert re.search("--msgsize: .* do not fit into memory: use at most [0-9]+\n",
                             done.stderr), done.stderr


class Seen(NamedTuple):
    """Of a row, or the medians of several."""

    __test__ = False
    value: float
    width: float  # of its interval
    p99: float
    warned: float  # the share of rows with a warning


@contextlib.contextmanager
def beside(competitor):
    """A process that wants one of the ranks' processors all the time, if there is to be one."""
    child = os.fork() if competitor else None
    if child == 0:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        while True:
            pass
    try:
        yield
    finally:
        if child is not None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


class Competitor:
    """Somebody else computes on one of the ranks' processors, of which there are two however many
    the machine has."""

    # Shares of the rows that have a warning: all of them and none, but for a few that the machine's
    # other work makes.
    BESIDE_MIN, QUIET_MAX, QUIET_ALONE_MAX = 0.8, 0.2, 0.1

    # Operations of a microsecond, and one as long as the scheduler's turns. Rows of a fixed number
    # of samples, long enough to meet the competitor.
    SHORT = (
        ("overlap/overlap_iallreduce", "ref",
         ["--data-driven", "--max-num-elts=1", "--samples=20K"]),
        ("pingpong/pingpong", "latency",
         ["--patterns=MPISend", "--max-ndata=1", "--arrangements=single", "--coarray-sync=all",
          "--samples=10K"]),
        ("syncbench/syncbench", "sync", ["--types=MPIbarrier", "--samples=4K"]),
    )
    LONG = ("halo/halo", "latency", ["--methods=persistent", "--local=200", "--samples=50"])

    @pytest.fixture(autouse=True)
    def machine(self):
        if len(os.sched_getaffinity(0)) < 2:
            pytest.skip("two ranks need two processors")
        if not os.path.exists("/proc/thread-self/schedstat"):
            pytest.skip("this kernel doesn't say what a process waited")

    @pytest.fixture
    def measure(self, launcher):
        """The rows of a run, and the share of them with a warning of this rank."""
        def of(competitor, ranks, words, rank="[0-9]+"):
            with beside(competitor):
                done = run_raw(launcher, ranks, words)
            assert done.returncode == 0, done.stderr
            rows = read_tsv(done.stdout)
            assert rows, done.stdout
            warned = re.findall(f"(?m)^# warning: row [0-9]+: rank {rank} waited", done.stdout)
            return rows, len(warned) / len(rows)
        return of

    @pytest.fixture
    def compare(self, measure, built, kind, full, say):
        """The medians over launches, quiet and with a competitor, in turn."""
        def of(program, quantity, options):
            runs = ([], [])
            for _ in range(5 if full else 3):
                for competitor in (False, True):
                    rows, warned = measure(competitor, 2, [*on_two_processors(), built(program),
                                                           *options])
                    low, high, p99, value = (float(rows[0][f"{quantity}_{end}us"])
                                             for end in ("lo_", "hi_", "p99_", ""))
                    runs[competitor].append(Seen(value, high - low, p99, warned))
            quiet, busy = (Seen(*map(statistics.median, zip(*seen))) for seen in runs)
            say(f"{program}: {quiet.value:.3f} us, with a competitor {busy.value:.3f} us "
                f"({100 * (busy.value / quiet.value - 1):+.1f} %); interval {quiet.width:.4f} and "
                f"{busy.width:.4f} us; 99th percentile {quiet.p99:.3f} and {busy.p99:.3f} us; "
                f"rows with a warning: {quiet.warned:.0%} and {busy.warned:.0%}")
            assert quiet.warned <= self.QUIET_MAX, program
            assert busy.warned >= self.BESIDE_MIN, program
            if kind == "openmpi":
                assert abs(busy.value / quiet.value - 1) < 0.1, program
            return quiet, busy
        return of

    @pytest.mark.parametrize("case", [
        pytest.param(case, marks=pytest.mark.full, id=case[0]) for case in SHORT])
    def test_short_operations(self, compare, case):
        """They fit between the competitor's turns: their medians hardly change."""
        compare(*case)

    @pytest.mark.full
    def test_long_operation(self, compare, kind):
        """It doesn't, and the row tells: its interval where a library polls through its own turns,
        its highest times where it yields."""
        quiet, busy = compare(*self.LONG)
        if kind == "openmpi":
            assert busy.p99 > 2 * quiet.p99
        else:
            assert busy.width > 2 * quiet.width

    @pytest.mark.parametrize("competitor", [False, True])
    def test_monitor_overhead(self, measure, built, competitor):
        """One process, on the competitor's processor."""
        one = str(min(os.sched_getaffinity(0)))
        _, share = measure(competitor, 1, ["taskset", "-c", one,
                                           built("monitor/monitor_overhead"), "--max-time=0.05"],
                           rank="0")
        if competitor:
            assert share >= self.BESIDE_MIN
        else:
            assert share <= self.QUIET_ALONE_MAX
