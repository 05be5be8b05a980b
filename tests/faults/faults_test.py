#!/usr/bin/env python3
"""What a user, a launcher or a machine does to a run: signals, a full disk, a folder
that is removed, no /dev/shm, and somebody else on the processor. A run ends, says what
was wrong in one line, and what it had found until then is there and whole."""

import argparse
import collections
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mounts import OWN_MOUNTS, why_not, with_small_fs  # noqa: E402
from mpi_run import (  # noqa: E402
    Failed, Launcher, on_two_processors, read, read_tsv, run_raw)
from processes import (  # noqa: E402
    kill_all, kill_session, processes_with, ranks_of, wait_for)
from run_tests import run_tests  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SCRIPTS = os.path.join(TOP, "run_scripts")

OPTIONS = None

END_S = 10.0
"""A run ends within this after a signal or a fault, the row in hand included."""

ROW_S = 0.2


class Run(unittest.TestCase):
    """A run of halo that takes a few seconds, with a row each ROW_S."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.output = os.path.join(self.folder, "a", "halo.tsv")
        os.mkdir(os.path.dirname(self.output))
        self.program = os.path.join(OPTIONS.build, "halo", "halo")
        self.begun = []
        self.addCleanup(self.end_all)

    def start(self, *options, ranks=2):
        line = OPTIONS.launcher.line(ranks, {}, [
            self.program, "--local=4,6,8", f"--max-time={ROW_S}",
            "--precision=0.001", "--max-samples=900M", f"--output={self.output}",
            *options])
        return self.begin(line)

    def begin(self, line, environment=None):
        """Begins a command in a session of its own. What an earlier one left, that a
        failed test didn't wait for, is not taken for this one's."""
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
        """Kills all that was begun, what has a session of its own, too: it has the
        test's folder in its command line."""
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
        self.assertLess(time.monotonic() - before_s, END_S, said)
        # mpirun may leave a little earlier than its ranks.
        self.assertTrue(wait_for(lambda: not self.at_work(), END_S), self.at_work())
        return process.returncode, said

    def at_work(self):
        """The ranks."""
        return ranks_of(self.program, self.output)

    def rows(self, text=None):
        """All of them are whole."""
        text = read(self.output) if text is None else text
        lines = text.splitlines(keepends=True)
        bare = [line for line in lines if not line.startswith("#")]
        for line in bare:
            self.assertTrue(line.endswith("\n"), line)
            self.assertEqual(line.count("\t"), bare[0].count("\t"), line)
        return max(len(bare) - 1, 0)

    def has_rows(self, count):
        """As many and more are in the file."""
        def have():
            if not os.path.exists(self.output):
                return False
            return len(read_tsv(read(self.output))) >= count
        return have

    def assert_ended(self, number, rows):
        """The row in hand is the last one, and the end says so."""
        text = read(self.output)
        self.assertIn(f"# warning: interrupted by {number.name}\n", text)
        self.assertTrue(text.endswith(f"\n# end: {self.rows()} rows, exit 1\n"),
                        text[-200:])
        self.assertLessEqual(self.rows(), rows + 3)
        self.assertGreaterEqual(self.rows(), rows)


SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class Signals(Run):
    def test_to_a_rank(self):
        """Each of them, to either rank."""
        chance = random.Random(3)
        for number in SIGNALS:
            victim = chance.randrange(2)
            with self.subTest(signal=number.name, process=victim):
                process = self.start()
                self.assertTrue(wait_for(self.has_rows(2)), "no rows")
                rows = self.rows()
                os.kill(self.at_work()[victim], number)
                status, said = self.end_of(process)
                self.assertNotEqual(status, 0, said)
                self.assert_ended(number, rows)

    def test_to_mpirun(self):
        """What mpirun makes of a signal is its own: it passes it on, or another one, or
        kills the ranks. The job ends, and no row is lost."""
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                process = self.start()
                self.assertTrue(wait_for(self.has_rows(2)))
                before = read(self.output)
                process.send_signal(number)
                status, said = self.end_of(process)
                text = read(self.output)
                self.assertTrue(text.startswith(before))
                # hydra takes what it was told to do for done; with SIGUSR1 half of the
                # time, of any program whose ranks exit with 1.
                if OPTIONS.kind != "hydra":
                    self.assertNotEqual(status, 0, said)
                if "# end: " in text:
                    self.assertIn("# warning: interrupted by SIG", text)
                    self.assertTrue(text.endswith(
                        f"\n# end: {self.rows()} rows, exit 1\n"), text[-200:])


class SuiteSignals(Run):
    """Those to the scripts, with real benchmarks; suite_test.py has pretending ones."""

    def test_to_run_suite(self):
        results = os.path.join(self.folder, "results")
        line = ["sh", os.path.join(SCRIPTS, "run_suite.sh"),
                f"--build={OPTIONS.build}", f"--output={results}", "--ranks=2",
                "--benchmarks=overlap_ibarrier,halo", "--runs=1",
                f"--launcher={OPTIONS.kind}",
                f"--options=all: --max-time={ROW_S}", "--options=halo: --local=4,6"]
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                self.output = os.path.join(results, "runs", "1", "halo.tsv.part")
                process = self.begin(line)
                self.assertTrue(wait_for(self.has_rows(2)))
                process.send_signal(number)
                status, said = self.end_of(process)
                self.assertEqual(status, 1, said)
                self.assertIn(f"Ended by {number.name}", said)
                # The last one lets the launch in hand end by itself.
                count = 2 if number == signal.SIGUSR1 else 1
                self.assertIn(f"{count} of 2 launches", said)
                self.assertEqual(os.path.exists(f"{results}/halo.tsv"), count == 2)
        done = subprocess.run(line, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(read(f"{results}/halo.tsv").endswith(", exit 0\n"))

    def test_to_quickstart(self):
        """In a tree that is built already."""
        top = os.path.join(self.folder, "top")
        os.makedirs(top + "/build")
        os.makedirs(top + "/bin")
        os.symlink(SCRIPTS, top + "/run_scripts")
        for name in os.listdir(OPTIONS.build):
            if name != "mpicc":
                os.symlink(os.path.join(OPTIONS.build, name), f"{top}/build/{name}")
        for name in ("cmake", "mpicc.of.nobody"):
            with open(f"{top}/bin/{name}", "w", encoding="utf-8") as stream:
                stream.write("#!/bin/sh\n")
            os.chmod(f"{top}/bin/{name}", 0o755)
        environment = {"MPICC": "mpicc.of.nobody", "RANKS": "2",
                       "PATH": f"{top}/bin:{os.environ['PATH']}"}
        results = os.path.join(self.folder, "results")
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                process = self.begin(
                    ["sh", top + "/run_scripts/quickstart.sh", results], environment)
                count = len(self.finished(results))
                self.assertTrue(wait_for(
                    lambda: len(self.finished(results)) > count))  # noqa: B023
                time.sleep(0.3)
                before = self.finished(results)
                process.send_signal(number)
                status, said = self.end_of(process)
                self.assertEqual(status, 1, said)
                # What runs in the background has SIGINT ignored, so it is passed on
                # as SIGTERM.
                name = number.name.replace("INT", "TERM")
                self.assertIn(f"Ended by {name}", said)
                self.assertIn("To go on: run_suite.sh --resume=", said)
                after = self.finished(results)
                self.assertEqual({path: after[path] for path in before}, before)

    def finished(self, results):
        found = {}
        for folder, _, names in os.walk(results + "/runs"):
            for name in names:
                if name.endswith(".tsv"):
                    path = os.path.join(folder, name)
                    found[path] = os.stat(path).st_mtime_ns
        return found


class Files(Run):
    def lost(self, process, path, reason):
        """Exit status 1, one line of ours."""
        said = self.end_of(process)[1]
        self.assertEqual(process.returncode, 1, said)
        ours = [line for line in said.splitlines() if line.startswith("halo: ")]
        self.assertEqual(ours, [f"halo: output was lost: cannot write {path}: "
                                f"{reason}"], said)

    def test_full_disk(self):
        real, self.output = self.output, "/dev/full"
        self.lost(self.start(), "/dev/full", "No space left on device")
        self.output = real
        self.lost(self.start("--dump-samples=/dev/full"), "/dev/full",
                  "No space left on device")
        text = read(self.output)
        self.assertRegex(text, "\n# end: [12] rows?, exit 1\n$")
        self.assertLessEqual(self.rows(text), 2)

    def test_disk_that_becomes_full(self):
        """The rows that fitted are whole, and there is no end. One of the sizes has
        room for rows."""
        boxes = ",".join(map(str, range(4, 30)))
        self.output = os.path.join(self.folder, "small", "halo.tsv")
        copy = os.path.join(self.folder, "copy")
        os.mkdir(os.path.dirname(self.output))
        for kibibytes, least in ((8, 0), (12, 1)):
            with self.subTest(kibibytes=kibibytes):
                if os.path.exists(copy):
                    os.remove(copy)
                process = self.begin(self.and_copied(kibibytes, copy) +
                                     OPTIONS.launcher.line(2, {}, [
                                         self.program, f"--local={boxes}",
                                         f"--output={self.output}",
                                         "--max-time=0.02"]))
                self.lost(process, self.output, "No space left on device")
                text = read(copy)
                self.assertNotIn("# end:", text)
                lines = text.splitlines(keepends=True)
                if not lines[-1].endswith("\n"):
                    lines.pop()
                self.assertGreaterEqual(self.rows("".join(lines)), least)

    def and_copied(self, kibibytes, copy):
        """The words before a command whose output is in a file system of that size,
        which nobody else sees, and is copied in the end."""
        script = ('output=$1 copy=$2; shift 2; "$@"; status=$?; '
                  'cp "$output" "$copy"; exit "$status"')
        return with_small_fs(os.path.dirname(self.output), kibibytes) + [
            "sh", "-c", script, "sh", self.output, copy]

    def test_removed_folder(self):
        process = self.start()
        self.assertTrue(wait_for(self.has_rows(2)))
        shutil.rmtree(os.path.dirname(self.output))
        self.lost(process, self.output, "it was removed")

    def test_removed_samples(self):
        samples = os.path.join(self.folder, "samples")
        process = self.start(f"--dump-samples={samples}")
        self.assertTrue(wait_for(self.has_rows(2)))
        os.remove(samples)
        self.lost(process, samples, "it was removed")
        self.assertRegex(read(self.output), "\n# end: [0-9]+ rows, exit 1\n$")


class SharedMemory(Run):
    def bus_error(self, folder, room, written, *before):
        """What comes of writing to a mapped file."""
        return subprocess.run(
            [*before, os.path.join(OPTIONS.build, "tests", "faults", "bus_error"),
             os.path.join(folder, "mapped"), str(room), str(written)],
            capture_output=True, text=True, check=False)

    def test_bus_error(self):
        """A page that /dev/shm has no room for ends the process with a line of ours;
        what else is behind a file's end, as it ends any."""
        megabyte = 1 << 20
        small = with_small_fs("/dev/shm", 256)
        done = self.bus_error("/dev/shm", megabyte, megabyte, *small)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "^commcost: /dev/shm, where MPI puts .*\n$")
        done = self.bus_error("/dev/shm", megabyte // 8, megabyte // 8, *small)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with tempfile.TemporaryDirectory() as folder:
            done = self.bus_error(folder, 0, megabyte)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGBUS, ""))

    def test_none(self):
        """A full /dev/shm: a run that the library can do without it is done; any other
        one ends, with a line of ours or the library's that names the place."""
        for kibibytes in (4, 1024, 9216, 10240) if OPTIONS.full else (4, 9216):
            with self.subTest(kibibytes=kibibytes):
                small = OPTIONS.launcher.behind(
                    with_small_fs("/dev/shm", kibibytes))
                begin_s = time.monotonic()
                done = run_raw(small, 2, [self.program, "--local=4",
                                          "--max-time=0.02"], timeout_s=30)
                self.assertLess(time.monotonic() - begin_s, END_S)
                if done.returncode == 0:
                    self.assertRegex(done.stdout, "\n# end: [0-9]+ rows, exit 0\n$")
                else:
                    self.assertIn("/dev/shm, where MPI puts", done.stderr)
                    self.assertNotIn("# end:", done.stdout)


class Memory(unittest.TestCase):
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

    def run_with(self, launcher, size):
        return run_raw(launcher, 2, [
            os.path.join(OPTIONS.build, "mpi_overhead", "mpi_overhead"), "-m", size,
            "--samples=1", "-b", "1.5", "-i", "1"])

    def test_limit_of_a_group(self):
        reason = why_not()
        if reason is not None:
            self.skipTest(f"nothing can be mounted here: {reason}")
        limited = OPTIONS.launcher.behind([*OWN_MOUNTS, "sh", "-c", self.GROUP, "sh"])
        for size, status in (("8M", 0), ("32M", 2)):
            self.assertEqual(self.run_with(OPTIONS.launcher, size).returncode, 0)
            done = self.run_with(limited, size)
            self.assertEqual(done.returncode, status, done.stderr)
            if status != 0:
                self.assertRegex(done.stderr, "--msgsize: .* do not fit into memory: "
                                              "use at most [0-9]+\n")


Seen = collections.namedtuple("Seen", "value width p99 warned")


class Competitor(unittest.TestCase):
    """Somebody else computes on one of the ranks' processors, of which there are two
    however many the machine has."""

    # Shares of the rows that have a warning: all of them and none, but for a few that
    # the machine's other work makes.
    BESIDE_MIN, QUIET_MAX = 0.8, 0.2

    def setUp(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("two ranks need two processors")
        if not os.path.exists("/proc/thread-self/schedstat"):
            self.skipTest("this kernel doesn't say what a process waited")

    # Operations of a microsecond, and one as long as the scheduler's turns. Rows of a
    # fixed number of samples, long enough to meet the competitor.
    SHORT = (
        ("overlap/overlap_iallreduce", "ref",
         ["--data-driven", "--max-num-elts=1", "--samples=20K"]),
        ("pingpong/pingpong", "latency",
         ["--patterns=MPISend", "--max-ndata=1", "--arrangements=single",
          "--coarray-sync=all", "--samples=10K"]),
        ("syncbench/syncbench", "sync", ["--types=MPIbarrier", "--samples=4K"]),
    )
    LONG = ("halo/halo", "latency",
            ["--methods=persistent", "--local=200", "--samples=50"])

    def measure(self, program, quantity, options, competitor):
        """Value, width of its interval, 99th percentile, share of rows with a
        warning."""
        child = self.compete() if competitor else None
        try:
            done = run_raw(OPTIONS.launcher, 2, [
                *on_two_processors(), os.path.join(OPTIONS.build, program), *options])
        finally:
            if child is not None:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = read_tsv(done.stdout)
        self.assertGreater(len(rows), 0)
        low, high, p99, value = (float(rows[0][f"{quantity}_{end}us"])
                                 for end in ("lo_", "hi_", "p99_", ""))
        warned = len(re.findall("(?m)^# warning: row [0-9]+: rank [0-9]+ waited",
                                done.stdout))
        return Seen(value, high - low, p99, warned / len(rows))

    def compare(self, program, quantity, options):
        """The medians over launches of what measure says, quiet and with a
        competitor, in turn."""
        runs = ([], [])
        for _ in range(5 if OPTIONS.full else 3):
            for competitor in (False, True):
                runs[competitor].append(self.measure(program, quantity, options,
                                                     competitor))
        quiet, beside = (Seen(*(statistics.median(values) for values in zip(*of)))
                         for of in runs)
        print(f"{program}: {quiet.value:.3f} us, with a competitor "
              f"{beside.value:.3f} us ({100 * (beside.value / quiet.value - 1):+.1f} "
              f"%); interval {quiet.width:.4f} and {beside.width:.4f} us; 99th "
              f"percentile {quiet.p99:.3f} and {beside.p99:.3f} us; rows with a "
              f"warning: {quiet.warned:.0%} and {beside.warned:.0%}", flush=True)
        self.assertLessEqual(quiet.warned, self.QUIET_MAX, program)
        self.assertGreaterEqual(beside.warned, self.BESIDE_MIN, program)
        if OPTIONS.kind == "openmpi":
            self.assertLess(abs(beside.value / quiet.value - 1), 0.1, program)
        return quiet, beside

    @staticmethod
    def compete():
        """A process that wants one of the ranks' processors all the time."""
        child = os.fork()
        if child == 0:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            while True:
                pass
        return child

    def test_short_operations(self):
        """They fit between the competitor's turns: their medians hardly change."""
        for case in self.SHORT if OPTIONS.full else self.SHORT[:1]:
            self.compare(*case)

    def test_long_operation(self):
        """It doesn't, and the row tells: its interval where a library polls through
        its own turns, its highest times where it yields."""
        quiet, beside = self.compare(*self.LONG)
        if OPTIONS.kind == "openmpi":
            self.assertGreater(beside.p99, 2 * quiet.p99)
        else:
            self.assertGreater(beside.width, 2 * quiet.width)

    def test_monitor_overhead(self):
        """One process, on the competitor's processor."""
        program = os.path.join(OPTIONS.build, "monitor", "monitor_overhead")
        one = str(min(os.sched_getaffinity(0)))
        for competitor in (False, True):
            child = self.compete() if competitor else None
            try:
                done = run_raw(OPTIONS.launcher, 1, ["taskset", "-c", one, program,
                                           "--max-time=0.05"])
            finally:
                if child is not None:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = read_tsv(done.stdout)
            warned = len(re.findall("(?m)^# warning: row [0-9]+: rank 0 waited",
                                    done.stdout))
            share = warned / len(rows)
            if competitor:
                self.assertGreaterEqual(share, self.BESIDE_MIN, done.stdout)
            else:
                self.assertLessEqual(share, 0.1, done.stdout)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--kind", required=True, help="hydra or openmpi")
    parser.add_argument("--full", action="store_true", help="every case")
    parser.add_argument("tests", nargs="*", help="classes; default: all")
    words = sys.argv[1:]
    split = words.index("--")
    OPTIONS = parser.parse_args(words[:split])
    OPTIONS.launcher = Launcher(words[split + 1:])
    try:
        run_tests(OPTIONS.tests)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
