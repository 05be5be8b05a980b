# SPDX-License-Identifier: BSD-3-Clause
"""Checks: conditions on facts and measurements, each with its sentence and its remedies. CHECKS is the table.

A check yields Findings. A `suspicion` is a state that may cost nothing: it becomes a finding only if an experiment
shows that the remedy gains. Linux's and the libraries' own documentation are the sources; each check names its.
"""

import collections
import re

from commcost.checkup import installations, transports
from commcost.checkup.findings import (PROBLEM, SUSPICION, UNKNOWN, WARNING, Finding, Remedy, choosing_variables,
                                       chosen_by, has_started, launcher_words, unset_them)
from commcost.checkup.networks import ROCE, adapter_of, between_nodes, is_up
from commcost.result.checkup_facts import members
from commcost.words import counted

# ---- start ---------------------------------------------------------------------------------------

def start(job):
    """The job's ranks are one job. The library is the one that the program was built with, no debug build, and of the
    launcher's version."""
    rank = job.facts.ranks[0]
    built, runs = rank.text("mpi_built_with"), rank.text("mpi_library")
    if built and not runs.startswith(built):
        yield Finding("Start", WARNING, f"built with {built}, runs with {runs.split(' MPICH')[0]:.40}", "",
                      (Remedy("rebuild with the library that runs", untried="needs a build"),))
    options = [option.partition("=") for option in rank.values.get("configured_with", [])]
    if job.installation.is_debug or any(name == "--enable-debug" or name == "--enable-g" and
                                        set(value.split(",")) - {"none", "no", "dbg"} for name, _, value in options):
        yield Finding("Start", WARNING, "the MPI library is a debug build", "",
                      (Remedy("use a library built without --enable-debug", untried="needs another library"),))
    family, version = installations.library_of(runs)
    launcher = job.installation
    if launcher.version and family == launcher.family and version.split(".")[:2] != launcher.version.split(".")[:2]:
        yield Finding("Start", WARNING, f"the launcher is of {family} {launcher.version}, the library of {version}", "",
                      (Remedy("use the library's own mpirun", untried="may be in another folder"),))
    elif not launcher.family and has_started(job):
        yield Finding("Start", UNKNOWN, "the ranks don't show which launcher started them")


# ---- ranks and cores -----------------------------------------------------------------------------

def cores(job):
    """Each rank has a core of its own (sched_getaffinity, cgroups)."""
    for ranks in job.facts.nodes.values():
        node = ranks[0].text("host")
        yield from shared_processors(job, node, ranks)
        for quota, count in quotas(ranks):
            if quota < count:
                processors = f"{quota:g} processor{'s' * (quota != 1)}"
                yield Finding("Cores", PROBLEM, f"a quota of {processors} for {counted(count, 'rank')} of {node}", "",
                              (Remedy("raise the quota (docker run --cpus=N, cgroup cpu.max)",
                                      untried="needs another container"),), scope=node)


def shared_processors(job, node, ranks):
    """Ranks of a node can't all have a processor, or a core, of their own."""
    def places(fact):
        return matched([members(rank.text(fact)) for rank in ranks])
    processors, count = places("allowed_processors"), len(ranks)
    if processors < count and all(rank.text("allowed_processors") for rank in ranks):
        has_more = (ranks[0].number_of("online_processors") or 0) >= count
        yield Finding("Cores", PROBLEM, f"{count} ranks share {counted(processors, 'processor')} of {node}",
                      "allreduce_time", bind_to_core(job) if has_more else
                      (Remedy(f"start at most {counted(processors, 'rank')} on a node", untried="changes the job"),),
                      scope=node)
    elif places("allowed_cores") < count and all(rank.text("allowed_cores") for rank in ranks):
        has_more = (ranks[0].number_of("online_cores") or 0) >= count
        yield Finding("Cores", WARNING if has_more else UNKNOWN, f"{count} ranks share "
                      f"{counted(places('allowed_cores'), 'core')} of {node} (hardware threads)", "allreduce_time",
                      bind_to_core(job) if has_more else (), scope=node)


def matched(choices):
    """The most ranks that can have an element of their set each (Kuhn's augmenting paths)."""
    owners = {}

    def place(rank, seen):
        for element in choices[rank] - seen:
            seen.add(element)
            if element not in owners or place(owners[element], seen):
                owners[element] = rank
                return True
        return False
    return sum(place(rank, set()) for rank in range(len(choices)))


def quotas(ranks):
    """Pairs of a control group's quota, in processors, and the number of ranks in the group."""
    counts = collections.Counter(value for rank in ranks for value in rank.values.get("cpu_quota_group", []))
    return [(float(value.split()[1]), count) for value, count in counts.items()]


def bind_to_core(job):
    """The remedy that binds each rank to a core."""
    words = {"hydra": ("-bind-to", "core"), "openmpi": ("--bind-to", "core"), "srun": ("--cpu-bind=cores",)}
    found = words.get(job.launcher_name)
    return (launcher_words(job, *found),) if found else ()


def binding(job):
    """Ranks that may move between cores: a finding only if binding gains."""
    moved = [rank for rank in job.facts.ranks if len(members(rank.text("allowed_cores"))) > 1]
    enough = all(len(set().union(*(members(rank.text("allowed_cores")) for rank in ranks))) >= len(ranks)
                 for ranks in job.facts.nodes.values())
    if moved and enough:
        what = "NUMA nodes" if is_on_several_numa_nodes(job, moved[0]) else "cores"
        yield Finding("Binding", SUSPICION, f"ranks move between {what}", "allreduce_time", bind_to_core(job),
                      f"ranks may move between {what}")


def is_on_several_numa_nodes(job, rank):
    """True if the rank may use processors of several NUMA nodes."""
    nodes = [members(value) for ranks in job.facts.nodes.values() if rank in ranks
             for name, (value, *_) in ranks[0].values.items() if re.fullmatch(r"numa\.node[0-9]+\.processors", name)]
    return sum(bool(node & members(rank.text("allowed_processors"))) for node in nodes) > 1


def numa(job):
    """A rank's memory lies on the NUMA node of its core (move_pages)."""
    far = [rank for rank in job.facts.ranks
           if rank.text("memory_numa_node") and rank.text("memory_numa_node") != rank.text("processor_numa_node")]
    if far:
        yield Finding("NUMA", WARNING, f"memory of rank {far[0].number} lies on another NUMA node than its core",
                      "copy_bandwidth", bind_to_core(job), scope=far[0].text("host"))


# ---- within a node -------------------------------------------------------------------------------

def within_node(job):
    """Ranks of a node exchange messages through their memory, as fast as it allows."""
    found = [*reachable_memory(job), *network_within_node(job)]
    yield from found or slow_within_node(job)


def reachable_memory(job):
    """Ranks of a node reach each other's memory (process_vm_readv) and share /dev/shm."""
    for ranks in job.facts.nodes.values():
        node = ranks[0].text("host")
        separate = separate_namespaces(ranks)
        denied = [rank for rank in ranks if rank.text("neighbour_memory", "ok") != "ok"]
        if separate and not any("neighbour_memory" in rank.values for rank in ranks):  # the job didn't start
            yield Finding("Within a node", PROBLEM, separate, "", (IN_ONE_CONTAINER,), scope=node)
        elif denied and not set(job.transports.names) & {"knem", "xpmem"}:
            cause, remedy = cause_of_denial(ranks, denied[0])
            status = PROBLEM if job.transports.engine in USE_CMA else UNKNOWN
            yield Finding("Within a node", status, f"{cost_within(job)}process_vm_readv is denied ({cause})",
                          "node_bandwidth", (remedy,), scope=node)
        yield from shared_memory(node, ranks, WARNING if has_started(job) else PROBLEM)
    yield from separate_ranks(job)


USE_CMA = ("ucx", "ob1")  # engines that read other ranks' memory; others may not need it


def separate_ranks(job):
    """Ranks of one host are nodes of their own for the library."""
    for ranks in job.facts.nodes.values():
        if len({rank.text("node") for rank in ranks}) > 1:
            # MPICH 5.1 over UCX doesn't report the memory that it shares.
            yield Finding("Within a node", PROBLEM if choosing_variables(job) else UNKNOWN,
                          f"the library reports no shared memory within a host{chosen_by(job)}", "network_bandwidth",
                          unset_them(job))
            return


def network_within_node(job):
    """Ranks of a node use shared memory, as far as the library reports its transports."""
    names = set(job.transports.names)
    if job.transports.engine == "ofi":  # whose report names the network alone
        return
    latency, _ = job.facts.measured.get("node_latency", (None, None))
    if latency is None or latency.value < NETWORK_LEAST_US:
        return
    if names and not names & transports.SHARED_MEMORY:
        yield Finding("Within a node", PROBLEM, f"messages within a node use {', '.join(job.transports.names)}"
                      f"{chosen_by(job)}", "node_bandwidth", unset_them(job))


# A message of 8 bytes over a loopback interface takes longer, one through shared memory doesn't: a library may have
# shared memory of its own, which UCX doesn't report.
NETWORK_LEAST_US = 1.5


SLOW_SHARE = 1 / 5  # of a copy in memory: messages through shared memory copy twice


def slow_within_node(job):
    """Messages within a node that take far longer than a copy of their bytes, for no reason that other checks know."""
    ends = [job.facts.measured.get(name) for name in ("node_bandwidth", "copy_bandwidth")]
    if all(ends) and not any(True for _ in cores(job)):
        (message, _), (copy, _) = ends
        if (message.high or message.value) < SLOW_SHARE * (copy.low or copy.value):
            yield Finding("Within a node", UNKNOWN, f"{cost_within(job)}cause unknown")


def cost_within(job):
    """The bandwidth within a node beside that of a copy in memory; "" if they weren't measured."""
    names = ("node_bandwidth", "copy_bandwidth")
    if not all(name in job.facts.measured for name in names):
        return ""
    message, copy = (job.facts.measured[name][0].value / 1024 for name in names)
    return f"1 MiB at {message:.2g} GB/s, memcpy {copy:.2g} GB/s: "


IN_ONE_CONTAINER = Remedy("start all ranks of a node in one container", untried="needs another container")


def separate_namespaces(ranks):
    """A sentence if ranks of a node have namespaces in which they can't reach each other's memory; else ""."""
    for name, shown in (("user", "user"), ("pid", "PID")):
        if len({rank.text(name + "_namespace") for rank in ranks}) > 1:
            return f"ranks have {shown} namespaces of their own"
    return ""


def cause_of_denial(ranks, denied):
    """The reason why process_vm_readv fails, and its remedy."""
    separate = separate_namespaces(ranks)
    if separate:
        return separate, IN_ONE_CONTAINER
    if denied.text("own_memory", "ok") != "ok":
        return "seccomp filter", Remedy("docker run --cap-add=SYS_PTRACE …", untried="needs another container")
    scope = denied.number_of("ptrace_scope") or 0
    if scope > 0:
        return (f"kernel.yama.ptrace_scope is {scope:g}", Remedy(
            "sysctl kernel.yama.ptrace_scope=0", untried="needs root" if scope < 3 else "needs a reboot"))
    return denied.text("neighbour_memory"), Remedy("ask the administrator", untried="cause unknown")


SHM_LEAST, SHM_OF_RANK = 16 << 20, 5 << 20  # bytes of a node, of each rank: UCX and Open MPI take some 4.5 MiB


def shared_memory(node, ranks, status):
    """/dev/shm is one file system for the ranks of a node, with room. `status`: of too little room."""
    if len({rank.text("shm_filesystem") for rank in ranks}) > 1:
        yield Finding("Within a node", PROBLEM, f"ranks of {node} have a /dev/shm of their own", "node_bandwidth",
                      (IN_ONE_CONTAINER,), scope=node)
    size, free = ranks[0].number_of("shm_bytes"), ranks[0].number_of("shm_free_bytes")
    need = max(SHM_LEAST, SHM_OF_RANK * len(ranks))
    if size and size < need:
        yield Finding("Within a node", status, f"/dev/shm of {node} has only {size / 2**20:.0f} MiB", "",
                      (Remedy("docker run --shm-size=1g …", untried="needs another container"),), scope=node)
    elif size and free is not None and free < need:
        yield Finding("Within a node", status, f"/dev/shm of {node} is full: {free / 2**20:.0f} MiB are free", "",
                      (Remedy("remove old files: ls -l /dev/shm", untried="needs their owner"),), scope=node)


# ---- limits, clock, variables --------------------------------------------------------------------

MEMLOCK_LEAST = 1 << 20        # bytes; less is too little wherever memory is locked
MEMLOCK_OF_ADAPTER = 1 << 30


def limits(job):
    """memlock: adapters need all memory that they send from locked (getrlimit). RoCE may not be in use."""
    has_adapter = any(is_up(one, match.group(1)) and adapter_of(one, match.group(1)) != ROCE
                      for one, match, _ in job.facts.named(r"(adapter\..+)\.state"))
    for rank in job.facts.ranks:
        number = rank.number_of("memlock_bytes")
        if number is not None and number < (MEMLOCK_OF_ADAPTER if has_adapter else MEMLOCK_LEAST):
            yield Finding("Limits", PROBLEM if has_adapter else UNKNOWN,
                          f"memlock is {number / 1024:.0f} KiB on {rank.text('host')}"
                          f"{'' if has_adapter else ', too little for InfiniBand'}", "",
                          (Remedy("* - memlock unlimited in limits.conf (Slurm: of slurmd)", untried="needs root"),)
                          if has_adapter else (), scope=rank.text("host"))
            return


SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies")
# Drivers whose governor powersave reaches the full frequency (Linux, admin-guide/pm: intel_pstate.rst, amd-pstate.rst).
OWN_GOVERNORS = ("intel_pstate", "amd-pstate-epp")


def clock(job):
    """The kernel's clock is a register of the processor; cores run at their full frequency."""
    for rank, _, value in job.facts.named(r"clock\.source"):
        if value in SLOW_CLOCKS:
            yield Finding("Clock", WARNING, f"clock source {value} on {rank.text('host')}", "",
                          (Remedy("echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
                                  untried="needs root"),), scope=rank.text("host"))
            break
    for rank, match, value in job.facts.named(r"(frequency\..*)\.governor"):
        if value == "powersave" and rank.text(match.group(1) + ".driver") not in OWN_GOVERNORS:
            yield Finding("Clock", WARNING, f"governor {value} on {rank.text('host')}", "",
                          (Remedy("cpupower frequency-set -g performance", untried="needs root"),),
                          scope=rank.text("host"))
            break


VENDORS = (("0x10de", "NVIDIA", "mpi_cuda"), ("0x1002", "AMD", "mpi_rocm"))


def gpus(job):
    """The library takes messages in the memory of the GPUs (drm; MPIX_Query_cuda_support and the like)."""
    if not has_started(job):  # the library can't be asked
        return
    found = {(value, rank.text("host"), match.group()) for rank, match, value in job.facts.named(r"gpu\..+\.vendor")}
    for vendor, name, fact in VENDORS:
        count = sum(value == vendor for value, _, _ in found)
        claim = job.facts.ranks[0].text(fact)
        if count and claim != "yes":
            claims = "not to take messages in their memory" if claim else "nothing about their memory"
            yield Finding("GPUDirect", UNKNOWN, f"{counted(count, f'{name} GPU')}, the library claims {claims}", "",
                          (Remedy(f"use a library built with {'CUDA' if name == 'NVIDIA' else 'ROCm'}",
                                  untried="needs another library"),))
    if not {value for value, _, _ in found} & {vendor for vendor, _, _ in VENDORS}:
        yield Finding("GPUDirect", UNKNOWN, "no GPU")


PLACES = re.compile("_(ROOT|PATH|PREFIX|DIR|HOME)$")  # of variables that name folders of an installation


VARIABLES_CHANGE = ("node_bandwidth", "network_bandwidth", "allreduce_time")


def variables(job):
    """Each MPI variable of the user's environment is tried with and without."""
    names = {value.partition("=")[0] for value in job.facts.ranks[0].values.get("mpi_variable", [])}
    blamed = {name for check in (within_node, between_nodes) for finding in check(job) for remedy in finding.remedies
              for name in remedy.unset}
    for name in sorted(name for name in names & set(job.environment) - blamed if not PLACES.search(name)):
        set_to = f"{name}={job.environment[name]:.40}"
        for fact in VARIABLES_CHANGE:
            yield Finding("Variables", SUSPICION, f"{set_to} slows messages", fact,
                          (Remedy(f"unset {name}", unset=(name,)),), f"{set_to} may slow messages")


CHECKS = (("Start", start), ("Cores", cores), ("Binding", binding), ("NUMA", numa), ("Within a node", within_node),
          ("Between nodes", between_nodes), ("GPUDirect", gpus), ("Limits", limits), ("Clock", clock),
          ("Variables", variables))

# The sentence of a check that found nothing, which is the state that it expects.
ALL_WELL = {"Start": "{ranks} ranks in one job, launcher and library match",
            "Cores": "each rank has a processor of its own, no quota is exceeded",
            "Binding": "ranks stay on their cores, or lose nothing by moving",
            "NUMA": "each rank's memory lies on the NUMA node of its core",
            "Within a node": "ranks reach each other's memory, /dev/shm has room",
            "Between nodes": "interfaces agree",
            "GPUDirect": "the library claims to take messages in GPU memory",
            "Limits": "the memlock limit is high enough",
            "Clock": "neither clock source nor governor is slow",
            "Variables": "no MPI variable slows messages"}

# The facts without which a check finds nothing, and the sentence then.
NEEDED = {"Cores": (("allowed_processors",), "the processors of the ranks aren't known"),
          "Binding": (("allowed_cores",), "no cores in /sys/devices/system/cpu"),
          "NUMA": (("memory_numa_node", "processor_numa_node"), "move_pages shows no NUMA node"),
          "Within a node": (("neighbour_memory",), "no node has two ranks"),
          "Limits": (("memlock_bytes",), "getrlimit shows no limits"),
          "Clock": (("clock.source",), "no clock source in /sys/devices/system/clocksource")}


def lacks_facts(name, job):
    """True if no rank has a fact that the check needs."""
    return any(not any(fact in rank.values for rank in job.facts.ranks) for fact in NEEDED.get(name, ((),))[0])
