#!/usr/bin/env python3
"""What a user, a launcher or a machine does to a run: signals, a full disk, a folder
that is removed, no /dev/shm, and somebody else on the processor. A run ends, says what
was wrong in one line, and what it had found until then is there and whole."""

import argparse
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
from mpi_run import (Failed, Launcher, read_tsv, run_raw,  # noqa: E402
                     with_small_shm)

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SCRIPTS = os.path.join(TOP, "run_scripts")

OPTIONS = None

END_S = 10.0
"""A run ends within this after a signal or a fault, the row in hand included."""

ROW_S = 0.2


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def wait_for(condition, timeout_s=20.0):
    end_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.01)
    return True


class Run(unittest.TestCase):
    """A run of halo that takes a few seconds, with a row each ROW_S."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.output = os.path.join(self.folder, "a", "halo.tsv")
        os.mkdir(os.path.dirname(self.output))
        self.program = os.path.join(OPTIONS.build, "halo", "halo")

    def start(self, *options, ranks=2):
        line = OPTIONS.launcher.line(ranks, {}, [
            self.program, "--local=4,6,8", f"--max-time={ROW_S}",
            "--precision=0.001", "--max-samples=900M", f"--output={self.output}",
            *options])
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end_of(self, process):
        """Exit status and stderr of what must end now."""
        before_s = time.monotonic()
        try:
            said = process.communicate(timeout=3 * END_S)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        self.assertLess(time.monotonic() - before_s, END_S, said)
        # mpirun may leave a little earlier than its ranks.
        self.assertTrue(wait_for(lambda: not self.at_work(), END_S), self.at_work())
        return process.returncode, said

    def at_work(self):
        """The ranks."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                line = read(f"/proc/{name}/cmdline")
                if self.output in line and os.readlink(
                        f"/proc/{name}/exe") == os.path.realpath(self.program):
                    found.append(int(name))
            except (OSError, UnicodeDecodeError):
                pass
        return sorted(found)

    def rows(self, text=None):
        """All of them are whole."""
        lines = (text or read(self.output)).splitlines(keepends=True)
        bare = [line for line in lines if not line.startswith("#")]
        for line in bare:
            self.assertTrue(line.endswith("\n"), line)
            self.assertEqual(line.count("\t"), bare[0].count("\t"), line)
        return len(bare) - 1

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
                os.remove(self.output)

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
                # hydra takes what it was told to do for done.
                if OPTIONS.kind != "hydra" or number == signal.SIGUSR1:
                    self.assertNotEqual(status, 0, said)
                if "# end: " in text:
                    self.assertIn("# warning: interrupted by SIG", text)
                    self.assertTrue(text.endswith(
                        f"\n# end: {self.rows()} rows, exit 1\n"), text[-200:])
                os.remove(self.output)


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
                process = subprocess.Popen(line, stdin=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
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
        environment = {**os.environ, "MPICC": "mpicc.of.nobody", "RANKS": "2",
                       "PATH": f"{top}/bin:{os.environ['PATH']}"}
        results = os.path.join(self.folder, "results")
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                process = subprocess.Popen(
                    ["sh", top + "/run_scripts/quickstart.sh", results],
                    env=environment, stdin=subprocess.DEVNULL, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
        """The rows that fitted are whole, and there is no end. In a mount namespace of
        the launcher's own."""
        for size in (8, 12):
            folder = os.path.join(self.folder, "small")
            os.makedirs(folder, exist_ok=True)
            self.output = os.path.join(folder, "halo.tsv")
            copy = os.path.join(self.folder, "copy")
            process = self.in_small(folder, size, copy, "--max-time=0.02")
            self.lost(process, self.output, "No space left on device")
            text = read(copy)
            self.assertNotIn("# end:", text)
            lines = text.splitlines(keepends=True)
            if not lines[-1].endswith("\n"):
                lines.pop()
            self.rows("".join(lines))

    def in_small(self, folder, kibibytes, copy, *options):
        """halo, its result in a file system of that size and copied in the end."""
        if os.geteuid() != 0:
            self.skipTest("a small disk needs root")
        line = OPTIONS.launcher.line(2, {}, [
            self.program, "--local=" + ",".join(map(str, range(4, 30))), f"--output={self.output}", *options])
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c",
             f"mount -t tmpfs -o size={kibibytes}k tmpfs {folder} || exit 77; "
             f"\"$@\"; status=$?; cp {self.output} {copy}; exit $status", "sh",
             *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)

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
    def test_none(self):
        """A full /dev/shm: a run that the library can do without it is done; any other
        one ends, with a line of ours or the library's that names the place."""
        for kibibytes in (4, 1024, 9216, 10240) if OPTIONS.full else (4, 9216):
            with self.subTest(kibibytes=kibibytes):
                small = with_small_shm(OPTIONS.launcher, 1)
                small.command = [word.replace("size=1m", f"size={kibibytes}k")
                                 for word in small.command]
                begin_s = time.monotonic()
                done = run_raw(small, 2, [self.program, "--local=4",
                                          "--max-time=0.02"], timeout_s=30)
                self.assertLess(time.monotonic() - begin_s, END_S)
                if done.returncode == 0:
                    self.assertRegex(done.stdout, "\n# end: [0-9]+ rows, exit 0\n$")
                else:
                    self.assertIn("/dev/shm, where MPI puts", done.stderr)
                    self.assertNotIn("# end:", done.stdout)


class Competitor(unittest.TestCase):
    """Somebody else computes on one of the ranks' processors."""

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
        """Value, width of its interval, share of rows with a warning."""
        child = self.compete() if competitor else None
        try:
            done = run_raw(OPTIONS.launcher, 2, [
                os.path.join(OPTIONS.build, program), *options])
        finally:
            if child is not None:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = read_tsv(done.stdout)
        low, high, value = (float(rows[0][f"{quantity}_{end}us"])
                            for end in ("lo_", "hi_", ""))
        warned = len(re.findall("(?m)^# warning: row [0-9]+: rank [0-9]+ waited",
                                done.stdout))
        return value, high - low, warned / len(rows)

    def compare(self, program, quantity, options):
        """The medians over launches of what measure says, quiet and with a
        competitor, in turn."""
        runs = ([], [])
        for _ in range(5 if OPTIONS.full else 3):
            for competitor in (False, True):
                runs[competitor].append(self.measure(program, quantity, options,
                                                     competitor))
        quiet, beside = ([statistics.median(run[i] for run in of) for i in range(3)]
                         for of in runs)
        print(f"{program}: {quiet[0]:.3f} us, with a competitor {beside[0]:.3f} us "
              f"({100 * (beside[0] / quiet[0] - 1):+.1f} %); interval "
              f"{quiet[1]:.4f} and {beside[1]:.4f} us; rows with a warning: "
              f"{quiet[2]:.0%} and {beside[2]:.0%}", flush=True)
        self.assertEqual((quiet[2], beside[2]), (0.0, 1.0), program)
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
            quiet, beside = self.compare(*case)
            if OPTIONS.kind == "openmpi":
                self.assertLess(abs(beside[0] / quiet[0] - 1), 0.1, case)

    def test_long_operation(self):
        """It doesn't, and its interval tells."""
        quiet, beside = self.compare(*self.LONG)
        self.assertGreater(beside[1], 2 * quiet[1])

    def test_monitor_overhead(self):
        """One process, on the competitor's processor."""
        program = os.path.join(OPTIONS.build, "monitor", "monitor_overhead")
        pinned = Launcher(OPTIONS.launcher.command)
        pinned.is_openmpi = OPTIONS.launcher.is_openmpi
        one = str(min(os.sched_getaffinity(0)))
        for competitor in (False, True):
            child = self.compete() if competitor else None
            try:
                done = run_raw(pinned, 1, ["taskset", "-c", one, program,
                                           "--max-time=0.05"])
            finally:
                if child is not None:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = read_tsv(done.stdout)
            warned = len(re.findall("(?m)^# warning: row [0-9]+: rank 0 waited",
                                    done.stdout))
            self.assertGreaterEqual(warned, 0.8 * len(rows) if competitor else 0)
            self.assertLessEqual(warned, len(rows) if competitor else
                                 0.1 * len(rows), done.stdout)


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
        unittest.main(argv=sys.argv[:1] + OPTIONS.tests, verbosity=2)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
