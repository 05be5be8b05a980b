"""sweep.sh: a benchmark over sizes by its own option, as one table."""

import os
import subprocess

import pytest

from mpi_run import read_tsv
from pretended_suite import SCRIPTS


@pytest.fixture
def sweep(build, launcher):
    """Rows of a sweep of a program of the build, and all that it wrote."""
    def swept(program, *options, status=0):
        if not os.access(os.path.join(build, program), os.X_OK):
            pytest.skip(f"{program} isn't built")
        done = subprocess.run(
            ["sh", os.path.join(SCRIPTS, "sweep.sh"), os.path.join(build, program), *options],
            env={**os.environ, "LAUNCH": " ".join([*launcher.command, "-np 2"])},
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == status, done.stderr
        return (read_tsv(done.stdout) if status == 0 else []), done
    return swept


@pytest.mark.parametrize("program, sizes, column, expected, options", [
    ("mpi_overhead/mpi_overhead", "8,1K:4K", "msgsize", [8, 1024, 2048, 4096], []),
    ("msgrate/msgrate", "8,1K", "nbytes", [8, 1024], ["-p", "1", "-c", "0", "-m", "2"]),
    ("overlap/overlap_ibcast", "8,1K:4K", "size_bytes", [8, 1024, 2048, 4096], []),
    ("pingpong/pingpong", "8:512", "ndata", [1, 8, 64],
     ["--patterns=MPI Send", "--arrangements=single"]),
    ("overlap/overlap_sendrecv", "1K:4K", "size_bytes", [1024, 2048, 4096], ["--test-calls=0,1"]),
    ("overlap/overlap_partitioned", "8:32,128", "size_bytes", [8, 16, 32, 128], []),
    ("halo/halo", "128,512", "local", ["4x4x4", "8x8x8"], ["--methods=persistent"]),
    ("overlap/overlap_halo", "128,512", "local", ["4x4x4", "8x8x8"], [])])
def test_sizes(sweep, program, sizes, column, expected, options):
    rows, done = sweep(program, f"--sizes={sizes}", "--max-time=0.02", *options)
    assert list(dict.fromkeys(row[column] for row in rows)) == [str(size) for size in expected]
    assert done.stdout.count("\n# end: ") == 1
    assert done.stdout.endswith(f"# end: {len(rows)} rows, exit 0\n")
    assert done.stdout.count("# benchmark: ") == 1


@pytest.mark.parametrize("program, option, named", [
    ("syncbench/syncbench", "--sizes=8", "syncbench has no sizes"),
    ("halo/halo", "--sizes=8,x", "'8,x' is no list of sizes"),
    ("halo/halo", "--sizes=4K:8", "is no list of sizes"),
    ("halo/halo", "--no-header", "'--no-header'"), ("halo/halo", "--out=x", "'--out=x'"),
    *[(program, option, f"'{option}'") for program, option in [
        ("halo/halo", "--f=table"), ("halo/halo", "--form=table"), ("halo/halo", "--format"),
        ("overlap/overlap_isend", "--fo=table"), ("overlap/overlap_isend", "--for=table"),
        ("overlap/overlap_isend", "--forma=table"), ("overlap/overlap_isend", "--format=table")]],
    ("halo/halo", "--sizes", "--sizes needs a value"),
    ("halo/halo", "--output=/no/such/x", "cannot write '/no/such/x'")])
def test_usage(sweep, program, option, named):
    _, done = sweep(program, option, status=2)
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("option", [["--form=all"], ["--form", "all"]])
def test_form(sweep, option):
    """The option of overlap programs is no abbreviation of --format."""
    rows, _ = sweep("overlap/overlap_isend", "--sizes=8", "--max-time=0.02", *option)
    assert [row["form"] for row in rows] == ["nonblocking", "persistent"]


def test_output(sweep, tmp_path):
    _, done = sweep("mpi_overhead/mpi_overhead", "--sizes=8", "--max-time=0.02",
                    f"--output={tmp_path}/a.tsv")
    assert done.stdout == ""
    assert [row["msgsize"] for row in read_tsv((tmp_path / "a.tsv").read_text())] == ["8"]
