"""Simulated networks with one known fault, or none, for linkmap: hosts on a switch with cables of
their own up and down, and tori and fat trees whose cables are known one by one."""

import random
import typing

from smpi import BYTES_PER_US, Cluster

NODE, MINORITY, DIRECTION, PAIR, GROUPS, NONE = (
    "node", "minority", "direction", "pair", "groups", "none")
FAULTS = (NODE, MINORITY, DIRECTION, PAIR, GROUPS, NONE)

MIN_HOSTS, MAX_HOSTS = 8, 32
# By how much what is slow takes longer.
MIN_FACTOR, MAX_FACTOR = 1.6, 3.0


class Cable(typing.NamedTuple):
    """latency in us, bytes in a us."""

    __test__ = False
    latency_us: float
    bytes_per_us: float

    def slower(self, latency=1.0, bandwidth=1.0):
        return Cable(self.latency_us * latency, self.bytes_per_us / bandwidth)


class Network(Cluster):
    """Hosts with a route of cables between every two: `cables` by name, `routes` by (source, target)
    a list of names. Cables that are shared divide their bandwidth between the messages on them; others
    carry any number of messages at full speed."""

    __test__ = False

    def __init__(self, name, hosts, cables, routes, shared=False):
        super().__init__(name, hosts, None, None)
        self.cables, self.routes, self.policy = cables, routes, "SHARED" if shared else "FATPIPE"

    def xml(self):
        lines = ["<?xml version='1.0'?>",
                 '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                 '<platform version="4.1"><zone id="all" routing="Full">']
        lines += [f'<host id="node-{host}" speed="1Gf"/>' for host in range(self.hosts)]
        lines += [f'<link id="{name}" bandwidth="{cable.bytes_per_us:.6f}MBps" '
                  f'latency="{cable.latency_us:.6f}us" sharing_policy="{self.policy}"/>'
                  for name, cable in self.cables.items()]
        # What a rank sends to itself.
        lines += [f'<link id="self" bandwidth="{BYTES_PER_US}MBps" latency="0us" '
                  'sharing_policy="FATPIPE"/>']
        own = {(host, host): ["self"] for host in range(self.hosts)}
        for (source, target), names in {**self.routes, **own}.items():
            cables = "".join(f'<link_ctn id="{name}"/>' for name in names)
            lines.append(f'<route src="node-{source}" dst="node-{target}" symmetrical="NO">{cables}'
                         "</route>")
        return "\n".join(lines + ["</zone></platform>\n"])


class Trial(typing.NamedTuple):
    """A network and what is wrong with it.

    fault  one of FAULTS
    of     the nodes; the node and "out" or "in"; the pair; or the group of each host
    noise  SIMULATION_NOISE
    """

    __test__ = False
    network: Network
    fault: str
    of: typing.Any
    noise: str

    def __str__(self):
        return f"{self.network.name}, {self.network.policy}, noise {self.noise}: {self.fault} {self.of}"


def draw(fault, seed):
    """A trial at random."""
    chance = random.Random(f"{fault} {seed}")
    hosts = chance.randint(MIN_HOSTS, MAX_HOSTS)
    usual = Cable(chance.uniform(0.3, 5), chance.choice([1000, 10000]) * chance.uniform(0.5, 1.5))
    factor = chance.uniform(MIN_FACTOR, MAX_FACTOR)
    # Cables are alike to a few percent.
    cables = {f"{way}{host}": usual.slower(chance.uniform(1, 1.04), chance.uniform(1, 1.02))
              for host in range(hosts) for way in ("out", "in")}
    routes = {(source, target): [f"out{source}", f"in{target}"]
              for source in range(hosts) for target in range(hosts) if source != target}
    victim = chance.randrange(hosts)
    of = None
    if fault in (NODE, MINORITY):
        # Of up to a third each host is slow with all, as if there were two groups.
        of = [victim] if fault == NODE else chance.sample(range(hosts), chance.randint(2, hosts // 3))
        for name in [f"{way}{host}" for host in of for way in ("out", "in")]:
            cables[name] = cables[name].slower(factor, factor)
    elif fault == DIRECTION:
        of = victim, chance.choice(("out", "in"))
        name = f"{of[1]}{victim}"
        cables[name] = cables[name].slower(1, factor)
    elif fault == PAIR:
        other = chance.choice([host for host in range(hosts) if host != victim])
        of = tuple(sorted((victim, other)))
        cables["slow"] = usual.slower(2 * (factor - 1), factor)
        for pair in (of, of[::-1]):
            routes[pair] = [routes[pair][0], "slow", routes[pair][1]]
    elif fault == GROUPS:
        of = draw_groups(chance, hosts)
        cables["between"] = usual.slower(2 * (factor - 1), factor)
        for source, target in routes:
            if of[source] != of[target]:
                routes[source, target].insert(1, "between")
    shared = chance.random() < 0.5
    network, latency_us = Network(f"{hosts} hosts", hosts, cables, routes, shared), usual.latency_us
    if fault == NONE and chance.random() < 0.5:
        # Routes of several lengths, and cables on which messages of many pairs meet.
        network = (torus((2, chance.randint(2, 4), 4), shared=shared) if chance.random() < 0.5
                   else fat_tree(chance.randint(3, 5), shared=shared))
        latency_us = USUAL.latency_us
    # 2 to 10 % of a latency is usual; stops are long against it.
    noise = ",".join(f"{value:g}" for value in (
        seed + 1, 2 * latency_us * chance.uniform(0.02, 0.1), chance.uniform(50, 500),
        chance.uniform(5, 100)))
    return Trial(network, fault, of, noise)


def draw_groups(chance, hosts):
    """The group of each host, the first one's 0: at least 30 % of them in each."""
    while True:
        groups = [chance.randrange(2) for _ in range(hosts)]
        if 0.3 <= sum(groups) / hosts <= 0.7:
            return [group ^ groups[0] for group in groups]


# ---- cables that many pairs share ----------------------------------------------------------------

USUAL = Cable(0.5, 10000)


def torus(dims, slow=None, latency=1.0, bandwidth=1.0, shared=False):
    """Messages go along the first dimension first, the shorter way; one cable, by its name, is
    slower."""
    hosts = 1
    for dim in dims:
        hosts *= dim

    def route(source, target):
        names = []
        stride = 1
        for dim in dims:
            place, end = source // stride % dim, target // stride % dim
            up = (end - place) % dim <= dim // 2
            while place != end:
                following = (place + (1 if up else -1)) % dim
                there = source + (following - place) * stride
                names.append(cable_name(source, there))
                source, place = there, following
            stride *= dim
        return names

    return network_of(f"torus of {hosts}", hosts, route, slow, latency, bandwidth, shared)


def fat_tree(leaf, slow=None, latency=1.0, bandwidth=1.0, shared=False):
    """leaf * leaf hosts on leaf switches, which leaf other ones join: messages to a host go by the
    one that its number says."""
    def route(source, target):
        ends = [f"up{source}", f"down{target}"]
        leaves = source // leaf, target // leaf
        if leaves[0] == leaves[1]:
            return ends
        spine = target % leaf
        return [ends[0], f"up{leaves[0]}-{spine}", f"down{spine}-{leaves[1]}", ends[1]]

    return network_of(f"fat tree of {leaf * leaf}", leaf * leaf, route, slow, latency, bandwidth,
                      shared)


def cable_name(source, target):
    return f"cable{source}-{target}"


def network_of(name, hosts, route, slow, latency, bandwidth, shared):
    routes = {(source, target): route(source, target)
              for source in range(hosts) for target in range(hosts) if source != target}
    names = {cable for cables in routes.values() for cable in cables}
    cables = {cable: USUAL.slower(latency, bandwidth) if cable == slow else USUAL
              for cable in sorted(names)}
    return Network(name, hosts, cables, routes, shared)
