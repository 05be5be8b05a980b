# SPDX-License-Identifier: BSD-3-Clause
"""The settings of two sides that a launch can be given (variables and binding), and the recorded command."""

import os
import re
import typing

from commcost.command import UsageError
from commcost.suite.launch_options import FILE_OPTIONS, names_any
from commcost.suite.suite_folder import TUNING
from commcost.words import parsed_number, size_text

BINDING = "binding"
# Results may come from somebody else, and these variables may start programs or load libraries.
_UNSAFE = "EXEC|COMMAND|AGENT|LAUNCH|BOOTSTRAP|_RSH|_(PATH|DIR|MODULES?|PLUGINS?|LIBRARY|LIBRARIES)(_|$)"
_OF_LAUNCHERS = "MPIR_CVAR_CH3_INTERFACE_HOSTNAME|HYDRA_"
_UNRECORDED = "PMIX_MCA_|OMP_"  # variables that results only have if a script names them
# Options of programs that choose the output, not the measurement.
_OF_OUTPUT = ("--format", "--columns", "--metadata", "--no-metadata", "--no-header")
_OF_FILES = ("--output", *FILE_OPTIONS)
# Options that choose rows, by benchmark and key.
_ROW_OPTIONS = {"collective": {"operation": "--operations", "size_bytes": "--sizes"},
                "pingpong": {"pattern": "--patterns", "arrangement": "--arrangements"},
                "mpi_overhead": {"msgsize": "--msgsize"}, "halo": {"method": "--methods"},
                "syncbench": {"sync": "--types"}}


class Setting(typing.NamedTuple):
    """A setting in which two sides differ. The value of a variable is "" if it is unset."""

    name: str
    base: str
    new: str

    def __str__(self):
        return f"{self.name}={self.new}" if self.new else f"{self.name} unset"


class Settings(typing.NamedTuple):
    """The settings of both sides: those that differ, the variables in which they agree, and by name the reason why a
    differing variable is not tried."""

    differing: list
    common: dict
    left_out: dict

    def variables(self, chosen):
        """Returns the variables of a launch with the new side's values of the `chosen` places in `differing`."""
        return {**self.common, **{one.name: one.new if place in chosen else one.base
                                  for place, one in enumerate(self.differing) if one.name != BINDING}}

    def bind(self, chosen, otherwise):
        """Returns the word for --bind of such a launch, or `otherwise` if the sides don't differ in it."""
        return next((one.new if place in chosen else one.base for place, one in enumerate(self.differing)
                     if one.name == BINDING), otherwise)


def settings_of(base, new, also=()):
    """Returns the Settings of two sides' metadata. `also` names variables that are tried although they may start a
    program or name a file. UsageError if neither side has one of these."""
    sides = [dict(text.partition("=")[::2] for key in ("mpi_variable", "environment") for text in side.get(key, []))
             for side in (base, new)]
    unknown = [name for name in also if not any(name in side for side in sides)]
    if unknown:
        raise UsageError(f"--also={unknown[0]:.200}: neither side has this variable: see the lines 'Differs'")
    differing, common, left_out = [], {}, {}
    for name in sorted({*sides[0], *sides[1]}):
        values = [side.get(name, "") for side in sides]
        reason = "" if name in also else reason_against(name, values)
        if re.match(_OF_LAUNCHERS, name) or reason and values[0] == values[1]:
            continue
        if reason:
            left_out[name] = reason
        elif values[0] == values[1]:
            common[name] = values[0]
        else:
            differing.append(Setting(name, *values))
    # Variables that neither side had would change both.
    common.update((name, "") for name in os.environ if not any(name in side for side in sides) and
                  not reason_against(name, [""]) and not re.match(f"{_OF_LAUNCHERS}|{_UNRECORDED}", name))
    binds = [bind_of(side.get(BINDING, [""])[0]) for side in (base, new)]
    if all(binds) and binds[0] != binds[1]:
        differing.append(Setting(BINDING, *binds))
    return Settings(differing, common, left_out)


def reason_against(name, values):
    """Returns the reason why a variable from a result isn't set, or ""."""
    if not re.search(TUNING, name):
        return "is no variable of an MPI library"
    if re.search(_UNSAFE, name, re.I):
        return "may start a program"
    return "" if all("/" not in value or re.fullmatch("[0-9./,]+", value) for value in values) else "names a file"


def bind_of(text):
    """Returns the word for --bind from the metadata `binding`: core if each rank has its own processors, none if all
    ranks share them or a single rank has several, or "" if unknown."""
    is_free = re.match("each rank: |rank 0: .*[-,]", text)
    return "none" if is_free else "core" if re.match("(rank )?[0-9]+: ", text) else ""


def program_of(command, build):
    """Returns the program of a recorded command in a build folder, or "" if it has none."""
    name = os.path.basename(command.partition(" -")[0])
    folders = [build, *sorted(entry.path for entry in os.scandir(build) if entry.is_dir())]
    return next((path for path in (os.path.join(folder, name) for folder in folders)
                 if name and os.path.isfile(path) and os.access(path, os.X_OK)), "")


def options_of(command):
    """Returns the options of a recorded command, each as its words. The record separates words by blanks, and values
    may have some: a word that doesn't begin an option continues a value."""
    options = []
    for word in "".join(command.partition(" -")[1:]).split(" ")[1:]:
        if word.startswith("-"):
            options.append([word])
        elif len(options[-1]) == 1 and "=" not in options[-1][0]:
            options[-1].append(word)
        else:
            options[-1][-1] += f" {word}"
    return options


def chosen_options(command, series):
    """Returns the options for a launch that measures these rows: the recorded ones, without those of the output, and
    narrowed to the rows where options can do that."""
    narrowed = {}
    for one in series:
        for key, value in zip(one.schema.keys, one.keys):
            option = _ROW_OPTIONS.get(one.schema.benchmark, {}).get(key)
            if option and value != "NA" and (key, value) != ("size_bytes", "0"):
                number = parsed_number(value) if key in ("size_bytes", "msgsize") else None
                narrowed.setdefault(option, {})[value if number is None else size_text(number)] = None
    kept = [option for option in options_of(command) if not names_any(option[:1], _OF_FILES) and
            option[0].partition("=")[0] not in (*_OF_OUTPUT, *narrowed)]
    return [*sum(kept, []), *(f"{option}={','.join(values)}" for option, values in narrowed.items())]
