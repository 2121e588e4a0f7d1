"""Signed inventories of encrypted folders."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from sealane import _native
from sealane._endpoints import path_of
from sealane._frames import forgetting
from sealane._native import DecryptWith, EncryptWith

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, FileKey, Identities, Path, Recipients, Text


class Difference(NamedTuple):
    """A difference between a folder and its inventory."""

    path: str
    """Path below the folder."""
    kind: Literal["missing", "added", "renamed", "copied", "exchanged", "old", "changed", "unreadable"]
    """Kind of the difference, for programs."""
    text: str
    """Description of the difference, such as the other path of an exchanged file."""


@dataclasses.dataclass(frozen=True)
class InventoryReport:
    """The result of ``write_inventory`` and ``verify_inventory``."""

    counter: int
    """Counter of the inventory, larger than in earlier inventories of the folder."""
    files: int
    """Number of files in the inventory."""
    differences: tuple[Difference, ...] = ()
    """The differences found by ``verify_inventory``, sorted by path."""
    folder: str | None = None
    """Identifier of the folder, the same in all its inventories. None in an inventory of version 1."""


@forgetting
def write_inventory(
    vault: Path,
    /,
    inventory: Path,
    *,
    sign_key: Path,
    sign_passphrase: Text | None = None,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    context: Buffer = b"",
    format: str | None = None,
    durable: bool = False,
    folder: str | None = None,
) -> InventoryReport:
    """Writes a signed list of all files in an encrypted folder, for example after ``encrypt_tree``.

    With it, ``verify_inventory`` detects missing, added, changed, exchanged, renamed and old files,
    no matter who changed them. The list is JSON in an ordinary encrypted file. Verify the signature beside
    it with ``ssh-keygen -Y verify`` (namespace ``sealane-inventory``) or ``minisign -V``.

    Parameters
    ----------
    vault : str or os.PathLike
        The encrypted folder, listed as it is now.
    inventory : str or os.PathLike
        The file to write, outside the folder. The signature gets the same path with ".sig" or
        ".minisig". An earlier inventory at this path supplies the former versions, if ``key``
        decrypts it.
    sign_key : str or os.PathLike
        The path of an OpenSSH Ed25519 private key or a minisign secret key.
    sign_passphrase : str or bytes, optional
        The passphrase of ``sign_key``, if encrypted.
    key, recipients, context, format, durable
        As for ``encrypt_file``. Exactly one of ``key`` and ``recipients`` is required.
    folder : str, optional
        The identifier that the folder must have, ``folder`` of an earlier report. Without it, the
        inventory keeps the earlier one's, which only ``key`` can read, or gets a new one.

    Raises
    ------
    AuthenticationError
        If the earlier inventory was signed or encrypted with another key, does not match its
        signature, or belongs to a folder other than ``folder``.
    FormatError
        If ``sign_key`` is damaged.
    OSError, TypeError, ValueError
        As for ``encrypt_file``, and if a file in the folder cannot be read; ``ValueError`` for an
        inventory inside the folder, or if ``folder`` is not an identifier. If the disk is
        full, the earlier inventory is unchanged.

    Examples
    --------
    >>> report = sealane.encrypt_tree("data", "vault", key=key)
    >>> report = sealane.write_inventory("vault", "vault.inventory", key=key, sign_key="id_ed25519")
    """
    encryption = EncryptWith(key=key, recipients=recipients, context=context, format=format)
    vault, inventory, sign_key = _paths(vault=vault, inventory=inventory, sign_key=sign_key)
    counter, files, found = _native.write_inventory_path(
        vault, inventory, encryption, sign_key, sign_passphrase, durable, folder
    )
    return InventoryReport(counter, files, folder=found)


@forgetting
def verify_inventory(
    vault: Path,
    /,
    inventory: Path,
    *,
    signer: Path,
    min_counter: int = 0,
    folder: str | None = None,
    key: FileKey | None = None,
    identities: Identities | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
) -> InventoryReport:
    """Verifies an inventory's signature and compares the encrypted folder with it.

    The files must be those that were listed, byte for byte. To know that they can be decrypted, use
    ``verify_tree``. A file that cannot be read is a difference. An inventory of version 1 is compared
    with a warning: holders of the key can change files without a difference.

    Parameters
    ----------
    vault, inventory : str or os.PathLike
        The encrypted folder, and the file written by ``write_inventory`` or the program.
    signer : str or os.PathLike
        The path of a file with the accepted public keys: SSH lines ("ssh-ed25519 AAAA…"), or a
        minisign public key.
    min_counter : int
        The smallest counter to accept, for example from the last verification. Only this check
        detects an old folder with its old inventory (rollback).
    folder : str, optional
        The identifier that the folder must have, ``folder`` of an earlier report. Only this check
        detects another folder of the same signer with its inventory.
    key, identities, context, format, max_work_factor
        As for ``decrypt_file``. Exactly one of ``key`` and ``identities`` is required.

    Returns
    -------
    InventoryReport
        ``differences`` is empty if the folder matches the inventory.

    Raises
    ------
    AuthenticationError
        If the signature is missing, made with another key, or does not match; if the counter is
        below ``min_counter``; if the inventory is of another folder; if the key is wrong.
    FormatError
        If the content is not an inventory, or a name in it leaves the folder.
    OSError, TypeError, ValueError
        As for ``decrypt_file``.

    Examples
    --------
    >>> report = sealane.verify_inventory("vault", "vault.inventory", signer="release.pub", key=key)
    >>> [difference.path for difference in report.differences]
    ['a.csv']
    """
    decryption = DecryptWith(key, identities, None, context, format, max_work_factor)
    vault, inventory, signer = _paths(vault=vault, inventory=inventory, signer=signer)
    counter, files, identifier, found = _native.compare_inventory_path(
        vault, inventory, decryption, signer, min_counter, folder
    )
    if identifier is None:
        warnings.warn(
            f"{inventory}: an inventory of version 1 does not prove which folder it lists, nor"
            " that holders of the keys changed no file; the next write_inventory writes version 2",
            stacklevel=2,
        )
    return InventoryReport(counter, files, tuple(Difference(*one) for one in found), identifier)


def _paths(**places: Path) -> Iterator[str]:
    for name, place in places.items():
        if (path := path_of(place)) is None:
            raise TypeError(f"{name} must be a path, not {type(place).__name__}")
        yield path
