# SPDX-License-Identifier: BSD-3-Clause
"""Overlap of messages, puts, gets and halo swaps on an ideal machine; wrong data is found."""

import rules
import virtual

from overlap_test import COLLECTIVES

MODELS = {
    "alone": rules.Model(post=0.5, wait=0.3, latency=60, byte_ns=5, sync=1.5, duration=80),
    "half": rules.Model(post=0.4, wait=0.2, latency=30, byte_ns=2, fraction=0.5, sync=0.7),
    "host": rules.Model(post=0.5, latency=20, byte_ns=2, fraction=0, sync=0.6, barrier=2),
}
SIZE, PARTS = 8192, 4  # bytes of a message; of its partitions
ONE_SIZE = ("--data-driven", "--min-num-elts={}".format(SIZE // 8),
            "--max-num-elts={}".format(SIZE // 8), "--max-time=0.1")
POINTS = 0.1  # of overlap
BOX = 10
FACES = [8 * BOX * BOX] * 6


def message_us(model, size=SIZE):
    """The time of the posts, when the part without the host ends, the wait's time then; what the
    blocking call takes."""
    rest = model.host(size) + model.wait
    return (model.post, model.alone(size), rest, max(model.post, model.alone(size)) + rest)


def sendrecv_us(model, size=SIZE):
    """A receive, and a send that is posted after it."""
    rest = 2 * (model.host(size) + model.wait)
    end = model.post + model.alone(size)
    return 2 * model.post, end, rest, max(2 * model.post, end) + rest


def one_sided_us(model, flushes):
    """The non-blocking put is flushed after its wait; the blocking one and a get are only that."""
    rest = model.host(SIZE) + model.wait + flushes * model.synchronise()
    return model.post, model.alone(SIZE), rest, model.flush([SIZE])


def swap_us(model, packed):
    """Packed faces are received as they come, so that waits for others lie before the last."""
    rest = 2 * (model.hosts(FACES) + 6 * model.wait)
    whole = model.exchange_packed(FACES) if packed else model.exchange(FACES)
    return (12 * model.post, whole - rest, rest, sum(sendrecv_us(model, size)[3] for size in FACES))


def neighbour_us(model):
    """One collective of all faces, whose duration counts what is sent."""
    duration = model.duration + model.byte_ns * 1e-3 * sum(FACES)
    return (model.post, model.fraction * duration,
            (1 - model.fraction) * duration + model.wait, duration + model.wait)


PROGRAMS = {
    "isend": (message_us, ("--form=all",), 2),
    "irecv": (message_us, ("--form=all",), 2),
    "sendrecv": (sendrecv_us, ("--form=all",), 2),
    "put": (lambda model: one_sided_us(model, 1), (), 1),
    "get": (lambda model: one_sided_us(model, 0), (), 1),
}


class Pairs(virtual.Test):
    target = "0.1 point; 0.5 %"

    def check_row(self, row, truth, what):
        """The posts and the end of the wait stay exposed under plenty of work."""
        posts, end, rest, blocking_us = truth
        ref_us, exposed_us = max(posts, end) + rest, posts + rest
        self.near(row["ref_us"], ref_us, 0.005 * ref_us, what + " ref_us")
        self.near(row["overlap_pct"], 100 * (1 - exposed_us / ref_us), POINTS, what)
        self.near(row["exposed_us"], exposed_us, 0.005 * ref_us, what + " exposed_us")
        self.near(row["blocking_us"], blocking_us, 0.005 * blocking_us, what + " blocking_us")

    def launch(self, program, model, *options, **variables):
        return virtual.run("overlap_" + program, *options, **model.variables(), **variables)[0].rows

    def test_pairs(self):
        for name in virtual.by_tier(plain=("half",), run=MODELS):
            for program, (truth, options, count) in PROGRAMS.items():
                with self.subTest(program, model=name):
                    rows = self.launch(program, MODELS[name], *ONE_SIZE, *options)
                    for row in rows:
                        self.check_row(row, truth(MODELS[name]),
                                       "{} {} {}".format(program, name, row.get("form")))
                    self.assertEqual(len(rows), count)

    def test_odd_ranks(self):
        """The last one rests."""
        (row,) = self.launch("sendrecv", MODELS["half"], *ONE_SIZE, ranks=5)
        self.check_row(row, sendrecv_us(MODELS["half"]), "5 ranks")

    def test_halo(self):
        for name in virtual.by_tier(plain=("half",), run=MODELS):
            with self.subTest(name):
                rows = self.launch("halo", MODELS[name], "--local={}".format(BOX), "--max-time=0.1",
                                   ranks=8)
                for row in rows:
                    truth = (neighbour_us(MODELS[name]) if row["method"] == "neighbor_alltoallw"
                             else swap_us(MODELS[name], "packed" in row["method"]))
                    self.check_row(row, truth, name + " " + row["method"])
                self.assertEqual(len(rows), 4)

    def test_persistent_collectives(self):
        model = MODELS["half"]
        for name in ("iallreduce", "ialltoallv", "ibarrier"):
            with self.subTest(name):
                (row,) = self.launch(name, model, *ONE_SIZE, "--form=persistent", ranks=3)
                (nonblocking,) = self.launch(name, model, *ONE_SIZE, ranks=3)
                for column in ("ref_us", "overlap_pct", "exposed_us", "blocking_us"):
                    self.near(row[column], nonblocking[column], 0.005 * nonblocking["ref_us"],
                              name + " " + column)

    def test_partitions(self):
        """Under plenty of work all partitions but the last have gone, if they go early."""
        if not virtual.has("overlap_partitioned"):
            self.skipTest("this MPI library has no partitioned messages")
        for name, early in (("alone", 1), ("alone", 0), ("half", 1)):
            with self.subTest(name, early=early):
                model = MODELS[name]
                (row,) = self.launch("partitioned", model, *ONE_SIZE, "--partitions=%d" % PARTS,
                                     MODEL_EARLY_PARTITIONS=early)
                last = SIZE // PARTS if early else SIZE
                exposed_us = PARTS * model.post + message_us(model, last)[3]
                what = "partitions {} early={}".format(name, early)
                self.near(row["exposed_us"], exposed_us, 0.005 * exposed_us, what)
                self.near(row["ref_us"], exposed_us, 0.005 * exposed_us, what + " ref_us")
                blocking_us = message_us(model)[3]
                self.near(row["blocking_us"], blocking_us, 0.005 * blocking_us, what + " blocking")


class Parts(virtual.Test):
    """Work isn't cut into more parts than it has units."""

    def test_smallest_box(self):
        """That of 10 has too few, that of 100 enough."""
        for options in (("--local=100,10",), ("--local=10,100",), ("--local=100,10", "--methods=persistent"),
                        ("--local=100,10", "--form=persistent"), ("--local=100",))[virtual.by_tier(plain=3, run=0):]:
            with self.subTest(options):
                done = virtual.run_raw("overlap_halo", "--test-calls=5000", "--plenty=1", "--max-time=0.05", *options,
                                       MODEL_LATENCY_US=1, MODEL_PER_BYTE_NS=1)
                refused = "--test-calls: the work under an operation of 2.92 us can't be cut into 5001 parts"
                self.assertEqual((done.returncode, refused in done.stderr), (2, True) if "10" in options[0][8:].split(",")
                                 else (0, False))

    def test_cutoff_time(self):
        """Where the size is searched for, the work is as long as the cutoff time makes it; if no size takes that, a note
        reports that it isn't."""
        for duration_us, is_said in ((2000, False), (1, True)):
            done = virtual.run_raw("overlap_iallreduce", "--max-num-elts=1", "--samples=1", "--warmup=0",
                                   "--test-calls=20000", MODEL_DURATION_US=duration_us)
            self.assertEqual("the smallest sizes have too little work for --test-calls" in done.stdout, is_said, done.stdout)


class Data(virtual.Test):
    def test_data(self):
        """Right data is ok; a wrong byte makes the status of each program FAIL."""
        programs = [*COLLECTIVES, *PROGRAMS, "halo", "partitioned"]
        for name in virtual.by_tier(plain=programs[::12], run=programs[::3], full=programs):
            if not virtual.has("overlap_" + name):
                continue
            size = ("--local=5",) if name == "halo" else ONE_SIZE[:3]
            for corrupt in (0, 1):
                with self.subTest(name, corrupt=corrupt):
                    (launch,) = virtual.run("overlap_" + name, *size, "--check", "--max-time=0.05",
                                            ranks=4, expect=corrupt, MODEL_DATA=1,
                                            MODEL_CORRUPT=corrupt)
                    self.assertEqual({row["status"] == "FAIL" for row in launch.rows},
                                     {bool(corrupt)})


if __name__ == "__main__":
    virtual.main()
