# SPDX-License-Identifier: BSD-3-Clause
"""Findings of checks, their remedies, and the job that checks judge."""

import typing

from commcost.checkup import installations, transports
from commcost.checkup.jobs import Setting

OK, WARNING, PROBLEM, UNKNOWN, SUSPICION = "ok", "warning", "problem", "unknown", "suspicion"
NO_TIME = "not tried: no time left"


class Remedy(typing.NamedTuple):
    """A change that is tried by an experiment, or words for one that can't be tried here."""

    text: str            # for people: words of a command, or a sentence
    unset: tuple = ()
    words: tuple = ()    # of the launcher
    variables: tuple = ()  # pairs of name and value
    untried: str = ""    # the reason why it can't be tried here


class Finding(typing.NamedTuple):
    """The result of a check."""

    check: str
    status: str
    found: str
    fact: str = ""       # the measurement that shows the cost
    remedies: tuple = ()
    unsure: str = ""     # the sentence of a suspicion that wasn't tried
    scope: str = "job"   # the host that it is about


class Job(typing.NamedTuple):
    """The input of all checks."""

    facts: typing.Any
    asked_ranks: int
    launcher_name: str   # hydra, openmpi, srun, words
    environment: dict
    transports: typing.Any = transports.Transports("", ())
    installation: typing.Any = installations.Installation()


class Line(typing.NamedTuple):
    """A line of the check-up: a finding, and what became of its remedy."""

    check: str
    status: str
    found: str
    remedy: str = ""
    tried: str = ""    # the gain, or the reason why there is none
    gain: typing.Any = None
    scope: str = "job"


def has_started(job):
    return "allreduce_time" in job.facts.measured


def choosing_variables(job):
    """The user's variables that choose transports."""
    of_others = "MPIR_" if "Open MPI" in job.facts.ranks[0].text("mpi_library") else "OMPI_"
    return [name for name in transports.CHOOSING if name in job.environment and not name.startswith(of_others)]


def unset_them(job):
    """The remedies that unset one of these variables."""
    return tuple(Remedy(f"unset {name}", unset=(name,)) for name in choosing_variables(job))


def chosen_by(job):
    """These variables in brackets; "" without any."""
    named = [f"{name}={job.environment[name]:.40}" for name in choosing_variables(job)]
    return f" ({', '.join(named)})" if named else ""


def launcher_words(job, *words):
    """The remedy that gives the launcher these words."""
    return Remedy(" ".join(["srun" if job.launcher_name == "srun" else "mpirun", *words, "…"]), words=words)


def setting_of(remedy):
    return Setting(remedy.unset, remedy.words, variables=remedy.variables)
