"""``ParquetKeys``: the key properties of PyArrow, Polars and DuckDB."""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import pyarrow.parquet.encryption as pe

from sealane._error_paths import about
from sealane._native import Aead, Keyring
from sealane.exceptions import AuthenticationError, FormatError, SealaneError
from sealane.parquet._client import KmsClient, algorithm_of, check_names, find_key
from sealane.parquet._footer import read_metadata

if TYPE_CHECKING:
    import polars

Columns: TypeAlias = Mapping[str, Iterable[str]]


class ParquetKeys:
    """The keys of encrypted Parquet files, by the names in the files.

    Parameters
    ----------
    keys : dict of str to str
        Key references by name, for example ``{"all": "env:TABLE_KEY", "pii": "file:pii.keyring"}``.
        They are resolved on first use of a name. The object can be pickled: it contains only
        references.

    Raises
    ------
    TypeError, ValueError
        If a name is not a str or is empty, or a reference is malformed.

    Examples
    --------
    >>> keys = sealane.parquet.ParquetKeys({"all": "env:TABLE_KEY", "pii": "env:PII_KEY"})
    >>> pq.write_table(table, "t.parquet", encryption_properties=keys.encryption("all", {"pii": ["name"]}))
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._references = check_names(keys)
        self._made: pe.CryptoFactory | None = None

    def __repr__(self) -> str:
        return f"ParquetKeys({self._references!r})"

    def __reduce__(self) -> Any:
        return ParquetKeys, (self._references,)

    @property
    def crypto_factory(self) -> pe.CryptoFactory:
        """PyArrow's ``CryptoFactory`` with these keys, for its other calls."""
        if self._made is None:
            self._made = pe.CryptoFactory(lambda _: KmsClient(self._references))
        return self._made

    def configuration(
        self,
        footer: str,
        columns: Columns | None = None,
        *,
        plaintext_footer: bool = False,
        external: bool = False,
    ) -> pe.EncryptionConfiguration:
        """Returns PyArrow's configuration of keys and columns.

        Parameters
        ----------
        footer : str
            The name of the footer key; the footer contains the schema and statistics. Without
            ``columns``, it also encrypts all columns.
        columns : dict of str to list of str, optional
            Columns by key name. Columns not listed are **not encrypted**.
        plaintext_footer : bool
            Whether readers without the footer key can read the schema and the unencrypted columns.
        external : bool
            Whether to store the encrypted data keys in a file beside the Parquet file, so that
            ``rotate_master_keys`` can re-encrypt them without changing the Parquet file.

        Raises
        ------
        KeyNotFoundError
            If a name has no reference.
        """
        listed = {name: list(paths) for name, paths in (columns or {}).items()}
        for name in (footer, *listed):
            _known(self._references, name)
        return pe.EncryptionConfiguration(
            footer_key=footer,
            column_keys=listed or None,
            uniform_encryption=not listed,
            plaintext_footer=plaintext_footer,
            internal_key_material=not external,
            # PyArrow's default is 128-bit keys.
            data_key_length_bits=256,
            cache_lifetime=_LIFETIME,
        )

    def encryption(
        self,
        footer: str,
        columns: Columns | None = None,
        *,
        plaintext_footer: bool = False,
        external: str | os.PathLike[str] | None = None,
        filesystem: Any = None,
    ) -> Any:
        """Returns the ``encryption_properties`` for a file written by PyArrow.

        Parameters
        ----------
        footer, columns, plaintext_footer
            As for ``configuration``.
        external : str or os.PathLike, optional
            The path of the Parquet file, to store its encrypted data keys in a file beside it.
        filesystem : pyarrow.fs.FileSystem, optional
            The filesystem of that file.
        """
        configuration = self.configuration(
            footer, columns, plaintext_footer=plaintext_footer, external=external is not None
        )
        return self.crypto_factory.file_encryption_properties(
            pe.KmsConnectionConfig(), configuration, external, filesystem
        )

    def decryption(self, *, external: str | os.PathLike[str] | None = None, filesystem: Any = None) -> Any:
        """Returns the ``decryption_properties`` for files read by PyArrow.

        Only the keys of the columns you read are needed. ``external`` is the path of a Parquet file
        with its encrypted data keys in a file beside it, and ``filesystem`` is its
        ``pyarrow.fs.FileSystem``; by default the local one.
        """
        configuration = pe.DecryptionConfiguration(cache_lifetime=_LIFETIME)
        return self.crypto_factory.file_decryption_properties(
            pe.KmsConnectionConfig(), configuration, external, filesystem
        )

    def dataset_encryption(
        self, footer: str, columns: Columns | None = None, *, plaintext_footer: bool = False
    ) -> Any:
        """Returns the ``encryption_config`` for files written by ``pyarrow.dataset.write_dataset``.

        ``footer``, ``columns`` and ``plaintext_footer`` are as for ``configuration``.
        """
        import pyarrow.dataset as ds

        configuration = self.configuration(footer, columns, plaintext_footer=plaintext_footer)
        return ds.ParquetEncryptionConfig(self.crypto_factory, pe.KmsConnectionConfig(), configuration)

    def dataset_decryption(self) -> Any:
        """Returns the ``decryption_config`` for ``pyarrow.dataset.ParquetFragmentScanOptions``."""
        import pyarrow.dataset as ds

        configuration = pe.DecryptionConfiguration(cache_lifetime=_LIFETIME)
        return ds.ParquetDecryptionConfig(self.crypto_factory, pe.KmsConnectionConfig(), configuration)

    def rotate_master_keys(self, path: str | os.PathLike[str], filesystem: Any = None) -> None:
        """Re-encrypts a file's data keys under the keys that the names lead to now.

        The Parquet file at ``path`` is not changed, only the file with its data keys beside it
        (``external``). ``filesystem`` is its ``pyarrow.fs.FileSystem``; by default the local one.
        For example, first rotate the keyring behind a name, and disable its old key afterwards.

        Raises
        ------
        KeyNotFoundError, AuthenticationError
            If a key of the file has no reference, or its reference leads to another key.
        OSError
            If the file with the data keys cannot be read or written.
        """
        # A new factory, because another one caches the keys of earlier calls.
        factory = pe.CryptoFactory(lambda _: KmsClient(self._references))
        with about(os.fspath(path)):
            factory.rotate_master_keys(pe.KmsConnectionConfig(), path, filesystem)

    # Engines that take the keys themselves

    def polars_encryption(
        self, footer: str, columns: Mapping[str, str] | None = None, *, plaintext_footer: bool = False
    ) -> polars.ParquetEncryptionProperties:
        """Returns the ``encryption`` for files written by Polars, with the named keys themselves.

        Parameters
        ----------
        footer : str
            The name of the footer key; without ``columns``, the key of all columns.
        columns : dict of str to str, optional
            The key name of each encrypted column. Other columns are **not encrypted**.
        plaintext_footer : bool
            Whether readers without the footer key can read the schema and the unencrypted columns.

        Raises
        ------
        ValueError
            If a reference leads to a keyring: Polars takes one key.
        """
        import polars

        return polars.ParquetEncryptionProperties(
            footer_key=self._raw(footer),
            column_keys={path: self._raw(name) for path, name in (columns or {}).items()} or None,
            plaintext_footer=plaintext_footer,
        )

    def polars_decryption(
        self,
        footer: str | None = None,
        columns: Mapping[str, str] | None = None,
        *,
        source: str | os.PathLike[str] | IO[bytes] | None = None,
    ) -> polars.ParquetDecryptionProperties:
        """Returns the ``decryption`` for files read by Polars.

        Parameters
        ----------
        footer, columns
            As for ``polars_encryption``: the named keys themselves, for files of Polars.
        source : str, os.PathLike or binary file object
            Instead, a file written by PyArrow with ``encryption``. Its data keys are decrypted.
            Keys without a reference are left out, so that the other columns can be read.
        """
        import polars

        if (footer is None) == (source is None):
            raise TypeError("give either the names of the keys, or the file that PyArrow has written")
        if source is not None:
            key, column_keys = self._data_keys(source)
        else:
            assert footer is not None
            key, column_keys = self._raw(footer), {p: self._raw(name) for p, name in (columns or {}).items()}
        return polars.ParquetDecryptionProperties(footer_key=key, column_keys=column_keys or None)

    def add_to_duckdb(
        self, connection: Any, name: str, *, source: str | os.PathLike[str] | IO[bytes] | None = None
    ) -> None:
        """Adds a key to a DuckDB connection, for ``encryption_config = {footer_key: 'NAME'}``.

        DuckDB 2.0 supports one key per file. It holds the key until the connection is closed.

        Parameters
        ----------
        connection : duckdb.DuckDBPyConnection
            The connection. The key is part of a statement, so do not log statements during the
            call.
        name : str
            The name of the key, also in DuckDB.
        source : str, os.PathLike or binary file object, optional
            A file written by PyArrow with ``encryption``; its data key is added under the name.
        """
        if not name.isidentifier():
            raise ValueError(f"{name!r}: DuckDB takes names of letters, digits and '_'")
        key = self._raw(name) if source is None else self._data_keys(source)[0]
        text = base64.b64encode(key).decode()
        try:
            connection.execute(f"PRAGMA add_parquet_key('{name}', '{text}')")
        except Exception as error:
            # The error's text can contain the statement.
            shown = str(error).replace(text, "…")
            raise OSError(f"DuckDB did not take the key {name!r}: {type(error).__name__}: {shown}") from None

    def _raw(self, name: str) -> bytes:
        key = find_key(self._references, name)
        if isinstance(key, Keyring):
            raise ValueError(f"master key {name!r}: expected a single key, found a keyring; use PyArrow")
        algorithm_of(name, bytes(key))
        return bytes(key)

    def _data_keys(self, source: str | os.PathLike[str] | IO[bytes]) -> tuple[bytes, dict[str, bytes]]:
        """Returns a file's footer data key, and those of its columns that can be decrypted."""
        client = KmsClient(self._references)
        with _opened(source) as (file, path), about(path):
            metadata = read_metadata(file, lambda stored: _unwrapped(client, stored))
            footer = _unwrapped(client, metadata.footer)
            columns = {}
            for column, stored in metadata.columns.items():
                if _material(stored).get("masterKeyID") in self._references:
                    columns[column] = _unwrapped(client, stored)
            return footer, columns


_LIFETIME = datetime.timedelta(minutes=5)
"""How long PyArrow keeps a client and the keys it found."""


def _known(references: Mapping[str, str], name: str) -> None:
    if name not in references:
        find_key(references, name)


@contextlib.contextmanager
def _opened(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[tuple[IO[bytes], str]]:
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield file, os.fspath(source)
        return
    position = source.tell()
    yield source, str(getattr(source, "path", getattr(source, "name", "the file")))
    source.seek(position)


def _material(stored: bytes) -> dict[str, Any]:
    """Returns the key material stored by PyArrow and Spark: JSON that names the master key."""
    try:
        material = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "the file does not store its keys as PyArrow does; give the keys themselves"
        ) from error
    if not isinstance(material, dict) or material.get("keyMaterialType") != "PKMT1":
        raise FormatError("the file does not store its keys as PyArrow does; give the keys themselves")
    if material.get("internalStorage") is not True:
        raise FormatError("the keys of the file are in a file beside it, which only PyArrow reads")
    return material


def _unwrapped(client: KmsClient, stored: bytes) -> bytes:
    """Returns a data key, encrypted directly by the master key or by a key it encrypts."""
    material = _material(stored)
    try:
        master, wrapped = str(material["masterKeyID"]), str(material["wrappedDEK"])
        if material["doubleWrapping"] is not True:
            return client.unwrap_key(wrapped, master)
        kek = client.unwrap_key(str(material["wrappedKEK"]), master)
        identifier = base64.b64decode(str(material["keyEncryptionKeyID"]), validate=True)
        return bytes(
            Aead(algorithm_of(master, kek), kek).open(base64.b64decode(wrapped, validate=True), identifier)
        )
    except AuthenticationError:
        raise
    except (KeyError, binascii.Error, ValueError) as error:
        raise FormatError(f"the stored key of the file is malformed: {type(error).__name__}") from error
    except SealaneError:
        raise
