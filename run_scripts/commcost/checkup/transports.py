# SPDX-License-Identifier: BSD-3-Clause
"""The transports between ranks, as the MPI library reports them: Open MPI's btl and pml, UCX, MPICH over OFI.

The formats are the libraries' own, and change. Reports that can't be read leave the transports unknown.
"""

import re
import typing

# Variables that make libraries report: Open MPI (FAQ, "mca_btl_base_verbose"), UCX (FAQ, "Which transports does UCX
# use?"), MPICH (README.envvar).
REPORTING = {"OMPI_MCA_pml_base_verbose": "10", "OMPI_MCA_btl_base_verbose": "5", "UCX_LOG_LEVEL": "info",
             "MPIR_CVAR_DEBUG_SUMMARY": "1"}
# Variables that choose transports.
CHOOSING = ("UCX_TLS", "UCX_NET_DEVICES", "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "FI_PROVIDER",
            "MPIR_CVAR_OFI_USE_PROVIDER", "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_NETMOD")
SHARED_MEMORY = {"cma", "knem", "mm", "posix", "shm", "sm", "smcuda", "sysv", "vader", "xpmem"}
TCP = {"ofi_rxm", "sockets", "tcp"}
_UCX = re.compile(r"UCX +INFO .*cfg(?:\[|#)[0-9].*?tag\(([^)]*)\)")
_BTL = re.compile(r"bml: Using (\w+) btl for send to")
_PML = re.compile(r"\bselected (\w+) best priority|select: component (\w+) selected")
_PROVIDER = re.compile(r"(?i)\bprovider: *([\w;]+)")


class Transports(typing.NamedTuple):
    """A library's way to other ranks. `names`: all that it may use, sorted; empty: unknown."""

    engine: str  # ob1, ucx, ofi …
    names: tuple

    def __str__(self):
        return f"{self.engine}: {', '.join(self.names)}" if self.names else ""


def transports_of(text):
    """Reads the Transports in the output of a job that was started with REPORTING."""
    ucx = {word.partition("/")[0] for lanes in _UCX.findall(text) for word in lanes.split()}
    btl, providers = set(_BTL.findall(text)), {name for found in _PROVIDER.findall(text) for name in found.split(";")}
    pml = next(("".join(found) for found in _PML.findall(text)), "")
    for engine, names in ((pml or "ob1", btl), ("ucx", ucx), ("ofi", providers)):
        if names - {"self"}:
            return Transports(engine, tuple(sorted(names - {"self"})))
    return Transports("", ())
