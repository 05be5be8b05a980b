"""run_suite.sh --vary: settings in turn, and which of them is best, on a model MPI whose delay
depends on a variable, and where nothing depends on it. With --full many suites, appended to
BUILD/trials/vary.tsv and gone on with."""

import os
import subprocess

import pytest

from commcost import vary
from mpi_run import read, read_tsv
from pretended_suite import SCRIPTS, SUITE, Suite

LAUNCHES = 10
SUITES, LEAST_RIGHT, MOST_WRONG = 100, 95, 1


class Plan:
    """With programs that pretend."""

    @pytest.fixture
    def suite(self, tmp_path):
        return Suite(tmp_path)

    def test_turns(self, suite):
        plan = suite.plan("--runs=2", "--benchmarks=halo,pingpong", "--vary=A=1,2", "--vary=B=x,y",
                          launcher="mpirun")
        names = [f"{name}@{place}" for name in ("pingpong", "halo") for place in (1, 2, 3, 4)]
        assert [line[:2] for line in plan] == [[run, name] for run in "12" for name in names]
        assert [line[2].split(" mpirun ")[0] for line in plan[:4]] == [
            "env A=1 B=x", "env A=1 B=y", "env A=2 B=x", "env A=2 B=y"]

    def test_results(self, suite):
        suite.run("--runs=2", "--benchmarks=halo", "--vary=A=1,2")
        rows = suite.merged("halo")
        assert [(row["run"], row["setting"], row["key"]) for row in rows] == [
            (run, f"A={value}", key) for run in "12" for value in "12" for key in "123"]
        assert "# columns: run=key setting=key key=key" in read(suite.results / "halo.tsv")
        before = suite.files()
        suite.run("--runs=3", "--benchmarks=halo", "--vary=A=1,2")
        suite.assert_kept(before)
        assert "another plan" in suite.run("--runs=3", "--benchmarks=halo", "--vary=A=1,3",
                                           status=1).stderr
        # What is varied isn't taken from a folder: a variable may name a program.
        done = suite.run(f"--resume={suite.results}", "--runs=4", status=2)
        assert "what is varied is not taken from a results folder" in done.stderr
        suite.run(f"--resume={suite.results}", "--runs=4", "--vary=A=1,2")
        suite.assert_kept(before)

    def test_killed_before_launches_were_put_together(self, suite):
        """Then nothing says which launch is of which setting: they are no launches of one row."""
        suite.run("--runs=1", "--benchmarks=halo", "--vary=A=1,2")
        os.remove(suite.results / "halo.tsv")
        os.remove(suite.results / "summary.tsv")
        done = subprocess.run(["sh", os.path.join(SCRIPTS, "summarize.sh"), suite.results],
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr

    def test_builds_and_launchers(self, suite):
        other = suite.folder / "other build"
        other.symlink_to(suite.build)
        plan = suite.plan("--runs=1", "--benchmarks=halo", f"--vary=build:{suite.build},{other}",
                          "--vary=launcher:mpirun,srun --mpi=pmi2")
        assert [line[2].split()[0] for line in plan] == ["mpirun", "srun"] * 2
        assert "no folder '/no/such'" in suite.run(f"--vary=build:{suite.build},/no/such",
                                                   status=2).stderr
        assert ["other build" in line[2] for line in plan] == [False, False, True, True]

    def test_one_binding(self, suite):
        """With asynchronous progress none, in all settings."""
        for value, bound in (("MPICH_ASYNC_PROGRESS=0,1", False), ("MPICH_OTHER=0,1", True)):
            plan = suite.plan("--runs=1", "--benchmarks=halo", "--ranks=2", f"--vary={value}",
                              launcher="mpirun")
            assert ["-bind-to core" in line[2] for line in plan] == [bound] * 2

    @pytest.mark.parametrize("value", ["A", "A=1", "A=1,1", "A=,1", "1A=1,2", "build:x", "other:a,b"])
    def test_usage(self, suite, value):
        done = suite.run(f"--vary={value}", status=2)
        assert "--vary" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_twice(self, suite):
        assert "twice" in suite.run("--vary=A=1,2", "--vary=A=3,4", status=2).stderr


@pytest.fixture
def best_of(build, model, launcher, tmp_path):
    """The settings that a suite of ten launches of one row names as best."""
    def named(number, setting, **model_variables):
        folder = tmp_path / str(number)
        environment = {**os.environ, "LD_PRELOAD": model, "MODEL_P2P": "1",
                       **{name: str(value) for name, value in model_variables.items()}}
        kind = "openmpi" if launcher.is_openmpi else "hydra"
        subprocess.run(["sh", SUITE, f"--build={build}", f"--launcher={kind}", "--ranks=2",
                        f"--output={folder}", f"--runs={LAUNCHES}", "--benchmarks=pingpong",
                        "--options=pingpong: --patterns=MPISend --arrangements=single "
                        "--max-ndata=1 --max-time=0.05", f"--vary={setting}"],
                       env=environment, check=True, capture_output=True)
        return [row.name for row in vary.best_settings(vary.read([str(folder)])) if row.sure]
    return named


@pytest.fixture
def trial(build, built, model, full):
    """Runs suites: trial(name, best) with best(number) -> named settings; all that were named so
    far, unless what names them changed since."""
    def run(name, best):
        path = os.path.join(build, "trials", "vary.tsv")
        package = os.path.dirname(vary.__file__)
        newest = max(map(os.path.getmtime, [__file__, model, built("pingpong/pingpong"), *(
            os.path.join(package, f"{module}.py") for module in ("vary", "suite", "rank_test"))]))
        if full and os.path.exists(path) and os.path.getctime(path) < newest:
            os.replace(path, path + ".old")
        found = []
        if full and os.path.exists(path):
            found = [row["named"] for row in read_tsv(read(path)) if row["trial"] == name]
        for number in range(len(found), SUITES if full else 1):
            found.append(" ".join(best(number)) or "none")
            if full:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                new = not os.path.exists(path)
                with open(path, "a", encoding="utf-8") as stream:
                    stream.write(("trial\tnamed\n" if new else "") + f"{name}\t{found[-1]}\n")
        return found
    return run


def test_right_setting_is_named(trial, best_of, say, full):
    """10 % more time with one value of a variable."""
    named = trial("depends", lambda number: best_of(
        number, f"MODEL_LATENCY_US={('22,20', '22,20,24', '22,24,20,23')[number % 3]}"))
    right = sum(name == "MODEL_LATENCY_US=20" for name in named)
    say(f"{right} of {len(named)} suites name the right setting, and none other")
    assert right >= (LEAST_RIGHT if full else 1) * len(named) / (SUITES if full else 1)


def test_nothing_is_named_where_nothing_depends_on_it(trial, best_of, say):
    named = trial("doesn't depend", lambda number: best_of(
        number, "NOBODY_READS_THIS=1,2,3", MODEL_LATENCY_US=20))
    wrong = sum(name != "none" for name in named)
    say(f"{wrong} of {len(named)} suites name a setting where nothing depends on it")
    assert wrong <= MOST_WRONG * len(named) / SUITES
