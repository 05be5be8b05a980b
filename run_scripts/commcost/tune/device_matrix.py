# SPDX-License-Identifier: BSD-3-Clause
"""device_matrix.sh: tries operations with buffers on a GPU, one launch each, against the MPI library's claims."""

import os

from commcost import command
from commcost.command import Failure, UsageError, say
from commcost.page import readable
from commcost.suite import launch_options
from commcost.suite.launch_options import count, list_of, sizes
from commcost.system import replace_file
from commcost.tune.device_outputs import page_of, write_table
from commcost.tune.device_trials import OPERATIONS, Matrix, Trial, can_have

PROGRAM = "device_matrix.sh"
MEMORIES = ("host", "pinned", "device", "managed")



def memory_of(word):
    return word if word.count(":") < 2 and all(part in MEMORIES for part in word.split(":")) else None


def program_of(word):
    """Returns the name of an operation, a program or its folder, or None if unknown."""
    known = {name.lower() for one in OPERATIONS for name in (one.name, *one.program.split("/"))}
    return word.lower() if word.lower() in known else None


def is_named(operation, names):
    return not names or any(name.lower() in names for name in (operation.name, *operation.program.split("/")))


def read_options(words):
    made = command.Parser(PROGRAM, f"{PROGRAM} [OPTION]...", """\
Tries operations with buffers on a GPU, each in a launch of its own with --check:
right data, wrong data, crash, hang or refusal. Compares the GPU's address
(direct) with a copy to pinned host memory (staged), and the outcomes with the
MPI library's claims.

FOLDER/matrix.tsv      the table for spreadsheets; matrix.html: the page
FOLDER/runs/1          result and output of each launch

Exit status: 0 all launches were made, whatever their outcome; 1 some weren't; 2
wrong usage.""", allow_abbrev=False)
    add = made.add_argument_group("What to try").add_argument
    add("--programs", metavar="LIST", type=list_of(program_of, "no such operation or program: use names like "
        "MPI_Allreduce, collective, overlap_iallreduce, pingpong"), default=[],
        help="operations or programs, with commas (default: all)")
    add("--memory", metavar="LIST", type=list_of(memory_of, "use host, pinned, device, managed, or pairs like "
        "device:host"), default=["device"], help="buffers, with commas: device,managed,device:host (default: device)")
    add("--sizes", metavar="LIST", type=list_of(sizes(lambda size: size & (size - 1) == 0), "use powers of two "
        "from 8 on, like 8,64K,4M"), default=[8, 64 << 10, 4 << 20], help="bytes, with commas (default: 8,64K,4M)")
    add("--limit", metavar="TIME", type=launch_options.limit, default=60,
        help="time after which a launch counts as a hang (default: 60 s)")
    add = launch_options.add_shared(made, "device_DATE_TIME", metavar="N", type=count, default=2,
                                    help="one for each GPU (default: 2)")
    add("--dry-run", action="store_true", help="print the remaining launches")
    kept = ("build", "programs", "memory", "sizes", "limit", *launch_options.KEPT_PLACE)
    options = launch_options.parsed(made, kept, words)
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
    found, lines = matrix.found(), matrix.device_head()
    page = page_of(matrix, found, lines)
    write_table(os.path.join(matrix.trials.folder.path, "matrix.tsv"), found, lines, words)
    replace_file(os.path.join(matrix.trials.folder.path, "matrix.html"), page.as_html())
    print(readable(page.as_text()), end="")
    if not is_whole:
        again = launch_options.resume_command(PROGRAM, matrix.trials.folder.path, options.kept)
        say(f"Ended by a signal. To resume: {again}")
    return command.EXIT_DONE if is_whole else command.EXIT_FAILED
