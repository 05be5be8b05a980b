"""Checks: conditions on facts and measurements, each with its sentence and its remedies. CHECKS is the table.

A check yields Findings. A `suspicion` is a state that may cost nothing: it becomes a finding only if an experiment
shows that the remedy gains. Linux's and the libraries' own documentation are the sources; each check names its.
"""

import re
import typing

from commcost.checkup import transports

OK, WARNING, PROBLEM, UNKNOWN, SUSPICION = "ok", "warning", "problem", "unknown", "suspicion"


class Remedy(typing.NamedTuple):
    """A change that is tried by an experiment, or words for one that can't be tried here."""

    text: str            # for people: words of a command, or a sentence
    unset: tuple = ()
    words: tuple = ()    # of the launcher
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


def members(ranges):
    """The numbers of a list such as 0-3,8; a stride as in 0-6/2."""
    found = set()
    for first, last, step in re.findall(r"(\d+)(?:-(\d+))?(?:/(\d+))?", ranges):
        found.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


# ---- start ---------------------------------------------------------------------------------------

def start(job):
    """The job's ranks are one job, and the library is the one that the program was built with."""
    rank = job.facts.ranks[0]
    built, runs = rank.text("mpi_built_with"), rank.text("mpi_library")
    if built and not runs.startswith(built):
        yield Finding("Start", WARNING, f"built with {built}, runs with {runs.split(' MPICH')[0]:.40}", "",
                      (Remedy("rebuild with the library that runs", untried="needs a build"),))
    if re.search(r"--enable-g=(?!none)|--enable-debug\b", runs):
        yield Finding("Start", WARNING, "the MPI library is a debug build", "",
                      (Remedy("use a library built without --enable-debug", untried="needs another library"),))


# ---- ranks and cores -----------------------------------------------------------------------------

def cores(job):
    """Each rank has a core of its own (sched_getaffinity, cgroups)."""
    for ranks in job.facts.nodes.values():
        node = ranks[0].text("host")
        sets = [members(rank.text("allowed_processors")) for rank in ranks]
        core_sets = [members(rank.text("allowed_cores")) for rank in ranks]
        room = len(set().union(*sets)) if all(sets) else 0
        online = ranks[0].number_of("online_processors") or 0
        quota = min((float(value) for rank in ranks for value in rank.values.get("cpu_quota", [])), default=None)
        if room and len(ranks) > room:
            more = online >= len(ranks)
            yield Finding("Cores", PROBLEM, f"{len(ranks)} ranks share {room} processor{'s' * (room > 1)} of {node}",
                          "allreduce_time", bind_to_core(job) if more else
                          (Remedy(f"start at most {room} ranks on a node", untried="changes the job"),), scope=node)
        elif any(len(one) == 1 and sum(one == other for other in core_sets) > 1 for one in core_sets):
            yield Finding("Cores", WARNING, f"ranks of {node} share a core (hardware threads)", "allreduce_time",
                          bind_to_core(job), scope=node)
        if quota is not None and quota < len(ranks):
            yield Finding("Cores", PROBLEM, f"a quota of {quota:g} processor{'s' * (quota != 1)} for {len(ranks)} ranks of {node}", "",
                          (Remedy("raise the quota (docker run --cpus=N, cgroup cpu.max)",
                                  untried="needs another container"),), scope=node)


def bind_to_core(job):
    """The remedy that binds each rank to a core."""
    words = {"hydra": ("-bind-to", "core"), "openmpi": ("--bind-to", "core"), "srun": ("--cpu-bind=cores",)}
    found = words.get(job.launcher_name)
    return (launcher_words(job, *found),) if found else ()


def launcher_words(job, *words):
    """The remedy that gives the launcher these words."""
    return Remedy(" ".join(["srun" if job.launcher_name == "srun" else "mpirun", *words, "…"]), words=words)


def binding(job):
    """Ranks that may move between cores: a finding only if binding gains."""
    moved = [rank for rank in job.facts.ranks if len(members(rank.text("allowed_cores"))) > 1]
    enough = all(len(set().union(*(members(rank.text("allowed_cores")) for rank in ranks))) >= len(ranks)
                 for ranks in job.facts.nodes.values())
    if moved and enough:
        what = "NUMA nodes" if any(is_on_several_numa_nodes(job, rank) for rank in moved) else "cores"
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
        elif denied:
            cause, remedy = cause_of_denial(ranks, denied[0])
            yield Finding("Within a node", PROBLEM, f"{cost_within(job)}process_vm_readv is denied ({cause})",
                          "node_bandwidth", (remedy,), scope=node)
        yield from shared_memory(node, ranks, PROBLEM if "allreduce_time" not in job.facts.measured else WARNING)


def network_within_node(job):
    """Ranks of a node use shared memory, as far as the library reports its transports."""
    names = set(job.transports.names)
    if names and not names & transports.SHARED_MEMORY and any(len(ranks) > 1 for ranks in job.facts.nodes.values()):
        yield Finding("Within a node", PROBLEM, f"messages within a node use {', '.join(job.transports.names)}"
                      f"{chosen_by(job)}", "node_bandwidth", unset_them(job))


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
    if denied.text("seccomp_mode") == "2":
        return "seccomp filter", Remedy("docker run --cap-add=SYS_PTRACE …", untried="needs another container")
    scope = denied.number_of("ptrace_scope") or 0
    if scope > 0:
        return (f"kernel.yama.ptrace_scope is {scope:g}",
                Remedy("sysctl kernel.yama.ptrace_scope=0", untried="needs root"))
    return denied.text("neighbour_memory"), Remedy("ask the administrator", untried="cause unknown")


SHM_LEAST = 64 << 20  # bytes; MPICH and Open MPI take some MiB a rank


def shared_memory(node, ranks, status):
    """/dev/shm is one file system for the ranks of a node, with room. `status`: of too little room."""
    if len({rank.text("shm_filesystem") for rank in ranks}) > 1:
        yield Finding("Within a node", PROBLEM, f"ranks of {node} have a /dev/shm of their own", "node_bandwidth",
                      (IN_ONE_CONTAINER,), scope=node)
    size, free = ranks[0].number_of("shm_bytes"), ranks[0].number_of("shm_free_bytes")
    if size is not None and size < SHM_LEAST:
        yield Finding("Within a node", status, f"/dev/shm of {node} has only {size / 2**20:.0f} MiB", "",
                      (Remedy("docker run --shm-size=1g …", untried="needs another container"),), scope=node)
    elif free is not None and free < SHM_LEAST:
        yield Finding("Within a node", status, f"/dev/shm of {node} is full: {free / 2**20:.0f} MiB are free", "",
                      (Remedy("remove old files: ls -l /dev/shm", untried="needs their owner"),), scope=node)


# ---- between nodes -------------------------------------------------------------------------------

LEAST_SHARE = 1 / 5  # of the wire's rate: one rank that waits for each message gets at least that


def between_nodes(job):
    """The network gives what its fastest interface should; interfaces agree between nodes."""
    if len(job.facts.nodes) < 2:
        return
    yield from different_mtu(job)
    yield from equal_addresses(job)
    yield from tcp_beside_adapter(job)
    rate = fastest_rate(job)
    if rate is None or "network_bandwidth" not in job.facts.measured:
        return
    name, mbit = rate
    measured, _ = job.facts.measured["network_bandwidth"]
    share = (measured.high or measured.value) * 1.048576 * 8 / mbit
    if share < LEAST_SHARE:
        yield Finding("Between nodes", PROBLEM,
                      f"{measured.value:.0f} MB/s on a {mbit / 1000:g} Gbit/s link ({name})", "network_bandwidth",
                      (Remedy("iperf3 between the nodes shows if the link is slow", untried="needs a server there"),))


def tcp_beside_adapter(job):
    """Messages between nodes use the InfiniBand or RoCE adapter that all nodes have."""
    names = set(job.transports.names) - transports.SHARED_MEMORY
    rate = fastest_rate(job)
    if names and names <= transports.TCP and rate and any(job.facts.named(rf"adapter\.{re.escape(rate[0])}\.rate")):
        yield Finding("Between nodes", PROBLEM, f"messages use {', '.join(sorted(names))}, not {rate[0]} ({rate[1] / 1000:g} "
                      f"Gbit/s){chosen_by(job)}", "network_bandwidth", unset_them(job) or
                      (Remedy("use a library with UCX or libfabric", untried="needs another library"),))


def fastest_rate(job):
    """(name, Mbit/s) of the fastest link in use that all nodes have; None if the system doesn't give rates."""
    found = {}
    for rank, match, value in job.facts.named(r"((?:interface|adapter)\.(.+))\.rate"):
        number = re.match(r"\d+", value)
        mbit = int(number.group()) * (1000 if "Gb" in value else 1) if number else 0
        is_down = "down" in rank.text(match.group(1) + ".state").lower()
        if mbit > 0 and not is_down and rank.text(match.group(1) + ".kind") not in ("loopback", "bridge"):
            found.setdefault(match.group(2), []).append(mbit)
    common = ((name, min(rates)) for name, rates in found.items() if len(rates) == len(job.facts.nodes))
    return max(common, key=lambda one: one[1], default=None)


def different_mtu(job):
    found = {}
    for _, match, value in job.facts.named(r"interface\.(.+)\.mtu"):
        found.setdefault(match.group(1), set()).add(value)
    for name, values in found.items():
        if len(values) > 1 and name != "lo":
            yield Finding("Between nodes", PROBLEM, f"the MTU of {name} differs: {' and '.join(sorted(values))}",
                          "network_bandwidth",
                          (Remedy(f"ip link set {name} mtu N on all nodes", untried="needs root"),))


def equal_addresses(job):
    """An address that two nodes have can't lead from one to the other (docker0, virbr0)."""
    owners = {}
    for rank, match, value in job.facts.named(r"interface\.(.+)\.address"):
        owners.setdefault((match.group(1), value), set()).add(rank.text("node") or rank.text("host"))
    names = sorted({name for (name, value), nodes in owners.items() if len(nodes) > 1 and not value.startswith("127.")})
    if names:
        remedies = (launcher_words(job, "--mca", "btl_tcp_if_exclude", ",".join(["lo", *names])),) \
            if job.launcher_name == "openmpi" else ()
        yield Finding("Between nodes", SUSPICION, f"{' and '.join(names)} has the same address on two nodes",
                      "network_bandwidth", remedies)


# ---- limits, clock, variables --------------------------------------------------------------------

MEMLOCK_LEAST = 1 << 20


def limits(job):
    """memlock: adapters need all memory that they send from locked (getrlimit)."""
    has_adapter = any(True for _ in job.facts.named(r"adapter\..*"))
    for rank in job.facts.ranks:
        number = rank.number_of("memlock_bytes")
        if number is not None and (number < MEMLOCK_LEAST or has_adapter):
            yield Finding("Limits", PROBLEM if has_adapter else WARNING,
                          f"memlock is {number / 1024:.0f} KiB on {rank.text('host')}", "",
                          (Remedy("memlock unlimited in /etc/security/limits.conf", untried="needs root"),),
                          scope=rank.text("host"))
            return


SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies")
# Drivers whose governor powersave reaches the full frequency (Linux, admin-guide/pm: intel_pstate.rst, amd-pstate.rst).
OWN_GOVERNORS = ("intel_pstate", "amd-pstate-epp")


def clock(job):
    """The kernel's clock is a register of the processor; cores run at their full frequency."""
    for rank, _, value in job.facts.named(r"clock\.source"):
        if value in SLOW_CLOCKS:
            yield Finding("Clock", WARNING, f"clock source {value} on {rank.text('host')}", "",
                          (Remedy("boot with clocksource=tsc", untried="needs a reboot"),), scope=rank.text("host"))
            break
    for rank, match, value in job.facts.named(r"(frequency\..*)\.governor"):
        if value == "powersave" and rank.text(match.group(1) + ".driver") not in OWN_GOVERNORS:
            yield Finding("Clock", WARNING, f"governor {value} on {rank.text('host')}", "",
                          (Remedy("cpupower frequency-set -g performance", untried="needs root"),),
                          scope=rank.text("host"))
            break


def variables(job):
    """Each MPI variable of the user's environment is tried with and without."""
    names = {value.partition("=")[0] for value in job.facts.ranks[0].values.get("mpi_variable", [])}
    blamed = {name for check in (within_node, between_nodes) for finding in check(job) for remedy in finding.remedies
              for name in remedy.unset}
    for name in sorted(names & set(job.environment) - blamed):
        for fact in ("node_bandwidth", "allreduce_time") if len(job.facts.nodes) == 1 else ("network_bandwidth",):
            set_to = f"{name}={job.environment[name]:.40}"
            yield Finding("Variables", SUSPICION, f"{set_to} slows messages", fact,
                          (Remedy(f"unset {name}", unset=(name,)),), f"{set_to} may slow messages")


CHECKS = (("Start", start), ("Cores", cores), ("Binding", binding), ("NUMA", numa), ("Within a node", within_node),
          ("Between nodes", between_nodes), ("Limits", limits), ("Clock", clock), ("Variables", variables))

# The sentence of a check that found nothing, which is the state that it expects.
ALL_WELL = {"Start": "{ranks} ranks in one job, launcher and library match",
            "Cores": "each rank has a processor of its own, no quota is exceeded",
            "Binding": "ranks stay on their cores, or lose nothing by moving",
            "NUMA": "each rank's memory lies on the NUMA node of its core",
            "Within a node": "ranks reach each other's memory, /dev/shm has room",
            "Between nodes": "interfaces agree",
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
