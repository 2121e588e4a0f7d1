"""A filesystem of encrypted files, for all that reads and writes through fsspec: pandas, pyarrow, zarr, Dask.

::

    fsspec.open("sealane::s3://bucket/part.parquet", key="env:DATASET_KEY")

Every file is C2SP chunked-encryption@v1, what ``sealane.encrypt_file`` writes with a key. The filesystem
holds and pickles a key *reference*; each process that reads finds the key for itself. Needs fsspec.
"""

import atexit
import sys
import time

try:
    import fsspec as _fsspec  # noqa: F401
except ImportError as error:
    raise ImportError("sealane.fs needs fsspec: pip install 'sealane[fs]'") from error

from sealane.fs._dataset_key import create_dataset_key, rewrap_dataset_key
from sealane.fs._filesystem import SealaneFileSystem


def _give_way() -> None:
    """Lets pyarrow's threads drop the files that they have read. One that does so while the interpreter ends
    aborts the process (apache/arrow#36389), with any filesystem that is written in Python.
    """
    if "pyarrow" in sys.modules:
        time.sleep(0.01)


atexit.register(_give_way)

__all__ = ["SealaneFileSystem", "create_dataset_key", "rewrap_dataset_key"]
