"""What all Python tests get from pytest: the build, the launcher, the model MPI; and exit status 77
where everything was skipped.

    python3 -m pytest tests/FOLDER --build=FOLDER --mpirun="mpirun.mpich"
"""

import os
import shlex
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from mpi_run import Launcher  # noqa: E402

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def pytest_addoption(parser):
    parser.addoption("--build", required=True, help="the build's folder")
    parser.addoption("--mpirun", required=True, help="mpirun and its flags")
    parser.addoption("--model", help="libmodelmpi.so")


@pytest.fixture(scope="session")
def build(request):
    """The build's folder."""
    return request.config.getoption("--build")


@pytest.fixture(scope="session")
def launcher(request):
    """mpirun with its flags."""
    return Launcher(shlex.split(request.config.getoption("--mpirun")))


@pytest.fixture(scope="session")
def model(request):
    """The model MPI's library."""
    path = request.config.getoption("--model")
    if not path:
        pytest.skip("no --model")
    return path


def pytest_sessionfinish(session, exitstatus):
    """All skipped isn't all passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    if exitstatus == 0 and stats.get("skipped") and not stats.get("passed"):
        session.exitstatus = SKIPPED
