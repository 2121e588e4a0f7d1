"""The faults of an S3 server, as a table. ``faulty_proxy`` applies them to requests and responses."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from faulty_proxy import Exchange

Change = Callable[[Exchange], None]
READS = ("GetObject",)
WRITES = (
    *("PutObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload"),
    *("CopyObject", "DeleteObject", "DeleteObjects", "AbortMultipartUpload"),
)
ANY = (*READS, *WRITES, "HeadObject", "ListObjectsV2", "ListParts")


@dataclasses.dataclass(frozen=True)
class Fault:
    """A change of the requests or the responses of some operations."""

    change: Change
    operations: tuple[str, ...] = ANY
    before: bool = False
    """Whether the request is changed, before the server gets it."""
    lie: str = ""
    """The kinds of false statements in a response that looks complete.

    A claim is a size, a name or a tag. Content is that of another object or an older version of it. With
    "stored", the server has stored something else than it was sent, and says that it was successful.
    """

    @property
    def lies(self) -> bool:
        """Whether a reader can get something else than the last version, which still is authentic."""
        return "claim" in self.lie or "content" in self.lie

    def apply(self, exchange: Exchange) -> None:
        """Applies the fault to a request, or to its response when the server has answered."""
        if self.before:
            self.change(exchange)
        else:
            exchange.after.append(self.change)


def set_to(**values: Any) -> Change:
    """Returns a change that assigns fields of the exchange."""

    def change(exchange: Exchange) -> None:
        for name, value in values.items():
            setattr(exchange, name, value)

    return change


def no_answer(exchange: Exchange) -> None:
    exchange.sent, exchange.then = "nothing", "stall"


def stalls(exchange: Exchange) -> None:
    exchange.sent, exchange.then = "half", "stall"


def status(number: int, code: str) -> Change:
    """Returns a change of the response to an error."""
    return lambda exchange: exchange.fail(number, code)


def refused(number: int, code: str) -> Change:
    """Returns a change that answers with an error in place of the server."""

    def change(exchange: Exchange) -> None:
        exchange.forwarded = False
        exchange.fail(number, code)

    return change


def content(change: Callable[[bytes], bytes]) -> Change:
    """Returns a change of the content of successful responses. The length is that of the new content."""

    def apply(exchange: Exchange) -> None:
        if exchange.status < 300:
            exchange.content = change(exchange.content)

    return apply


def announced(change: Callable[[int], int | str]) -> Change:
    """Returns a change of the header Content-Length alone."""

    def apply(exchange: Exchange) -> None:
        if exchange.status < 300:
            exchange.length = str(change(int(exchange.length or len(exchange.content))))

    return apply


def unlike_length(text: str) -> Change:
    return announced(lambda length: text)


def header(name: str, value: str | None) -> Change:
    """Returns a change of one header of successful responses; with None, it is left out."""

    def change(exchange: Exchange) -> None:
        if exchange.status < 300:
            exchange.response_headers = {
                key: text for key, text in exchange.response_headers.items() if key.lower() != name.lower()
            }
            if value is not None:
                exchange.response_headers[name] = value

    return change


def elsewhere(folder: str) -> Change:
    """Returns a change that answers with the object of the same name in another folder."""

    def change(exchange: Exchange) -> None:
        exchange.path = exchange.path.replace("/data/", f"/{folder}/")

    return change


def another_range(exchange: Exchange) -> None:
    """Answers with the bytes before the range, or from the second byte on, and says that they are right."""
    if found := re.fullmatch(r"bytes=(\d+)-(\d+)", exchange.headers.get("range", "")):
        start, end = int(found[1]), int(found[2])
        shift = -1 if start else 1
        exchange.headers["range"] = f"bytes={start + shift}-{end + shift}"


def without_range(exchange: Exchange) -> None:
    exchange.headers.pop("range", None)


def replayed() -> Change:
    """Returns a change that answers with the first response for this path, also to other ranges of it."""
    first: dict[tuple[str, str], tuple[int, dict[str, str], bytes, str | None]] = {}

    def change(exchange: Exchange) -> None:
        place = (exchange.operation, exchange.path)
        if exchange.status < 300:
            own = exchange.status, exchange.response_headers, exchange.content, exchange.length
            exchange.status, exchange.response_headers, exchange.content, exchange.length = first.setdefault(
                place, own
            )

    return change


def previous() -> Change:
    """Returns a change that answers with the response to the request before, whatever it was."""
    last: list[tuple[int, dict[str, str], bytes]] = []

    def change(exchange: Exchange) -> None:
        last.append((exchange.status, exchange.response_headers, exchange.content))
        exchange.status, exchange.response_headers, exchange.content = last[max(len(last) - 2, 0)]
        exchange.length = None

    return change


def listing(pattern: bytes, replacement: bytes, count: int = 0) -> Change:
    """Returns a change of the XML of a listing."""
    return content(lambda xml: re.sub(pattern, replacement, xml, count=count, flags=re.DOTALL))


def phantom(name: bytes, size: bytes = b"4096") -> Change:
    """Returns a change that adds an object to a listing."""
    entry = (
        b"<Contents><Key>%b</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>"
        b"<ETag>&quot;0&quot;</ETag><Size>%b</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )
    return listing(b"</ListBucketResult>", entry % (name, size) + b"</ListBucketResult>", 1)


def repeated_page() -> Change:
    """Returns a change that sends the same page of a listing three times."""
    pages: dict[str, int] = {}

    def change(exchange: Exchange) -> None:
        place = exchange.path + exchange.query.get("prefix", "")
        pages[place] = pages.get(place, 0) + 1
        if exchange.status < 300 and pages[place] % 3:
            more = b"<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
            exchange.content = re.sub(rb"<IsTruncated>\w+</IsTruncated>", more, exchange.content)

    return change


def stored_cut(exchange: Exchange) -> None:
    exchange.body = exchange.body[: len(exchange.body) // 2]
    exchange.headers["content-length"] = str(len(exchange.body))
    for name in list(exchange.headers):
        if name.startswith("x-amz-checksum") or name == "content-md5":
            del exchange.headers[name]


def stored_nothing(exchange: Exchange) -> None:
    exchange.forwarded = False
    exchange.response_headers = {"ETag": '"0123456789abcdef0123456789abcdef"'}


def error_in_success(exchange: Exchange) -> None:
    """Answers with status 200 and an error, as S3 does when a copy fails after its first byte was sent."""
    exchange.fail(200, "InternalError")


LISTED = ("ListObjectsV2",)
HEAD = ("HeadObject",)
SOME = rb"<Contents>(?:(?!<Contents>).)*?</Contents>"
PAGE = b"<html><body>Please log in to the network</body></html>"


def faults() -> dict[str, Fault]:
    """Returns all faults by name. Some have a state, so each use needs new ones."""
    return {
        # Connections
        "a slow response": Fault(set_to(delay=0.05)),
        "no response": Fault(no_answer),
        "a response that stalls": Fault(stalls, READS),
        "closed before the request is handled": Fault(set_to(forwarded=False, sent="nothing"), before=True),
        "closed in the head": Fault(set_to(sent="half of the head")),
        "closed before the body": Fault(set_to(sent="the head")),
        "closed in the body": Fault(set_to(sent="half")),
        "reset in the body": Fault(set_to(sent="half", then="reset")),
        "closed after the body": Fault(set_to(then="close")),
        "a lost response": Fault(set_to(sent="nothing"), WRITES),
        # Statuses
        "status 500": Fault(refused(500, "InternalError"), before=True),
        "status 503": Fault(refused(503, "SlowDown"), before=True),
        "status 429": Fault(refused(429, "TooManyRequests"), before=True),
        "status 403": Fault(refused(403, "AccessDenied"), before=True),
        "status 404": Fault(refused(404, "NoSuchKey"), (*READS, *HEAD), before=True, lie="claim"),
        "status 416": Fault(refused(416, "InvalidRange"), READS, before=True),
        "status 500 after a success": Fault(status(500, "InternalError"), WRITES),
        "status 204": Fault(set_to(status=204, content=b""), READS),
        "an error with status 200": Fault(
            error_in_success, ("CompleteMultipartUpload", "CopyObject", "UploadPartCopy")
        ),
        "a page of HTML": Fault(
            set_to(content=PAGE, answer={"Content-Type": "text/html"}), (*READS, *LISTED), lie="claim"
        ),
        # Bodies
        "a shorter body": Fault(content(lambda data: data[: len(data) // 2]), READS),
        "an empty body": Fault(content(lambda data: b""), READS),
        "a longer body": Fault(content(lambda data: data + bytes(100)), READS),
        "bytes after the body": Fault(announced(lambda length: max(length - 16, 0)), READS),
        "a body without its length": Fault(unlike_length(""), READS),
        "a changed byte": Fault(
            content(lambda data: data[:-1] + bytes([data[-1] ^ 1]) if data else data), READS
        ),
        "a changed first byte": Fault(
            content(lambda data: bytes([data[0] ^ 1]) + data[1:] if data else data), READS
        ),
        "zeros": Fault(content(lambda data: bytes(len(data))), READS),
        "the first response again": Fault(replayed(), READS),
        "the previous response": Fault(previous(), (*READS, *HEAD), lie="claim"),
        "another range": Fault(another_range, READS, before=True),
        "the whole object": Fault(without_range, READS, before=True),
        "an older version": Fault(elsewhere("old"), (*READS, *HEAD), before=True, lie="content"),
        "another object": Fault(elsewhere("other"), (*READS, *HEAD), before=True, lie="content"),
        "an older body": Fault(elsewhere("old"), READS, before=True, lie="content"),
        # Claims
        "size 0 in HEAD": Fault(unlike_length("0"), HEAD, lie="claim"),
        "size 71 in HEAD": Fault(unlike_length("71"), HEAD, lie="claim"),
        "a smaller size in HEAD": Fault(announced(lambda size: size - 1), HEAD, lie="claim"),
        "one chunk less in HEAD": Fault(announced(lambda size: max(size - 16400, 72)), HEAD, lie="claim"),
        "one chunk more in HEAD": Fault(announced(lambda size: size + 16400), HEAD, lie="claim"),
        "a huge size in HEAD": Fault(unlike_length(str(1 << 50)), HEAD, lie="claim"),
        "no size in HEAD": Fault(unlike_length(""), HEAD, lie="claim"),
        "a negative size in HEAD": Fault(unlike_length("-1"), HEAD, lie="claim"),
        "another tag in HEAD": Fault(header("ETag", '"00000000000000000000000000000000"'), HEAD, lie="claim"),
        "no tag": Fault(header("ETag", None), lie="claim"),
        "another time in HEAD": Fault(
            header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"), HEAD, lie="claim"
        ),
        "size 0 in a listing": Fault(listing(rb"<Size>\d+</Size>", b"<Size>0</Size>"), LISTED, lie="claim"),
        "a huge size in a listing": Fault(
            listing(rb"<Size>(\d+)</Size>", rb"<Size>\g<1>000000000000</Size>"), LISTED, lie="claim"
        ),
        "a negative size in a listing": Fault(
            listing(rb"<Size>\d+</Size>", b"<Size>-1</Size>"), LISTED, lie="claim"
        ),
        "a size that is no number": Fault(
            listing(rb"<Size>\d+</Size>", b"<Size>many</Size>"), LISTED, lie="claim"
        ),
        "an entry without size": Fault(listing(rb"<Size>\d+</Size>", b"", 1), LISTED, lie="claim"),
        "an entry that is missing": Fault(listing(SOME, b"", 1), LISTED, lie="claim"),
        "an empty listing": Fault(listing(SOME, b""), LISTED, lie="claim"),
        "a listing that is cut": Fault(content(lambda xml: xml[: len(xml) // 2]), LISTED),
        "a listing that ends early": Fault(
            listing(rf"{SOME.decode()}(?=\s*(?:<CommonPrefixes|</List))".encode(), b""), LISTED, lie="claim"
        ),
        "a page that is repeated": Fault(repeated_page(), LISTED, lie="claim"),
        "an object that does not exist": Fault(phantom(b"data/phantom"), LISTED, lie="claim"),
        "an object of another folder": Fault(phantom(b"old/small"), LISTED, lie="claim"),
        "an object that leaves the folder": Fault(phantom(b"data/../../../outside"), LISTED, lie="claim"),
        "an object with an absolute name": Fault(phantom(b"/etc/outside"), LISTED, lie="claim"),
        "an object with an empty name": Fault(phantom(b""), LISTED, lie="claim"),
        "a name in two cases": Fault(phantom(b"data/SMALL"), LISTED, lie="claim"),
        "a name that ends in a dot": Fault(phantom(b"data/small."), LISTED, lie="claim"),
        "a name that is not UTF-8": Fault(phantom(b"data/%FF%FE"), LISTED, lie="claim"),
        "bytes that are not UTF-8": Fault(phantom(b"data/\xff\xfe"), LISTED, lie="claim"),
        # Writes
        "another tag of a part": Fault(
            header("ETag", '"00000000000000000000000000000000"'),
            ("PutObject", "UploadPart", "UploadPartCopy"),
            lie="claim",
        ),
        "half of the data is stored": Fault(
            stored_cut, ("PutObject", "UploadPart"), before=True, lie="stored"
        ),
        "nothing is stored": Fault(stored_nothing, ("PutObject",), before=True, lie="stored"),
    }
