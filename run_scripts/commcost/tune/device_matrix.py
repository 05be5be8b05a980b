"""device_matrix.sh: which operations work with buffers on a GPU, found out in a launch each, and what the MPI library
claims of that.

A row of OPERATIONS is all that a further operation needs.
"""

import os
import re
import typing

from commcost import command
from commcost.command import Failure, UsageError, say
from commcost.page import Items, Mark, Page, Section, Text, matrix_parts, readable
from commcost.result.result_writer import Output
from commcost.suite import launch_options, launchers, suite_plan
from commcost.suite.launch_options import count, list_of, size_that
from commcost.system import from_here, lines_of, quoted, replace_file, said_by
from commcost.tune import trial_launches
from commcost.tune.trial_launches import WORKS, Trials
from commcost.words import bytes_text, counted, in_words, is_number, listed, short

PROGRAM = "device_matrix.sh"
SIZES_SHOWN = 3   # side by side, so that 100 characters hold them
NAMES_SHOWN = 5
MEMORIES = ("host", "pinned", "device", "managed")
ON_DEVICE = "device|managed"  # what a library that isn't built for GPUs can't read


# ---- what is tried -------------------------------------------------------------------------------

class Operation(typing.NamedTuple):
    """An operation, and the program that tries it."""

    name: str     # in the matrix
    program: str  # below the build folder
    options: str  # with the size as {doubles}, {twice} their number, the {edge} of a face of that size, or {bytes}
    column: str   # of its time in µs, if it has one


COMMON = "--check --max-time=0.5"
PINGPONG = "--arrangements=single --coarray-sync=all --patterns="
SIZES = " --min-ndata={doubles} --max-ndata={doubles}"
STRIDED = " --max-stride=2 --max-ndata={twice}"  # every other double
HALO = "--local=2x{edge}x{edge} --methods="
OVERLAP = "--no-blocking --sizes={bytes} "
IN_PLACE = ("allgather", "allreduce", "alltoall")  # those that are tried in place, too


def collectives():
    """The calls of each collective: iallreduce is MPI_Allreduce and MPI_Iallreduce."""
    for name in suite_plan.collectives():
        blocking = name[1:]
        if blocking == "barrier":
            continue
        for place, option in (("", ""), (" in place", " --in-place"))[:1 + (blocking in IN_PLACE)]:
            yield Operation(f"MPI_{blocking.capitalize()}{place}", "collective/collective",
                            f"--operations={blocking} --sizes={{bytes}}{option}", "time_us")
        yield Operation(f"MPI_{name.capitalize()}", f"overlap/overlap_{name}", OVERLAP, "ref_us")


OPERATIONS = (
    *(Operation(name, "pingpong/pingpong", PINGPONG + pattern, "latency_us") for name, pattern in (
        ("MPI_Send", "MPISend" + SIZES), ("MPI_Put", "put" + SIZES), ("MPI_Get", "get" + SIZES),
        ("MPI_Put strided", "stridedput" + STRIDED), ("MPI_Get strided", "stridedget" + STRIDED))),
    *(Operation(name, f"overlap/overlap_{program}", OVERLAP + more, "ref_us")
      for name, program, more in (
          ("MPI_Isend", "isend", ""), ("MPI_Irecv", "irecv", ""), ("MPI_Rput", "put", ""), ("MPI_Rget", "get", ""),
          ("MPI_Psend_init", "partitioned", "--partitions=1"))),
    Operation("message rate", "msgrate/msgrate", "-p 1 -m 4 -c 0 -s {bytes}", "iter_us"),
    Operation("host overhead", "mpi_overhead/mpi_overhead", "-m {bytes}", "overhead"),
    *(Operation(name, "halo/halo", HALO + method, "latency_us") for name, method in (
        ("halo packed", "isend/irecvpacked"), ("halo datatypes", "isend/irecvtypes"))),
    *collectives())


class Trial(typing.NamedTuple):
    """An operation with buffers of a kind and of a size."""

    operation: Operation
    memory: str
    size: int  # in bytes

    @property
    def name(self):
        """Of its files."""
        return re.sub("[^A-Za-z_]+", "_", f"{self.operation.name} {self.memory} ") + str(self.size)

    def line(self, build, launch):
        """The words of its launch, after those of the launcher."""
        options = f"{self.operation.options} {COMMON}".format(
            doubles=self.size // 8, twice=self.size // 4, edge=round((self.size / 8) ** 0.5), bytes=self.size)
        return [*launch, os.path.join(build, self.operation.program), f"--memory={self.memory}", *options.split()]


# ---- what launches show --------------------------------------------------------------------------

class Found(typing.NamedTuple):
    """What a trial showed."""

    trial: Trial
    outcome: str
    seconds: int
    message: str  # of one that doesn't work
    row: dict     # of the result, its cells by column; empty without one

    @property
    def verdict(self):
        """What direct is against staged; "" where that isn't known."""
        return {"pays": "direct pays", "loses": "staged pays", "even": "even"}.get(
            self.row.get("direct_verdict"), "") if self.outcome == WORKS else ""

    def mark(self):
        """The cell of the matrix."""
        if self.outcome != WORKS:
            return Mark(self.outcome, "loses")
        time_us = self.row.get(self.trial.operation.column, "NA")
        text = f"{short(float(time_us))} µs" if is_number(time_us) else WORKS
        return Mark(", ".join(filter(None, (text, self.verdict))), "even" if self.verdict == "staged pays" else "pays")


# ---- launches ------------------------------------------------------------------------------------

class Matrix:
    """The operations to try in their folder. What is recorded there isn't tried again."""

    def __init__(self, options, tried):
        self.options, self.tried = options, tried
        self.trials = Trials(options.output, options.limit, None, options.is_new)
        self.launcher = launchers.find(options.launcher, options.build)
        job = launchers.Job(options.ranks, options.ranks_per_node, options.hosts, options.bind)
        launch = self.launcher.line(job, launchers.Launch(options.ranks, 1, {}))
        self.steps = [suite_plan.Step(1, one.name, one.name, "", trial_launches.FIRST_S, quoted(one.line(options.build, launch)))
                      for one in tried]

    def left(self):
        """The Steps that were not recorded."""
        return [step for step in self.steps if self.trials.known(step) is None]

    def run(self):
        """Whether all launches were made."""
        programs = {self.options.build: {one.operation.program for one in self.tried}}
        self.trials.begin(suite_plan.Plan(self.steps, programs, []), [self.launcher], self.options)
        left, total = self.left(), len(self.steps)
        for place, step in enumerate(left):
            say(f"[{total - len(left) + place + 1:{len(str(total))}}/{total}] {step.name:<40} about "
                f"{in_words((len(left) - place) * self.trials.usual_s)} left")
            if not self.trials.launch(step):
                return False
            outcome = self.trials.known(step)[1]
            if outcome != WORKS:
                say(f"    {outcome}")
        return True

    def found(self):
        """What the recorded trials showed."""
        found = []
        for trial, step in zip(self.tried, self.steps):
            if self.trials.known(step):
                seconds, outcome = self.trials.known(step)
                message = "" if outcome == WORKS else self.trials.message(step)
                rows, *_ = self.trials.rows(step)
                found.append(Found(trial, outcome, seconds, message, rows[-1] if rows else {}))
        return found

    def said(self):
        """The heads and remarks of the first result that says which GPU it used, as lines."""
        for step in self.steps:
            lines = lines_of(self.trials.folder.launch_file(step))
            if any("; the MPI library " in line for line in lines):
                return [line for line in lines if line.startswith("#")]
        return []


# ---- what the library claims ---------------------------------------------------------------------

def value_of(lines, pattern):
    """What follows the pattern in the first line that has it; "" without one."""
    return next(filter(None, (line.partition(found.group())[2] for line in lines
                              for found in [re.search(pattern, line)] if found)), "")


def built_with(library):
    """What the library's own tool says of GPUs, where it is in PATH."""
    if "Open MPI" in library:
        text = said_by("ompi_info", "--parsable", "--all")
        found = sorted(set(re.findall(r"built_with_(cuda|rocm)_support:value:(\w+)", text)))
        return [f"ompi_info: built with {name.upper()}: {value}" for name, value in found]
    text = said_by("mpichversion") if "MPICH" in library else ""
    words = re.findall(r"--with-(?:cuda|hip|ze)\S*", text)
    return [f"mpichversion: configured {' '.join(words) or 'with neither CUDA nor HIP'}"] if text else []


def can_have(operation, memory):
    """An operation in place has one buffer, not a pair of kinds."""
    return "--in-place" not in operation.options or len(set(memory.split(":"))) == 1


def claims_of(lines, found):
    """Sentences: what the library claims, and whether that is true."""
    library, claim = value_of(lines, "^# mpi_library: "), value_of(lines, "; the MPI library ")
    kinds = value_of(lines, "^# note: mpi_memory_alloc_kinds: ")
    sentences = [f"The MPI library {claim}."] if claim else []
    sentences += [f"mpi_memory_alloc_kinds of MPI_COMM_WORLD: {kinds}."] if kinds else []
    sentences += [f"{text}." for text in built_with(library)]
    tried = [one for one in found if re.search(ON_DEVICE, one.trial.memory)]
    bad = [one for one in tried if one.outcome != WORKS]
    if bad and ("claims to" in claim or re.search("cuda|rocm|hip|level_zero", kinds)):
        sentences.append(f"The claim is false: {len(bad)} of {counted(len(tried), 'launch', 'launches')} with buffers "
                         "there didn't work.")
    if tried and not bad and "doesn't support" in claim:
        sentences.append(f"The library works better than it says: all {counted(len(tried), 'launch', 'launches')} with "
                         "buffers there brought the right data.")
    return sentences


# ---- the page, the table -------------------------------------------------------------------------

LEGEND = ("A time: the right data arrived. direct pays: quicker than copying to pinned host memory by hand; staged "
          "pays: slower than that; even: no difference of 2 %. No word: not clear, or there is no staged counterpart.")


def matrix_of(found, memory):
    """The section of a kind of memory; SIZES_SHOWN sizes side by side."""
    there = [one for one in found if one.trial.memory == memory]
    sizes, parts = sorted({one.trial.size for one in there}), []
    for first in range(0, len(sizes), SIZES_SHOWN):
        marks = {}
        for one in there:
            if one.trial.size in sizes[first:first + SIZES_SHOWN]:
                marks.setdefault(one.trial.operation.name, {})[one.trial.size] = one.mark()
        last = first + SIZES_SHOWN >= len(sizes)
        parts += matrix_parts(marks, "operation", bytes_text, LEGEND)[:None if last else 1]
    return Section(memory.replace(":", "_"), f"Buffers: {memory}", parts)


def failures_of(found):
    """A sentence for each way not to work, with the first one's message."""
    for outcome in dict.fromkeys(one.outcome for one in found if one.outcome != WORKS):
        several = [one for one in found if one.outcome == outcome]
        names = list(dict.fromkeys(one.trial.operation.name for one in several))
        first = several[0]
        said = f" {first.trial.name}.log: {first.message}" if first.message else ""
        yield f"{outcome}, {counted(len(several), 'launch', 'launches')}: {listed(names, NAMES_SHOWN)}.{said}"


def page_of(matrix, found, lines):
    """The Page; its text is what the terminal shows."""
    works = sum(one.outcome == WORKS for one in found)
    gpu = re.sub("; the MPI library .*", "", value_of(lines, "^# note: rank 0 uses "))
    used = "; ".join(filter(None, (f"{matrix.options.ranks} ranks", value_of(lines, "^# mpi_library: "), gpu)))
    failures, claims = list(failures_of(found)), claims_of(lines, found)
    warnings = matrix.trials.warnings()
    sections = [Section("used", "What was used", [Text(used)])]
    sections += [matrix_of(found, memory) for memory in dict.fromkeys(one.trial.memory for one in found)]
    sections += [Section("failures", "What doesn't work", [Items(failures, "facts")])] if failures else []
    sections += [Section("claims", "What the library claims", [Items(claims, "facts")])] if claims else []
    sections += [Section("mind", "Mind", [Items(warnings, "facts")])] if warnings else []
    return Page(f"Buffers on a GPU: {works} of {counted(len(found), 'launch', 'launches')} work", sections,
                f"Logs: {from_here(matrix.trials.folder.path)}/runs/1")


COLUMNS = (("operation", "key"), ("memory", "key"), ("size_bytes", "key"), ("outcome", "info"), ("time_us", "less"),
           ("staged_us", "less"), ("direct_gain_pct", "info"), ("direct_verdict", "info"), ("seconds", "info"),
           ("message", "info"))


def write_table(path, found, lines, words):
    table = Output("device_matrix")
    table.begin(COLUMNS, [("mpi_library", value_of(lines, "^# mpi_library: ") or "NA")], words)
    for one in found:
        table.row({**one.row, "operation": one.trial.operation.name, "memory": one.trial.memory,
                   "size_bytes": one.trial.size, "outcome": one.outcome, "seconds": one.seconds,
                   "time_us": one.row.get(one.trial.operation.column, "NA"), "message": one.message or "NA"})
    for sentence in claims_of(lines, found):
        table.remark("note", sentence)
    replace_file(path, table.text(command.EXIT_DONE))


# ---- options -------------------------------------------------------------------------------------

def memory_of(word):
    return word if word.count(":") < 2 and all(part in MEMORIES for part in word.split(":")) else None


def program_of(word):
    """A name of an operation, a program or its folder."""
    known = {name.lower() for one in OPERATIONS for name in (one.name, *one.program.split("/"))}
    return word.lower() if word.lower() in known else None


def is_named(operation, names):
    return not names or any(name.lower() in names for name in (operation.name, *operation.program.split("/")))


def read_options(words):
    made = command.Parser(PROGRAM, f"{PROGRAM} [OPTION]...", """\
Tries each operation with buffers on a GPU, in a launch of its own with --check:
does it bring the right data, crash, hang, or is it refused? And is it quicker
to hand MPI the GPU's address (direct), or to copy to pinned host memory by hand
(staged)? Beside that stands what the MPI library claims.

Prints a table; FOLDER/matrix.tsv has it for spreadsheets, FOLDER/matrix.html as
a page; FOLDER/runs/1 has what each launch wrote and said. With --resume=FOLDER
it continues where it was interrupted.

Exit status: 0 all launches were made, whatever they showed; 1 they weren't; 2
wrong usage.""", allow_abbrev=False)
    add = made.add_argument_group("What to try").add_argument
    add("--programs", metavar="LIST", type=list_of(program_of, "no such operation or program: use names like "
        "MPI_Allreduce, collective, overlap_iallreduce, pingpong"), default=[],
        help="operations or programs, with commas (default: all)")
    add("--memory", metavar="LIST", type=list_of(memory_of, "use host, pinned, device, managed, or pairs like "
        "device:host"), default=["device"], help="where buffers lie, with commas: device, managed, pinned, "
        "device:host and so on (default: device)")
    add("--sizes", metavar="LIST", type=list_of(size_that(lambda size: size & (size - 1) == 0), "use powers of two "
        "from 8 on, like 8,64K,4M"), default=[8, 64 << 10, 4 << 20], help="bytes, with commas (default: 8,64K,4M)")
    add("--limit", metavar="TIME", type=launch_options.limit, default=60,
        help="for each launch, which then counts as a hang (default: 60 s)")
    add = launch_options.add_shared(made, "device_DATE_TIME", "; --hosts", metavar="N", type=count, default=2,
                               help="one for each GPU (default: 2)")
    add("--dry-run", action="store_true", help="print the commands of launches that were not made yet")
    options = launch_options.parsed(made, ("build", "programs", "memory", "sizes", "limit", *launch_options.KEPT_PLACE), words)
    if options.ranks < 2:
        raise UsageError("--ranks: needs at least 2")
    launch_options.fill_in(options, "device_")
    return options


def main(words):
    options = read_options(words)
    chosen = [one for one in OPERATIONS if is_named(one, options.programs)]
    built = [one for one in chosen if os.access(os.path.join(options.build, one.program), os.X_OK)]
    if not built:
        raise Failure(f"none of the programs is in {options.build}: build them first")
    matrix = Matrix(options, [Trial(operation, memory, size) for memory in options.memory for operation in built
                              for size in options.sizes if can_have(operation, memory)])
    if options.dry_run:
        print(*(step.command for step in matrix.left()), sep="\n")
        return command.EXIT_DONE
    is_whole = matrix.run()
    found, lines = matrix.found(), matrix.said()
    page = page_of(matrix, found, lines)
    write_table(os.path.join(matrix.trials.folder.path, "matrix.tsv"), found, lines, words)
    replace_file(os.path.join(matrix.trials.folder.path, "matrix.html"), page.as_html())
    print(readable(page.as_text()), end="")
    if not is_whole:
        say(f"Ended by a signal. To resume: {launch_options.going_on(PROGRAM, matrix.trials.folder.path, options.kept)}")
    return command.EXIT_DONE if is_whole else command.EXIT_FAILED
