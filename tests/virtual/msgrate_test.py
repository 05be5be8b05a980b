# SPDX-License-Identifier: BSD-3-Clause
"""Message rates on an ideal machine: the patterns of msgrate and msgrate_rma."""

import rules
import virtual

MODELS = {
    "usual": rules.Model(post=0.2, wait=0.1, latency=5, byte_ns=10, sync=0.5),
    "host": rules.Model(post=0.1, wait=0.05, latency=0.8, byte_ns=3, fraction=0.25, sync=0.7),
    "gap": rules.Model(post=0.2, latency=3, byte_ns=4, gap=0.9, sync=0.3),
}
# Ranks, peers and the distance between these.
JOBS = ((2, 1, 1), (5, 3, 1), (8, 4, 1), (7, 2, 3))
MESSAGES, BYTES = 8, 64
OPTIONS = ("-m", MESSAGES, "-s", BYTES, "-c", "4K")


def all_start_us(model, peers):
    """Receives and sends are posted for one peer after the other; the last message to come is the
    last one sent, and the first to a peer waits for nothing but its post or the gap."""
    count = 2 * peers * MESSAGES
    posts = [model.post * (2 * peer * MESSAGES + MESSAGES + i) for peer in range(peers)
             for i in range(MESSAGES)]
    sizes = [BYTES] * len(posts)
    return (max([count * model.post] + model.ends(posts, sizes)) +
            2 * model.hosts(sizes) + count * model.wait)


def messages_us(model, pattern, peers):
    """An iteration of msgrate. All ranks come out of a barrier together."""
    sizes = [BYTES] * MESSAGES
    if pattern == "single direction":  # one side sends, the other receives
        return model.transfer(sizes) + MESSAGES * model.wait
    if pattern == "pair-based":
        return peers * model.exchange(sizes)
    if pattern == "all-start":
        return all_start_us(model, peers)
    # pre-post: receives were posted before; those for the next iteration follow
    sizes *= peers
    return (model.transfer(sizes) + model.hosts(sizes) +
            len(sizes) * (2 * model.wait + model.post))


def locked_us(model, peers):
    """All peers are locked; each one's transfers are completed by its own unlock."""
    sizes = [BYTES] * (peers * MESSAGES)
    begin = peers * model.synchronise()
    ends = model.ends([begin + i * model.post for i in range(len(sizes))], sizes)
    now = begin + len(sizes) * model.post
    for peer in range(peers):
        now = max(now, ends[(peer + 1) * MESSAGES - 1]) + model.hosts([BYTES] * MESSAGES)
        now += model.synchronise()
    return now


def transfers_us(model, pattern, synchronisation, peers):
    """An iteration of msgrate_rma."""
    single = pattern == "single direction"
    peers = 1 if single else peers
    if synchronisation == "lock":
        return locked_us(model, peers)
    others = {"fence": 1 if single else 0,  # fence, transfers, fence; or the next one's
              "pscw": 1 if single else 3,   # start, complete; start, complete, wait, post
              "flush": 0}[synchronisation]
    return others * model.synchronise() + model.flush([BYTES] * (peers * MESSAGES))


class Rates(virtual.Test):
    target = "0.5 %"

    def check(self, program, job, *options, model, iteration_us, rows, **variables):
        ranks, peers, stride = job
        (launch,) = virtual.run(program, "-p", peers, "-n", stride, *OPTIONS, *options, ranks=ranks,
                                **model.variables(), **variables)
        for row in launch.rows:
            single = row["pattern"] == "single direction"
            messages = MESSAGES if single else 2 * peers * MESSAGES
            truth = messages / iteration_us(row) * 1e6
            what = "{} {} {} {}".format(program, job, options, list(row.values())[:3])
            self.near(row["iter_us"], iteration_us(row), 0.005 * iteration_us(row), what)
            self.near(row["rate_per_s"], truth, 0.005 * truth, what + " rate")
            taking_part = ranks // 2 * 2 if single else ranks
            self.near(row["total_rate_per_s"], truth * taking_part, 0.005 * truth * taking_part,
                      what + " total rate")
            self.assertEqual(row["status"], "ok", what)
        self.assertEqual(len(launch.rows), rows)

    def check_messages(self, name, job, *options, **variables):
        model = MODELS[name]
        self.check("msgrate", job, *options, model=model, rows=4, iteration_us=lambda row:
                   messages_us(model, row["pattern"], job[1]), **variables)

    def check_transfers(self, name, job, transfer):
        model = MODELS[name]
        self.check("msgrate_rma", job, "--transfer=" + transfer, "--samples=6", model=model, rows=8,
                   iteration_us=lambda row: transfers_us(
                       model, row["pattern"], row["synchronisation"], job[1]))

    def test_messages(self):
        for name in MODELS:
            for job in virtual.by_tier(plain=JOBS[1::2], run=JOBS):
                with self.subTest(name, job=job):
                    self.check_messages(name, job, "--samples=6")

    def test_transfers(self):
        for name in MODELS:
            for job, transfer in ((JOBS[0], "get"), (JOBS[1], "put"), (JOBS[2], "get")):
                with self.subTest(name, job=job, transfer=transfer):
                    self.check_transfers(name, job, transfer)

    def test_adaptive(self):
        self.check_messages("usual", JOBS[0], "--max-time=0.1")

    def test_ends(self):
        """The lowest rate is that of the longest time."""
        (launch,) = virtual.run("msgrate", "-p", 1, *OPTIONS, "--max-time=0.1", MODEL_LATENCY_US=10, MODEL_GAP_US=1,
                                MODEL_JITTER=0.1)
        for row in launch.rows:
            for end, other in (("lo", "hi"), ("hi", "lo")):
                truth = row["rate_per_s"] * row["iter_us"] / row["iter_{}_us".format(other)]
                self.near(row["rate_{}_per_s".format(end)], truth, 1e-3 * truth, row["pattern"] + " " + end)
            self.assertLess(row["rate_lo_per_s"], row["rate_hi_per_s"])

    def test_clocks(self):
        for variables in ({"VIRTUAL_CLOCK_NS": 500}, {"VIRTUAL_RESOLUTION_NS": 20}):
            with self.subTest(variables=variables):
                self.check_messages("usual", JOBS[1], "--samples=20", **variables)

    def test_data(self):
        """Data that moves is checked; wrong data is FAIL."""
        for program in ("msgrate", "msgrate_rma"):
            for corrupt in (0, 1):
                with self.subTest(program, corrupt=corrupt):
                    (launch,) = virtual.run(program, "--check", "-p", 2, *OPTIONS, "--samples=6",
                                            ranks=4, expect=corrupt, MODEL_CORRUPT=corrupt)
                    self.assertEqual({row["status"] for row in launch.rows},
                                     {"FAIL" if corrupt else "ok"})


if __name__ == "__main__":
    virtual.main()
