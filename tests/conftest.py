"""What all tests in Python get from pytest: the build, the launcher, the bounds.

    python3 -m pytest -c tests/pytest.ini --build=FOLDER --mpirun="mpirun.mpich" tests/FOLDER/FILE.py

Exit status 77 (CTest's word for skipped) where everything was skipped.
"""

import os
import re
import shlex
import sys
import time

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(TESTS, "lib"), os.path.join(os.path.dirname(TESTS), "run_scripts")]
sys.dont_write_bytecode = True
pytest.register_assert_rewrite("made_results", "mpi_run", "pretended_suite")
import disturbance  # noqa: E402
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, assert_refused, read_tsv, run_raw  # noqa: E402

SKIPPED = 77


def pytest_addoption(parser):
    parser.addoption("--build", required=True, help="the build's folder")
    parser.addoption("--mpirun", required=True, help="mpirun and its flags")
    parser.addoption("--full", action="store_true", help="every case, those that take long, too")
    parser.addoption("--many", action="store_true", help="the tests with more ranks than processors, only")


def pytest_collection_modifyitems(config, items):
    """Leaves out what --full and --many have not chosen."""
    def chosen(item):
        return ((config.getoption("--full") or not item.get_closest_marker("full")) and
                config.getoption("--many") == bool(item.get_closest_marker("many")))
    config.hook.pytest_deselected(items=[item for item in items if not chosen(item)])
    items[:] = [item for item in items if chosen(item)]


@pytest.fixture(scope="session")
def source():
    """The folder of the sources."""
    return os.path.dirname(TESTS)


@pytest.fixture(scope="session")
def build(request):
    """The build's folder."""
    return os.path.abspath(request.config.getoption("--build"))


@pytest.fixture(scope="session")
def built(build):
    """The path of a program or library of the build: built("halo/halo")."""
    def path(name):
        there = os.path.join(build, name)
        assert os.path.exists(there), f"{there} was not built"
        return there
    return path


@pytest.fixture(scope="session")
def launcher(request):
    """mpirun with its flags."""
    return Launcher(shlex.split(request.config.getoption("--mpirun")))


@pytest.fixture(scope="session")
def disturbed(built):
    """The environment of a launch whose ranks are stopped: disturbed("cloud", model) for one on the
    model MPI, with any of its variables (tests/disturbance/disturbance.h) besides. The conditions
    are those of lib/disturbance.py."""
    def environment(condition, *others, **variables):
        return disturbance.environment(built("tests/disturbance/libdisturbance.so"), condition,
                                       others, **variables)
    return environment


@pytest.fixture(scope="session")
def full(request):
    """True where every case is to be tested."""
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def bounds():
    """How much wider than their targets bounds are on this machine now."""
    return Bounds()


@pytest.fixture(scope="session")
def start(built, launcher):
    """Starts a program of the build with options and environment variables; returns the finished
    process with its texts."""
    def finished(program, *options, ranks=2, **environment):
        return run_raw(launcher, ranks, [built(program), *options], environment)
    return finished


@pytest.fixture(scope="session")
def rows_of(start, bounds):
    """The same, for a run that must succeed; returns its rows."""
    def rows(program, *options, ranks=2, **environment):
        done = start(program, *options, ranks=ranks, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return bounds.note(read_tsv(done.stdout))
    return rows


@pytest.fixture(scope="session")
def refused(built, launcher):
    """Starts a program of the build with wrong options or variables. At once it must end with one
    line on stderr, which has the text `named` and says what would do. Returns the line."""
    start_s = time.monotonic()
    run_raw(launcher, 2, ["false"])
    # What the launcher takes to end a job that failed is no fault of the program's: Open MPI's 2 s.
    launch_s = time.monotonic() - start_s

    def start(program, *options, named, ranks=2, environment=None):
        start_s = time.monotonic()
        done = run_raw(launcher, ranks, [built(program), *options], environment)
        seconds = time.monotonic() - start_s
        line = assert_refused(done, os.path.basename(program), named)
        assert re.search(r"use |see --help|lower the one", line), line
        if not launcher.is_openmpi:  # whose mpirun adds its own
            assert len(done.stderr.splitlines()) == 1, done.stderr
        assert seconds < 2.0 + launch_s, done.args
        return line
    return start


@pytest.fixture(scope="session")
def say(request):
    """Prints a line of figures, in a test that passes, too."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    writer = request.config.get_terminal_writer()

    def line(text):
        with capture.global_and_fixture_disabled():
            if writer.width_of_current_line > 0:  # behind pytest's dots
                writer.line()
            writer.line(text, flush=True)
    return line


def pytest_sessionfinish(session, exitstatus):
    """All skipped isn't all passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    if exitstatus == 0 and stats.get("skipped") and not stats.get("passed"):
        session.exitstatus = SKIPPED
