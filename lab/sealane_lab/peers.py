"""The libraries and programs to compare with, and the versions that are installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sealane_lab.model import OURS, Absent


@dataclass(frozen=True)
class Peer:
    """A package or a program to compare with.

    Parameters
    ----------
    name : str
        The name in the report; for a package, also its name for pip.
    module : str, optional
        The module that is imported to find out: an installed package may lack a system library.
    program : tuple of str, optional
        The command that prints the version.
    """

    name: str
    about: str
    module: str | None = None
    program: tuple[str, ...] | None = None


PEERS: tuple[Peer, ...] = (
    Peer(OURS, "this package", module="sealane"),
    Peer("cryptography", "OpenSSL from Python", module="cryptography"),
    Peer("pycryptodome", "C extensions", module="Crypto"),
    Peer("PyFLocker", "a front for cryptography and pycryptodome", module="pyflocker"),
    Peer("rencrypt", "ring and others, through Rust", module="rencrypt"),
    Peer("PyNaCl", "libsodium", module="nacl"),
    Peer("tink", "Google's Tink, in C++", module="tink"),
    Peer("eciespy", "ECIES on secp256k1", module="ecies"),
    Peer("pyaegis", "libaegis", module="pyaegis"),
    Peer("pyrage", "age through Rust", module="pyrage"),
    Peer("numpy", "for the limit of xor in place only", module="numpy"),
    Peer("openssl", "the program", program=("openssl", "version")),
    Peer("age", "the program", program=("age", "--version")),
    Peer("rage", "the program", program=("rage", "--version")),
)
"""All peers, in the order of the report."""


@dataclass(frozen=True)
class Presence:
    """The version of a peer, or the reason why it is not available."""

    name: str
    version: str | None
    reason: str = ""


def presences(table: Sequence[Peer] = PEERS) -> list[Presence]:
    """Returns for every peer whether it is present on this machine."""
    return [presence(peer) for peer in table]


_PRESENT: dict[Peer, Presence] = {}


def presence(peer: Peer) -> Presence:
    """Returns the presence of a peer, which is looked up once per process."""
    if peer not in _PRESENT:
        _PRESENT[peer] = _look_up(peer)
    return _PRESENT[peer]


def _look_up(peer: Peer) -> Presence:
    if peer.program is not None:
        return _program(peer.name, peer.program)
    assert peer.module is not None
    try:
        _imported(peer.module)
        return Presence(peer.name, importlib.metadata.version(peer.name))
    except importlib.metadata.PackageNotFoundError:
        # The module comes from a source tree, or is part of another package.
        return Presence(peer.name, str(getattr(_imported(peer.module), "__version__", "unknown")))
    except ModuleNotFoundError as error:
        missing = error.name or peer.module
        why = "not installed" if missing.partition(".")[0] == peer.module else f"needs the module {missing}"
        return Presence(peer.name, None, why)
    except Exception as error:  # A foreign package may raise anything while it is imported.
        return Presence(peer.name, None, f"cannot be imported: {error}")


def find(name: str, table: Sequence[Peer] = PEERS) -> Presence:
    """Returns the presence of the peer with that name. Raises KeyError if the table has none."""
    return presence({peer.name: peer for peer in table}[name])


def require(module: str) -> Any:
    """Imports a module of a peer. Raises Absent."""
    try:
        return _imported(module)
    except ImportError as error:
        raise Absent(f"this version has no {module}: {error}") from error


def _imported(module: str) -> Any:
    with warnings.catch_warnings():
        # A peer may use deprecated functions of its own dependencies; the lab cannot change that.
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def _program(name: str, command: tuple[str, ...]) -> Presence:
    if shutil.which(command[0]) is None:
        return Presence(name, None, "no such program")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Presence(name, None, f"cannot print its version: {error}")
    return Presence(name, (done.stdout or done.stderr).strip().splitlines()[0])
