# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that MPI libraries offer for collectives, and the file that chooses among them: a class for each kind of
library. Sizes are bytes of a block, as in the program `collective`.

Operations are left out if ranks may disagree on their size: for gather and scatter, Open MPI 4.1 uses the root's size
and MPICH 4.0 a count without its type; sizes of v and w variants differ between ranks; scan and exscan have no size.
Open MPI takes the size of an allgather from the send arguments even in place, where they are ignored by the standard
and may differ between ranks.

A rule applies to every call of its operation, size and number of ranks, with any operator, type, root and buffer. SAFE
lists the algorithms that are right for all such calls; no other algorithm is ever written. tests/scripts/every_call.c
tries such calls with each possible rule.
"""

import collections
import json
import mmap
import os
import re
import shutil
import typing

from commcost.command import Failure, UsageError
from commcost.system import command_output, shell_command

SIZE_MOST = (1 << 31) - 1  # MPICH's rules are ints
OPERATIONS = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "reduce", "reduce_scatter",
              "reduce_scatter_block")


class Contest(typing.NamedTuple):
    """A variable of the library, its values, and its operations."""

    variable: str
    operations: tuple
    choices: tuple

    @property
    def name(self):
        return self.operations[0] if len(self.operations) == 1 else self.variable.lower()


class Rule(typing.NamedTuple):
    """A choice for messages from `low` to `high` bytes, including sizes that weren't measured."""

    contest: Contest
    operation: str
    ranks: int
    low: int
    high: int
    choice: str


def rules_by_ranks(rules, operation):
    """Returns an operation's Rules by number of ranks, in ascending order of ranks and sizes."""
    found = {}
    for rule in sorted(rules, key=lambda rule: (rule.ranks, rule.low)):
        if rule.operation == operation:
            found.setdefault(rule.ranks, []).append(rule)
    return found


class Library:
    """An unknown library. --choices names its variables. Its file is a shell script, which can't choose by size."""

    name, version, suffix, chooses_by_size = "the MPI library", "", ".sh", False
    FORCING = ".*"  # variables that override the library's choice

    def contests(self):
        """Returns all Contests of the library."""
        return []

    def fits(self, operation, choice, ranks):
        del operation, choice, ranks
        return True

    def variables(self, contest, choice):
        """Returns the environment of a launch with this choice."""
        return {contest.variable: choice}

    def file_text(self, rules, comment):
        """Returns the text of the library's file. `comment` has lines that may go into it."""
        lines = sorted({f"export {rule.contest.variable}='{rule.choice}'" for rule in rules})
        return "".join(f"# {line}\n" for line in comment) + "".join(line + "\n" for line in lines)

    def file_variables(self, path, rules):
        """Returns the environment of a launch with the file of these rules."""
        del path
        return {rule.contest.variable: rule.choice for rule in rules}

    def file_report(self, path):
        """Returns a sentence with the library's report on the file and its choices."""
        del path
        return "The library doesn't report its choices: see the times."

    def changed_variables(self, line, contests):
        """Returns the sources of values that aren't defaults in launches. `line` has the words before a program."""
        del line
        return {contest.variable: "environment" for contest in contests if contest.variable in os.environ}


def launch_output(line, tool, script):
    """Returns the output of a shell script in a launch. $0 is a program of the library."""
    output = command_output(*line, "/bin/sh", "-c", script + "; echo asked", tool)
    if "asked" not in output.splitlines():
        raise Failure(f"{tool} reports no variables of the library in a launch: try {shell_command(*line, tool)}")
    return output


class Mpich(Library):
    """MPICH from 4.0 on. Its file is a tree in JSON (its src/mpi/coll/src/csel.c) that replaces the library's tree, so
    rules are added to a copy of it. MPI_T describes the values of MPIR_CVAR_*_INTRA_ALGORITHM; MPICH's program mpivars
    prints them."""

    name, suffix, chooses_by_size, TOOL = "MPICH", ".json", True, "mpivars"
    VARIABLE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
    PREFIXES = ("MPIR_CVAR", "MPIR_PARAM", "MPICH")  # of its environment variables
    FORCING = ("MPIR_CVAR_(.*_INTRA_ALGORITHM|.*COLL_SELECTION_TUNING_JSON_FILE.*|.*_COMPOSITION|COLLECTIVE_FALLBACK|"
               "DEVICE_COLLECTIVES|.*_DEVICE_COLLECTIVE)")
    # Algorithms of 4.0, with the conditions GUARDS (coll_algorithms.txt: restrictions). pairwise_sendrecv_replace of
    # alltoall only works in place; noncommutative of reduce_scatter and reduce_scatter_block uses the true extent of
    # types, which is wrong for types with gaps. Algorithms of 4.1 to 5.0 weren't tested; most have parameters
    # (csel_container.c: k, tree_type, chunk_size), which a file must contain.
    SAFE = {"allgather": ("brucks", "nb", "recursive_doubling", "ring"),
            "allreduce": ("nb", "recursive_doubling", "reduce_scatter_allgather", "smp"),
            "alltoall": ("brucks", "nb", "pairwise", "scattered"),
            "barrier": ("dissemination", "nb", "smp"),
            "bcast": ("binomial", "nb", "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "smp"),
            "reduce": ("binomial", "nb", "reduce_scatter_gather", "smp"),
            "reduce_scatter": ("nb", "pairwise", "recursive_doubling", "recursive_halving"),
            "reduce_scatter_block": ("nb", "pairwise", "recursive_doubling", "recursive_halving")}
    # Finds variables whose value differs from that in a launch without the user's environment.
    ASK = r"""{ "$0"; env -i PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$0"; } |
        sed -n 's/^[[:blank:]]*\(MPI[A-Z0-9_]*\) *\(=[^[:blank:]]*\)[[:blank:]].*/\1 \2/p' | sort | uniq -u"""
    # The tree's name of an operation's size; total_* is the size of all ranks' blocks.
    SIZES = {"allreduce": "avg_msg_size", "alltoall": "avg_msg_size", "bcast": "avg_msg_size", "reduce": "avg_msg_size",
             "allgather": "total_msg_size", "reduce_scatter": "total_msg_size",
             "reduce_scatter_block": "total_msg_size", "barrier": None}
    # Conditions that the library checks for choices in variables, but not for those in the file. Fields: operations,
    # algorithms, the condition of the rule, and the condition that keeps the library's choice.
    GUARDS = (("allreduce|reduce", ".*", "is_op_built_in=yes", "is_op_built_in=no"),
              ("reduce_scatter|reduce_scatter_block", ".*", "is_commutative=yes", "is_commutative=no"),
              ("alltoall", ".*", "is_sendbuf_inplace=no", "is_sendbuf_inplace=yes"),
              (".*", "smp", "comm_hierarchy=parent", "comm_hierarchy=any"),
              ("allreduce|reduce", "reduce_scatter_.*", "count=any", "count<pow2"))

    def __init__(self, data, tools):
        found = re.search(r"(?m)^MPICH Version:\s*(\S+)", command_output(tools("mpichversion")))
        self.version = found.group(1) if found else ""
        self._tools = tools
        self._tree = json.loads(max(self._trees(data), key=len).decode("ascii", "replace"))
        self._algorithms = {}  # by operation and an algorithm's name in the variable: its name in the tree
        descriptions = {}  # by variable
        for block in re.split(r"(?m)^\t(?=MPI)", command_output(tools(self.TOOL))):
            descriptions.setdefault(re.match(r"\w*", block).group(), block)
        for operation, names in self.SAFE.items():
            words = descriptions.get(self._variable(operation), "")
            for name in names:
                # 4.0 omits line ends.
                if re.search(rf"(?<!_){name} +- ", words):
                    kind = "allcomm" if name == "nb" else "intra"
                    self._algorithms.setdefault(operation, {})[name] = (
                        f"algorithm=MPIR_{operation.capitalize()}_{kind}_{name}")

    @staticmethod
    def _variable(operation):
        return f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"

    @staticmethod
    def _trees(data):
        return [text for text in re.findall(rb'\{"collective=[^\0\n]*\}', data) if b'"algorithm=MPIR_Bcast_' in text]

    @staticmethod
    def is_in(data):
        return data.find(Mpich.VARIABLE.encode()) >= 0 and bool(Mpich._trees(data))

    def contests(self):
        return [Contest(self._variable(operation), (operation,), tuple(sorted(self._algorithms[operation])))
                for operation in OPERATIONS
                if operation in self._algorithms and f"collective={operation}" in self._tree]

    def changed_variables(self, line, contests):
        del contests
        tool = self._tools(self.TOOL)
        lines = set(re.findall(r"(?m)^(\w+) =(.*)$", launch_output(line, tool, self.ASK)))
        values = collections.Counter(name for name, _ in lines)
        if 1 in values.values():
            raise Failure(f"{tool} prints different variables in a launch: use the launched library's tool")
        return {name: f"environment, as {' or '.join(name.replace('MPIR_CVAR', prefix) for prefix in self.PREFIXES)}"
                for name in sorted(values)}

    def fits(self, operation, choice, ranks):
        return (operation, choice) != ("allgather", "recursive_doubling") or ranks & (ranks - 1) == 0

    def variables(self, contest, choice):
        """Returns the environment. If a choice is impossible, the library falls back to its own, also in internal
        calls: an error would end jobs with a different communicator or count."""
        return {contest.variable: choice, "MPIR_CVAR_COLLECTIVE_FALLBACK": "silent"}

    def file_text(self, rules, comment):
        tree = json.loads(json.dumps(self._tree))
        for operation in {rule.operation for rule in rules}:
            kinds = tree[f"collective={operation}"]
            usual, made, last = kinds["comm_type=intra"], {}, 0
            for ranks, several in rules_by_ranks(rules, operation).items():
                if ranks - 1 > last:
                    made[f"comm_size<={ranks - 1}"] = usual
                made[f"comm_size<={ranks}"] = self._rules_by_size(several, tree_for_ranks(usual, ranks))
                last = ranks
            kinds["comm_type=intra"] = {**made, "comm_size=any": usual}
        text = json.dumps(tree, indent=1)
        # MPICH 4.0 maps the file into memory and reads up to a 0 byte, which full pages lack.
        return text + ("\n" if (len(text) + 1) % mmap.PAGESIZE else "\n\n")

    def _rules_by_size(self, rules, usual):
        word, made, last = self.SIZES[rules[0].operation], {}, -1
        if word is None:
            return self._guarded(rules[0], usual)
        for rule in rules:
            scale = rule.ranks if word == "total_msg_size" else 1
            if scale * rule.low - 1 > last:
                made[f"{word}<={scale * rule.low - 1}"] = usual
            last = scale * rule.high
            made[f"{word}<={last}"] = self._guarded(rule, usual)
        return {**made, f"{word}=any": usual}

    def _guarded(self, rule, usual):
        made = {self._algorithms[rule.operation][rule.choice]: {}}
        for operations, algorithms, condition, otherwise in self.GUARDS:
            if re.fullmatch(operations, rule.operation) and re.fullmatch(algorithms, rule.choice):
                made = dict(sorted({otherwise: usual, condition: made}.items(), key=lambda item: "=any" in item[0]))
        return made

    def file_variables(self, path, rules):
        del rules
        return {self.VARIABLE: os.path.abspath(path)}

    def file_report(self, path):
        del path
        return "MPICH reports neither its file nor the algorithm of a call: see the times."


def tree_for_ranks(tree, ranks):
    """Returns MPICH's tree for this number of ranks, without conditions on it: below a condition on sizes, MPICH 4.0
    reads "comm_size<8" as "comm_size<=8"."""
    made = {}
    for key, below in tree.items():
        found = re.fullmatch("comm_size(<=|<|=)([0-9]+|pow2|any)", key)
        how, what = found.groups() if found else ("", "")
        if not found:
            made[key] = tree_for_ranks(below, ranks)
        elif (what == "any" or what == "pow2" and ranks & (ranks - 1) == 0 or
              what.isdigit() and ranks < int(what) + (how == "<=")):
            return {**made, "comm_size=any": tree_for_ranks(below, ranks)} if made else tree_for_ranks(below, ranks)
    return made


class OpenMpi(Library):
    """Open MPI's component `tuned`. For 4.0 to 5.0 its file has numbers
    (ompi/mca/coll/tuned/coll_tuned_dynamic_file.c). A rule begins at a size or number of ranks and ends at the next
    rule, so cases between measured ones get a rule of 0, the library's own choice. From 6.0 on the file is JSON (same
    source): rules have both ends, and the first match is used. Version 6.0 would take a number of ranks in the old
    format as the end of a range."""

    name, chooses_by_size, TOOL = "Open MPI", True, "ompi_info"
    PREFIX = "OMPI_MCA_coll_tuned_"
    # Operations in the order of their numbers in the file.
    NUMBERS = {name: number for number, name in enumerate((
        "allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce "
        "reduce_scatter reduce_scatter_block").split())}
    FORCING = "coll_tuned_(use_dynamic_rules|dynamic_rules_filename|.*_algorithm.*)"
    # The dynamic rules of 4.0 to 6.0 ignore operator and root (coll_tuned_decision_dynamic.c). ring and segmented_ring
    # of allreduce, ring and recursive_halving of reduce_scatter, and chains and trees of reduce are wrong for
    # non-commutative operators (coll_base_*.c: "commutative"). split_binary_tree, scatter_allgather and
    # scatter_allgather_ring of bcast divide the count, which differs if the root and other ranks use different types.
    SAFE = {"allreduce": ("basic_linear", "nonoverlapping", "recursive_doubling", "rabenseifner"),
            "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
            "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"),
            "bcast": ("basic_linear", "chain", "pipeline", "binary_tree", "binomial", "knomial"),
            "reduce": ("linear", "in-order_binary", "rabenseifner"),
            "reduce_scatter": ("non-overlapping", "butterfly"),
            "reduce_scatter_block": ("basic_linear", "recursive_doubling", "recursive_halving", "butterfly")}
    ASK = r""""$0" --parsable --all | sed -n 's/^.*:param:\(coll[a-z0-9_]*\):source:/\1 =/p' | grep -v '=default$'"""
    TOTAL = ("allgather", "alltoall", "reduce_scatter", "reduce_scatter_block")  # sizes include all ranks' blocks
    CHAINS = ("bcast", "reduce", "reduce_scatter", "reduce_scatter_block")       # a variable sets their fan-out

    def __init__(self, data, tools):
        del data
        self._output = command_output(tools(self.TOOL), "--parsable", "--all")
        self._tools, self._algorithms = tools, {}
        version = re.search(r"(?m)^ompi:version:full:(([0-9]+)\S*)", self._output)
        self.version = version.group(1) if version else ""
        self.suffix = ".json" if version and int(version.group(2)) >= 6 else ".conf"
        for operation, number, name in re.findall(
                r"coll_tuned_(\w+)_algorithm:enumerator:value:([0-9]+):(\S+)", self._output):
            if name in self.SAFE.get(operation, ()):
                self._algorithms.setdefault(operation, {})[name] = number

    @staticmethod
    def is_in(data):
        return data.find(b"ompi_mpi_comm_world") >= 0

    def contests(self):
        return [Contest(f"{self.PREFIX}{operation}_algorithm", (operation,), tuple(self._algorithms[operation]))
                for operation in OPERATIONS if operation in self._algorithms]

    def fits(self, operation, choice, ranks):
        return choice != "two_proc" or ranks == 2

    def variables(self, contest, choice):
        return {f"{self.PREFIX}use_dynamic_rules": "1", contest.variable: choice}

    def changed_variables(self, line, contests):
        del contests
        return dict(re.findall("(?m)^(\\w+) =(.*)$", launch_output(line, self._tools(self.TOOL), self.ASK)))

    def _value(self, operation, what):
        found = re.search(f"coll_tuned_{operation}_algorithm_{what}:value:([0-9]+)", self._output)
        return found.group(1) if found else "0"

    def _fan_out(self, operation):
        return self._value(operation, "chain_fanout" if operation in self.CHAINS else "tree_fanout")

    def file_text(self, rules, comment):
        operations = [name for name in self.NUMBERS if any(rule.operation == name for rule in rules)]
        if self.suffix == ".json":
            made = {operation: [
                {"comm_size_min": ranks, "comm_size_max": ranks, "rules": list(map(self._json_of, several))}
                for ranks, several in rules_by_ranks(rules, operation).items()] for operation in operations}
            return json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": made}, indent=1) + "\n"
        lines = [*(f"# {line}" for line in comment), f"{len(operations)} # operations"]
        for operation in operations:
            ranges, last = {}, 0
            for ranks, several in rules_by_ranks(rules, operation).items():
                if ranks > last:
                    ranges[last] = []
                ranges[ranks], last = several, ranks + 1
            ranges[last] = []
            lines += [f"{self.NUMBERS[operation]} # {operation}", f"{len(ranges)} # numbers of ranks"]
            for ranks, several in ranges.items():
                by_size = self._rules_by_size(several)
                lines += [f"{ranks} # ranks", f"{len(by_size)} # sizes", *by_size]
        return "".join(line + "\n" for line in lines)

    def _json_of(self, rule):
        """Returns a rule in JSON. Missing values are 0."""
        scale = rule.ranks if rule.operation in self.TOTAL else 1
        values = {"faninout": self._fan_out(rule.operation), "seg_size": self._value(rule.operation, "segmentsize"),
                  "reqs": self._value(rule.operation, "max_requests")}
        return {"msg_size_min": scale * rule.low, "msg_size_max": scale * rule.high, "alg": rule.choice,
                **{name: int(value) for name, value in values.items() if value != "0"}}

    def _rules_by_size(self, rules):
        """Returns a line for each size: its first byte, algorithm, fan-out and segment size."""
        usual, lines, last = "0 0 0 # the library's own choice", [], 0
        for rule in rules:
            scale = rule.ranks if rule.operation in self.TOTAL else 1
            if scale * rule.low > last or not rule.low and lines:
                lines.append(f"{last} {usual}")
            segment = self._value(rule.operation, "segmentsize")
            lines.append(f"{scale * rule.low} {self._algorithms[rule.operation][rule.choice]} "
                         f"{self._fan_out(rule.operation)} {segment} # {rule.choice}")
            last = scale * rule.high + 1
        return lines if rules and rules[0].operation == "barrier" else [*lines, f"{last} {usual}"]

    def file_variables(self, path, rules):
        return {f"{self.PREFIX}use_dynamic_rules": "1", f"{self.PREFIX}dynamic_rules_filename": os.path.abspath(path)}

    def file_report(self, path):
        words = [f"{name}={value}" for name, value in self.file_variables(path, ()).items()]
        output = command_output("env", *words, self._tools(self.TOOL), "--parsable", "--all")
        has_it = f"coll_tuned_dynamic_rules_filename:value:{path}\n" in output
        return (("Open MPI has the name of the file (ompi_info)." if has_it else
                 "Open MPI doesn't have the name of the file (ompi_info).") +
                " It reports the algorithm of a call only in a debug build: see the times.")


KINDS = (Mpich, OpenMpi)


def file_of_library(program):
    """Returns the file of a program's MPI library, or None if the system doesn't tell."""
    found = re.search(r"(?m)libmpi\S* => (/.+?)(?: \(0x[0-9a-f]+\))?$", command_output("ldd", program))
    return os.path.realpath(found.group(1)) if found else None


def library_of(program, launcher):
    """Returns the Library of a program, and its file. Failure without the library's program that lists choices, since
    only the list shows which of them are safe."""
    path = file_of_library(program) or os.path.realpath(program)

    def tools(name):
        """Returns the path of a library's program, next to the launcher or in PATH, or a name that doesn't exist."""
        beside = os.path.join(os.path.dirname(shutil.which(launcher.words[0]) or ""), name)
        return next((tool for tool in (beside, shutil.which(name) or name)
                     if os.access(tool, os.X_OK) and file_of_library(tool) in (None, path)), f"no {name}")

    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        kind = next((kind for kind in KINDS if kind.is_in(data)), Library)
        if kind is not Library and not os.access(tools(kind.TOOL), os.X_OK):
            raise Failure(f"no {kind.TOOL} of {path}: add its folder to PATH")
        library = Library() if kind is Library else kind(data, tools)
    return library if library.contests() else Library(), path


def given_contests(library, texts, operations):
    """Returns the Contests of --choices: for a known variable with its operations, otherwise with all of `operations`.
    UsageError for a variable that a known library lacks."""
    made, known = [], {contest.variable: contest for contest in library.contests()}
    for text in texts:
        found = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z0-9_.,:+-]+)", text)
        choices = tuple(dict.fromkeys(found.group(2).split(","))) if found else ("",)
        if "" in choices:
            raise UsageError(f"--choices: '{text:.200}': use VARIABLE=A,B,C")
        variable = found.group(1)
        if variable in [contest.variable for contest in made]:
            raise UsageError(f"--choices: {variable} is there twice: give all of its values at once")
        if known and variable not in known:
            raise UsageError(f"--choices: {library.name}'s file has no choice of {variable:.100}: --list shows all")
        for choice in choices if known else []:
            if choice not in known[variable].choices:
                raise UsageError(f"--choices: {variable} has no value '{choice:.100}': --list shows all")
        made.append(Contest(variable, known[variable].operations if known else operations, choices))
    return made
