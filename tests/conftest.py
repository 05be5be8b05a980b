"""What all tests in Python get from pytest: the build, the launcher, the model MPI, the bounds.

    python3 -m pytest -c tests/pytest.ini --build=FOLDER --mpirun="mpirun.mpich" tests/FOLDER/FILE.py

Exit status 77 (CTest's word for skipped) where everything was skipped.
"""

import os
import shlex
import sys

import pytest

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TESTS, "lib"))
pytest.register_assert_rewrite("accuracy", "mpi_run")
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher  # noqa: E402

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
def model(built):
    """The model MPI's library."""
    return built("tests/model/libmodelmpi.so")


@pytest.fixture(scope="session")
def full(request):
    """True where every case is to be tested."""
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def bounds():
    """How much wider than their targets bounds are on this machine now."""
    return Bounds()


@pytest.fixture
def say(request):
    """Prints a line of figures, in a test that passes, too."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def line(text):
        with capture.global_and_fixture_disabled():
            print(text, flush=True)
    return line


def pytest_sessionfinish(session, exitstatus):
    """All skipped isn't all passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    if exitstatus == 0 and stats.get("skipped") and not stats.get("passed"):
        session.exitstatus = SKIPPED
