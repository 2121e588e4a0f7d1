"""The name of a wrapping key, and limits and errors shared by the key-service clients."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Final

from sealane._native import shown_token_key
from sealane.exceptions import AuthenticationError, SealaneError, escaped

CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 10
"""Seconds a service may be silent, and may take for a whole response."""
TRIES: Final = 3
"""Attempts per request. Requests can be repeated, because none changes the service."""

MAX_RESPONSE: Final = 256 << 10
"""Maximum response length in bytes. A keyset and the messages around it take less than 20 KiB."""
_PIECE: Final = 16 << 10

MAX_PLAINTEXT: Final = 4096
"""Bytes that AWS KMS encrypts. About 35 keys fit."""


@dataclasses.dataclass(frozen=True)
class WrappingKey:
    """A key of a key service and the context that binds keysets. Neither is secret."""

    scheme: str
    name: str
    """For example, an ARN."""
    context: bytes
    options: str = ""
    """Other query attributes of a PKCS#11 URI. They can contain a PIN."""

    def __str__(self) -> str:
        return shown(self.uri())

    def __repr__(self) -> str:
        return f"WrappingKey({self})"

    def uri(self) -> str:
        """Returns the reference, including any PIN."""
        from urllib.parse import quote_from_bytes

        context = f"context={quote_from_bytes(self.context)}" if self.context else ""
        query = "&".join(filter(None, (self.options, context)))
        return f"{self.scheme}:{self.name}" + (f"?{query}" if query else "")

    def without_pin(self) -> str:
        """Returns the reference for others, who have PINs of their own."""
        options = [part for part in self.options.split("&") if not part.startswith("pin-value")]
        return dataclasses.replace(self, options="&".join(options)).uri()

    def has_pin(self) -> bool:
        """Returns whether the reference contains a PIN and so must not be stored or sent."""
        return str(self) != escaped(self.uri())


def shown(reference: str) -> str:
    """Returns a reference without the PIN of a PKCS#11 URI, as errors show it."""
    return escaped(shown_token_key(reference) if reference[:7].lower() == "pkcs11:" else reference)


class ResponseError(Exception):
    """A response that is too long or too slow, or an address that is refused. We wrote its text, so
    it can be shown.
    """


def timed(pools: dict[str, Any]) -> dict[str, Any]:
    """Returns urllib3's classes of connection pools, by scheme, with a time limit for each response.

    The timeout of a socket is for one piece, and http.client skips heads of status 100 without end.
    """

    def limited(pool: Any) -> Any:
        class Response(pool.ConnectionCls.response_class):  # type: ignore[misc]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                read, until = self.fp.raw.readinto, time.monotonic() + READ_SECONDS

                def readinto(into: Any) -> int | None:
                    if time.monotonic() > until:
                        raise ResponseError(f"the response takes longer than {READ_SECONDS:g} seconds")
                    return read(into)  # type: ignore[no-any-return]

                self.fp.raw.readinto = readinto

        connection = type("Connection", (pool.ConnectionCls,), {"response_class": Response})
        return type("Pool", (pool,), {"ConnectionCls": connection})

    return {scheme: limited(pool) for scheme, pool in pools.items()}


def read_response(response: Any, **options: Any) -> bytes:
    """Returns a urllib3 response body, keeping no more than the limit in memory.

    Raises ResponseError if it is longer than ``MAX_RESPONSE``.
    """
    # A piece as it arrives. `read` of urllib3 1 waits for the whole piece.
    read = getattr(response, "read1", response.read)
    content = bytearray()
    try:
        while piece := read(_PIECE, **options):
            content += piece
            if len(content) > MAX_RESPONSE:
                raise ResponseError(f"the response is longer than {MAX_RESPONSE >> 10} KiB")
    finally:
        # Closed rather than drained: the rest can have any length.
        response.close()
    return bytes(content)


def origin_of(address: str) -> tuple[str, str, int]:
    """Returns scheme, host and port of a service's address, as urllib3 will connect to it.

    Raises ResponseError unless it is HTTPS, or HTTP on this machine: requests contain credentials
    and cleartext keysets.
    """
    import ipaddress

    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    try:
        url = parse_url(address)
    except LocationParseError:
        raise ResponseError("the address cannot be parsed") from None
    host = (url.host or "").strip("[]")
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    scheme, port = url.scheme or "", url.port or (443 if url.scheme == "https" else 80)
    if not host or (scheme != "https" and not (scheme == "http" and here)):
        raise ResponseError(
            f"the address {said(f'{scheme}://{host}:{port}')} is refused: expected https://, or http:// to "
            "this machine (127.0.0.1, ::1 or localhost)"
        )
    return scheme, host, port


def said(text: object) -> str:
    """Returns what a service said, shortened and cleaned for a message."""
    printable = "".join(c if c.isprintable() else " " for c in str(text))
    return printable if len(printable) <= 200 else printable[:200] + "…"


def error_of(key: WrappingKey, kind: type[SealaneError], text: str) -> SealaneError:
    """Returns the error of a request; its text begins with the wrapping key."""
    return kind(f"{key}: {text}")


def different(key: WrappingKey) -> AuthenticationError:
    """Returns the error for a keyset encrypted with another wrapping key or context."""
    return AuthenticationError(
        f"{key}: authentication failed: the encrypted keyset belongs to another wrapping key or context, "
        "or was changed"
    )
