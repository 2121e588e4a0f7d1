"""Parquet modular encryption with sealane's keys; columns can have their own.

The engine encrypts: PyArrow, Polars or DuckDB. sealane supplies the keys, from the same references
as for files and datasets::

    import pyarrow.parquet as pq

    keys = sealane.parquet.ParquetKeys({"all": "env:TABLE_KEY", "pii": "file:pii.keyring"})
    pq.write_table(table, "people.parquet", encryption_properties=keys.encryption("all", {"pii": ["name"]}))
    with keys.open("people.parquet") as file:
        table = pq.read_table(file, decryption_properties=keys.decryption(file))

PyArrow gives each file its own data keys and stores them in the file, encrypted under the named
keys. The format is Apache Parquet's. To encrypt whole files of any kind, use ``sealane.fs``.

The module needs the package pyarrow. Polars and DuckDB are imported only by the methods that use
them.
"""

try:
    import pyarrow.parquet.encryption as _encryption  # noqa: F401
except ImportError as error:
    raise ImportError("sealane.parquet needs pyarrow: pip install 'sealane[parquet]'") from error

from sealane import _exit  # noqa: F401
from sealane.parquet._client import KmsClient
from sealane.parquet._keys import ParquetKeys

__all__ = ["KmsClient", "ParquetKeys"]
