"""An HTTP proxy in front of an S3 server, which can change each request, each response and its delivery."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import http.server
import socket
import struct
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, Literal

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})
PATIENCE = 20
"""Time in seconds after which a stalled response ends. The clients of the tests give up earlier."""


@dataclasses.dataclass
class Exchange:
    """A request, its response, and the way in which the response is sent."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    status: int = 200
    response_headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """The headers of the response, without the length."""
    content: bytes = b""
    forwarded: bool = True
    """Whether the request reaches the server."""
    delay: float = 0
    """Time in seconds before the response."""
    length: str | None = None
    """The header Content-Length; None for the number of bytes of the content, or for that of the server."""
    sent: Literal["all", "nothing", "half of the head", "the head", "half"] = "all"
    """The part of the response that is sent."""
    then: Literal["keep", "close", "reset", "stall"] = "keep"
    """The fate of the connection afterwards. A response that is sent in part ends with it."""
    after: list[Callable[[Exchange], None]] = dataclasses.field(default_factory=list)
    """Changes of the response."""

    @property
    def operation(self) -> str:
        """The name that S3 gives to the request, for example "GetObject"."""
        key = self.path.strip("/").partition("/")[2]
        copied = "x-amz-copy-source" in self.headers
        match self.method:
            case "GET" if "uploadId" in self.query:
                return "ListParts"
            case "GET" if not key:
                return "ListObjectsV2" if "list-type" in self.query else "GetBucket"
            case "GET":
                return "GetObjectTagging" if "tagging" in self.query else "GetObject"
            case "HEAD":
                return "HeadObject" if key else "HeadBucket"
            case "PUT" if "partNumber" in self.query:
                return "UploadPartCopy" if copied else "UploadPart"
            case "PUT" if key:
                return "CopyObject" if copied else "PutObject"
            case "POST" if "uploads" in self.query:
                return "CreateMultipartUpload"
            case "POST" if "uploadId" in self.query:
                return "CompleteMultipartUpload"
            case "POST" if "delete" in self.query:
                return "DeleteObjects"
            case "DELETE" if "uploadId" in self.query:
                return "AbortMultipartUpload"
            case "DELETE":
                return "DeleteObject"
        return "Other"

    def fail(self, status: int, code: str) -> None:
        """Makes the response an error of S3."""
        self.status, self.response_headers = status, {"Content-Type": "application/xml"}
        self.content = (
            b"<?xml version='1.0' encoding='UTF-8'?>\n"
            b"<Error><Code>%b</Code><Message>a fault of the test</Message></Error>" % code.encode()
        )


class Proxy:
    """The proxy. ``change`` gets each request, and may change it or add changes of the response."""

    def __init__(self, server_url: str) -> None:
        self._upstream = urllib.parse.urlsplit(server_url).netloc
        self.change: Callable[[Exchange], None] = lambda exchange: None
        self.seen: list[str] = []
        self.stopped = threading.Event()
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05])
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def ask(self, exchange: Exchange) -> None:
        """Sends the request to the server, and fills in the response."""
        text = exchange.path + ("?" + urllib.parse.urlencode(exchange.query) if exchange.query else "")
        with contextlib.closing(http.client.HTTPConnection(self._upstream, timeout=60)) as connection:
            connection.request(exchange.method, text, exchange.body, exchange.headers)
            response = connection.getresponse()
            exchange.content = response.read()
        exchange.status = response.status
        exchange.response_headers = {
            name: value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP
        }
        if exchange.operation == "UploadPartCopy" and self._is_past_the_end(exchange):
            exchange.fail(416, "InvalidRange")
        if exchange.method == "HEAD":
            exchange.length = response.getheader("Content-Length")

    def _is_past_the_end(self, exchange: Exchange) -> bool:
        """Returns whether a part is copied from bytes that do not exist. S3 refuses it, moto does not."""
        source = "/" + exchange.headers["x-amz-copy-source"].partition("?")[0].lstrip("/")
        head = Exchange("HEAD", source, {}, {"authorization": exchange.headers["authorization"]}, b"")
        self.ask(head)
        last = exchange.headers.get("x-amz-copy-source-range", "bytes=0-0").rpartition("-")[2]
        return int(last) >= int(head.length or 0)

    @contextlib.contextmanager
    def changing(self, change: Callable[[Exchange], None]) -> Iterator[None]:
        """Changes exchanges until the block ends."""
        self.stopped.clear()
        honest, self.change = self.change, change
        try:
            yield
        finally:
            self.change = honest
            self.stopped.set()

    def close(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Says nothing: clients close connections in the middle of a response."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: Proxy
    # Status, headers and body in one segment, because the body would wait for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def relay(self) -> None:
        path, _, query = self.path.partition("?")
        exchange = Exchange(
            self.command,
            path,
            dict(urllib.parse.parse_qsl(query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items() if name.lower() != "expect"},
            self._body(),
        )
        self.proxy.seen.append(exchange.operation)
        self.proxy.change(exchange)
        if exchange.forwarded:
            self.proxy.ask(exchange)
        for change in exchange.after:
            change(exchange)
        self._send(exchange)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = relay

    def _body(self) -> bytes:
        self.wfile.flush()  # "100 Continue", if the client waits for it
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while length := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def _send(self, exchange: Exchange) -> None:
        time.sleep(exchange.delay)
        length = str(len(exchange.content)) if exchange.length is None else exchange.length
        lines = [f"HTTP/1.1 {exchange.status} {http.client.responses.get(exchange.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in exchange.response_headers.items()]
        lines += [f"Content-Length: {length}"] if length else []
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        content = b"" if exchange.method == "HEAD" else exchange.content
        ends = {"nothing": 0, "half of the head": len(head) // 2, "the head": len(head)}
        ends |= {"half": len(head) + len(content) // 2, "all": len(head) + len(content)}
        self.close_connection |= exchange.sent != "all" or exchange.then != "keep" or not length
        with contextlib.suppress(OSError):
            self.wfile.write((head + content)[: ends[exchange.sent]])
            self.wfile.flush()
            if exchange.then == "stall":
                self.proxy.stopped.wait(PATIENCE)
            if exchange.then == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
