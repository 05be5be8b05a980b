"""What all benchmark programs promise: help, version, wrong usage, output, metadata, the end line,
remarks, samples, signals."""

import os
import re
import signal
import subprocess
import time

import pytest

from mpi_run import read_if_there, read_tsv, run_raw

# A short run of each program; options of its own that are refused, with a value that is wrong; a
# remark that the short run makes, with more options if it needs some.
PROGRAMS = {
    "overlap/overlap_iallreduce": (
        ["--data-driven", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1"],
        ["--min-num-elts=few", "--cutoff-time=0", "--root"],
        (["--debug"], "debug: trial: ")),
    "overlap/overlap_ibarrier": (["--samples=5", "--warmup=1"], ["--validation-steps=-2"],
                                 (["--verbose"], "verbose: 0 elements: phase 1: ")),
    "mpi_overhead/mpi_overhead": (["--max-time=0.05"], ["--msgsize=1,x", "--thresh=0.5", "--bthresh=x"],
                                  (["--verbose"], "verbose: Message size is 8 bytes")),
    "msgrate/msgrate": (["-p", "1", "-i", "2", "-c", "0"], ["--peers=0", "--cache=big"],
                        ([], "note: the caches are not flushed")),
    "msgrate/msgrate_rma": (["-p", "1", "-i", "2", "-c", "0"], ["--sync=x"],
                            ([], "note: the caches are not flushed")),
    "pingpong/pingpong": (["--patterns=MPI Send", "--max-ndata=1", "--samples=2"],
                          ["--patterns=ping", "--max-ndata=3"], ([], "note: no crossing: ")),
    "syncbench/syncbench": (["--types=MPI barrier", "--samples=2"], ["--types=sink", "--delay=x"],
                            ([], "note: delay of ")),
    "halo/halo": (["--local=4", "--methods=persistent", "--samples=2"], ["--dims=3x1x1", "--local=0"],
                  (["--methods=shared window"], "note: shared window: ")),
    "monitor/monitor_overhead": (["--max-time=0.01"], ["--precision=0"], None),
}
# Programs whose ranks can be started on a shared clock.
STARTS = [name for name in PROGRAMS if name.split("/")[0] in ("overlap", "syncbench", "halo")]
COMMON_OPTIONS = ["help", "version", "format", "output", "no-header", "no-metadata", "precision", "confidence",
                  "min-samples", "max-samples", "samples", "max-time", "warmup", "timer", "estimator", "check",
                  "dump-samples"]
METADATA = ["benchmark", "version", "commit", "schema", "date", "command", "compiler", "mpi_library", "ranks", "nodes",
            "hosts", "processor", "kernel", "thread_level", "clock", "clock_cost_ns", "clock_resolution_ns", "columns"]
WRONG = ["--no-such-option", "--m", "-z", "stray", "--timer=sundial", "--format=xml", "--precision=0", "--max-time=0",
         "--samples=-1", "--output=/no/such/folder/file", "--dump-samples=/no/such/folder/file"]


@pytest.fixture(params=PROGRAMS)
def program(request):
    """The name of a program with its folder."""
    return request.param


@pytest.fixture
def launch(build, launcher, program):
    """Starts the program on two ranks with its short run's options and more."""
    def start(*options, short=True):
        words = [os.path.join(build, program), *(PROGRAMS[program][0] if short else []), *options]
        return run_raw(launcher, 2, words)
    return start


@pytest.fixture
def text(launch):
    """What a run with these options prints."""
    def output(*options):
        done = launch(*options)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return output


def own_lines(program, stderr):
    name = os.path.basename(program) + ": "
    return [line[len(name):] for line in stderr.splitlines() if line.startswith(name)]


def split(output):
    """Comments, header, rows."""
    lines = output.splitlines()
    data = [line.split("\t") for line in lines if not line.startswith("#")]
    return [line for line in lines if line.startswith("#")], data[0], data[1:]


# ---- help and version ------------------------------------------------------------------------------

@pytest.mark.parametrize("started", ["alone", "by mpirun"])
def test_help_and_version(build, launcher, program, started):
    def call(*options):
        words = [os.path.join(build, program), *options]
        if started == "by mpirun":
            return run_raw(launcher, 2, words)
        return subprocess.run(words, capture_output=True, text=True, check=False)
    helped = call("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.count("Usage:") == 1
    for option in COMMON_OPTIONS + (["start"] if program in STARTS else []):
        assert f"--{option}" in helped.stdout
    options = helped.stdout.split("\nOptions:\n")[1].splitlines()
    assert max(len(line) for line in options if "environment:" not in line) <= 80
    for options in (["--hel"], ["-h"], ["--timer=tsc", "--output=x", "--help"]):
        again = call(*options)
        assert (again.returncode, again.stdout) == (0, helped.stdout), options
    said = call("--version")
    name = os.path.basename(program)
    assert said.returncode == 0
    assert re.fullmatch(rf"{name} \(commcost\) \d+\.\d+\.\d+\n", said.stdout)


# ---- wrong usage -----------------------------------------------------------------------------------

def assert_refused(program, done, named, launcher):
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    ours = own_lines(program, done.stderr)
    assert len(ours) == 1, done.stderr
    assert named in ours[0]
    assert re.search(r"use |see --help|lower the one", ours[0]), ours[0]
    if not launcher.is_openmpi:  # whose mpirun adds its own
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_wrong_usage(launch, launcher, program):
    own = PROGRAMS[program][1]
    for word in WRONG + own:
        # Open MPI's launcher takes seconds to end a job that failed.
        if launcher.is_openmpi and word not in own + ["stray"]:
            continue
        assert_refused(program, launch(word), word.split("=")[0], launcher)


def test_limits_of_samples(launch, launcher, program):
    done = launch("--min-samples=9", "--max-samples=8")
    assert_refused(program, done, "--min-samples", launcher)


def test_old_name_of_start(launch, launcher, program):
    """--start was --sync, which some programs have for something else."""
    if program == "msgrate/msgrate_rma":
        pytest.skip("has --sync of its own")
    named = "--start=window" if program in STARTS else "--sync"
    assert_refused(program, launch("--sync=window"), named, launcher)


# ---- the result ------------------------------------------------------------------------------------

def test_metadata_header_rows_end(text, program):
    output = text()
    comments, header, rows = split(output)
    keys = [line[2:].split(":")[0] for line in comments]
    for key in METADATA:
        assert keys.count(key) == 1, key
    columns = next(line for line in comments if line.startswith("# columns: ")).split()[2:]
    assert [word.rsplit("=", 1)[0] for word in columns] == header
    assert {word.rsplit("=", 1)[1] for word in columns} <= {"key", "less", "more", "info"}
    assert rows
    assert all(len(row) == len(header) and "" not in row for row in rows)
    assert all(row[header.index("status")] in ("ok", "budget", "no-knee") for row in rows)
    many = "" if len(rows) == 1 else "s"
    assert output.splitlines()[-1] == f"# end: {len(rows)} row{many}, exit 0"
    assert f"# benchmark: {os.path.basename(program)}\n" in output


def test_output_file(text, tmp_path):
    path = tmp_path / "result"
    assert text(f"--output={path}") == ""
    written = path.read_text()
    assert read_tsv(written)
    assert written.splitlines()[-1].startswith("# end: ")


def test_table_is_aligned(text):
    _, header, rows = split(text())
    lines = [line for line in text("--format=table").splitlines() if not line.startswith("#")]
    assert "\t" not in "".join(lines)
    assert len(lines) == 1 + len(rows)
    assert lines[0].split() == header


def test_remarks(launch, program):
    """Without metadata nothing but header and rows goes to the result; remarks go to stderr."""
    remark = PROGRAMS[program][2]
    if remark is None:
        pytest.skip("a short run has no remark")
    more, said = remark
    done = launch(*more)
    comments, header, rows = split(done.stdout)
    assert own_lines(program, done.stderr) == []
    assert any(line.startswith("# " + said) for line in comments)
    for option, head in (("--no-metadata", [header]), ("--no-header", [])):
        done = launch(*more, option)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        assert lines[:len(head)] == head
        assert len(lines) == len(head) + len(rows)
        remarks = own_lines(program, done.stderr)
        assert any(line.startswith(said) for line in remarks), done.stderr
        assert all(line.startswith(("note: ", "warning: ", "verbose: ", "debug: ")) for line in remarks)


def test_lost_output(launch, program):
    done = launch("--output=/dev/full")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "output was lost" in done.stderr


def test_samples(text, tmp_path):
    path = tmp_path / "samples"
    text(f"--dump-samples={path}")
    samples = read_tsv(path.read_text())
    assert samples
    assert list(samples[0]) == ["row", "quantity", "sample", "value_ns"]


def test_one_file_for_two(launch, program, launcher, tmp_path):
    """The result and the samples, under whatever names, are refused, and what was there stays."""
    one = tmp_path / "one"
    (tmp_path / "link").symlink_to("one")
    for other, there in ((one, False), (tmp_path / "link", True)):
        if there:
            one.write_text("a result\n")
        done = launch(f"--output={one}", f"--dump-samples={other}")
        assert_refused(program, done, "--dump-samples: ", launcher)
        assert not there or one.read_text() == "a result\n"


@pytest.mark.parametrize("start", ["barrier", "window"])
def test_start(text, program, start):
    """The metadata say how samples begin, and of which clock."""
    if program not in STARTS:
        pytest.skip("has no --start")
    output = text(f"--start={start}")
    assert f"# start: {start}\n" in output
    assert ("# global_clock_error_us: " in output) == (start == "window")


# ---- the end ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGUSR1"])
def test_signals(build, launcher, name, tmp_path):
    """A signal ends the run after the row in hand."""
    path = str(tmp_path / "result")
    words = [os.path.join(build, "overlap/overlap_iallreduce"), "--data-driven", "--max-time=0.5", "--samples=50000",
             "--output=" + path]
    with subprocess.Popen(launcher.line(2, {}, words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        while "\niallreduce" not in read_if_there(path):
            time.sleep(0.05)
        subprocess.run(["pkill", f"-{int(signal.Signals[name])}", "-f", "^" + words[0]], check=True)
        job.communicate(timeout=30)
    assert job.returncode == 1
    output = read_if_there(path)
    rows = read_tsv(output)
    many = "" if len(rows) == 1 else "s"
    assert f"# warning: interrupted by {name}\n" in output
    assert output.splitlines()[-1] == f"# end: {len(rows)} row{many}, exit 1"
    assert 1 <= len(rows) < 18
    assert None not in rows[-1].values()
