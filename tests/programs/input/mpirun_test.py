"""Bad input through mpirun: lines of bad_lines, and hostile values in what a result says of its
environment."""

import os
import re
import subprocess
import time

from case import Case, each
from lines import make_lines
from processes import kill_session, processes, wait_for
from readers import PYTHON

SEED = 1
# A line's time, on a machine that does something else, too.
LIMIT_S = 60

# A sanitizer's report ends a program with a status that no program has.
SANITIZERS = {b"ASAN_OPTIONS": b"exitcode=99", b"UBSAN_OPTIONS": b"exitcode=98",
              b"LSAN_OPTIONS": b"exitcode=97"}

FOLDERS = {"halo": "halo", "pingpong": "pingpong", "syncbench": "syncbench",
           "mpi_overhead": "mpi_overhead", "msgrate": "msgrate", "msgrate_rma": "msgrate",
           "linkmap": "linkmap", "noise": "noise", "collective": "collective", "monitor_overhead": "monitor"}

# What keeps a run short; all patterns up to the largest transfer take a minute with sanitizers.
SHORT = {"pingpong": [b"--max-ndata=64"]}


def run(command, folder, variables=None, whole=False):
    """Runs a command with other variables, names and values in bytes; what is set for a sanitizer
    stays. With `whole` it must leave no process behind. Returns status, output and errors, in
    bytes."""
    environment = dict(os.environb)
    for name, value in SANITIZERS.items():
        before = environment.get(name)
        environment[name] = (before + b":" if before else b"") + value
    environment.update(variables or {})
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as job:
        def left():
            return [process for process in processes() if process.session == job.pid]

        try:
            texts = job.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            kill_session(job.pid)
            raise
    assert not whole or wait_for(lambda: not left(), 2), f"left behind: {left()}"
    return (job.returncode, *texts)


def has_failed_row(output, folder):
    """In the output, or in what was written to a file instead."""
    texts = [output]
    for entry in os.scandir(folder):
        if entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as stream:
                texts.append(stream.read())
    rows = b"\n".join(texts).split(b"\n")
    return any(b"FAIL" in row.split() for row in rows if not row.startswith(b"#"))


def judge(line, folder, status, output, errors):
    assert status in (0, 1, 2)
    for word in (b"Sanitizer", b"runtime error"):
        assert word not in errors
    output.decode()  # it is UTF-8
    name = line.program + b": "
    # Without metadata remarks are there, too.
    said = [text for text in errors.split(b"\n") if text.startswith(name) and
            not re.match(rb"(note|warning|verbose|debug): ", text[len(name):])]
    if status == 2:
        assert (output, len(said)) == (b"", 1)
        said[0].decode()
        assert len(said[0]) < 600
    elif status == 0:
        assert said == []
    elif not has_failed_row(output, folder):
        assert len(said) == 1


class Lines(Case):
    """Each line ends soon, with status 0, 1 or 2, and leaves nothing behind."""

    def test_lines(self):
        count = 500 if self.full else 30
        counts, wrong, slowest = {}, [], (0.0, "")
        begin = time.monotonic()
        for number, line in enumerate(make_lines(self.built("tests/programs/input/bad_lines"), SEED, count, tame=True)):
            if b":" in line.words:  # mpirun's: another program follows
                continue
            folder = self.folder / str(number)
            folder.mkdir()
            program = line.program.decode()
            command = self.launcher.line(2, {}, [self.built(f"{FOLDERS.get(program, 'overlap')}/{program}")])
            command += [*line.words, *SHORT.get(program, []), "--max-time=0.002"]
            line_begin, errors = time.monotonic(), b""
            try:
                status, output, errors = run(command, folder, line.variables, whole=True)
                counts[status] = counts.get(status, 0) + 1
                judge(line, folder, status, output, errors)
            except (AssertionError, UnicodeDecodeError, subprocess.TimeoutExpired) as error:
                wrong.append(f"{line}: {error}\n{errors[-3000:].decode(errors='replace')}")
            slowest = max(slowest, (time.monotonic() - line_begin, str(line)))
        print(f"{count} lines in {time.monotonic() - begin:.0f} s; by status: "
              f"{dict(sorted(counts.items()))}; slowest {slowest[0]:.1f} s: {slowest[1]}")
        assert not wrong, "\n\n".join(wrong)
        # Else nothing was shown.
        assert counts.get(0, 0) > count // 20
        assert counts.get(2, 0) > count // 4
        # These are for output that was lost and wrong data, of which there is little.
        assert counts.get(1, 0) <= count // 10


HOSTILE = [b"a\nb\tc\n1\t2\t3", b"\r\n# columns: x=key\n# benchmark: other\nx\n1\n",
           b"\xff\xfe\xc3", b"\x1b]0;title\x07", "\u2028row\t1\u0085\u2029row\t2".encode(),
           b"# # \"quoted' \\n %s%n", b"\x0b\x0c\x1c\x1d\x1e", b"", b"x" * 100000]
# Those that a file can be named with.
NAMES = [value for value in HOSTILE if 0 < len(value) <= 200]


def assert_result(path, keys):
    """The result is UTF-8 and has this metadata, one header row and its rows, however its lines are
    told apart."""
    lines = path.read_bytes().decode().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert {len(row) for row in rows} == {13}
    assert rows[0][:2] == ["call", "mode"]
    assert len([line for line in lines if line.startswith(("# columns:", "# benchmark:"))]) == 2
    for key in keys:
        assert any(line.startswith(f"# {key}: ") for line in lines), key
    shape = subprocess.run(
        [PYTHON, "-c", "import pandas, sys; print(*pandas.read_csv("
         "sys.argv[1], sep='\\t', comment='#').shape)", path],
        capture_output=True, text=True, check=True).stdout
    assert shape.split() == [str(len(rows) - 1), "13"]


class Metadata(Case):
    """Whatever the environment holds, a result is what it would be without."""

    def monitor_overhead(self, *options, variables=None, status=0):
        """Runs the program in the test's folder with these variables."""
        done = run([self.built("monitor/monitor_overhead"), "--max-time=0.001", *options], self.folder,
                   variables)
        assert done[0] == status, done[2].decode(errors="replace")
        return done[2].decode()

    @each("value", HOSTILE)
    def test_variables(self, value):
        path = self.folder / "result.tsv"
        self.monitor_overhead(f"--output={path}", variables={
            b"FI_PROVIDER_X": value, b"HYDRA_X": value, b"PBS_JOBID": value})
        assert_result(path, ["mpi_variable", "job_id"])

    @each("value", NAMES)
    def test_command_line(self, value):
        path = self.folder / "result.tsv"
        name = os.path.join(os.fsencode(self.folder), value.replace(b"/", b"_"))
        self.monitor_overhead(f"--output={path}", b"--dump-samples=" + name)
        assert_result(path, ["command", "dump-samples"])
        assert os.path.exists(name)

    @each("value", HOSTILE)
    def test_monitor_words(self, value):
        """The monitor's variable with no word of it: a line and status 2."""
        said = self.monitor_overhead(variables={b"MPIRT_MONITOR": value}, status=2 if value else 0)
        assert re.fullmatch(r"mpirtmon: MPIRT_MONITOR: [^\n]+\n" if value else "", said)

    @each("value", NAMES)
    def test_monitor_report(self, value):
        """The monitor's report of a run in such an environment, in a file of such a name."""
        name = value.replace(b"/", b"_").replace(b",", b"_")
        self.monitor_overhead(b"--dump-samples=dump" + name, variables={
            b"MPIRT_MONITOR": b"all,output=" + name, b"UCX_X": value, b"PBS_JOBID": value})
        with open(os.path.join(os.fsencode(self.folder), name), "rb") as stream:
            text = stream.read().decode()
        rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
        assert (rows[0][0], {len(row) for row in rows}) == ("kind", {len(rows[0])})
        assert len(rows) > 1
