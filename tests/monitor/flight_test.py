# SPDX-License-Identifier: BSD-3-Clause
"""Events around the start and the end of snapshots: operations in flight, persistent requests, failures,
one-sided operations, communicators that come and go, and requests that MPI hands out again. Rank 0 is monitored, rank 1
is its partner, whose calls aren't seen."""

import re

import case
from calls import NA, Script, calls, check, run, sent

FIRST = Script("begin", """
    Comm_dup MPI_COMM_WORLD +one; Comm_set_name one; Comm_dup MPI_COMM_WORLD +two; Comm_set_name two
    Win_allocate one +win; Win_allocate two +other; fail_softly win; fail_softly other
    0: Win_lock_all win; Win_lock_all other""", {})
LAST = Script("end", """
    0: Win_unlock_all other; Win_unlock_all win
    Win_free other; Win_free win; Comm_free two; Comm_free one""", {})


def puts(*sizes, done=None):
    """Small puts of these sizes, of which these were completed."""
    return calls(len(sizes), sum(sizes), done)._replace(small=len(sizes), small_bytes=sum(sizes))


# ---- messages ------------------------------------------------------------------------------------

MESSAGES = [
    Script("posted before the start, completed inside", """
        0: Irecv 64 one @0; Isend 20 two @1; begin a; Wait @0-1; end a
        1: .Send 10 one; .Recv 64 two""", {"a": {}}),
    Script("posted inside, completed after the end", """
        0: begin a; Irecv 64 one @0; Issend 20 two @1; .Request_get_status @0; end a; Wait @0-1
        1: .Send 10 one; .Recv 64 two""", {"a": {"one Irecv": calls(1, 0, done=0), "two Issend": sent(1, 20, done=0)}}),
    # The end is when the program learns of it, not when the request is freed.
    Script("found complete by MPI_Request_get_status inside, completed after the end", """
        0: begin a; Irecv 64 one; Request_get_status; end a; Wait
        1: .Send 10 one""", {"a": {"one Irecv": calls(1, 10)}}),
    # Each receive belongs to the snapshots that were active when it was posted, and to no others.
    Script("overlapping snapshots", """
        0: begin a; Irecv 64 one @0; begin b; Irecv 64 one @1; Wait @0; end a
        0: Irecv 64 one @2; begin c; Irecv 64 one @3; Waitall @0-3; end b; end c
        1: .Send 1 one; .Send 2 one; .Send 3 one; .Send 4 one""", {
            "a": {"one Irecv": calls(2, 1, done=1)}, "b": {"one Irecv": calls(3, 9)}, "c": {"one Irecv": calls(1, 4)}}),
    # A receive that was in flight at the end of monitoring ends unseen, and its handle is used again: first for a
    # receive that isn't counted, then for one that is.
    Script("a handle used again while nothing was monitored", """
        0: begin a; Irecv 64 one; end a; Wait; Irecv 64 two; begin b; Wait; Irecv 64 two; Wait; end b
        1: .Send 1 one; .Send 2 two; .Send 3 two""", {
            "a": {"one Irecv": calls(1, 0, done=0)}, "b": {"two Irecv": calls(1, 3)}}),
    Script("a handle used again for an operation that counts", """
        0: begin a; Irecv 64 one; end a; Wait; begin b; Irecv 64 two; Wait; end b
        1: .Send 1 one; .Send 2 two""", {"a": {"one Irecv": calls(1, 0, done=0)}, "b": {"two Irecv": calls(1, 2)}}),
    Script("a handle used again while only collectives were monitored", """
        0: begin c profile coll; begin a; Irecv 64 one; end a; Wait; Irecv 64 two; begin b; Wait; end b; end c
        1: .Send 1 one; .Send 2 two""", {"a": {"one Irecv": calls(1, 0, done=0)}}),
    Script("cancelled receives", """
        0: begin a; Irecv 64 one @0; Irecv 64 one @1; Cancel @0; Test @0 status; Cancel @1; Waitall @0-1; end a""",
           {"a": {"one Irecv": calls(2, 0, done=0)}}),
    Script("a receive that is cancelled when it is complete already", """
        0: begin a; Irecv 64 one; .Request_get_status; Cancel; Wait; end a
        1: .Send 10 one""", {"a": {"one Irecv": calls(1, 10)}}),
    Script("MPI_Request_free of an active request, whose handle is used again", """
        0: begin a; Issend 10 one; Request_free; Isend 20 two; Wait; end a
        1: .Recv 64 one; .Recv 64 two""", {"a": {"one Issend": sent(1, 10, done=0), "two Isend": sent(1, 20)}}),
    # More requests than the monitor can follow all count as calls, and those that it could follow as completed.
    # Afterwards it follows the same number of requests again.
    Script("more requests than can be followed", """
        0: begin a; Irecv 64 one @0-66535; Waitall @0-66535; Irecv 64 one @0-66535; Waitall @0-66535; end a
        1: .Send 1 one *133072""", {"a": {"one Irecv": calls(133072, 131072, done=131072)}}, {}, {"a": [3]}),
    Script("a persistent request made while off, started while on", """
        0: Send_init 10 one; Start; Wait; begin a; Start; Wait; Start; Wait; end a; Request_free
        1: .Recv 64 one *3""", {"a": {"one Send_init": sent(2, 10)}}),
    Script("a persistent request started and completed in different snapshots", """
        0: Recv_init 64 one; Start; begin a; Wait; end a; begin b; Start; end b; Wait; begin c; Start; Wait; end c
        0: Request_free
        1: .Send 1 one; .Send 2 one; .Send 3 one""", {
            "b": {"one Recv_init": calls(1, 0, done=0)}, "c": {"one Recv_init": calls(1, 3)}}),
    # Inactive requests and MPI_REQUEST_NULL are complete, and are no operations.
    Script("inactive requests among active ones", """
        0: begin a; Send_init 10 one @0; Send_init 20 two @1; null @2; Send_init 30 one @3; Start @1; Waitall @0-3
        0: Startall @3; Testall @0-3; Waitsome @0-3 =-1; Waitany @0-3 =-1; Wait @0; Start @1; Wait @1; end a
        0: Request_free @0-1; Request_free @3
        1: .Recv 64 two; .Recv 64 one; .Recv 64 two""", {
            "a": {"two Send_init": sent(2, 20), "one Send_init": sent(1, 30)}}),
    Script("a persistent request's handle used again", """
        0: begin a; Recv_init 64 one; Request_free; Recv_init 64 two; Start; Wait; Request_free
        0: Send_init 20 two; Start; Wait; Request_free; end a
        1: .Send 5 two; .Recv 64 two""", {"a": {"two Recv_init": calls(1, 5), "two Send_init": sent(1, 20)}}),
    # The handle of the communicator is given to another one.
    Script("a persistent request whose communicator was freed", """
        Comm_dup MPI_COMM_WORLD +brief; Comm_set_name brief
        0: Send_init 10 brief
        1: .Recv_init 64 brief
        Comm_free brief; Comm_dup MPI_COMM_WORLD +later; Comm_set_name later
        0: begin a; Start; Wait; Barrier later; end a
        1: .Start; .Wait; .Barrier later
        Request_free; Comm_free later""", {"a": {"brief Send_init": sent(1, 10), "later Barrier": calls(1)}}),
]

# Sends that are complete at once may share a request (say_one): then they end when they are posted. A send that was
# posted before the snapshot and completed in it ends no other send. Calls that look at several and complete some
# tell them apart; each of these completes the send on `one`, whose request is given.
LOOKS = {"MPI_Testall": ("@0", "Testall @0-3 once *3; Wait @0"),
         "MPI_Waitany": ("@4", "Test @3 once; Waitany @3-4 =1"), "MPI_Testany": ("@0", "Testany @0-3 =0")}


def shared_sends(is_one):
    """Counts of operations that share a request, and of those that don't."""
    yield Script("sends that share a request", """
        0: begin b; Isend 1 one @0; begin a; Isend 1 one @1; Isend 2 two @2; Issend 3 one @3; {}one @1-2; Wait @0; end a
        0: Request_get_status @1; Request_get_status @1; Waitall @1-3; end b
        1: .Recv 64 one; .Recv 64 one; .Recv 64 two; .Recv 64 one""".format("" if is_one else "!"), {
            "a": {"one Isend": sent(1, 1, done=is_one), "two Isend": sent(1, 2, done=is_one),
                  "one Issend": sent(1, 3, done=0)},
            "b": {"one Isend": sent(2, 1), "two Isend": sent(1, 2), "one Issend": sent(1, 3)}})
    for name, (first, look) in LOOKS.items():
        yield Script("sends that share a request, and " + name, """
            0: begin a; Isend 1 one {0}; Isend 2 two @1; Isend 3 two @2; Irecv 64 one @3; {1}; end a; meet; Waitall @0-4
            1: meet; .Send 5 one; .Recv 64 one; .Recv 64 two; .Recv 64 two""".format(first, look), {
                "a": {"one Isend": sent(1, 1), "one Irecv": calls(1, 0, done=0),
                      "two Isend": [sent(1, 2, done=is_one), sent(1, 3, done=is_one)]}})


# ---- failures ------------------------------------------------------------------------------------

# Operations that fail while the program continues count as calls, not as completed. Without MPI_Win_flush: Open MPI 4.1.4
# crashes on a rank that doesn't exist (docs/clusters.md).
FAILURES = [
    Script("calls that fail at once", """
        0: begin a; !Send 10 one >99; !Isend 20 one >99; !Bcast 30 two >99; end a""", {
            "a": {"one Send": sent(1, 10, done=0), "one Isend": sent(1, 20, done=0),
                  "two Bcast": calls(1, 0, done=0)}}),
    # The request of the last one may be that of a failed receive.
    Script("receives of more than fits", """
        0: begin a; !Recv 8 one; Irecv 8 one @0; !Wait @0; Irecv 8 one @1; !Test @1; Irecv 64 two @2; Wait @2; end a
        1: .Send 10 one *3; .Send 5 two""", {
            "a": {"two Irecv": calls(1, 5), "one Recv": calls(1, 0, done=0), "one Irecv": calls(2, 0, done=0)}}),
    # A call completes one of two sends that share a request, and fails: the other send is not affected.
    Script("one of two sends that share a request, in a call that fails", """
        0: begin a; Isend 1 one @0; Irecv 8 one @1; Isend 2 two @2; !Testall @0-1; ?Wait @0-1; Wait @2; end a
        1: .Send 10 one; .Recv 64 one; .Recv 64 two""", {
            "a": {"one Isend": sent(1, 1), "two Isend": sent(1, 2), "one Irecv": calls(1, 0, done=0)}}),
]


def one_of_several(can_fail_in_waitall):
    """One of three receives fails. The same call completes the other two or, in the case of MPI_Waitsome and
    MPI_Testsome, that call or an earlier one. They have all arrived before."""
    for name in ["Testall", "Waitsome all", "Testsome all"] + ["Waitall"] * can_fail_in_waitall:
        for status in ("", "status"):
            yield Script("one of several fails in {} {}".format(name, status), """
                0: begin a; Irecv 8 one #0 @0; Irecv 8 one #1 @1; Irecv 8 one #2 @2; .Request_get_status @0
                0: ?.Request_get_status @1; .Request_get_status @2; !{} @0-2 {}; ?Wait @0-2; end a
                1: .Send 1 one #0; .Send 10 one #1; .Send 3 one #2""".format(name, status),
                         {"a": {"one Irecv": calls(3, 4, done=2)}})


# ---- one-sided operations ------------------------------------------------------------------------

PUTS, SNAPSHOTS = (1 << 16) + 1000, 6
# Puts that are kept one by one. There is no room for those of the last snapshot, unless the others gave up theirs.
SNAPSHOT_OF_PUTS = "begin b profile pttopt timeout=1e9; Put win *{}; drop b; ".format(PUTS // (SNAPSHOTS - 1))
OVERLAPPING = """0: begin a; Put 1 win; Put 1 win; begin c; Put 10 win; end a; Put 100 win; begin d; Win_flush win
        0: end c; end d"""
OF_OVERLAPPING = {"a": {"one Put": puts(1, 1, 10, done=0)}, "c": {"one Put": puts(10, 100)}}

IDLE = "idle flushes"
WINDOWS = [
    Script("a put before the start, the flush inside", "0: Put 10 win; begin a; Win_flush win; end a", {"a": {}}),
    # The flush isn't seen. The put that it ended must not end in a later snapshot, nor be held together with a put
    # there.
    Script("a put inside, the flush after the end", """
        0: begin a; Put 10 win; end a; Win_flush win; begin b; Put 20 win; Win_flush_all win; end b""", {
            "a": {"one Put": puts(10, done=0)}, "b": {"one Put": puts(20)}}),
    Script("overlapping snapshots of puts", OVERLAPPING, OF_OVERLAPPING),
    # A flush after the start of a snapshot isn't called idle before one of all targets, whatever is known from an
    # earlier snapshot.
    Script(IDLE, """
        0: begin a profile calls; Win_flush_all win; Win_flush win; begin b profile calls; Win_flush win; end b
        0: begin c profile calls; Win_flush_all win; Win_flush win; end c; end a""", {}),
    Script("the flush of one target", """
        0: begin b; begin a; Put 10 win >0; Put 20 win; Get 30 win; Put 40 win >0; Win_flush_local win; end a
        0: Win_flush win >0; end b""", {
            "a": {"one Put": puts(10, 20, 40, done=1), "one Get": puts(30)},
            "b": {"one Put": puts(10, 20, 40), "one Get": puts(30)}}),
    Script("the flush of another window", """
        0: begin a; Put 10 win; Put 20 other; Win_flush other; end a; Win_flush_all win""", {
            "a": {"one Put": puts(10, done=0), "two Put": puts(20)}}),
    # After a failed synchronisation the operations are still in flight.
    Script("a synchronisation that fails", """
        0: begin a; Put 10 win; Put 20 win >0; !Win_complete win; !Put 30 win >99; Win_flush win >0; end a
        0: Win_flush_all win""", {"a": {"one Put": puts(10, 20, 30, done=1)}}),
    # More puts than are kept one by one while timeouts count: all complete, and then there is room again.
    Script("more puts than are kept one by one", """
        0: begin a profile pttopt timeout=1e9; Put win *{}; Win_flush_all win; Put 10 win *4; Win_flush win; end a
        """.format(PUTS), {"a": {"one Put": [sent(PUTS, 1), puts(10, 10, 10, 10)]}}),
    # Puts that don't end within their snapshot take no room from later ones. Nor do puts that have ended, in a snapshot
    # over all.
    Script("puts of several snapshots", "0: {}Win_flush win\n{}".format(SNAPSHOT_OF_PUTS * SNAPSHOTS, OVERLAPPING),
           OF_OVERLAPPING),
    Script("puts of several snapshots inside one", "0: begin a; {}end a".format(
        (SNAPSHOT_OF_PUTS + "Win_flush win; ") * SNAPSHOTS), {
            "a": {"one Put": sent(PUTS // (SNAPSHOTS - 1) * SNAPSHOTS, 1)}}),
    # Their freeing ends what is in flight, and their handle is used again.
    Script("windows freed", "begin a\n" + "".join("""
        Win_allocate {0} +brief; .Win_fence brief
        0: Put {1} brief
        .Win_fence brief; Win_free brief
        """.format(*one) for one in (("one", 10), ("two", 11), ("one", 12))) + "end a", *(
            {"a": {"one Win_allocate": calls(2), "one Win_free": calls(2), "two Win_allocate": calls(1),
                   "two Win_free": calls(1), **of}} for of in ({"one Put": puts(10, 12), "two Put": puts(11)}, {}))),
]


def with_request(is_one):
    """A wait ends an operation with a request, a flush doesn't."""
    return Script("MPI_Rput and a flush", """
        0: begin a; Rput 10 win @0; Rput 10 win @1; Win_flush win; Wait @0; end a; Wait @1""",
                  {"a": {"one Rput": puts(10, 10, done=1 + is_one)}})


# ---- communicators -------------------------------------------------------------------------------

MANY = 600  # more than there is room for


def named(text, numbers):
    return "; ".join(text.format(number) for number in numbers)


def both(title, text, counts):
    return Script(title, text, counts, counts)


# They may have the same handle, but each has its own counts.
COME_AND_GO = both("communicators that come and go", "begin a; {}; end a".format(named(
    "Comm_dup MPI_COMM_WORLD +b{0}; Comm_set_name b{0}; Barrier b{0} *{0}; Comm_free b{0}", (1, 2, 3))), {
        "a": {"MPI_COMM_WORLD Comm_dup": calls(3), **{"b%d Barrier" % i: calls(i) for i in (1, 2, 3)},
              **{"b%d Comm_free" % i: calls(1) for i in (1, 2, 3)}}})
DESCRIBED = "columns of communicators"
COMMUNICATORS = [
    COME_AND_GO,
    both(DESCRIBED, """
        Intercomm_create MPI_COMM_SELF +inter; Comm_set_name inter
        begin a profile coll; Barrier MPI_COMM_WORLD; Barrier MPI_COMM_SELF; Barrier inter; end a; Comm_free inter""",
         {"a": {"MPI_COMM_WORLD Barrier": calls(1), "MPI_COMM_SELF Barrier": calls(1), "inter Barrier": calls(1)}}),
    # Every other one is freed; the rest stay known.
    both("many communicators, of which some are freed", "{}; {}; begin a; {}; end a; {}".format(
        named("Comm_dup MPI_COMM_SELF +m{0}; Comm_set_name m{0}", range(400)),
        named("Comm_free m{}", range(0, 400, 2)), named("Barrier m{}", range(1, 400, 2)),
        named("Comm_free m{}", range(1, 400, 2))), {
            "a": {"m{} Barrier".format(i): calls(1) for i in range(1, 400, 2)}}),
    # A communicator without a name counts as an equal one that was freed before.
    both("communicators without a name, one after the other", "begin a; {} end a".format("""
        Comm_split MPI_COMM_SELF >0 +first; Comm_split MPI_COMM_SELF >0 +second; Barrier first
        Barrier second *2; Comm_free second; Comm_free first
        """ * MANY), {
            "a": {"MPI_COMM_SELF Comm_split": calls(2 * MANY), "MPI_Comm_split 1 Barrier": calls(MANY),
                  "MPI_Comm_split 2 Barrier": calls(2 * MANY), "MPI_Comm_split 1 Comm_free": calls(MANY),
                  "MPI_Comm_split 2 Comm_free": calls(MANY)}}),
    # The next communicator may get its handle.
    both("a communicator that is used while it is freed", """
        begin a; {}
        0: Comm_split MPI_COMM_WORLD >0 +narrow
        1: Comm_split MPI_COMM_WORLD >1 +narrow
        Comm_set_name narrow; use_when_freed narrow; Alltoallv 8 narrow; Comm_free narrow; {}; end a""".format(
            *["Comm_split MPI_COMM_WORLD >0 +wide; Comm_set_name wide; use_when_freed wide; Comm_free wide"] * 2), {
                "a": {"MPI_COMM_WORLD Comm_split": calls(3), "wide Barrier": calls(2), "wide Comm_free": calls(2),
                      "narrow Alltoallv": calls(1, 8), "narrow Barrier": calls(1), "narrow Comm_free": calls(1)}}),
]


def too_many(at_a_time):
    """Calls MPI_Alltoall on each of many duplicates of MPI_COMM_SELF, which exist at a time, or one after the other
    with a name each."""
    use, free = "Comm_dup MPI_COMM_SELF +t{0}; Alltoall 8 t{0}", "Comm_free t{0}"
    text = (named(use, range(MANY)) + "; end a; " + named(free, range(MANY)) if at_a_time else
            named("; ".join((use, "Comm_set_name t{0}", free)), range(MANY)) + "; end a")
    return Script("too many communicators " + ("at a time" if at_a_time else "one after the other"),
                  "begin a profile coll; " + text, None)


# ---- snapshots that ask for different things ------------------------------------------------------

FIVE = "pttopt coll comm msgsize traffic"
OFF, NOTHING, UNTRACKED, UNPLACED, SERVICES, CLOCK = 1, 2, 3, 6, 7, 10  # warnings
# Flags of snapshots, and the warning.
QUESTIONS = [("profile {} large=1".format(FIVE), []), ("profile pttopt large=10", []), ("profile coll", []),
             ("profile comm", []), ("profile msgsize large=1000", []), ("profile msgsize large=1001", []),
             ("profile msgsize large=0", []), ("profile traffic large=100000", []), ("profile", [NOTHING]),
             ("profile per_rank large=10 timeout=1", [NOTHING]), (FIVE, [OFF]), ("other", [OFF]), ("per_rank", []),
             ("profile coll clock", [CLOCK])]
SIZES = (10, 1000, 65535, 65536)


def ask(questions):
    """At a time. The snapshots end in another order than they were started."""
    asked = dict(zip("abcdefghijklmn", questions))
    of_rank_1 = {name: {"two Barrier": calls(1)} for name in asked}
    expected = {}
    for name, (words, _) in asked.items():
        large = int((re.findall("large=([0-9]+)", words) or [0])[0]) or 65536  # the default
        expected[name] = {"one Send": [sent(1, size, large=large) for size in SIZES], **of_rank_1[name]}
    begins = "; ".join("begin {} {}".format(name, words) for name, (words, _) in asked.items())
    ends = "; ".join("end " + name for name in sorted(asked, key=lambda name: ord(name) * 5 % 14))
    return Script("questions " + str(questions), "{}\n0: {}\n1: {}\nBarrier two; {}".format(
        begins, named("Send {} one", SIZES), named(".Recv {} one", SIZES), ends), expected, of_rank_1,
        warnings={name: codes for name, (_, codes) in asked.items()})


SAID_ONCE = Script("a handle that asks for nothing", "begin a per_rank; end a; begin b coll; end b", {},
                   warnings={"b": [OFF]})
SERVICES_OF_SYSTEM = 6
OF_SERVICES = "services that the library doesn't count"


# ---- requests that MPI hands out again -----------------------------------------------------------

# Of each first operation nobody sees the end. The later ones end at their waits, and their bytes are their
# own.
UNSEEN = [
    Script("the end of a send that nobody saw", """
        0: begin b; begin a; Issend 8 one; meet; .Wait; Issend 8 two; end b; meet; Wait; Issend 8 two; meet; Wait; end a
        1: meet; .Recv 64 one; meet; .Recv 64 two; meet; .Recv 64 two""", {
            "a": {"one Issend": sent(1, 8, done=0), "two Issend": sent(2, 8)},
            "b": {"one Issend": sent(1, 8, done=0), "two Issend": sent(1, 8, done=0)}}, {},
           {"a": [UNTRACKED], "b": [UNTRACKED]}),
    Script("the end of a receive that nobody saw", """
        0: begin a; Irecv 64 one; .Wait; Irecv 64 two; Wait; Irecv 64 two; Wait; end a
        1: .Send 10 one; .Send 20 two; .Send 30 two""", {
            "a": {"one Irecv": calls(1, 0, done=0), "two Irecv": calls(2, 50)}}, {}, {"a": [UNTRACKED]})]
KINDS = range(1, 13)
# Sends that share an unknown request end where they are posted, whenever their waits come.
SHARED = [
    *[Script("sends that share a request", """
        0: Pcontrol 1; begin b; begin a; Isend 1 one @0; Isend 2 two @1; Isend 3 one @2; Isend 4 two @3; one @0-1; end b
        0: Wait @3-0; end a
        1: .Recv 64 one; .Recv 64 two; .Recv 64 one; .Recv 64 two""", {
            name: {"one Isend": [sent(1, 1), sent(1, 3)], "two Isend": [sent(1, 2), sent(1, 4)]}
            for name in "ab"})] * 2,
    Script("many kinds of sends that share a request each", """
        0: begin b; begin a; {}; end b; Wait @25-2; end a; Pcontrol 0
        1: .Recv 64 one *24""".format("; ".join("Pcontrol {0}; Isend 1 one @{1}; Isend 1 one @{2}".format(
            kind, 2 * kind, 2 * kind + 1) for kind in KINDS)), {name: {"one Isend": sent(24, 1)} for name in "ab"})]


# ---- all of them ---------------------------------------------------------------------------------

class Scripts(case.Case):
    options = ()

    def check_all(self, scripts, program):
        found, done = run(self, [FIRST, *scripts, LAST], *self.options, program=program)
        for script, of in zip(scripts, found[1:]):
            with self.subTest(script.title):
                check(self, script, of)
        return [(script.title, of[0]) for script, of in zip(scripts, found[1:])], done


class Flight(Scripts):
    def test_flight(self):
        asks = Script("whether operations share a request", """
            Win_allocate MPI_COMM_WORLD +asked
            0: Isend 1 @0; Isend 2 @1; say_one @0-1; Wait @0-1
            0: Win_lock asked; Rput 10 asked @0; Rput 10 asked @1; say_one @0-1; Wait @0-1; Win_unlock asked
            1: .Recv 1; .Recv 2
            Win_free asked""", {})
        ((asked, _),), _ = run(self, [asks], *self.options)
        # Open MPI 4.1's MPI_Waitall never returns at MPI_THREAD_MULTIPLE when one of its operations fails
        # (docs/clusters.md).
        can_fail = not (self.launcher.is_openmpi and self.options)
        scripts = [SAID_ONCE, Script(OF_SERVICES, "begin a profile other; end a", None),
                   *MESSAGES, *shared_sends(asked.facts[0]), *FAILURES, *one_of_several(can_fail),
                   *WINDOWS, with_request(asked.facts[1]), ask(QUESTIONS), *(ask([one]) for one in QUESTIONS),
                   *COMMUNICATORS, *map(too_many, (True, True, False, False)), COME_AND_GO]
        found, done = self.check_all(scripts, "tests/monitor/monitor_calls")
        line, = done.stderr.splitlines()
        self.assertTrue(line.startswith("mpirtmon: warning: nothing is monitored: the handle's profile is 0"), line)
        many = [of for title, of in found if "too many communicators" in title]
        self.assertEqual(len(many), 4)
        for of in many:
            self.check_many([row for row in of.rows["a"] if row.operation == "MPI_Alltoall"])
            self.assertEqual(of.warnings["a"], [UNPLACED])
        found = dict(found)
        services = found[OF_SERVICES].rows["a"]
        self.assertTrue(all(row.operation and not row.total_s < 0 for row in services))
        # Where the MPI library counts nothing there are the operating system's services only.
        self.assertEqual(found[OF_SERVICES].warnings.get("a", []),
                         [SERVICES] if len(services) == SERVICES_OF_SYSTEM else [])
        idle = {name: [row.joinable for row in rows if row.operation == "MPI_Win_flush"]
                for name, rows in found[IDLE].rows.items()}
        self.assertEqual(idle, {"a": [2], "b": [0], "c": [1]})
        self.assertEqual([(row.comm, row.ranks, row.members) for row in found[DESCRIBED].rows["a"]],
                         [("MPI_COMM_WORLD", 2, "0-1"), ("MPI_COMM_SELF", 1, "0"), ("inter", 2, "0-1")])

    def check_many(self, rows):
        """The sums are right, whichever communicators have their own row; all that have room have one."""
        others = [row for row in rows if row.comm == "(other communicators)"]
        own = [row.amounts[0] for row in rows if row not in others]
        self.assertEqual([sum(row.amounts[i] for row in rows) for i in (0, 1, 3)], [MANY, MANY, 8 * MANY])
        self.assertEqual(([row.ranks for row in others], set(own)), ([NA], {1}))
        self.assertTrue(500 <= len(own) < 512, len(own))


class Requests(Scripts):
    def test_requests(self):
        self.check_all([*UNSEEN, *SHARED, UNSEEN[0]], "tests/monitor/monitor_calls_layered")


class Multiple:
    """At MPI_THREAD_MULTIPLE operations are taken out before the call that may complete them: other code. With sites,
    peers and depths."""

    options = ("multiple",)

    def start(self, *words, **how):
        return super().start(*words, MONITOR_DETAILS=1, **how)


class FlightMultiple(Multiple, Flight):
    pass


class RequestsMultiple(Multiple, Requests):
    pass
