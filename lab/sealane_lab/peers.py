"""Who is compared: installed or not, and which version."""

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
    """A package or a program.

    Parameters
    ----------
    name : str
        What it is called here, and by pip where it is a package.
    module : str, optional
        Imported to see that it is there: an installed package may lack a library of the system.
    program : tuple of str, optional
        The command that tells the version.
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
"""Everyone who may take part, in the order of the report."""


@dataclass(frozen=True)
class Presence:
    """Whether a peer is here: its version, or why it is not."""

    name: str
    version: str | None
    reason: str = ""


def presences(table: Sequence[Peer] = PEERS) -> list[Presence]:
    return [presence(peer) for peer in table]


_PRESENT: dict[Peer, Presence] = {}


def presence(peer: Peer) -> Presence:
    """Looked up once a process."""
    if peer not in _PRESENT:
        _PRESENT[peer] = _looked_up(peer)
    return _PRESENT[peer]


def _looked_up(peer: Peer) -> Presence:
    if peer.program is not None:
        return _program(peer.name, peer.program)
    assert peer.module is not None
    try:
        _imported(peer.module)
        return Presence(peer.name, importlib.metadata.version(peer.name))
    except importlib.metadata.PackageNotFoundError:
        # Imported from a source tree, or as part of something else.
        return Presence(peer.name, str(getattr(_imported(peer.module), "__version__", "unknown")))
    except ModuleNotFoundError as error:
        missing = error.name or peer.module
        why = "not installed" if missing.partition(".")[0] == peer.module else f"needs the module {missing}"
        return Presence(peer.name, None, why)
    except Exception as error:  # What a foreign package raises while it is imported is its own business.
        return Presence(peer.name, None, f"cannot be imported: {error}")


def here(name: str, table: Sequence[Peer] = PEERS) -> Presence:
    """The presence of the peer of that name. KeyError for one that the table lacks."""
    return presence({peer.name: peer for peer in table}[name])


def need(module: str) -> Any:
    """A peer's module. Raises Absent."""
    try:
        return _imported(module)
    except ImportError as error:
        raise Absent(f"this version has no {module}: {error}") from error


def _imported(module: str) -> Any:
    with warnings.catch_warnings():
        # What a peer is warned of by those it is built on is not the lab's.
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def _program(name: str, command: tuple[str, ...]) -> Presence:
    if shutil.which(command[0]) is None:
        return Presence(name, None, "no such program")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Presence(name, None, f"does not tell its version: {error}")
    return Presence(name, (done.stdout or done.stderr).strip().splitlines()[0])
