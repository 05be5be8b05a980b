# SPDX-License-Identifier: BSD-3-Clause
"""Checks between nodes: links in use, their rates, and adapters that messages don't use."""

import ipaddress
import re
import typing

from commcost.checkup import transports
from commcost.checkup.findings import (PROBLEM, SUSPICION, UNKNOWN, Finding, Remedy, chosen_by, launcher_words,
                                       unset_them)

LEAST_SHARE = 1 / 5  # of the link's rate: one rank that waits for each message gets at least that
TCP_MBIT = 20000     # of which TCP gets that share: one connection doesn't fill a faster link
MBIT = 8 * 1.048576  # Mbit/s in a MiB/s
# Drivers of virtual machines whose rate isn't the wire's.
VIRTUAL_DRIVERS = ("ena", "gve", "hv_netvsc", "virtio_net", "vmxnet3")


def between_nodes(job):
    """The network gives what its fastest link should; interfaces agree between nodes."""
    if len(job.facts.nodes) < 2:
        return
    yield from different_mtu(job)
    yield from equal_addresses(job)
    beside = list(tcp_beside_adapter(job))
    yield from beside
    yield from unused_links(job)
    found = [link for link in links(job) if link.adapter != ROCE]  # whose interface is a link as well
    if not found or "network_bandwidth" not in job.facts.measured or PROBLEM in (one.status for one in beside):
        return
    link = max(found, key=lambda link: link.mbit)
    measured, _ = job.facts.measured["network_bandwidth"]
    least = LEAST_SHARE * (min(link.mbit, TCP_MBIT) if uses_tcp(job) else link.mbit)
    is_sure = (measured.high or measured.value) * MBIT < least
    if measured.value * MBIT < least:
        yield Finding("Between nodes", PROBLEM if link.is_physical and is_sure else UNKNOWN,
                      f"{measured.value:.0f} MB/s on a {link.mbit / 1000:g} Gbit/s link ({link.name})",
                      "network_bandwidth", (Remedy("iperf3 between the nodes shows if the link is slow",
                                                   untried="needs a server there"),))


def uses_tcp(job):
    """True unless the library reports another transport between nodes."""
    return set(job.transports.names) - transports.SHARED_MEMORY <= transports.TCP


class Link(typing.NamedTuple):
    """A link in use that all nodes have."""

    name: str
    mbit: float   # Mbit/s, the slowest node's
    adapter: str  # its kind; "" for an interface
    is_physical: bool


def links(job):
    """The Links whose rate the system gives."""
    found = {}
    for rank, match, value in job.facts.named(r"((interface|adapter)\.(.+))\.rate"):
        number = re.match(r"\d+(\.\d+)?", value)
        mbit = float(number.group()) * (1000 if "Gb" in value else 1) if number else 0
        prefix = match.group(1)
        kind, driver = (rank.text(f"{prefix}.{name}") for name in ("kind", "driver"))
        if mbit > 0 and is_up(rank, prefix) and kind not in ("loopback", "bridge"):
            is_physical = not kind or kind in ("physical", "bond") and driver not in VIRTUAL_DRIVERS
            found.setdefault(prefix, []).append((mbit, adapter_of(rank, prefix), is_physical))
    return [Link(prefix.partition(".")[2], min(mbit for mbit, _, _ in ranks), ranks[0][1],
                 all(is_physical for _, _, is_physical in ranks))
            for prefix, ranks in found.items() if len(ranks) == len(job.facts.nodes)]


INFINIBAND, OMNI_PATH, ROCE, EFA, SLINGSHOT = "InfiniBand", "Omni-Path", "RoCE", "EFA", "Slingshot"


def adapter_of(rank, prefix):
    """The kind of an adapter or of an interface that is one's; "" for another interface."""
    driver = rank.text(prefix + ".driver")
    if prefix.startswith("interface."):
        return SLINGSHOT if driver.startswith("cxi") else ""
    return EFA if driver == "efa" else OMNI_PATH if driver.startswith("hfi1") else \
        INFINIBAND if rank.text(prefix + ".link_layer", INFINIBAND) == INFINIBAND else ROCE


def is_up(rank, prefix):
    state = rank.text(prefix + ".state").upper()
    return "ACTIVE" in state if prefix.startswith("adapter.") else "DOWN" not in state


def tcp_beside_adapter(job):
    """Messages between nodes use the adapter that all nodes have. RoCE may not be set up: it is a suspicion."""
    names, found = set(job.transports.names) - transports.SHARED_MEMORY, links(job)
    link = max(found, key=lambda link: (link.mbit, link.adapter not in ("", ROCE), link.adapter), default=None)
    if names and uses_tcp(job) and link and link.adapter:
        text = f"messages use {', '.join(sorted(names))}, not {link.name} ({link.adapter}, {link.mbit / 1000:g} Gbit/s)"
        yield Finding("Between nodes", SUSPICION if link.adapter == ROCE else PROBLEM, text + chosen_by(job),
                      "network_bandwidth", unset_them(job) or
                      (Remedy(use_adapter(job, link.adapter), untried="may need another library"),))


# libfabric's providers (fi_provider(7)).
PROVIDERS = {INFINIBAND: "verbs", ROCE: "verbs", OMNI_PATH: "psm2", EFA: "efa", SLINGSHOT: "cxi"}


def use_adapter(job, adapter):
    """The words for a library to use an adapter, as far as its transports' engine is known."""
    if job.transports.engine == "ofi":
        return f"FI_PROVIDER={PROVIDERS[adapter]} (fi_info lists providers)"
    if PROVIDERS[adapter] == "verbs":
        return ("use a UCX with InfiniBand (ucx_info -d lists its transports)" if job.transports.engine == "ucx" else
                "mpirun --mca pml ucx …")
    return (f"use an MPI over libfabric, FI_PROVIDER={PROVIDERS[adapter]}" if job.transports.engine == "ucx" else
            "mpirun --mca pml cm --mca mtl ofi …")


# Variables that restrict messages to some links, and those with which a message uses several (UCX's and MPICH's
# lists of variables; Open MPI's FAQ, "How do I tell Open MPI which IP interfaces to use?").
RESTRICTING = ("UCX_NET_DEVICES", "UCX_MAX_RNDV_RAILS", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude")
SEVERAL = {"ucx": ("UCX_MAX_RNDV_RAILS", "{count}"), "ob1": ("OMPI_MCA_btl_tcp_if_include", "{names}"),
           "ofi": ("MPIR_CVAR_CH4_OFI_ENABLE_MULTI_NIC_STRIPING", "1")}


def unused_links(job):
    """Messages use all of several links of equal rate: a finding only if the experiment gains."""
    routed = in_one_subnet(job)
    found = [link for link in links(job) if (link.name in routed if uses_tcp(job) else link.adapter)]
    fastest = [link for link in found if link.mbit == max(link.mbit for link in found)]
    restricting = [name for name in RESTRICTING if name in job.environment]
    remedies = [Remedy(f"unset {name}", unset=(name,)) for name in restricting]
    if len(fastest) > 1 and not restricting and job.transports.engine in SEVERAL:
        name, value = SEVERAL[job.transports.engine]
        value = value.format(count=len(fastest), names=",".join(link.name for link in fastest))
        remedies = [Remedy(f"export {name}={value}", variables=((name, value),))]
    if len(fastest) > 1 and remedies:
        several = f"{len(fastest)} links of {fastest[0].mbit / 1000:g} Gbit/s"
        yield Finding("Between nodes", SUSPICION, f"messages don't use all of {several}", "network_bandwidth",
                      tuple(remedies), f"messages may not use all of {several}")


def in_one_subnet(job):
    """The names of the interfaces by which all nodes reach each other."""
    found = {}
    for rank, match, value in job.facts.named(r"interface\.(.+)\.address"):
        found.setdefault((match.group(1), ipaddress.ip_interface(value).network), set()).add(value)
    return {name for (name, _), addresses in found.items() if len(addresses) == len(job.facts.nodes)}


def different_mtu(job):
    """Interfaces of equal name in one subnet have one MTU."""
    found = {}
    for rank, match, value in job.facts.named(r"(interface\.(.+))\.mtu"):
        address, kind = (rank.text(f"{match.group(1)}.{name}") for name in ("address", "kind"))
        if address and is_up(rank, match.group(1)) and kind not in ("loopback", "bridge"):
            found.setdefault((match.group(2), ipaddress.ip_interface(address).network), set()).add(value)
    for (name, _), values in found.items():
        if len(values) > 1:
            yield Finding("Between nodes", PROBLEM, f"the MTU of {name} differs: {' and '.join(sorted(values))}",
                          "network_bandwidth",
                          (Remedy(f"ip link set {name} mtu N on all nodes", untried="needs root"),))


def equal_addresses(job):
    """An address that two nodes have can't lead from one to the other (docker0, virbr0)."""
    owners = {}
    for rank, match, value in job.facts.named(r"(interface\.(.+))\.address"):
        if is_up(rank, match.group(1)) and not value.startswith("127."):
            owners.setdefault((match.group(2), value), set()).add(rank.text("node") or rank.text("host"))
    names = sorted({name for (name, _), nodes in owners.items() if len(nodes) > 1})
    if names:
        remedies = (launcher_words(job, "--mca", "btl_tcp_if_exclude", ",".join(["lo", *names])),) \
            if job.launcher_name == "openmpi" else ()
        have = "has" if len(names) == 1 else "have"
        yield Finding("Between nodes", SUSPICION, f"{' and '.join(names)} {have} the same address on two nodes",
                      "network_bandwidth", remedies)
