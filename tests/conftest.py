"""What the tests of tests/input get from pytest: the build, the launcher.

    python3 -m pytest -c tests/pytest.ini --build=FOLDER --mpirun="mpirun.mpich" tests/FOLDER/FILE.py

Exit status 77 (CTest's word for skipped) where everything was skipped.
"""

import os
import shlex
import sys

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(TESTS, "lib"), os.path.join(os.path.dirname(TESTS), "run_scripts")]
sys.dont_write_bytecode = True
pytest.register_assert_rewrite("made_results", "mpi_run", "pretended_suite")
from mpi_run import Launcher  # noqa: E402

SKIPPED = 77


def pytest_addoption(parser):
    parser.addoption("--build", required=True, help="the build's folder")
    parser.addoption("--mpirun", required=True, help="mpirun and its flags")
    parser.addoption("--full", action="store_true", help="every case, those that take long, too")


def pytest_collection_modifyitems(config, items):
    """Leaves out what takes long, but with --full."""
    long = [] if config.getoption("--full") else [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


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
def full(request):
    """True where every case is to be tested."""
    return request.config.getoption("--full")


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
