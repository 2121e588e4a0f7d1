"""Changes the recipients of an age file on another filesystem.

On S3, the store copies the content itself (UploadPartCopy). There, every part but the last must
have at least 5 MiB, so we download the first bytes of the content and upload them with the new
header as the first part.
"""

from __future__ import annotations

import contextlib
import errno
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fsspec.asyn import sync
from fsspec.implementations.local import LocalFileSystem

from sealane import _native
from sealane._error_paths import about, asking
from sealane._frames import forgetting
from sealane.fs._store import Store, checked, complete, filesystem_of
from sealane.fs._writing import Upload

if TYPE_CHECKING:
    from sealane._endpoints import Identities, Progress, Recipients, Text

HEADER: Final = 64 << 10
"""Bytes fetched first. Most headers have less than 1 KiB."""
PIECE: Final = 8 << 20
"""Bytes copied at once from a filesystem other than S3."""
FIRST_PART: Final = 5 << 20
"""Minimum size in bytes of an S3 part other than the last."""
NONCE: Final = 16
"""Bytes between the header and the first chunk."""
CHUNK: Final = (64 << 10) + 16
"""Bytes of a chunk with its tag."""
COPIED_PART: Final = 128 << 20
"""Bytes S3 copies per request, unless that would exceed S3's number of parts."""
MAX_PARTS: Final = 10_000
COPIES: Final = 8
"""Copy requests in flight; each copies one part."""

_KEPT: Final = (
    *("CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType", "Expires"),
    *("Metadata", "StorageClass", "WebsiteRedirectLocation"),
    *("ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled"),
)
"""Properties that the new object keeps."""


@forgetting
def rewrap(
    url: str,
    dst: str | None = None,
    *,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    recipients: Recipients | None = None,
    new_passphrase: Text | None = None,
    max_work_factor: int | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Changes the recipients or the passphrase of an age file on an fsspec filesystem.

    On S3, the store copies the content: for an object of any size, less than 6 MiB are downloaded
    and uploaded. From other filesystems, the content is downloaded and uploaded piece by piece.
    What is downloaded is verified before it replaces anything. The new object appears complete or
    not at all. If the old one changes during the call, the call fails and replaces nothing. The
    file key is unwrapped twice: for the new header, and to verify.

    .. warning::
        The content key stays the same, as for ``sealane.rewrap``. In a versioned bucket, old
        versions stay readable for former recipients.

    Parameters
    ----------
    url : str
        The URL of a binary age file, such as ``"s3://bucket/backup.age"``.
    dst : str, optional
        The URL of the new file. By default, the old one is replaced. If both URLs are on S3, the
        store copies the content, also between buckets.
    identities, passphrase, recipients, new_passphrase, max_work_factor
        As for ``sealane.rewrap``.
    progress : callable, optional
        Called with the number of bytes copied and their total. An exception cancels the call.
    storage_options : dict, optional
        Options for the fsspec filesystem that opens the URLs.

    Raises
    ------
    NoMatchingKeyError, FormatError, TruncatedError, LimitExceededError
        As for ``sealane.rewrap``.
    AuthenticationError
        If the content that was downloaded was changed. Nothing is replaced.
    ValueError
        If the file is armored. Rewrap a local copy.
    OSError
        If the file cannot be read or written, or changed during the call. Nothing is replaced.

    Notes
    -----
    On S3, the new object keeps metadata, content type, tags, storage class and the store's kind of
    encryption. It does not keep access control lists and locks; the bucket's settings can supply
    them.

    Examples
    --------
    >>> sealane.fs.rewrap("s3://bucket/backup.age", identities=[alice], recipients=[alice.public, bob.public])
    """
    keys = _native.RewrapWith(identities, passphrase, max_work_factor, recipients, new_passphrase)
    rewrap_with(url, url if dst is None else dst, keys, progress, storage_options)


def rewrap_with(
    url: str,
    dst: str,
    keys: _native.RewrapWith,
    progress: Progress | None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Does the work of ``rewrap``. The program calls it as well."""
    options = dict(storage_options or {})
    (fs, path), (to, target) = filesystem_of(url, options), filesystem_of(dst, options)
    if isinstance(fs, LocalFileSystem) and isinstance(to, LocalFileSystem):
        _native.rewrap_path(path, target, keys, None, progress, False)
    elif _is_s3(fs) and to is fs:
        _rewrap_on_s3(fs, path, target, keys, progress)
    else:
        _rewrap_by_copying(fs, path, to, target, keys, progress)
    to.invalidate_cache(target)


def _is_s3(fs: Any) -> bool:
    """Returns whether a filesystem is s3fs."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    return "s3" in protocols and callable(getattr(fs, "call_s3", None))


def _new_header(
    keys: _native.RewrapWith, path: str, size: int, fetch: Callable[[int, int], bytes]
) -> tuple[bytes, int, bytes]:
    """Returns the new header, the old header's length, and the beginning of the old file."""
    beginning = b""
    while True:
        # Doubled until the header is complete. The parser refuses one that is too long.
        end = min(size, max(HEADER, 2 * len(beginning)))
        beginning += complete(fetch(len(beginning), end), end - len(beginning), path)
        with about(path):
            found = keys.new_header(beginning, size)
        if found is not None:
            return *found, beginning


def _verify(keys: _native.RewrapWith, beginning: bytes, is_all: bool, path: str) -> None:
    """Verifies the chunks of a file's beginning: what was damaged on its way must not replace it."""
    verifier = _native.Writer.decrypt(None, keys.decryption())
    try:
        with about(path):
            verifier.write(beginning)
            if is_all:
                verifier.finish(False)
    finally:
        verifier.discard()


def _check_end(fetch: Callable[[int, int], bytes], path: str, size: int) -> None:
    """Raises OSError if the file continues past its reported size, so that no end is lost."""
    if len(fetch(size - 1, size + 1)) > 1:
        text = f"The filesystem reports {size} bytes, and the file is longer; nothing was replaced; try again"
        raise OSError(errno.EIO, text, path)


def _rewrap_by_copying(
    fs: Any, path: str, to: Any, target: str, keys: _native.RewrapWith, progress: Progress | None
) -> None:
    def fetch(start: int, end: int) -> bytes:
        with asking(path):
            return checked(fs.cat_file(path, start=start, end=end), end - start, path)

    store = Store(fs)

    def reported() -> int | None:
        fs.invalidate_cache(path)
        return store.run(store.info(path))["size"]  # type: ignore[no-any-return]

    if (size := reported()) is None:
        raise OSError(errno.EIO, "The filesystem does not report the size of this file", path)
    header, at, beginning = _new_header(keys, path, size, fetch)
    _check_end(fetch, path, size)
    start = at
    upload = Upload(Store(to), target, None, exclusive=False)
    verifier = _native.Writer.decrypt(None, keys.decryption())
    verifier.write(beginning[:at])
    try:
        upload.write(header)
        while at < size:
            piece = fetch(at, end := min(size, at + PIECE))
            with about(path):
                verifier.write(complete(piece, end - at, path))
            upload.write(piece)
            at = end
            if progress is not None:
                progress(at - start, size - start)
        with about(path):
            verifier.finish(False)
        if reported() != size:
            raise _changed(path)
        upload.commit()
    finally:
        verifier.discard()
        upload.discard()


class _Object(NamedTuple):
    """An object on S3, as it was when the call began."""

    fs: Any
    path: str
    where: dict[str, str]
    """The request arguments for exactly this object."""
    head: dict[str, Any]
    size: int
    etag: str

    def fetch(self, start: int, end: int) -> bytes:
        """Returns the bytes of a range. Raises OSError if the object has changed."""

        async def body() -> bytes:
            span = f"bytes={start}-{end - 1}"
            found = await self.fs._call_s3("get_object", **self.where, Range=span, IfMatch=self.etag)
            received = bytearray()
            async with found["Body"] as stream:
                # One byte more than requested, to detect a longer response without collecting it.
                while len(received) <= end - start:
                    piece = await stream.read(end - start + 1 - len(received))
                    if not piece:
                        break
                    received += piece
            return bytes(received)

        if start >= end:
            return b""
        with _unchanged(self.path), asking(self.path):
            return checked(sync(self.fs.loop, body), end - start, self.path)

    def properties(self) -> dict[str, Any]:
        """Returns the properties that the new object gets."""
        found = {name: self.head[name] for name in _KEPT if self.head.get(name)}
        if self.head.get("TagCount"):
            tags = self.fs.call_s3("get_object_tagging", **self.where)["TagSet"]
            found["Tagging"] = urllib.parse.urlencode([(tag["Key"], tag["Value"]) for tag in tags])
        return found


def properties_of(fs: Any, path: str) -> dict[str, Any]:
    """Returns an object's properties as keywords for writing another; none for other stores."""
    return _found_on_s3(fs, path).properties() if _is_s3(fs) else {}


def _found_on_s3(fs: Any, path: str) -> _Object:
    bucket, key, version = fs.split_path(path)
    where = {"Bucket": bucket, "Key": key}
    with asking(path):
        head = fs.call_s3("head_object", **where, **({"VersionId": version} if version else {}))
        size, etag = int(head["ContentLength"]), str(head["ETag"])
    if (version := head.get("VersionId")) and version != "null":
        where["VersionId"] = version
    return _Object(fs, path, where, head, size, etag)


def _rewrap_on_s3(
    fs: Any, path: str, target: str, keys: _native.RewrapWith, progress: Progress | None
) -> None:
    old = _found_on_s3(fs, path)
    size = old.size
    header, old_len, beginning = _new_header(keys, path, size, old.fetch)
    _check_end(old.fetch, path, size)
    # S3 copies ranges only of objects longer than a part.
    split = size
    if size > FIRST_PART + HEADER:
        # The end of a chunk.
        chunks = -(-max(FIRST_PART - len(header), 0) // CHUNK)
        split = min(old_len + NONCE + chunks * CHUNK, size)
    # A byte more, because a chunk is verified once it is known not to be the last one.
    if len(beginning) < (end := min(split + 1, size)):
        rest = old.fetch(len(beginning), end)
        beginning += complete(rest, end - len(beginning), path)
    _verify(keys, beginning[:end], end == size, path)
    first = header + beginning[old_len:split]
    bucket, key, _ = fs.split_path(target)
    to = {"Bucket": bucket, "Key": key}
    # A replaced object must still be the one we read.
    replaced = {"IfMatch": old.etag} if (bucket, key) == (old.where["Bucket"], old.where["Key"]) else {}
    with _unchanged(path), asking(target):
        if split == size:
            fs.call_s3("put_object", **to, Body=first, **old.properties(), **replaced)
        else:
            report = None if progress is None else lambda end: progress(end - old_len, size - old_len)
            return _upload(old, to, first, split, replaced, report)
    if progress is not None:
        progress(size - old_len, size - old_len)


def _upload(
    old: _Object,
    to: dict[str, str],
    first: bytes,
    split: int,
    replaced: dict[str, str],
    report: Callable[[int], object] | None,
) -> None:
    """Makes an object of ``first`` and the old object's bytes from ``split`` on."""
    fs, size = old.fs, old.size
    step = max(COPIED_PART, -(-(size - split) // (MAX_PARTS - 1)))
    spans = [(start, min(size, start + step)) for start in range(split, size, step)]
    upload = to | {"UploadId": fs.call_s3("create_multipart_upload", **to, **old.properties())["UploadId"]}
    source = {
        "CopySource": old.where,
        "CopySourceIfMatch": old.etag,
        # The key the store needs for an object encrypted with a caller's key.
        **{
            f"CopySource{name}": value
            for name, value in fs.s3_additional_kwargs.items()
            if name.startswith("SSECustomer")
        },
    }

    def copy(number: int, start: int, end: int) -> str:
        found = fs.call_s3(
            "upload_part_copy",
            **upload,
            **source,
            PartNumber=number,
            CopySourceRange=f"bytes={start}-{end - 1}",
        )
        return str(found["CopyPartResult"]["ETag"])

    try:
        etags = [fs.call_s3("upload_part", **upload, PartNumber=1, Body=first)["ETag"]]
        with ThreadPoolExecutor(COPIES) as pool:
            copies = [pool.submit(copy, number, *span) for number, span in enumerate(spans, 2)]
            try:
                for done, (_, end) in zip(copies, spans, strict=True):
                    etags.append(done.result())
                    if report is not None:
                        report(end)
            except BaseException:
                # The running requests must end before the upload is removed, or their parts would
                # remain.
                pool.shutdown(cancel_futures=True)
                raise
        # Check the parts before the object is replaced: some stores ignore ranges.
        _check_parts(fs, upload, [len(first), *(end - start for start, end in spans)])
        if replaced:
            # Some stores ignore the condition of the last request.
            fs.call_s3("head_object", **to, **replaced)
        parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
        fs.call_s3("complete_multipart_upload", **upload, MultipartUpload={"Parts": parts}, **replaced)
    except BaseException:
        with contextlib.suppress(Exception):
            fs.call_s3("abort_multipart_upload", **upload)
        raise


def _check_parts(fs: Any, upload: dict[str, str], expected: list[int]) -> None:
    found: list[int] = []
    more: dict[str, int] | None = {}
    while more is not None and len(found) <= len(expected):
        page = fs.call_s3("list_parts", **upload, **more)
        found += [int(part["Size"]) for part in page.get("Parts", [])]
        more = {"PartNumberMarker": page["NextPartNumberMarker"]} if page.get("IsTruncated") else None
    if found != expected:
        raise OSError(errno.EIO, "The store copied other bytes than it was asked to; nothing was replaced")


@contextlib.contextmanager
def _unchanged(path: str) -> Iterator[None]:
    """Raises a clear OSError if the block fails because the object at ``path`` has changed."""
    try:
        yield
    except OSError as error:
        cause: BaseException | None = error
        while cause is not None:
            response = getattr(cause, "response", None)
            if isinstance(response, Mapping) and response.get("Error", {}).get("Code") in _CHANGED:
                raise _changed(path) from error
            cause = cause.__cause__
        raise


_CHANGED: Final = ("PreconditionFailed", "412", "ConditionalRequestConflict")


def _changed(path: str) -> OSError:
    text = "The file changed while it was rewrapped, so nothing was replaced; try again"
    return OSError(errno.ESTALE, text, path)
