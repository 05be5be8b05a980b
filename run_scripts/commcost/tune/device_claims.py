"""An MPI library's claims about GPUs, and their truth."""

import re

from commcost.system import said_by
from commcost.tune.trial_launches import WORKS
from commcost.words import counted

ON_DEVICE = "device|managed"  # what a library that isn't built for GPUs can't read


def value_of(lines, pattern):
    """Returns the text behind the pattern in the first line that has it; "" without one."""
    return next(filter(None, (line.partition(found.group())[2] for line in lines
                              for found in [re.search(pattern, line)] if found)), "")


def built_with(library):
    """Returns the GPU support that the library's own tool reports, if it is in PATH."""
    if "Open MPI" in library:
        text = said_by("ompi_info", "--parsable", "--all")
        found = sorted(set(re.findall(r"built_with_(cuda|rocm)_support:value:(\w+)", text)))
        return [f"ompi_info: built with {name.upper()}: {value}" for name, value in found]
    text = said_by("mpichversion") if "MPICH" in library else ""
    words = re.findall(r"--with-(?:cuda|hip|ze)\S*", text)
    return [f"mpichversion: configured {' '.join(words) or 'with neither CUDA nor HIP'}"] if text else []


def claims_of(lines, found):
    """Returns sentences: the library's claims, and whether they are true."""
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
