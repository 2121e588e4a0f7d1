"""Encrypted folders by their plaintext names: one key, one path, and no other option."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sealane._bulk import BulkReport, Progress, finished, reported
from sealane._endpoints import Path, name_of, patterns
from sealane._frames import forgetting
from sealane._native import DescribedFolder, Job, Reader, Vault, split_reference
from sealane._open import EncryptedReader
from sealane.exceptions import SealaneError, escaped

if TYPE_CHECKING:
    from sealane._endpoints import FileKey, Recipients, Text
    from sealane._native import Key

    _Errors = Literal["raise", "return"]

_BATCH = 64


@dataclasses.dataclass(frozen=True)
class FolderEntry:
    """A name in an encrypted folder, decrypted."""

    path: str
    """Path below the folder, with ``/`` between names."""
    kind: Literal["file", "folder", "link"]
    """What it is."""
    size: int
    """Plaintext bytes of a file, as its length tells; ``Folder.open`` verifies it."""
    modified: float | None
    """When the encrypted file was changed, in seconds since 1970."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


class Folder:
    """An encrypted folder that describes itself, or a vault of gocryptfs, Cryptomator or rclone.

    A folder's file ``.sealane`` says how names are made, and contains its keys, encrypted.
    ``Folder.create`` and ``sealane init`` write it. Vaults of other tools, and folders at a URL, are
    read only. A name that does not decrypt is not listed, and a warning names it; ``verify`` and
    ``decrypt_to`` report it.

    Parameters
    ----------
    path : str or os.PathLike
        The folder, or its URL for fsspec, such as ``"s3://bucket/folder"``. A str may end in ``"#"``
        and its ``fingerprint``, which pins the keys. Without it, keys that an identity or a key
        service decrypts are checked by the user's file of known keys.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring or str
        The key that it was created with, or a reference to it.
    identity : str, sealane.keys.Key or os.PathLike
        The private key of a recipient, or a reference to it.
    passphrase : str or bytes
        The passphrase that it was created with; that of a vault.
    rclone : str
        The crypt remote in the user's ``rclone.conf`` that has the passwords of the vault, instead.
    storage_options : dict
        Options of the filesystem at a URL.

    Raises
    ------
    NoMatchingKeyError
        If the key or the identity does not open the folder.
    AuthenticationError
        If the description was changed without the key, or the keys are not the known ones.
    FormatError, UnsupportedVersionError, ValueError
        If ``.sealane`` is not a description, is of a later version, or is missing or there twice.
    TypeError
        Unless exactly one of ``key``, ``identity`` and ``passphrase`` is given.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> key = sealane.keys.generate("aes-256")
    >>> folder = sealane.Folder.create("vault", key=key, encrypt_names=True)
    >>> folder.encrypt_from("photos")
    <BulkReport: 3 done, 0 skipped, 0 failed, 30 bytes>
    >>> [entry.path for entry in sealane.Folder("vault", key=key).ls()]
    ['a.jpg', 'b.jpg', 'c.tmp']
    """

    @forgetting
    def __init__(
        self,
        path: Path,
        *,
        key: FileKey | str | None = None,
        identity: str | Key | os.PathLike[str] | None = None,
        passphrase: Text | None = None,
        rclone: str | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        name, fingerprint = split_reference(name_of(path))
        place: tuple[Any, str, str | None] = None, name, None
        if "://" in name:
            from sealane.fs._stored import at_url  # fsspec is optional.

            place = at_url(name, storage_options or {})
        elif storage_options is not None:
            raise TypeError(f"{escaped(name)}: storage_options are for a URL")
        self._open_at(place, fingerprint, key=key, identity=identity, passphrase=passphrase, rclone=rclone)

    @classmethod
    def _on(cls, place: tuple[Any, str, str | None], fingerprint: str | None, **keys: Any) -> Folder:
        """Opens a folder on a filesystem."""
        folder = cls.__new__(cls)
        folder._open_at(place, fingerprint, **keys)
        return folder

    def _open_at(
        self,
        place: tuple[Any, str, str | None],
        fingerprint: str | None,
        *,
        identity: str | Key | os.PathLike[str] | None,
        rclone: str | None,
        **keys: Any,
    ) -> None:
        self._storage, self._path, description = place
        if rclone is not None:
            if identity is not None or any(key is not None for key in keys.values()):
                raise TypeError(
                    "rclone.conf has the passwords: give no key, identity or passphrase with rclone"
                )
            self._vault = Vault.rclone(self._path, self._storage, rclone)
        else:
            self._vault = Vault.open(
                self._path,
                storage=self._storage,
                description=description,
                identities=None if identity is None else [identity],
                fingerprint=fingerprint,
                **keys,
            )
        if fingerprint is not None and self._vault.described is None:
            raise ValueError(
                f"{escaped(self._path)}: expected no fingerprint: found a vault of another tool, "
                "which has none"
            )

    @classmethod
    @forgetting
    def create(
        cls,
        path: Path,
        *,
        key: FileKey | str | None = None,
        recipients: Recipients | None = None,
        wrapping_key: str | None = None,
        passphrase: Text | None = None,
        suffix: str = ".sealed",
        encrypt_names: bool = False,
        preserve: bool = False,
        write_only: bool = False,
        sign_key: Path | None = None,
        sign_passphrase: Text | None = None,
    ) -> Folder:
        """Makes a folder with new keys, or takes an empty one.

        Parameters
        ----------
        path : str or os.PathLike
            The new or empty folder.
        key : bytes-like, sealane.keys.Key, sealane.keys.Keyring or str
            The key that encrypts the keys of the folder, or a reference to it.
        recipients : list of str or sealane.keys.PublicKey
            The public keys that can open it, instead. Their names are in the description.
        wrapping_key : str
            A key of a key service or a token, instead: "aws-kms:ARN", "vault:MOUNT/KEY" or
            "pkcs11:URI".
        passphrase : str or bytes
            A passphrase, instead.
        suffix : str
            Suffix of encrypted files; may be empty.
        encrypt_names : bool
            Whether to encrypt names of files and folders, and the paths in links.
        preserve : bool
            Whether to keep modes, modification times and symbolic links.
        write_only : bool
            Whether to make each file an age file for ``recipients``, so that who writes cannot read.
            Names are not encrypted.
        sign_key : str or os.PathLike
            With ``write_only``: the OpenSSH or minisign key that signs the description. ``sealane
            verify --signer`` checks the signature.
        sign_passphrase : str or bytes
            The passphrase of ``sign_key``, if encrypted.

        Raises
        ------
        ValueError
            If it has a description or files, the suffix contains a separator, ``write_only`` is without
            ``recipients`` or with ``encrypt_names``, or ``sign_key`` is without ``write_only``.
        TypeError
            Unless exactly one of the four is given.
        OSError
            If it cannot be written.

        Examples
        --------
        >>> alice = sealane.keys.generate("age")
        >>> folder = sealane.Folder.create("shared", recipients=[alice.public])
        >>> sealane.Folder("shared", identity=alice).identifier == folder.identifier
        True
        """
        if "://" in (name := name_of(path)):
            raise ValueError(
                f"{escaped(name)}: expected a local folder: one at a URL is read only; make it on disk and "
                "upload it, or write encrypted files with fsspec and 'sealane::'"
            )
        if key is not None and wrapping_key is not None:
            raise TypeError("give exactly one of key, recipients, wrapping_key and passphrase")
        folder = cls.__new__(cls)
        folder._storage, folder._path = None, name
        folder._vault = Vault.create(
            folder._path,
            key=key if wrapping_key is None else wrapping_key,
            recipients=recipients,
            passphrase=passphrase,
            suffix=suffix,
            encrypt_names=encrypt_names,
            preserve=preserve,
            write_only=write_only,
            sign_key=None if sign_key is None else name_of(sign_key),
            sign_passphrase=sign_passphrase,
        )
        return folder

    def __repr__(self) -> str:
        return f"<sealane.Folder {self._path!r}>"

    def __reduce__(self) -> str:
        raise TypeError("a folder is never pickled or copied: it holds keys")

    @property
    def _native(self) -> DescribedFolder:
        if (found := self._vault.described) is None:
            raise ValueError(
                f"{escaped(self._path)}: expected a folder that describes itself, found a vault of "
                "another tool, which is read only"
            )
        return found

    @property
    def _is_read_only(self) -> bool:
        # Its jobs are those of vaults.
        return self._storage is not None or self._vault.described is None

    @property
    def _local(self) -> DescribedFolder:
        if self._storage is not None:
            raise ValueError(f"{escaped(self._path)}: expected a local folder: one at a URL is read only")
        return self._native

    @property
    def path(self) -> str:
        """The path of the folder."""
        return self._path

    @property
    def identifier(self) -> str:
        """The identifier of the folder: 32 hexadecimal digits."""
        return self._native.identifier

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the folder's keys: ``f"{path}#{fingerprint}"`` pins them. It changes
        with ``sealane rotate``.
        """
        return self._native.fingerprint

    @property
    def suffix(self) -> str:
        """The suffix of encrypted files."""
        return self._native.suffix

    @property
    def encrypts_names(self) -> bool:
        """Whether names are encrypted."""
        return self._native.encrypts_names

    @property
    def preserves(self) -> bool:
        """Whether modes, modification times and symbolic links are kept."""
        return self._native.preserves

    def encrypt_from(
        self,
        data: Path,
        *,
        delete: bool | Literal["all"] = False,
        manifest: Path | bool = False,
        exclude: Iterable[str] = (),
        progress: Progress | None = None,
        durable: bool = False,
        dry_run: bool = False,
        errors: _Errors = "raise",
    ) -> BulkReport:
        """Encrypts every file below the folder ``data``, as ``sealane.encrypt_tree`` does.

        Parameters
        ----------
        data : str or os.PathLike
            The folder with the plaintext.
        manifest : str, os.PathLike or bool
            The list of finished files, to process only new and changed ones the next time. True
            keeps it in its default place, in the user's folder for state.
        delete, exclude, progress, durable, dry_run, errors
            See ``sealane.encrypt_tree``.

        Examples
        --------
        >>> folder = sealane.Folder.create("backup", key=key)
        >>> folder.encrypt_from("photos", exclude=["*.tmp"])
        <BulkReport: 2 done, 0 skipped, 0 failed, 20 bytes>
        """
        native = self._local
        place = native.manifest() if manifest is True else manifest or None
        job = Job.tree(
            name_of(data),
            self._path,
            batch=_BATCH,
            manifest=None if place is None else name_of(place),
            durable=durable,
            exclude=patterns(exclude),
            delete=delete,
            dry_run=dry_run,
            described=native,
        )
        return self._run("encrypt", job, progress, errors)

    def decrypt_to(
        self,
        out: Path,
        *,
        exclude: Iterable[str] = (),
        preserve_all: bool = False,
        progress: Progress | None = None,
        durable: bool = False,
        dry_run: bool = False,
        errors: _Errors = "raise",
    ) -> BulkReport:
        """Decrypts every file to the folder ``out``, as ``sealane.decrypt_tree`` does.

        ``preserve_all`` is its ``preserve="all"``, for a folder that preserves. See there for the
        other parameters. Of a vault, or a folder at a URL, times and links are kept.

        Examples
        --------
        >>> sealane.Folder("vault", key=key).decrypt_to("restored")
        <BulkReport: 2 done, 0 skipped, 0 failed, 164 bytes>
        """
        preserve = "all" if preserve_all else self._is_read_only
        options = {"preserve": preserve, "durable": durable, "dry_run": dry_run}
        return self._read(name_of(out), exclude, progress, errors, **options)

    def verify(
        self,
        *,
        exclude: Iterable[str] = (),
        progress: Progress | None = None,
        errors: _Errors = "raise",
    ) -> BulkReport:
        """Verifies every byte of every file, and every name, as ``sealane.verify_tree`` does.

        Examples
        --------
        >>> sealane.Folder("vault", key=key).verify().failed
        {}
        """
        return self._read(None, exclude, progress, errors)

    def _read(
        self, out: str | None, exclude: Iterable[str], progress: Progress | None, errors: str, **options: Any
    ) -> BulkReport:
        """Decrypts every file to a folder; without one, verifies it."""
        options["exclude"] = patterns(exclude)
        if self._is_read_only:
            return reported(partial(self._vault.run, out, progress=progress, **options), errors)
        job = Job.tree(self._path, out, batch=_BATCH, removes_suffix=True, described=self._local, **options)
        return self._run("verify" if out is None else "decrypt", job, progress, errors)

    def ls(self, path: str = "") -> list[FolderEntry]:
        """Lists the folder at a plaintext path, sorted by name. Warns of names that do not decrypt,
        or lack the suffix, and leaves them out.

        Raises
        ------
        OSError
            If there is no such folder, or it cannot be read.

        Examples
        --------
        >>> [(entry.name, entry.size) for entry in folder.ls()]
        [('a.jpg', 10), ('b.jpg', 10)]
        """
        start = path.strip("/")
        prefix = f"{start}/" if start else ""
        return [
            FolderEntry(prefix + name, kind, size, at) for name, kind, size, at in self._vault.entries(path)
        ]

    def _find(self, path: str) -> FolderEntry:
        """Returns the entry at a plaintext path."""
        _, kind, size, modified = self._vault.find(path)
        return FolderEntry(path.strip("/"), kind, size, modified)

    def walk(self, path: str = "") -> Iterator[FolderEntry]:
        """Lists everything below a plaintext path, each folder before what is in it.

        Examples
        --------
        >>> sum(entry.size for entry in folder.walk())
        20
        """
        for entry in self.ls(path):
            yield entry
            if entry.kind == "folder":
                yield from self.walk(entry.path)

    def open(self, path: str) -> EncryptedReader:
        """Opens a file by its plaintext path, as ``sealane.open`` does.

        Examples
        --------
        >>> with folder.open("a.jpg") as file:
        ...     _ = file.seek(8)
        ...     file.read()
        b'89'
        """
        return EncryptedReader(os.path.join(self._path, path), self._contents(path))

    def _contents(self, path: str) -> Reader:
        try:
            return self._vault.open_file(path)
        except (SealaneError, OSError):
            if self._storage is None:
                raise
            self._storage.refresh()
        return self._vault.open_file(path)

    def read_link(self, path: str) -> str:
        """Returns the path in a symbolic link, decrypted.

        Examples
        --------
        >>> folder.read_link("newest")
        'a.jpg'
        """
        return self._vault.read_link(path)

    def _run(self, verb: str, job: Job, progress: Progress | None, errors: str) -> BulkReport:
        operation = self._native.operation(verb)
        return finished(job, lambda: job.run(operation, progress), errors)
