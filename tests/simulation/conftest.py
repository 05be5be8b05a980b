"""What the tests on simulated clusters get from pytest."""

import os

import pytest

from smpi import Simulator


@pytest.fixture(scope="session")
def simulator(build, built):
    """Runs the programs of the simulated build, which the test simulation_build makes."""
    return Simulator(os.path.join(build, "simulation"),
                     built("tests/simulation/libsimulation_messages.so"))
