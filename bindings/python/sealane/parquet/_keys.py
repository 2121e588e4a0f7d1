"""``ParquetKeys``: the key properties of PyArrow, Polars and DuckDB."""

from __future__ import annotations

import base64
import datetime
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow.fs as pafs
import pyarrow.parquet.encryption as pe

from sealane._error_paths import about
from sealane._frames import forgetting
from sealane.exceptions import FormatError
from sealane.parquet import _opening
from sealane.parquet._client import KmsClient, check_names, find_key, single_key
from sealane.parquet._opening import Columns, EncryptedFile, Guard, PathOrFile, Requirement

if TYPE_CHECKING:
    import polars


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

    @forgetting
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
        TypeError, ValueError
            If PyArrow would change a column's name (empty, ':', ';', ',', spaces around it), or a
            column is listed twice.
        """
        found = _opening.listed(columns)
        for name in {footer, *found} - self._references.keys():
            find_key(self._references, name)
        return pe.EncryptionConfiguration(
            footer_key=footer,
            column_keys=found or None,
            uniform_encryption=not found,
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

    def open(
        self,
        source: PathOrFile,
        footer: str | None = None,
        columns: Columns | None = None,
        *,
        plaintext_footer: bool = False,
        filesystem: pafs.FileSystem | None = None,
    ) -> EncryptedFile:
        """Opens an encrypted Parquet file for PyArrow and Polars, and refuses every other file.

        Both engines accept a plaintext file in the place of an encrypted one, so do not give them
        paths. The footer is verified, and kept for the engine.

        Parameters
        ----------
        source : str, os.PathLike or binary file object
            The file.
        footer, columns : optional
            As for ``configuration``. The file must have been encrypted like this, or it is refused;
            without them, under any of the keys. Needed for files of Polars, which store no names.
        plaintext_footer : bool
            Whether the footer may be in cleartext. Its signature is verified.
        filesystem : pyarrow.fs.FileSystem, optional
            The filesystem of ``source``; by default the local one.

        Returns
        -------
        io.RawIOBase
            A binary file object for ``pyarrow.parquet`` and ``polars.read_parquet``.

        Raises
        ------
        FormatError
            If the file is not encrypted, or not like this.
        AuthenticationError
            If the footer was changed, or is under another key.
        KeyNotFoundError
            If the key of the footer has no reference, or its reference leads to no key.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> keys = sealane.parquet.ParquetKeys({"all": "env:TABLE_KEY"})
        >>> pq.write_table(table, "t.parquet", encryption_properties=keys.encryption("all"))
        >>> with keys.open("t.parquet", "all") as file:
        ...     table = pq.read_table(file, decryption_properties=keys.decryption(file))
        """
        return Requirement(self._references, footer, columns, plaintext_footer).open(source, filesystem)

    def filesystem(
        self,
        footer: str | None = None,
        columns: Columns | None = None,
        *,
        plaintext_footer: bool = False,
        filesystem: pafs.FileSystem | None = None,
    ) -> pafs.PyFileSystem:
        """Returns a filesystem for PyArrow's datasets that opens every file as ``open`` does.

        It is for reading, and pickles and logs contain no key. The parameters are those of
        ``open``.

        Examples
        --------
        >>> keys = sealane.parquet.ParquetKeys({"all": "env:TABLE_KEY"})
        >>> pq.write_table(table, "t.parquet", encryption_properties=keys.encryption("all"))
        >>> fs = keys.filesystem("all")
        >>> table = pq.read_table("t.parquet", filesystem=fs, decryption_properties=keys.decryption(fs))
        """
        below = pafs.LocalFileSystem() if filesystem is None else filesystem
        return pafs.PyFileSystem(
            Guard(below, Requirement(self._references, footer, columns, plaintext_footer))
        )

    def decryption(
        self,
        opened: EncryptedFile | pafs.PyFileSystem | None = None,
        *,
        external: str | os.PathLike[str] | None = None,
        filesystem: Any = None,
    ) -> Any:
        """Returns the ``decryption_properties`` for files read by PyArrow.

        Only the keys of the footer and the columns you read are needed.

        Parameters
        ----------
        opened : file of ``open``, or filesystem of ``filesystem``
            What PyArrow reads. It is not needed to decrypt; but PyArrow would accept a plaintext
            file from elsewhere.
        external : str or os.PathLike, optional
            The path of a Parquet file with its encrypted data keys in a file beside it.
        filesystem : pyarrow.fs.FileSystem, optional
            The filesystem of ``external``; by default the local one.

        Raises
        ------
        TypeError
            If ``opened`` is something else.
        """
        _check_opened(opened, "open", "filesystem")
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

    def dataset_decryption(self, filesystem: pafs.PyFileSystem | None = None) -> Any:
        """Returns the ``decryption_config`` for ``pyarrow.dataset.ParquetFragmentScanOptions``.

        ``filesystem`` is the one that ``filesystem`` returned, and that the dataset must have:
        PyArrow would accept plaintext files from another.

        Raises
        ------
        TypeError
            If it is something else.
        """
        import pyarrow.dataset as ds

        _check_opened(filesystem, "filesystem")
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

    @forgetting
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

        key, column_keys = self._single_keys(footer, columns)
        return polars.ParquetEncryptionProperties(
            footer_key=key, column_keys=column_keys or None, plaintext_footer=plaintext_footer
        )

    @forgetting
    def polars_decryption(
        self,
        footer: str | None = None,
        columns: Mapping[str, str] | None = None,
        *,
        source: EncryptedFile | None = None,
    ) -> polars.ParquetDecryptionProperties:
        """Returns the ``decryption`` for a file read by Polars.

        Parameters
        ----------
        footer, columns
            As for ``polars_encryption``, for files of Polars: the named keys themselves. For files
            of PyArrow they are left out: the data keys in the file are decrypted. Keys without a
            reference are left out, so that the other columns can be read.
        source : file of ``open``
            The file that Polars reads.

        Raises
        ------
        TypeError
            If ``source`` is something else: Polars would accept a plaintext file.
        """
        import polars

        _check_opened(source, "open")
        assert source is not None
        key, column_keys = self._data_keys(source) if footer is None else self._single_keys(footer, columns)
        return polars.ParquetDecryptionProperties(footer_key=key, column_keys=column_keys or None)

    @forgetting
    def add_to_duckdb(self, connection: Any, name: str, *, source: PathOrFile | None = None) -> None:
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
        if source is None:
            key = bytes(single_key(self._references, name))
        else:
            with self.open(source) as file:
                key = self._data_keys(file)[0]
        text = base64.b64encode(key).decode()
        try:
            connection.execute(f"PRAGMA add_parquet_key('{name}', '{text}')")
            return
        except Exception as error:
            # The error's text can contain the statement.
            shown = f"{type(error).__name__}: {error}".replace(text, "…")
        # Raised here to have no context: the error of DuckDB holds the statement.
        raise OSError(f"DuckDB did not take the key {name!r}: {shown}")

    @forgetting
    def _single_keys(self, footer: str, columns: Mapping[str, str] | None) -> tuple[bytes, dict[str, bytes]]:
        key = bytes(single_key(self._references, footer))
        return key, {path: bytes(single_key(self._references, n)) for path, n in (columns or {}).items()}

    @forgetting
    def _data_keys(self, file: EncryptedFile) -> tuple[bytes, dict[str, bytes]]:
        """Returns a file's footer data key, and those of its columns that can be decrypted."""
        client = KmsClient(self._references)
        with about(file.name):
            if file.footer.key is None:
                raise FormatError("the file does not store its keys as PyArrow does; give their names")
            footer = _opening.data_key(client, _opening.material(file.footer.key, file.store))
            columns = {}
            for path, _, stored in file.footer.columns:
                found = None if stored is None else _opening.material(stored, file.store)
                if found is not None and found["masterKeyID"] in self._references:
                    columns[path] = _opening.data_key(client, found)
            return footer, columns


_LIFETIME = datetime.timedelta(minutes=5)
"""How long PyArrow keeps a client and the keys it found."""


def _check_opened(opened: object, *methods: str) -> None:
    guarded = isinstance(opened, pafs.PyFileSystem) and isinstance(opened.handler, Guard)
    found = "filesystem" if guarded else "open" if isinstance(opened, EncryptedFile) else None
    if found not in methods:
        expected = " or ".join(f"ParquetKeys.{name}" for name in methods)
        raise TypeError(
            f"expected what {expected} returned, found {type(opened).__name__}: of other files, the engine "
            "accepts plaintext in the place of encrypted data"
        )
