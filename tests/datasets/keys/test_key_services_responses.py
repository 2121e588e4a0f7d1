"""Key services that send long or slow responses: the call ends with a typed error and little memory."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from key_services import Aws, Service, made
from sealane import KeyServiceError, _wrapping_key
from sealane.fs import create_dataset_key
from sealane.keys import resolve

MIB = 1 << 20


class Flood:
    """A server that sends a head, and then pieces without end."""

    def __init__(self, head: bytes, piece: Callable[[], bytes]) -> None:
        self.sent, self.connections = 0, 0
        self._head, self._piece = head, piece
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._ended = False
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._ended:
                connection.close()
                return
            self.connections += 1
            thread = threading.Thread(target=self._send, args=[connection])
            self._threads.append(thread)
            thread.start()

    def _send(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20)
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 " + self._head + b"\r\n\r\n")
            while not self._ended and (piece := self._piece()):
                connection.sendall(piece)
                self.sent += len(piece)

    def close(self) -> None:
        self._ended = True
        with socket.create_connection(self._listener.getsockname()):
            pass
        self._accepting.join()
        for thread in self._threads:
            thread.join()
        self._listener.close()


@contextlib.contextmanager
def flooding(service: Service, head: bytes, piece: Callable[[], bytes]) -> Iterator[Flood]:
    """Moves the address of the service to a server that sends without end."""
    flood = Flood(head, piece)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL_KMS" if isinstance(service, Aws) else "VAULT_ADDR", flood.url)
            yield flood
    finally:
        flood.close()


CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@pytest.mark.parametrize("status", [b"200 OK", b"403 Forbidden", b"503 Busy"])
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"Connection: close", b"[" * 0x10000),
        (b"Content-Length: 99999999999", b'{"a":' * 0x4000),
        (b"Transfer-Encoding: chunked", CHUNK),
    ],
)
def test_garbage_without_end(
    service: Service, tmp_path: Path, status: bytes, head: bytes, piece: bytes
) -> None:
    reference = made(service, tmp_path / "key.json")
    with flooding(service, status + b"\r\n" + head, lambda: piece) as flood:
        tracemalloc.start()
        with pytest.raises(KeyServiceError) as caught:
            resolve(reference)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        with pytest.raises(KeyServiceError):
            create_dataset_key(str(tmp_path / "new"), wrapping_key=reference.partition("#")[0])
        connections = flood.connections
    assert type(caught.value) is KeyServiceError
    assert str(caught.value).startswith(reference.partition("#")[0])
    # The client reads 256 KiB of each response, and the system buffers a few MiB.
    assert flood.sent <= connections * 8 * MIB
    assert peak < 16 * MIB, "the imports of the clients take a part of it"
    assert not (tmp_path / "new").exists()
    if status != b"503 Busy":
        assert "longer than 256 KiB" in str(caught.value)
    assert resolve(reference)


def test_a_response_that_expands(service: Service, tmp_path: Path) -> None:
    """128 KiB that become 128 MiB when they are decompressed, which the client of AWS does not do."""
    reference = made(service, tmp_path / "key.json")
    bomb = gzip.compress(bytes(128 * MIB), mtime=0)
    head = b"200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d" % len(bomb)
    left = [bomb]
    with flooding(service, head, lambda: left.pop() if left else b""):
        tracemalloc.start()
        with pytest.raises(KeyServiceError):
            resolve(reference)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 32 * MIB


def test_a_response_byte_by_byte(service: Service, tmp_path: Path) -> None:
    """Each byte arrives before the limit of one reading call."""
    reference = made(service, tmp_path / "key.json")

    def slowly() -> bytes:
        time.sleep(0.2)
        return b" "

    with flooding(service, b"200 OK\r\nContent-Length: 1000", slowly):
        began = time.monotonic()
        with pytest.raises(KeyServiceError, match="takes longer than 1 seconds"):
            resolve(reference)
        assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"100 Continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"100 Continue", b"HTTP/1.1 200 OK\r\n"),
        (b"200 OK\r\nTransfer-Encoding: chunked", b"1;"),
    ],
    ids=["heads", "a head", "the length of a chunk"],
)
def test_what_is_no_content_has_a_limit_too(
    service: Service, tmp_path: Path, head: bytes, piece: bytes
) -> None:
    """A client reads heads and lengths itself, each piece with a new limit."""
    reference = made(service, tmp_path / "key.json")

    def slowly() -> bytes:
        time.sleep(0.2)
        return piece

    with flooding(service, head, slowly):
        began = time.monotonic()
        with pytest.raises(KeyServiceError, match="takes longer than 1 seconds"):
            resolve(reference)
        assert time.monotonic() - began < 15


def test_the_longest_response_is_read(service: Service, tmp_path: Path) -> None:
    reference = made(service, tmp_path / "key.json")
    arn = reference.partition("#")[0].partition("?")[0].partition(":")[2]
    filled = b'{"KeyId": "%s", "Plaintext": ""}' % arn.encode()
    longest = filled + b" " * (_wrapping_key.MAX_RESPONSE - len(filled))
    for body, text in (longest, "no usable|no response"), (longest + b" ", "longer than 256 KiB"):
        with (
            service.answering(lambda name, request, body=body: (200, body)),
            pytest.raises(KeyServiceError, match=text),
        ):
            resolve(reference)
