# SPDX-License-Identifier: BSD-3-Clause
"""The launcher that started a job, and how the MPI library was built, as the programs beside the launcher report them.

Their formats are the libraries' own. What can't be read is unknown.
"""

import os
import re
import typing

from commcost.suite import launch_processes

LIMIT_S = 10
MPICH, OPEN_MPI, SLURM = "MPICH", "Open MPI", "Slurm"
# By the name of a rank's parent: the library that it belongs to, and the commands beside it that know the version.
_PARENTS = {"hydra_pmi_proxy": (MPICH, ("mpiexec.hydra",)),
            **dict.fromkeys(("orterun", "orted", "prterun", "prted", "mpirun", "mpiexec"),
                            (OPEN_MPI, ("orterun", "mpirun")))}
_VERSION = {MPICH: re.compile(r"HYDRA build details:\s+Version:\s+([0-9.]+)"),
            OPEN_MPI: re.compile(r"\((?:Open MPI|OpenRTE)\) ([0-9.]+)")}
_LIBRARY = re.compile(r"(MPICH|Open MPI)(?: Version:)?\s+v?([0-9.]+)")


class Installation(typing.NamedTuple):
    """The launcher's library and version, "" if unknown. `is_debug`: Open MPI was built with --enable-debug."""

    family: str = ""
    version: str = ""
    is_debug: bool = False


def library_of(text):
    """The family and version of a library, from MPI_Get_library_version; "" if it is neither MPICH nor Open MPI."""
    found = _LIBRARY.match(text)
    return found.groups() if found else ("", "")


def installation_of(rank):
    """The Installation of the launcher that started a rank. Users can't read the program of Slurm's."""
    folder, name = os.path.split(rank.text("parent"))
    if name.startswith("slurmstepd") or not name and "SLURM_PROCID" in rank.values:
        return Installation(SLURM)
    family, commands = _PARENTS.get(name, ("", ()))
    for command in commands:
        version = _VERSION[family].search(output_of(os.path.join(folder, command), "--version"))
        if version:
            is_debug = family == OPEN_MPI and "option:debug:yes" in output_of(
                os.path.join(folder, "ompi_info"), "--parsable", "--config").splitlines()
            return Installation(family, version.group(1), is_debug)
    return Installation(family)


def output_of(*words):
    try:
        return launch_processes.run_limited(words, LIMIT_S)[1]
    except OSError:
        return ""
