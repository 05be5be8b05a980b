# SPDX-License-Identifier: BSD-3-Clause
"""Hostile values in a result's metadata."""

import os
import subprocess

from case import Case, each
from readers import PYTHON

LIMIT_S = 60


def run(command, folder, variables=None):
    """Runs a command with other variables, names and values in bytes. Returns status, output and errors, in bytes."""
    done = subprocess.run(command, cwd=folder, env={**os.environb, **(variables or {})}, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout, done.stderr


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
