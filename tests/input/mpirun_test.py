#!/usr/bin/env python3
"""Bad input through mpirun: lines of bad_lines, and hostile values in what a result
says of its environment."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest


sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from processes import kill_session, processes, wait_for  # noqa: E402
from run_tests import run_tests  # noqa: E402

OPTIONS = None

# A sanitizer's report ends a program with a status that no program has.
SANITIZERS = {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=98",
              "LSAN_OPTIONS": "exitcode=97"}
# A line's time, on a machine that does something else, too.
LIMIT_S = 60

FOLDERS = {"halo": "halo", "pingpong": "pingpong", "syncbench": "syncbench",
           "mpi_overhead": "mpi_overhead", "msgrate": "msgrate",
           "msgrate_rma": "msgrate", "monitor_overhead": "monitor"}


# What keeps a run short; all patterns up to the largest transfer take a minute with sanitizers.
SHORT = {"pingpong": [b"--max-ndata=64"]}


def program_path(name):
    return os.path.join(OPTIONS.build, FOLDERS.get(name, "overlap"), name)


def environment_with(more):
    """This process's environment with other variables, names and values in bytes; what
    is set for a sanitizer stays."""
    environment = dict(os.environb)
    for name, value in SANITIZERS.items():
        name = name.encode()
        before = environment.get(name)
        environment[name] = (before + b":" if before else b"") + value.encode()
    environment.update(more)
    return environment


class Line:
    """One line: a program, its words, variables."""

    def __init__(self, fields):
        self.program = next(fields).decode()
        self.words = [next(fields) for _ in range(int(next(fields)))]
        self.variables = {next(fields): next(fields) for _ in range(int(next(fields)))}

    def __str__(self):
        shown = [repr(word[:80]) for word in self.words]
        return " ".join([repr(self.variables)[:300], self.program] + shown)


def lines(seed, count):
    made = subprocess.run([OPTIONS.lines, "--print", str(seed), str(count)],
                          stdout=subprocess.PIPE, check=True).stdout
    fields = iter(made.split(b"\0")[:-1])
    made = [Line(fields) for _ in range(count)]
    # A colon by itself is mpirun's: another program follows.
    return [line for line in made if b":" not in line.words]


class Lines(unittest.TestCase):
    """Each line ends soon, with status 0, 1 or 2, and leaves nothing behind."""

    def run_line(self, line, folder):
        command = [os.fsencode(word) for word in OPTIONS.mpirun + ["-np", "2"]]
        command += [os.fsencode(program_path(line.program))] + line.words
        command += SHORT.get(line.program, []) + [b"--max-time=0.002"]
        with subprocess.Popen(command, cwd=folder,
                              env=environment_with(line.variables),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True) as job:
            try:
                texts = job.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                kill_session(job.pid)
                self.fail(f"no end after {LIMIT_S} s: {line}")
        self.assertTrue(wait_for(lambda: not self.left(job.pid), 2),
                        f"left behind by {line}: {self.left(job.pid)}")
        return job.returncode, texts

    def left(self, session):
        return [process for process in processes() if process.session == session]

    def has_failed_row(self, output, folder):
        """In the output, or in what was written to a file instead."""
        texts = [output]
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False):
                with open(entry.path, "rb") as stream:
                    texts.append(stream.read())
        rows = b"\n".join(texts).split(b"\n")
        return any(b"FAIL" in row.split() for row in rows if not row.startswith(b"#"))

    def judge(self, line, folder, status, output, errors):
        report = f"{line}: status {status}\n{errors[-3000:].decode(errors='replace')}"
        self.assertIn(status, (0, 1, 2), report)
        for word in (b"Sanitizer", b"runtime error"):
            self.assertNotIn(word, errors, report)
        output.decode()  # it is UTF-8
        name = line.program.encode() + b": "
        # Without metadata remarks are there, too.
        said = [text for text in errors.split(b"\n") if text.startswith(name) and
                not re.match(rb"(note|warning|verbose|debug): ", text[len(name):])]
        if status == 2:
            self.assertEqual((output, len(said)), (b"", 1), report)
            said[0].decode()
            self.assertLess(len(said[0]), 600)
        elif status == 0:
            self.assertEqual(said, [], report)
        elif not self.has_failed_row(output, folder):
            self.assertEqual(len(said), 1, report)

    def test_lines(self):
        counts = {}
        begin = time.monotonic()
        slowest = (0.0, "")
        for line in lines(OPTIONS.seed, OPTIONS.count):
            with self.subTest(line=str(line)), tempfile.TemporaryDirectory() as folder:
                line_begin = time.monotonic()
                status, (output, errors) = self.run_line(line, folder)
                slowest = max(slowest, (time.monotonic() - line_begin, str(line)))
                self.judge(line, folder, status, output, errors)
                counts[status] = counts.get(status, 0) + 1
        print(f"{OPTIONS.count} lines in {time.monotonic() - begin:.0f} s; by status: "
              f"{dict(sorted(counts.items()))}; slowest {slowest[0]:.1f} s: {slowest[1]}")
        # Else nothing was shown.
        self.assertGreater(counts.get(0, 0), OPTIONS.count // 20)
        self.assertGreater(counts.get(2, 0), OPTIONS.count // 4)
        # These are for output that was lost and wrong data, of which there is little.
        self.assertLessEqual(counts.get(1, 0), OPTIONS.count // 10)


HOSTILE = [b"a\nb\tc\n1\t2\t3", b"\r\n# columns: x=key\n# benchmark: other\nx\n1\n",
           b"\xff\xfe\xc3", b"\x1b]0;title\x07", "\u2028row\t1\u0085\u2029row\t2".encode(),
           b"# # \"quoted' \\n %s%n", b"\x0b\x0c\x1c\x1d\x1e", b"", b"x" * 100000]


class Metadata(unittest.TestCase):
    """Whatever the environment holds, a result is what it would be without."""

    def result(self, variables, words=()):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.tsv")
            done = subprocess.run(
                [program_path("monitor_overhead"), "--max-time=0.001", f"--output={path}",
                 *words], env=environment_with(variables), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S,
                check=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
            with open(path, "rb") as stream:
                return stream.read(), done.stderr

    def assert_result(self, text, keys):
        """The result is UTF-8 and has this metadata, one header row and its rows,
        however its lines are told apart."""
        lines_of = text.decode().splitlines()
        rows = [line.split("\t") for line in lines_of if not line.startswith("#")]
        self.assertEqual({len(row) for row in rows}, {11})
        self.assertEqual(rows[0][:2], ["call", "mode"])
        self.assertEqual(len([line for line in lines_of
                              if line.startswith(("# columns:", "# benchmark:"))]), 2)
        for key in keys:
            self.assertTrue(any(line.startswith(f"# {key}: ") for line in lines_of), key)
        # Debian's pandas is for Debian's Python, whichever comes first.
        shape = subprocess.run(
            ["/usr/bin/python3", "-c", "import pandas, sys; print(*pandas.read_csv("
             "sys.stdin.buffer, sep='\\t', comment='#').shape)"],
            input=text, capture_output=True, check=True).stdout
        self.assertEqual(shape.decode().split(), [str(len(rows) - 1), "11"])

    def test_variables(self):
        for value in HOSTILE:
            with self.subTest(value=value[:40]):
                text = self.result({b"FI_PROVIDER_X": value, b"HYDRA_X": value,
                                    b"PBS_JOBID": value})[0]
                self.assert_result(text, ["mpi_variable", "job_id"])

    def test_command_line(self):
        for value in HOSTILE:
            with self.subTest(value=value[:40]), tempfile.TemporaryDirectory() as folder:
                if not value or len(value) > 200:
                    continue
                name = os.path.join(os.fsencode(folder), value.replace(b"/", b"_"))
                text = self.result({}, [b"--dump-samples=" + name])[0]
                self.assert_result(text, ["command", "dump-samples"])
                self.assertTrue(os.path.exists(name))

    def test_monitor(self):
        """The monitor's variable: a report, or a line and status 2."""
        for value in HOSTILE:
            with self.subTest(value=value[:40]), tempfile.TemporaryDirectory() as folder:
                refused = subprocess.run(
                    [program_path("monitor_overhead"), "--max-time=0.001"],
                    env=environment_with({b"MPIRT_MONITOR": value}), cwd=folder,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
                said = refused.stderr.decode()
                if value:
                    self.assertEqual(refused.returncode, 2, said)
                    self.assertRegex(said, r"\Ampirtmon: MPIRT_MONITOR: [^\n]+\n\Z")
                else:
                    self.assertEqual((refused.returncode, said), (0, ""))
                if not value or len(value) > 200:
                    continue
                name = value.replace(b"/", b"_").replace(b",", b"_")
                text = self.monitored(folder, name, value)
                rows = [line.split("\t") for line in text.decode().splitlines()
                        if not line.startswith("#")]
                self.assertEqual((rows[0][0], {len(row) for row in rows}),
                                 ("kind", {len(rows[0])}))
                self.assertGreater(len(rows), 1)

    def monitored(self, folder, name, value):
        """The monitor's report of a run in such an environment, in a file of such a name."""
        done = subprocess.run(
            [program_path("monitor_overhead"), "--max-time=0.001",
             b"--dump-samples=dump" + name],
            env=environment_with({b"MPIRT_MONITOR": b"all,output=" + name,
                                  b"UCX_X": value, b"PBS_JOBID": value}),
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        with open(os.path.join(os.fsencode(folder), name), "rb") as stream:
            return stream.read()


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--lines", required=True, help="the program bad_lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("test")
    parser.add_argument("mpirun", nargs="+")
    OPTIONS = parser.parse_args()
    run_tests([OPTIONS.test])


if __name__ == "__main__":
    main()
