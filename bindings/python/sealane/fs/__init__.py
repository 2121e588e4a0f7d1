"""An encrypting filesystem for fsspec users such as pandas, pyarrow, zarr and Dask.

It works over another fsspec filesystem: local files, memory, HTTP, S3, GCS and so on. This reads an
encrypted Parquet file on S3 and fetches only the parts it needs::

    import pandas

    frame = pandas.read_parquet(
        "sealane::s3://bucket/part.parquet", storage_options={"sealane": {"key": "env:DATASET_KEY"}}
    )

Every file has the format C2SP chunked-encryption@v1, as written by ``sealane.encrypt_file`` with a
key. The filesystem stores and pickles a key *reference* such as ``"env:DATASET_KEY"``, never the
key. Each process resolves the reference when it opens the first file.

The module needs the package fsspec: ``pip install 'sealane[fs]'``.
"""

try:
    import fsspec as _fsspec  # noqa: F401
except ImportError as error:
    raise ImportError("sealane.fs needs fsspec: pip install 'sealane[fs]'") from error

from sealane import _exit  # noqa: F401
from sealane.fs._dataset_key import create_dataset_key, rewrap_dataset_key
from sealane.fs._filesystem import SealaneFileSystem
from sealane.fs._rewrap import rewrap

__all__ = ["SealaneFileSystem", "create_dataset_key", "rewrap", "rewrap_dataset_key"]
