# SPDX-License-Identifier: BSD-3-Clause
"""noise as its users run it. Whether it finds interruptions is in tests/virtual/noise_test.py."""

import os
import re

from case import Case, real
from mpi_run import WHOLE, read_tsv, run_raw

PROGRAM = "noise/noise"


def of_scope(rows, scope, **keys):
    return [row for row in rows if row["scope"] == scope and
            all(row[name] == value for name, value in keys.items())]


class Noise(Case):
    def test_rows(self):
        """One for the job, one a host or rank, one an operation and amount of work."""
        rows = self.rows_of(PROGRAM, "--samples=10000", "--grain=0,20,50", "--operations=barrier",
                            "--visits=2")
        assert [row["scope"] for row in rows if row["scope"] != "source"] == \
            ["job", "host"] + ["collective"] * 3
        host, = of_scope(rows, "host")
        assert host["ranks"] == "0-1"
        assert [row["grain_us"] for row in of_scope(rows, "collective")] == ["0", "20", "50"]
        for grain, row in zip((0, 20, 50), of_scope(rows, "collective")):
            assert float(row["usual_us"]) > 0.9 * grain
            assert float(row["step_max_us"]) >= float(row["step_us"]) >= 0.9 * float(row["usual_us"])
            assert row["samples"] == "10000"
        job, = of_scope(rows, "job")
        assert job["samples"] == str(2 * 10000)
        rows = self.rows_of(PROGRAM, "--samples=2000", "--per=rank", "--operations=barrier", "--visits=1", ranks=1)
        assert [row["ranks"] for row in of_scope(rows, "rank")] == ["0"]

    def test_steps_that_tell_nothing(self):
        """In a few steps nothing is usual; each grain has one row; one visit has no interval, but of
        periods."""
        done = self.start(PROGRAM, "--grain=50000,0,50000", "--operations=barrier", "--max-time=0.1", "--visits=1")
        assert done.returncode == 0, done.stderr
        rows = read_tsv(done.stdout)
        steps = of_scope(rows, "collective")
        assert [(row["grain_us"], row["slowdown_pct"] == "NA") for row in steps] == [("50000", True),
                                                                                     ("0", False)]
        assert "# note: barrier, grain_us 50000: no slowdown_pct: " in done.stdout
        assert float(steps[0]["step_us"]) > 45000
        for row in rows:
            ends = {name: cell for name, cell in row.items()
                    if ("_lo_" in name or "_hi_" in name) and not name.startswith("period")}
            assert set(ends.values()) == {"NA"}, ends

    def test_samples_that_were_asked_for(self):
        """No more of them, whatever the visits; fewer, where the time is up first, aren't ok."""
        ask = ["--operations=barrier", "--grain=0", "--visits=3"]
        for samples, more, status in ((10000, [], "ok"), (100000000, ["--max-time=0.01"], "budget")):
            rows = [row for row in self.rows_of(PROGRAM, f"--samples={samples}", *ask, *more)
                    if row["scope"] in ("job", "collective")]
            assert {row["status"] for row in rows} == {status}
            if status == "ok":
                assert [row["samples"] for row in rows] == [str(2 * samples), str(samples)]

    def test_a_signal_in_the_only_visit(self):
        """Of a minute of quanta only a part was watched, so that no row is ok; the run ends soon."""
        done = self.start(PROGRAM, "--visits=1", "--max-time=6", MODEL_BARRIER_US=2, VIRTUAL_SIGNAL="15:1:2000000")
        assert done.returncode == 1
        assert "# warning: interrupted by SIGTERM\n" in done.stdout
        assert {row["status"] for row in read_tsv(done.stdout)} == {"budget"}

    @real
    def test_steps_that_all_have_stops(self):
        """Two ranks that share a processor: in most barriers one of them waits for it, but not in the first
        one."""
        first = str(min(os.sched_getaffinity(0)))
        done = run_raw(self.launcher, 2, ["taskset", "-c", first, self.built(PROGRAM), "--operations=barrier",
                                          "--grain=0", "--max-time=0.1", "--visits=1", *WHOLE])
        assert done.returncode == 0, done.stderr
        assert "# note: no predicted_pct: ranks share processors" in done.stdout
        assert of_scope(read_tsv(done.stdout), "collective")[0]["predicted_pct"] == "NA"
        assert re.search(r"^# warning: barrier, grain_us 0: slowdown_pct is too low: even typical steps are "
                         r"interrupted", done.stdout, re.M), done.stdout
