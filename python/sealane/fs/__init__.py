"""A filesystem of encrypted files, for all that reads and writes through fsspec: pandas, pyarrow, zarr, Dask.

::

    fsspec.open("sealane::s3://bucket/part.parquet", key="env:DATASET_KEY")

Every file is C2SP chunked-encryption@v1, what ``sealane.encrypt_file`` writes with a key. The filesystem
holds and pickles a key *reference*; each process that reads finds the key for itself. Needs fsspec.
"""

try:
    import fsspec as _fsspec  # noqa: F401
except ImportError as error:
    raise ImportError("sealane.fs needs fsspec: pip install 'sealane[fs]'") from error

from sealane.fs._dataset_key import create_dataset_key, rewrap_dataset_key
from sealane.fs._filesystem import SealaneFileSystem

__all__ = ["SealaneFileSystem", "create_dataset_key", "rewrap_dataset_key"]
