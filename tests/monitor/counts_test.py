# SPDX-License-Identifier: BSD-3-Clause
"""Counts against a known truth: every function that the monitor wraps is called a known number of times with known
amounts of data, and each row must be exactly right."""

import os
import re

import case
from calls import Script, calls, check, run, sent

PAIR = "Comm_dup MPI_COMM_WORLD +pair; Comm_set_name pair"
# Functions that no case calls, in addition to those whose wrappers are all made alike: once a job; what needs a name server or a
# launcher that lets a job grow; what counts nothing, and no library here makes without sessions; the switch; what
# depths_test.py has.
EXEMPT = set("""Init Init_thread Session_init Finalize Pcontrol Comm_accept Comm_connect Comm_spawn Comm_spawn_multiple
    Intercomm_create_from_groups Type_free Type_get_contents""".split())


def counted(title, script, of_rank_0=None, of_rank_1=None):
    """A case whose snapshot counts this and nothing else. What must not be counted, as the partner's side of a message,
    is called as PMPI_."""
    return Script(title, "begin a\n{}\nend a".format(script), {"a": of_rank_0 or {}}, {"a": of_rank_1 or {}})


def of_both(title, script, counts):
    return counted(title, script, counts, counts)


def operation(function):
    """As what it counts."""
    return re.sub(r"_c$", "", function)


# ---- messages ------------------------------------------------------------------------------------

# Count, type, bytes.
MESSAGES = [(3, "double", 24), (0, "double", 0), (999, "byte", 999), (1000, "byte", 1000), (2, "pieces", 48),
            (5, "int >none", 0)]
SENDING = """Send Bsend Ssend Rsend Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init Rsend_init""".split()
RECEIVING = "Recv Mrecv Irecv Imrecv Recv_init".split()
BOTH = "Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace".split()
SPARE = 2  # elements: what arrives counts, not what fits


def message(function, count, kind, size, wants_status, is_told):
    """Rank 0 calls the function; rank 1 is its partner. Without `is_told` the status doesn't have the received bytes."""
    name = operation(function)
    sends, receives, nobody = name not in RECEIVING, name not in SENDING, "none" in kind
    status = " status" if wants_status or not is_told else ""
    words = "%d %s pair%s" % (count + SPARE * (not sends), kind, " =%d" % size if receives and is_told else "")
    find = {"Mrecv": "Mprobe", "Imrecv": "Improbe"}.get(name)
    before = "meet" + ("; %s pair%s" % (find, " >none" * nobody) if find else "")
    times = 3 if name.endswith("_init") else 1
    if times == 3:
        own = ["%s %s" % (function, words), *["meet; Start; Wait" + status] * times, "!null; Request_free; null"]
    elif name[0] == "I":
        own = [before, "%s %s" % (function, words), "Wait" + status, "null"]
    else:
        own = [before, "%s %s%s" % (function, words, status)]
    own += [] if is_told else ["say_bytes"]
    partner = ["%s; meet; %s; .Wait" % (".Irecv %d %s pair" % (count, kind) if sends and not nobody else "",
                                        ".Send %d %s pair" % (count, kind) if receives and not nobody else "")] * times
    amounts = [sent(times, size) if sends and not nobody else calls(times)]
    if receives and is_told:
        amounts.append(calls(0, times * size))
    return counted("{} of {} {}".format(function, count, kind),
                   "0: {}\n1: {}".format("; ".join(own), "; ".join(partner)), {"pair " + name: amounts})


def messages(functions, told):
    for i, name in enumerate(name for name in functions if operation(name) in SENDING + RECEIVING + BOTH):
        is_told = told or "Isendrecv" not in name
        for j, (count, kind, size) in enumerate(MESSAGES):
            # These are a segmentation fault in MPICH 4.0.2 (docs/clusters.md).
            if "Isendrecv" not in name or kind in ("double", "byte"):
                yield message(name, count, kind, size, (i + j) % 2 == 0, is_told)
    if "Psend_init" in functions:
        use = "; Start; {}Wait" * 2 + "; Request_free"
        yield counted("partitioned", "0: Psend_init 2 double pair" + use.format("Pready_range; ", "Pready_range; ") +
                      "\n1: Precv_init 2 double pair" + use.format("", ""),
                      {"pair Psend_init": sent(2, 64)}, {"pair Precv_init": calls(2, 128)})


# ---- calls that complete operations --------------------------------------------------------------

# The first question with the answer yes completes an operation; later questions and waits do not.
COMPLETIONS = {
    "Wait": "Wait @{last}-0 {status}", "Test": "Test @0-{last} {status}",
    "Request_get_status": "Request_get_status @0-{last} {status}; Request_get_status @0-{last}; Wait @0-{last}",
    "Waitall": "Waitall @0-{last} {status}", "Testall": "Testall @0-{last} {status}",
    "Waitany": "Waitany all @0-{last} {status}; Waitany @0-{last} =-1",
    "Testany": "Testany all @0-{last} {status}; Testany @0-{last} =-1",
    "Waitsome": "Waitsome all @0-{last} {status}; Waitsome @0-{last} =-1",
    "Testsome": "Testsome all @0-{last} {status}; Testsome @0-{last} =-1"}
MANY = 150


def each_of(text, count):
    """Statements in which {0} is the number and {1} the bytes of a message."""
    return "; ".join(text.format(i, i + 1) for i in range(count))


def sum_to(count):
    return count * (count + 1) // 2


def completions():
    """Receives of known sizes, fewer and more than the monitor has room for on its stack. Rank 1 starts sending when
    the receives are posted, so the first calls find none or some of them complete."""
    for name, text in COMPLETIONS.items():
        for count in (1, 64, 65, MANY):
            for status in ("status", ""):
                yield counted("{} of {} {}".format(name, count, status),
                              "0: {}; meet; {}; null @0-{}\n1: meet; {}".format(
                                  each_of("Irecv %d #{0} @{0} ={1} pair" % MANY, count),
                                  text.format(last=count - 1, status=status), count - 1,
                                  each_of(".Send {1} #{0} pair", count)),
                              {"pair Irecv": calls(count, sum_to(count))})
    yield counted("a cancelled receive", "0: Irecv 8 pair; Cancel; Wait status", {"pair Irecv": calls(1, 0, done=0)})
    # Persistent requests, started together; then inactive ones among active ones.
    for count in (3, MANY):
        requests = "@0-{}".format(count - 1)
        messages_sent = [sent(1, i + 1) for i in range(count)] + [sent(1, 2)]
        yield counted("{} persistent requests".format(count), "0: {}\n1: {}\n{}".format(
            each_of("Recv_init %d #{0} @{0} pair" % MANY, count), each_of("Send_init {1} #{0} @{0} pair", count),
            "Startall {0}; Waitall {0}; Start @1; Waitall {0} status; Waitall {0}; Request_free {0}".format(requests)),
            {"pair Recv_init": calls(count + 1, sum_to(count) + 2)}, {"pair Send_init": messages_sent})


# ---- collectives ---------------------------------------------------------------------------------

ON = {"self": "Comm_dup MPI_COMM_SELF", "inter": "Intercomm_create MPI_COMM_SELF", "cart": "Cart_create pair",
      "graph": "Graph_create pair", "dist": "Dist_graph_create_adjacent pair"}


def make(made):
    """Makes communicators, given by their names and how they are made, and names them."""
    script = "; ".join("{1} +{0}; Comm_set_name {0}".format(*one) for one in made.items())
    counts = {}
    for text in made.values():
        counts.setdefault("{1} {0}".format(*text.split()), []).append(calls(1))
    return of_both("for what follows", script, counts)


def free(names):
    return of_both("what was used", "; ".join("Comm_free " + name for name in names),
                   {name + " Comm_free": calls(1) for name in names})


def collectives(functions):
    """Both ranks call them: blocking, non-blocking and, where MPI has them, persistent, started twice."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "collectives.def"), encoding="ascii") as stream:
        text = stream.read()
    rows = re.findall(r"^COLLECTIVE\((\w+), (\w+), (\w+), (\w+), \(.*?\),\s*(\d+),\s*(\d+)\)$", text, re.M | re.S)
    assert len(rows) == text.count("\nCOLLECTIVE(") > 0, rows
    yield make(ON)
    for name, nonblocking, variant, comm, *sizes in rows:
        forms = {name: "{}", nonblocking: "{}; Wait", name + "_init": "{}" + "; Start; Wait" * 2 + "; Request_free"}
        for form, text in forms.items():
            for function in (form, form + "_c"):
                call = "{}.{}".format(function, variant)
                times = 2 if form.endswith("_init") else 1
                if call in functions:
                    counts = ({comm + " " + form: calls(times, times * int(size))} for size in sizes)
                    yield counted(call, text.format(call), *counts)
    yield free(ON)


# ---- communicators -------------------------------------------------------------------------------

MAKERS = re.split(r",\s+", """Comm_dup pair, Comm_dup_with_info pair, Comm_create pair, Comm_create_group pair,
    Comm_split pair >0, Comm_split_type pair, Cart_create pair, Cart_sub grid, Graph_create pair,
    Dist_graph_create pair, Dist_graph_create_adjacent pair, Intercomm_create MPI_COMM_SELF, Intercomm_merge sides,
    Comm_idup pair, Comm_idup_with_info pair, Comm_create_from_group pair""")
FROM = {"grid": "Cart_create pair 2", "sides": "Intercomm_create MPI_COMM_SELF"}


def communicators(functions):
    """Each new communicator is used once, which must count on it. The group is rank 0 alone."""
    yield make(FROM)
    for maker in MAKERS:
        name, on, *_ = maker.split()
        if name not in functions:
            continue
        create = "{} +made; Wait".format(maker)
        use = "Comm_set_name made; Barrier made; Comm_free made"
        # Making one of a group counts on no communicator.
        created = {} if name == "Comm_create_from_group" else {"{} {}".format(on, name): calls(1)}
        used = {"made Barrier": calls(1), "made Comm_free": calls(1), **created}
        if name in ("Comm_create", "Comm_create_group"):
            others = create if name == "Comm_create" else ""
            yield counted(name, "0: {}; {}\n1: {}".format(create, use, others), used, created if others else {})
        else:
            yield of_both(name, "{}; {}".format(create, use), used)
    yield of_both("Comm_disconnect", "Comm_dup pair +made; Comm_set_name made; Comm_disconnect made",
                  {"pair Comm_dup": calls(1), "made Comm_disconnect": calls(1)})
    # A communicator without a name is called after the function that made it, with an ordinal.
    yield of_both("no names", """
        Comm_split MPI_COMM_SELF >0 +first; Comm_split MPI_COMM_SELF >0 +second; Barrier second
        Comm_free first; Comm_free second
        Comm_idup MPI_COMM_SELF +first; Wait; Barrier first; Comm_free first""", {
            "MPI_COMM_SELF Comm_split": calls(2), "MPI_Comm_split 2 Barrier": calls(1),
            "MPI_Comm_split 1 Comm_free": calls(1), "MPI_Comm_split 2 Comm_free": calls(1),
            "MPI_COMM_SELF Comm_idup": calls(1), "MPI_Comm_idup 1 Barrier": calls(1),
            "MPI_Comm_idup 1 Comm_free": calls(1)})
    yield free(FROM)


# ---- one-sided communication ---------------------------------------------------------------------

MOVEMENTS = "Put Get Accumulate Get_accumulate Rput Rget Raccumulate Rget_accumulate".split()
SINGLE = {"Fetch_and_op": 8, "Compare_and_swap": 4}  # bytes
PUTS = "; ".join("Put {} win".format(1000 * i) for i in range(5))
# Calls before puts to rank 1, at their end, and after it; and the calls of rank 1.
SYNCHRONISATIONS = {
    "Win_unlock": (".Win_lock win", "Win_unlock win", "", ""),
    "Win_unlock_all": (".Win_lock_all win", "Win_unlock_all win", "", ""),
    "Win_flush": (".Win_lock win", "Win_flush win", ".Win_unlock win", ""),
    "Win_flush_local": (".Win_lock_all win", "Win_flush_local win", ".Win_unlock_all win", ""),
    "Win_flush_all": (".Win_lock_all win", "Win_flush_all win", ".Win_unlock_all win", ""),
    "Win_flush_local_all": (".Win_lock win", "Win_flush_local_all win", ".Win_unlock win", ""),
    "Win_fence": ("Win_fence win", "Win_fence win", "", "Win_fence win; Win_fence win"),
    "Win_complete": (".Win_start win", "Win_complete win", "", ".Win_post win; .Win_wait win")}


def windows(functions, are_shared):
    """Rank 0 is the origin, rank 1 the target."""
    for name in functions:
        if not re.match("Win_(create|allocate)", name) or "shared" in name and not are_shared:
            continue
        # The end of the get isn't seen, so freeing the window must end it.
        use = "" if "dynamic" in name else ".Win_lock made; Get 2 double made; .Win_unlock made"
        both = {"pair " + operation(name): calls(1), "pair Win_free": calls(1)}
        yield counted(name, "{} pair +made\n0: {}\nWin_free made".format(name, use),
                      {**both, **({"pair Get": sent(1, 16)} if use else {})}, both)
    yield of_both("for what follows", "Win_allocate pair +win", {"pair Win_allocate": calls(1)})
    for name in functions:
        if operation(name) in MOVEMENTS or name in SINGLE:
            size = SINGLE.get(name, 24)
            yield counted(name, "0: .Win_lock win; {0} 3 double win; Wait; {0} 3 double >none win; Wait; Win_unlock win"
                          .format(name), {"pair " + operation(name): [sent(1, size), calls(1)]})
    for name, (begin, finish, clean, partner) in SYNCHRONISATIONS.items():
        both = {"pair Win_fence": calls(2)} if name == "Win_fence" else {}
        yield counted(name, "0: {}; {}; {}; {}\n1: {}".format(begin, PUTS, finish, clean, partner),
                      {"pair Put": [sent(1, 1000 * i) for i in range(5)], **both}, both)
    yield of_both("what was used", "Win_free win", {"pair Win_free": calls(1)})


# ---- all of them ---------------------------------------------------------------------------------

class Counts(case.Case):
    """Each case has a snapshot of its own, and another one spans all cases."""

    program = "tests/monitor/monitor_calls"

    def test_counts(self):
        functions = case.call([self.built(self.program)]).stdout.split()
        # With messages of several lengths, since what an earlier one left in a status may be right for one of them.
        receives = ["Isendrecv {} >0 MPI_COMM_SELF; Wait status; say_bytes".format(count) for count in (1, 2, 3)]
        asks = Script("what the library can", "\n".join([
            ".Comm_split_type MPI_COMM_WORLD >0 +node; say_size node",
            *(receives if "Isendrecv" in functions else [])]), {})
        (((asked, _),), _) = run(self, [asks], program=self.program)
        scripts = [*messages(functions, asked.facts[1:] == [1, 2, 3]), *completions(), *collectives(functions),
                   *communicators(functions), *windows(functions, asked.facts[0] == 2)]
        first, last = Script("begin", PAIR + "\nbegin z", {}), Script("end", "end z\nComm_free pair", {})
        found, _ = run(self, [first, *scripts, last], program=self.program)
        scripts = [with_received_bytes(script, of) for script, (of, _) in zip(scripts, found[1:])]
        for script, of in zip(scripts, found[1:]):
            with self.subTest(script.title):
                check(self, script, of)
        together = Script("all together", "begin z\nend z", {"z": joined(script.expected["a"] for script in scripts)},
                          {"z": joined(script.of_rank_1["a"] for script in scripts)})
        check(self, together, found[-1])
        uncalled = set.intersection(*({operation(name) for name in of.uncalled} for of in found[-1])) - EXEMPT
        self.assertEqual(uncalled - (set() if asked.facts[0] == 2 else {"Win_allocate_shared"}), set())


def with_received_bytes(script, found):
    """Where the status is all that tells how much arrived, that counts, right or wrong."""
    if not found.facts:
        return script
    (name, amounts), = script.expected["a"].items()
    return script._replace(expected={"a": {name: [*amounts, calls(0, found.facts[0])]}})


def joined(counts):
    found = {}
    for one in counts:
        for name, amounts in one.items():
            found.setdefault(name, []).extend(amounts if isinstance(amounts, list) else [amounts])
    return found


class Stale(Counts):
    """An MPI library whose MPI_Isendrecv leaves in the status what an earlier message left there, as MPICH 5.1."""

    program = "tests/monitor/monitor_calls_layered"


class Fortran(Counts):
    """The same calls as Fortran programs make them (fortran_calls.c)."""

    forms = ("_", "__", "upper", "f08", "mixed")
    layer = "tests/monitor/libfortran_calls.so"

    def start(self, program, *options, ranks=2, **environment):
        return super().start(program, *options, ranks=ranks, LD_PRELOAD=self.built(self.layer), FORTRAN_CALLS=self.form,
                             **({"MONITOR_DETAILS": 1} if self.form in ("f08", "mixed") else {}), **environment)

    def test_counts(self):
        if not os.path.exists(self.built(self.layer)):
            self.skipTest("no Fortran compiler for this MPI library")
        for self.form in self.forms:
            with self.subTest(self.form):
                super().test_counts()
